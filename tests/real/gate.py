#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TorchCudaStackGate.cmake before projects that know nothing of it: plain CMake, scikit-build-core, pip with and without
build isolation; with a real PyTorch, real toolkits and several CMakes, on a machine without a GPU.

    gate.py [TEXT]        the cases whose name contains TEXT

Exit 0: as expected; 77: a part cannot be had here; 1: not as expected (the log is printed).
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import parts

HERE = Path(__file__).resolve().parent
GATE = HERE.parent.parent / "modules" / "TorchCudaStackGate.cmake"
INCLUDES = f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={GATE}"
ALLOW = "-DTorchCudaStack_ALLOW=TCS501;TCS303"  # the wheel lies unpacked alone; nvcc may be of another minor
TOOL = os.environ.get("TCS_TOOL", "tcstack")


class Scratch:
    def __init__(self, root):
        self.root = Path(root)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_CUDA", "CUDA", "PYTHONPATH", "CMAKE_"))}
        self.env.update(TORCH_CUDA_STACK_TOOL=TOOL, TORCH_CUDA_STACK_CACHE_DIR=str(self.root / "cache"),
                        PATH=f"/usr/local/cuda/bin:{os.environ['PATH']}")
        self.log = ""

    def run(self, *command, expect=0, **variables):
        done = subprocess.run(list(map(str, command)), env={**self.env, **variables}, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600, cwd=self.root)
        self.log = done.stdout
        assert (done.returncode != 0) == bool(expect), f"{command[0]} ended with {done.returncode}"
        return done.stdout

    def says(self, *texts):
        for text in texts:
            assert text in self.log, f"does not say: {text}"

    def silent(self, *texts):
        for text in texts:
            assert text not in self.log, f"says: {text}"

    def verified(self, build, module):
        """The images of a built file against the plan of the gate."""
        self.run(TOOL, "verify", module, "--plan", build / "TorchCudaStack" / "gate" / "plan.json")


def torch():
    return parts.ensure("torch-2.15.0")


def torch_dir():
    return f"-DTorch_DIR={torch()}/torch/share/cmake/Torch"


def cmake(version):
    return Path(parts.ensure(f"cmake-{version}")) / "bin" / "cmake"


def builds(s, version, generator, *arguments):
    build = s.root / "build"
    s.run(cmake(version), "-S", HERE / "gated", "-B", build, "-G", generator, INCLUDES, ALLOW, torch_dir(), *arguments)
    s.says("- ok", f"used: {torch()}/torch/share/cmake/Torch")
    s.silent("nothing was repaired", "pytorch is not compatible with")
    s.run(cmake(version), "--build", build, "-j2")
    s.verified(build, next(build.rglob("gated.*.so")))
    s.run(cmake(version), build)
    assert s.log.count("TorchCudaStack: ") <= 2, "a second configure says more than its line"


def case_cmake_3_25(s):
    builds(s, "3.25", "Ninja")


def case_cmake_3_31_multi_config(s):
    builds(s, "3.31", "Ninja Multi-Config", "-DTORCH_CUDA_ARCH_LIST=8.0;9.0+PTX")


def case_cmake_4_4_makefiles(s):
    builds(s, "4.4", "Unix Makefiles", "-DTorchCudaStack_TARGETS=8.6")


def case_toolkit_from_pypi(s):
    """One that has to be completed for CMake, before any language."""
    builds(s, "4.4", "Ninja", f"-DTorchCudaStack_TOOLKIT={parts.ensure('toolkit-13.2')}/nvidia/cu13",
           "-DTORCH_CUDA_ARCH_LIST=9.0")


def case_wrong_toolkit_stops_at_once(s):
    root = parts.ensure("toolkit-12.4")
    for project in ("gated", "gated_cuda"):
        start = time.monotonic()
        s.run(cmake("3.25"), "-S", HERE / project, "-B", s.root / project, "-G", "Ninja", INCLUDES, ALLOW, torch_dir(),
              f"-DTorchCudaStack_TOOLKIT={root}", expect=1)
        print(f"    {project}: stopped after {time.monotonic() - start:.1f} s")
        s.says("error[TCS302 toolkit-major-differs-from-torch]")
        s.silent("compiler identification")


def case_cuda_without_torch(s):
    """project(LANGUAGES CUDA) gets the plan's architectures, with a PyTorch in sight and without."""
    for n, given in enumerate((torch_dir(), "-DTorchCudaStack_TARGETS=8.6;9.0+PTX")):
        build = s.root / f"build{n}"
        s.run(cmake("3.25"), "-S", HERE / "gated_cuda", "-B", build, "-G", "Ninja", INCLUDES, ALLOW, given)
        s.run(cmake("3.25"), "--build", build)
        s.verified(build, next(build.glob("*gated.so")))


