# SPDX-License-Identifier: Apache-2.0
"""What real nvccs accept, asked by `nvcc --dryrun`; of other releases, what their ptxas and nvcc listed."""
import concurrent.futures
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "real"))
import parts  # noqa: E402

PARTS = {"13.0": ("toolkit-13.0", parts.PIP_NVCC), "13.2": ("toolkit-13.2", parts.PIP_NVCC),
         "13.5": ("toolkit-13.5", parts.PIP_NVCC), "12.4": ("toolkit-12.4", "bin/nvcc"),
         "11.8": ("toolkit-11.8", "bin/nvcc")}
BATCH = 30
TIMEOUT_S = 120


def release_of(nvcc):
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout
    return re.search(r"release (\d+\.\d+)", said)[1]


def machines_own():
    """The nvcc of this machine, None where it has none."""
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def at_hand():
    """{name: (release, nvcc)}: the real ones of tests/real/parts.py and the machine's own."""
    found = {release: (release, Path(parts.ensure(part)) / path) for release, (part, path) in PARTS.items()}
    own = machines_own()
    if own:
        found["the machine's own"] = (release_of(own), own)
    return found


def flag(pair):
    return f"-gencode=arch={pair[0]},code={pair[1]}"


def family_twice(pairs):
    """Code that is made by way of a family beside the same code that is not: one GPU code to nvcc, which refuses it."""
    codes = {True: set(), False: set()}
    for virtual, code in pairs:
        if code.startswith("sm_"):
            codes[virtual.endswith("f")].add(code.removesuffix("f"))
    return bool(codes[True] & codes[False])


class Nvcc:
    """One nvcc; what it answered is kept."""

    def __init__(self, path):
        self.path, self.known, self.calls = path, {}, 0
        self.folder = tempfile.TemporaryDirectory()
        self.source = Path(self.folder.name) / "t.cu"
        self.source.write_text("__global__ void k() {}\n", encoding="ascii")

    def dry_run(self, flags):
        self.calls += 1
        return subprocess.run([self.path, *flags, "--dryrun", "-c", self.source, "-o", "t.o"], capture_output=True,
                              text=True, cwd=self.folder.name, timeout=TIMEOUT_S, check=False)

    def images(self, flags):
        """The images that nvcc would make ("sm_90", "compute_90"), or the line in which it refuses."""
        done = self.dry_run(flags)
        if done.returncode != 0:
            return next((line for line in done.stderr.splitlines() if "fatal" in line), f"exit {done.returncode}")
        kinds = re.findall(r"(?:--image3=kind=|--image=profile=)(elf|ptx)?(?:,sm=)?(\w+),file=", done.stderr)
        return {("compute_" if kind == "ptx" else "sm_") + sm for kind, sm in kinds}

    def accepts(self, pairs, expected):
        """{pair: does nvcc take it}; those `expected` to be taken are asked together, the others one by one.

        A dry run calls no ptxas, and takes compute_90a for sm_100a, which ptxas then refuses: what it takes against
        expectation is compiled.
        """
        asked = sorted(set(pairs) - set(self.known))
        likely, unlikely = [p for p in asked if p in expected], [p for p in asked if p not in expected]
        groups = [likely[at:at + BATCH] for at in range(0, len(likely), BATCH)] + [[pair] for pair in unlikely]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for answer in pool.map(self.accepts_group, groups):
                self.known.update(answer)
        for pair in unlikely:
            self.known[pair] = self.known[pair] and self.compiles(pair)
        return {pair: self.known[pair] for pair in pairs}

    def compiles(self, pair):
        kind = "-ptx" if pair[0] == pair[1] else "-cubin"
        done = subprocess.run([self.path, flag(pair), kind, self.source, "-o", "t.out"], capture_output=True,
                              cwd=self.folder.name, timeout=TIMEOUT_S, check=False)
        return done.returncode == 0

    def accepts_group(self, pairs):
        taken = self.dry_run([flag(pair) for pair in pairs]).returncode == 0
        if taken or len(pairs) == 1:
            return {pair: taken for pair in pairs}
        half = len(pairs) // 2
        return {**self.accepts_group(pairs[:half]), **self.accepts_group(pairs[half:])}


class Listed:
    """What nvccs of all releases take, by what their tools listed and one rule; the rule is held against real nvccs."""

    def __init__(self):
        oracle = json.loads((HERE.parent / "oracles/toolkit-archs.json").read_text(encoding="utf-8"))
        short = {name: name.rsplit(".", 1)[0] for name in oracle["ptxas"]}
        self.archs = {}
        for name, release in short.items():
            ptxas, plain = oracle["ptxas"][name].split(), oracle["nvcc_code"].get(name, "").split()
            # nvcc lists no names with a and f; where it lists any, ptxas's further plain ones (70 on 13.0) do not
            # count.
            self.archs[release] = {sm for sm in ptxas if not plain or sm in plain or not sm.isdigit()}

    def takes(self, release, pair, archs=None):
        """`archs`: of an nvcc that answered otherwise than its release does."""
        known = self.archs[release] if archs is None else {name.removeprefix("sm_") for name in archs}
        virtual, code = (re.fullmatch(r"(?:compute|sm)_(\d+)(\d)([af]?)", name) for name in pair)
        if not virtual or not code or pair[0].split("_")[1] not in known or pair[1].split("_")[1] not in known:
            return False
        if pair[1].startswith("compute"):
            return pair[0] == pair[1]
        if virtual[0].split("_")[1] == code[0].split("_")[1]:
            return True
        ours, device = (int(virtual[1]), int(virtual[2])), (int(code[1]), int(code[2]))
        families = {(10, 0): {0, 3, 7}, (10, 1): {1}, (10, 3): {3, 7}, (10, 7): {7}, (11, 0): {0}, (12, 0): {0, 1},
                    (12, 1): {1}}
        if virtual[3] == "f":
            return ours[0] == device[0] and device[1] in families.get(ours, {device[1]})
        if code[3] == "f" and ours[0] != device[0] and release in ("12.9", "13.0"):
            return False  # of another major only from 13.1 on
        return not virtual[3] and ours <= device
