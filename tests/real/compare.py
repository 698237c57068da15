#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others that look at a machine say where something does not fit: docs/compare.md, each asked anew.

    compare.py               the page's rows must be those of now
    compare.py --write       the page gets them
    compare.py --show ROW    all that each of them printed for the rows whose name holds ROW

From the environment: TCS_TOOL, a built tcstack; TCS_DOUBLES, the driver doubles; TCS_SOURCE_DIR. Exit 77 where PyTorch or
cuda-doctor cannot be had.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import packages
import parts

ROOT = Path(os.environ.get("TCS_SOURCE_DIR") or Path(__file__).resolve().parents[2])
PAGE = ROOT / "docs/compare.md"
DOCTOR = "cuda-doctor==0.2.0"
PATIENCE = 40  # seconds for one of them: longer than any needs that is not hanging
# Where nvcc is of no use ours goes on with another one that is here, and it is no matter of the row which release that is.
OTHER_NVCC = ("--allow", "TCS303")
PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CUDA)\nadd_library(x STATIC x.cu)\n"


class Row:
    """A machine, made from this one by variables. `cause` is what an answer must hold to have named the fault; for CMake,
    which is told architectures in its own words, `archs`."""

    def __init__(self, name, cause, variables=None, archs="native", ours=(), torch=None):
        self.name, self.cause, self.variables = name, cause, variables or {}
        self.archs, self.ours, self.torch = archs, ours, torch


def rows(world):
    toolkit = {"CUDA_HOME": world.toolkit("toolkit-13.2")}
    doubles = os.environ.get("TCS_DOUBLES", "")
    driver = {**toolkit, "LD_LIBRARY_PATH": f"{doubles}/full"}
    return [
        Row("nothing wrong: a machine to build on, without a GPU", None, toolkit),
        Row("nothing wrong: an older libcudart in `LD_LIBRARY_PATH`, behind PyTorch's RPATH", None,
            {**toolkit, "LD_LIBRARY_PATH": f"{world.toolkit('toolkit-13.0')}/lib"}),
        Row("nvcc 12.4, PyTorch for CUDA 13", r"major|TCS302|differs? from|mismatch",
            {"CUDA_HOME": world.toolkit("toolkit-12.4")}),
        Row("`CUDA_HOME` names a folder that is not there", r"/opt/cuda-12\.9[^\n]*(not|no |missing|in vain)|TCS310",
            {"CUDA_HOME": "/opt/cuda-12.9"}),
        Row("nvcc never answers", r"nvcc[^\n]*(hang|time|answer|did not end)|TCS305", {"CUDA_HOME": world.fake_nvcc("sleep 600")},
            ours=OTHER_NVCC),
        Row("nvcc ends with an error", r"nvcc[^\n]*(fails|broken|exit|status 1)|TCS305", {"CUDA_HOME": world.fake_nvcc("exit 1")},
            ours=OTHER_NVCC),
        Row("the toolkit's stub of libcuda in `LD_LIBRARY_PATH`", r"stub", {**toolkit, "LD_LIBRARY_PATH": str(parts.ensure("cuda-stub").parent)},
            ours=("--purpose", "run")),
        Row("for a V100, of which this PyTorch has no image", r"TCS601|TCS901|no kernel image|sm_70|compute_70",
            {**toolkit, "TORCH_CUDA_ARCH_LIST": "7.0"}, "70"),
        Row("a list with `9.0f`, which no nvcc has", r"9\.0f|90f", {**toolkit, "TORCH_CUDA_ARCH_LIST": "8.0;9.0f"}, "80;90f"),
        Row("`NVCC_APPEND_FLAGS=-arch=sm_52`", r"sm_52|NVCC_APPEND_FLAGS[^\n]*arch|TCS805",
            {**toolkit, "NVCC_APPEND_FLAGS": "-arch=sm_52"}, "80"),
        Row("PyTorch 2.3 unpacked without its CUDA libraries", r"libcublas|libcudart\.so\.12|libcudnn", toolkit, torch="torch-2.3.0"),
        Row("a driver of CUDA 11.4 (double)", r"driver[^\n]*too old|TCS204|insufficient",
            {**driver, "TCS_FAKE_CUDA": "version=11040;device=8.6,NVIDIA A10"}, ours=("--purpose", "run")),
        Row("cuInit answers 803 (double)", r"Error 803|system has unsupported display driver|TCS206",
            {**driver, "TCS_FAKE_CUDA": "init=803;version=13020"}, ours=("--purpose", "run")),
    ]