def case_newer_cmakes_on_tiny_projects(s):
    """The cases that a build of this repository tries with its own CMake."""
    cases = HERE.parent / "cmake" / "cases.py"
    names = [name for name in s.run(sys.executable, cases, "list").split() if name.startswith("gate_")]
    assert len(names) > 20, names
    for version in ("3.31", "4.4"):
        for name in names:
            s.run(sys.executable, cases, "run", name, TCS_CMAKE=str(cmake(version)), TCS_TOOL=TOOL)


def environment(s, name, torch_inside):
    """A Python environment with scikit-build-core, and with a PyTorch where asked."""
    folder = s.root / name
    s.run(sys.executable, "-m", "venv", folder)
    if torch_inside:
        got = subprocess.run([folder / "bin" / "pip", "install", "-q", "scikit-build-core"], capture_output=True, text=True)
        if got.returncode:
            raise parts.Unavailable(f"scikit-build-core: {got.stderr.strip().splitlines()[-1]}")
        site = next((folder / "lib").glob("python*/site-packages"))
        (site / "torch.pth").write_text(f"{torch()}\n")
    return folder / "bin" / "pip"


def torch_link(s):
    """A folder with a wheel whose installation makes that PyTorch importable."""
    folder = s.root / "links"
    folder.mkdir()
    about = "tcs_torch_link-1.dist-info"
    files = {"tcs_torch_link.pth": f"{torch()}\n",
             f"{about}/METADATA": "Metadata-Version: 2.1\nName: tcs-torch-link\nVersion: 1\n",
             f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: gate.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / "tcs_torch_link-1-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return folder


def project_copy(s):
    return shutil.copytree(HERE / "gated", s.root / "project")


def unpacked(s, wheel):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(s.root / "unpacked")
    return next((s.root / "unpacked").glob("gated.*.so"))


def case_pip_without_isolation(s):
    """The Python whose pip builds is the one whose PyTorch is judged, and used, though PATH leads to another."""
    pip = environment(s, "env", True)
    given = f"{INCLUDES} {ALLOW} -DTORCH_CUDA_ARCH_LIST=8.0;9.0"
    s.run(pip, "wheel", "-v", "--no-build-isolation", "--no-deps", "-w", s.root / "out", project_copy(s), CMAKE_ARGS=given)
    s.says("TorchCudaStack: 8.0 9.0", "torch 2.15.0", f"used: {torch()}/torch/share/cmake/Torch")
    module = unpacked(s, next((s.root / "out").glob("*.whl")))
    s.run(TOOL, "verify", module, "--targets", "8.0;9.0")


def case_pip_with_isolation(s):
    """PyTorch is there for the build alone, through build-system.requires; nothing of that is remembered."""
    pip, project, links = environment(s, "env", False), project_copy(s), torch_link(s)
    for n in range(2):
        s.run(pip, "wheel", "-v", "--no-deps", "--find-links", links, "-w", s.root / f"out{n}",
              f"-Ccmake.define.CMAKE_PROJECT_TOP_LEVEL_INCLUDES={GATE}", project, CMAKE_ARGS=ALLOW)
        s.says("torch 2.15.0", f"used: {torch()}/torch/share/cmake/Torch")
        assert list((s.root / f"out{n}").glob("gated-*.whl"))
    for file in (s.root / "cache").rglob("*"):
        if file.is_file():
            assert b"pip-build-env" not in file.read_bytes(), f"{file} remembers a temporary environment"


def case_pip_stops_with_the_finding(s):
    pip = environment(s, "env", True)
    given = f"{INCLUDES} {ALLOW} -DTORCH_CUDA_ARCH_LIST=6.1"
    s.run(pip, "wheel", "--no-build-isolation", "--no-deps", "-w", s.root / "out", project_copy(s), expect=1,
          CMAKE_ARGS=given)
    s.says("error[TCS901")
    s.silent("compiler identification")


def main():
    cases = {name[5:]: f for name, f in globals().items() if name.startswith("case_")}
    chosen = [name for name in cases if len(sys.argv) < 2 or sys.argv[1] in name]
    bad, skipped = 0, 0
    for name in chosen:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="tcs-gate-") as root:
            s = Scratch(root)
            try:
                cases[name](s)
                verdict = "good"
            except parts.Unavailable as reason:
                skipped, verdict = skipped + 1, f"skipped: {reason}"
            except (AssertionError, StopIteration) as wrong:
                bad, verdict = bad + 1, f"BAD: {wrong!r}"
                print(s.log)
        print(f"{name}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if bad else 77 if skipped == len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
