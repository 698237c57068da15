#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what docs/ and docs/tutorials tell people to type: `tutorials_test.py TCSTACK [PAGE...]`.

Each block ```sh of a page is run by bash -eu, one after the other, in a fresh folder that holds the recordings of
docs/tutorials/machines; unless the line before it says "*Not run here: <reason>*". The lines of a block ```text that follows
must be among what was printed, in their order; `...` stands for any others, and within a line for anything. Commands must end
with 0, unless the page shows a CMake Error. README.md at the top is such a page as well.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/tutorials"
NEED_PYTORCH = ("first-extension.md", "tool.md")  # run by name: tests/real/tutorial.py
SHELL = re.compile(r"^```sh\n(.*?)^```\n", re.M | re.S)
TEXT = re.compile(r"\A\s*```text\n(.*?)^```$", re.M | re.S)


def blocks_of(page):
    """(commands, expected output or None, why they are not run or "")"""
    text = page.read_text(encoding="utf-8")
    for found in SHELL.finditer(text):
        before = text[:found.start()].rstrip().rsplit("\n", 1)[-1]
        excuse = re.match(r"\*Not run here: (.+)\*$", before)
        expected = TEXT.match(text[found.end():])
        yield found[1], expected and expected[1], excuse[1] if excuse else ""


def lacks(printed, expected):
    """The first expected line that does not come after those before it; None where all are there."""
    lines, at = [" ".join(line.split()) for line in printed.splitlines()], 0
    for want in expected.splitlines():
        pattern = ".*".join(re.escape(" ".join(part.split())) for part in want.split("..."))
        if pattern in ("", ".*"):
            continue
        while at < len(lines) and not re.search(pattern, lines[at]):
            at += 1
        if at == len(lines):
            return want
        at += 1
    return None


def environment(tool, folder):
    (folder / "bin").mkdir()
    (folder / "bin/tcstack").symlink_to(tool)
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("TORCH_", "CUDA", "CMAKE_", "VIRTUAL_ENV", "CONDA", "PYTHON"))}
    python = os.environ.get("TCS_TUTORIALS_PYTHON")  # an environment with PyTorch, for pages that need one
    path = f"{pathlib.Path(python).parent}:{kept['PATH']}" if python else kept["PATH"]
    toolkit = os.environ.get("TCS_TUTORIALS_TOOLKIT")
    return {**kept, "PATH": f"{folder}/bin:{path}", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TORCH_CUDA_STACK": str(ROOT),
            **({"TORCH_CUDA_STACK_TOOLKIT": toolkit} if toolkit else {})}


def run_page(page, tool):
    """Faults of a page, and how many blocks were run and not run."""
    faults, run, left = [], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        env = environment(tool, folder)
        work = folder / "work"
        shutil.copytree(PAGES / "machines", work)
        for part in ("examples", "modules", "probe-src"):
            (work / part).symlink_to(ROOT / part)
        for commands, expected, excuse in blocks_of(page):
            if excuse:
                left += 1
                continue
            run += 1
            done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", commands], cwd=work, env=env, text=True, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            where = f"{page.name}: {commands.strip().splitlines()[0]}"
            stops = expected is not None and expected.startswith("CMake Error")
            if (done.returncode != 0) != stops:
                faults.append(f"{where}: exit status {done.returncode}:\n{done.stdout}")
            elif expected is not None and (want := lacks(done.stdout, expected)):
                faults.append(f"{where}: the page promises {want!r}, and this was printed:\n{done.stdout}")
    return faults, run, left


def unmarked(page):
    """Commands that are neither in a block which is run nor in one which says why it is not."""
    for line in re.findall(r"^    ((?:tcstack|cmake|ctest|pip|python3?|git|cd|export|tests/\S+) .*)$", page.read_text(encoding="utf-8"), re.M):
        yield f"{page.name}: is this run? {line}"


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    guides = [p for p in sorted((ROOT / "docs").glob("*.md")) if "```sh" in p.read_text(encoding="utf-8")]
    pages = [p for p in [*sorted(PAGES.glob("*.md")), *guides] if p.name not in ("README.md", *NEED_PYTORCH)]
    if sys.argv[2:]:
        pages = [PAGES / name for name in sys.argv[2:]]
    faults = []
    for page in pages:
        found, run, left = run_page(page, tool)
        faults += found
        print(f"{page.name}: {run} blocks run, {left} not")
        if run == 0 and page not in guides:
            faults.append(f"{page.name}: nothing of it is run")
    for page in [*PAGES.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        faults += unmarked(page)
    print(*faults, sep="\n")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