class World:
    def __init__(self, scratch):
        self.scratch = scratch
        self.python = packages.environment()
        self.doctor = self.bring(DOCTOR)
        self.cmake = parts.ensure("cmake-4.4") / "bin/cmake"
        self.count = 0

    def bring(self, requirement):
        """By the pip of the environment, for its own Python, beside it: nothing is installed into it."""
        folder = self.scratch / requirement
        done = subprocess.run([self.python, "-m", "pip", "install", "--quiet", "--target", folder, requirement], check=False)
        if done.returncode != 0:
            raise parts.Unavailable(f"{requirement} cannot be had")
        return folder

    def toolkit(self, part):
        folder = parts.ensure(part)
        return str(folder if (folder / "bin/nvcc").exists() else folder / "nvidia/cu13")

    def fake_nvcc(self, body):
        self.count += 1
        folder = self.scratch / f"toolkit-{self.count}"
        (folder / "bin").mkdir(parents=True)
        (folder / "include").mkdir()
        (folder / "bin/nvcc").write_text(f"#!/bin/sh\n{body}\n", encoding="ascii")
        (folder / "bin/nvcc").chmod(0o755)
        return str(folder)

    def environment(self, row, folder):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(
            ("TORCH_", "CUDA", "CMAKE_", "VIRTUAL_ENV", "CONDA", "PYTHON", "NVCC", "TCS_", "LD_"))}
        nvccs = dict.fromkeys((row.variables["CUDA_HOME"], self.toolkit("toolkit-13.2")))
        path = [f"{toolkit}/bin" for toolkit in nvccs] + [str(self.python.parent)]
        path += [p for p in kept["PATH"].split(":") if "cuda" not in p and p not in path]
        env = {**kept, **row.variables, "PATH": ":".join(path), "HOME": str(folder),
               "TMPDIR": str(folder), "COLUMNS": "200", "LC_ALL": "C.UTF-8", "VIRTUAL_ENV": str(self.python.parent.parent)}
        if row.torch:
            env["PYTHONPATH"] = str(parts.ensure(row.torch))
        return env


def asked(words, env, folder):
    """(exit status or None where it was not waited for, what it printed)"""
    try:
        done = subprocess.run(list(map(str, words)), env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout


def ask_collect_env(world, row, env, folder):
    return asked([world.python, "-m", "torch.utils.collect_env"], env, folder)


def ask_doctor(world, row, env, folder):
    env = {**env, "PYTHONPATH": ":".join(filter(None, (env.get("PYTHONPATH"), str(world.doctor))))}
    return asked([world.python, "-m", "cuda_doctor", "diagnose", "--format", "markdown"], env, folder)


def ask_cmake(world, row, env, folder):
    (folder / "x").mkdir()
    (folder / "x/CMakeLists.txt").write_text(PROJECT, encoding="ascii")
    (folder / "x/x.cu").write_text("__global__ void k() {}\n", encoding="ascii")
    status, text = asked([world.cmake, "-S", "x", "-B", "b", "-G", "Ninja", f"-DCMAKE_CUDA_ARCHITECTURES={row.archs}"], env, folder)
    if status != 0:
        return status, text
    status, built = asked([world.cmake, "--build", "b", "--verbose"], env, folder)
    return status, text + built


def ask_ours(world, row, env, folder):
    return asked([os.environ["TCS_TOOL"], "check", *row.ours], env, folder)


def alarms_of_doctor(text):
    return sorted(set(re.findall(r"\b([A-Z]+\d{3})\b", text)))


def alarms_of_ours(text):
    return sorted(set(re.findall(r"^ *(?:error|warning)\[(TCS\d+)", text, re.M)))


def cell(row, status, text, alarms):
    """In the words of the page's legend. Alarms that the machine without a fault has as well are of no row."""
    if status is None:
        return f"no answer in {PATIENCE} s"
    codes = " ".join(alarms)
    if row.cause is None:
        return f"alarm: {codes}" if alarms else ("silent" if status == 0 else f"ends with {status}")
    named = re.search(row.cause, text, re.I)
    return " ".join(filter(None, ["**named**" if named else "not named", codes, f"({status})"]))


ALWAYS = ("D003", "GPU001", "TORCH002")  # cuda-doctor's for any machine without a GPU; the first row holds them against this
PEERS = {
    "collect_env": (ask_collect_env, lambda text: []),
    "cuda-doctor": (ask_doctor, alarms_of_doctor),
    "CMake": (ask_cmake, lambda text: []),
    "ours": (ask_ours, alarms_of_ours),
}


def answers(world, row, number):
    for name, (ask, alarms) in PEERS.items():
        folder = world.scratch / f"{number}-{name}"
        folder.mkdir()
        status, text = ask(world, row, world.environment(row, folder), folder)
        always = ALWAYS if row.cause and name == "cuda-doctor" else ()
        yield name, status, text, cell(row, status, text, [code for code in alarms(text) if code not in always])


def split_page():
    """The page's lines before its rows, the rows, the lines after them."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("| machine |")) + 2
    end = next(at for at in range(first, len(lines)) if not lines[at].startswith("| "))
    return lines[:first], lines[first:end], lines[end:]


def main(arguments):
    with tempfile.TemporaryDirectory(prefix="tcs-compare-") as folder:
        world = World(Path(folder))
        all_rows = rows(world)
        if arguments[:1] == ["--show"]:
            for number, row in enumerate(r for r in all_rows if arguments[1] in r.name):
                for name, status, text, verdict in answers(world, row, number):
                    print(f"==== {row.name}: {name}: {verdict}\n{text}")
            return 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda at: [c for *_, c in answers(world, all_rows[at], at)], range(len(all_rows))))
    lines = [f"| {row.name} | {' | '.join(cells)} |" for row, cells in zip(all_rows, found)]
    before, page, after = split_page()
    if arguments == ["--write"]:
        PAGE.write_text("\n".join([*before, *lines, *after]) + "\n", encoding="utf-8")
        page = lines
    no_other = not Path("/usr/local/cuda/bin/nvcc").exists()
    faults = [f"now  {new}\npage {old}" for row, old, new in zip(all_rows, page, lines)
              if old != new and not (no_other and row.ours == OTHER_NVCC)]
    if len(page) != len(lines):
        faults.append(f"docs/compare.md has {len(page)} rows, not {len(lines)}")
    print(*faults, f"compare: {len(lines)} machines, {len(faults)} rows are otherwise", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except parts.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
