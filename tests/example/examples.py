#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples as somebody who copied them has them: outside of the checkout, built for one architecture, verified,
imported, their own tests run. The CUDA side is compiled and read, not run: there is no GPU.

    examples.py NAME         a folder of examples/
    examples.py wheel        the wheel of torch-cuda-stack for the examples that pip builds, into TCS_WHEEL_DIR

From the environment: TCS_TOOL, a built tcstack; TCS_SOURCE_DIR; TCS_QUICKSTART_VENV, an environment whose PyTorch 2.15 is
used where parts.py has none yet; TCS_WHEEL, another wheel of torch-cuda-stack. Exit 77 where something cannot be had here.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

SOURCE = Path(os.environ.get("TCS_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(SOURCE / "tests/real"))
import packages  # noqa: E402
import parts  # noqa: E402

TOOL = os.environ.get("TCS_TOOL", "tcstack")
BUILD_TOOLS = ["scikit-build-core>=0.11", "setuptools", "wheel", "ninja", "packaging"]
TARGET = "9.0"


class World:
    def __init__(self, scratch, name):
        self.scratch, self.tools = scratch, scratch / "tools"
        self.copy = scratch / "a copy" / name  # a blank in the path: what users have
        if name != "wheel":
            shutil.copytree(SOURCE / "examples" / name, self.copy)
        self.python = packages.environment()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(
            ("TORCH_CUDA", "CUDA", "CMAKE_", "VIRTUAL_ENV", "CONDA", "PYTHON", "MAX_JOBS", "NVCC", "TCS_"))}
        self.env.update(TORCH_CUDA_STACK_TARGETS=TARGET, TORCH_CUDA_STACK_CACHE_DIR=str(scratch / "cache"),
                        TMPDIR=str(scratch), PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONDONTWRITEBYTECODE="1",
                        PATH=f"{self.python.parent}:{os.environ['PATH']}:/usr/local/cuda/bin")

    def run(self, *words, cwd=None, **variables):
        done = subprocess.run(list(map(str, words)), env={**self.env, **variables}, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", cwd=cwd or self.scratch,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def cmake(self, *options, build="build", modules=True):
        """Configured, built, its ctest run; the build folder and what the configure said."""
        folder = self.copy / build
        modules = [f"-DCMAKE_MODULE_PATH={SOURCE}/modules"] if modules else []
        said = self.run("cmake", "-S", self.copy, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        f"-DPython_EXECUTABLE={self.python}", *modules, *options, TORCH_CUDA_STACK_TOOL=TOOL)
        self.run("cmake", "--build", folder)
        self.run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error")
        return folder, said

    def python_of_readme(self, **variables):
        """What the README has typed to python3, in the example's own folder, where its Python package is not found by chance."""
        lines = re.findall(r"^    ((?:PYTHONPATH=\S+ )?python3 .*)$", (self.copy / "README.md").read_text(encoding="utf-8"), re.M)
        expect("a line for python3 in the README", bool(lines), True)
        return [self.run("bash", "-ec", line, cwd=self.copy, **variables) for line in lines]

    def verified(self, folder, pattern, *options):
        [file] = folder.rglob(pattern)
        self.run(TOOL, "verify", file, *(options or ("--targets", TARGET)))
        return file

    def images(self, file):
        return sorted(set(re.findall(r"\b(?:sm|compute)_\w+", self.run(TOOL, "images", file))))

    def bring_build_tools(self):
        self.run(self.python, "-m", "pip", "install", "--quiet", "--target", self.tools, *BUILD_TOOLS)

    def wheel(self, package):
        """Built by pip without isolation, so that the PyTorch that is here is used; installed, tested, verified."""
        self.bring_build_tools()
        self.run(self.python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", self.tools, our_wheel(self))
        dist, site = self.scratch / "dist", self.scratch / "site"
        said = self.run(self.python, "-m", "pip", "wheel", "--verbose", "--no-build-isolation", "--no-deps",
                        "--wheel-dir", dist, self.copy, PYTHONPATH=str(self.tools), PATH=f"{self.tools}/bin:{self.env['PATH']}")
        [wheel] = dist.glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(site)
        self.python_of_readme(PYTHONPATH=str(site))
        return wheel, self.verified(site / package, "_C*.so"), said


def our_wheel(world):
    """TCS_WHEEL, else the one that `examples.py wheel` left in TCS_WHEEL_DIR, else built anew."""
    if os.environ.get("TCS_WHEEL"):
        return Path(os.environ["TCS_WHEEL"])
    made = sorted(Path(os.environ.get("TCS_WHEEL_DIR") or "/nowhere").glob("*.whl"))
    return made[-1] if made else build_wheel(world, world.scratch / "ours")


def build_wheel(world, dist):
    """Of the checkout for this machine, by its own compiler: the whole tool, so that what pip brings is what is used."""
    launcher = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
    shutil.rmtree(dist, ignore_errors=True)
    world.run(world.python, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", dist, "-C",
              f"build-dir={world.scratch}/ours-build", SOURCE, PYTHONPATH=str(world.tools),
              PATH=f"{world.tools}/bin:{world.env['PATH']}", **launcher)
    [wheel] = dist.glob("*.whl")
    return wheel


def expect(what, value, wanted):
    if value != wanted:
        sys.exit(f"{what}: {value}, not {wanted}")


def holds(text, *wanted):
    for part in wanted:
        if part not in text:
            sys.exit(f"this lacks {part!r}:\n{text}")


def case_find_package(world):
    """Built and tested by the quickstart; what is left is the README's line."""
    (world.copy / "build").symlink_to(Path(os.environ["TCS_QUICKSTART_VENV"]).parent / "example")
    [said] = world.python_of_readme()
    holds(said, "tensor(")


def case_wheel(world):
    world.bring_build_tools()
    build_wheel(world, Path(os.environ["TCS_WHEEL_DIR"]))


def case_scikit_build_core(world):
    wheel, _, said = world.wheel("swiglu")
    holds(said, f"TorchCudaStack: {TARGET}")
    expect("tag", wheel.name.split("-")[2].startswith("cp3"), True)


def case_setuptools(world):
    _, file, _ = world.wheel("squared_relu")
    expect("images", world.images(file), ["sm_90"])


def case_stable_abi(world):
    wheel, file, _ = world.wheel("softcap")
    holds(wheel.name, "-cp39-abi3-")
    expect("file", file.name, "_C.abi3.so")
    undefined = [line.split()[-1].split("@")[0] for line in world.run("nm", "-D", "--undefined-only", file).splitlines()]
    expect("of Python's API", [name for name in undefined if name.startswith(("Py", "_Py"))], ["PyModule_Create2"])
    # PyTorch's C++ names are mangled with their namespaces; its stable ones are C.
    expect("of PyTorch's C++ API", [name for name in undefined if re.match(r"_ZNK?\d*(2at|3c10|5torch|5caffe2)", name)], [])


def case_fetchcontent(world):
    """From a git repository, as FetchContent gets it; what the checkout has is committed into one."""
    repository = world.scratch / "repository"
    for folder in ("modules", "probe-src", "cmake"):
        shutil.copytree(SOURCE / folder, repository / folder)
    for file in ("CMakeLists.txt", "VERSION", "LICENSE"):
        shutil.copy(SOURCE / file, repository / file)
    git = ["git", "-C", repository, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    world.run("git", "init", "--quiet", repository)
    world.run(*git, "add", "--all")
    world.run(*git, "commit", "--quiet", "-m", "all")
    commit = world.run(*git, "rev-parse", "HEAD").strip()
    folder, said = world.cmake(f"-DTCS_REPOSITORY={repository}", f"-DTCS_TAG={commit}", modules=False)
    holds(said, f"TorchCudaStack: {TARGET}")
    world.verified(folder, "libcount_nonfinite.so")


def case_per_source_archs(world):
    both, _ = world.cmake("-DTorchCudaStack_TARGETS=9.0;10.0")
    [file] = both.rglob("_C*.so")
    expect("images for 9.0 and 10.0", world.images(file), ["sm_100", "sm_100f", "sm_90", "sm_90a"])
    alone, _ = world.cmake("-DTorchCudaStack_TARGETS=8.6", build="alone")
    [file] = alone.rglob("_C*.so")
    expect("images for 8.6", world.images(file), ["sm_86"])


def case_cpu_fallback(world):
    ask = "import abs_diff; print(abs_diff.HAS_CUDA)"
    nowhere = f"-DTorchCudaStack_TOOLKIT={world.scratch}/nowhere"
    for build, options, text, cuda in (("cuda", ["-DABS_DIFF_CUDA=ON"], "with CUDA", True),
                                       ("none", [nowhere], "for the CPU alone", False),
                                       ("off", ["-DABS_DIFF_CUDA=OFF"], "for the CPU alone", False)):
        if build == "off":
            # The sources are those of "none": configured only.
            said = world.run("cmake", "-S", world.copy, "-B", world.copy / build, "-G", "Ninja", *options,
                             f"-DPython_EXECUTABLE={world.python}")
            holds(said, text)
            continue
        folder, said = world.cmake(*options, build=build)
        holds(said, text, *(["TCS305"] if build == "none" else []))
        told = world.run(world.python, "-c", ask, PYTHONPATH=str(folder / "python")).strip()
        expect(f"HAS_CUDA of {build}", told, str(cuda))
        if cuda:
            world.verified(folder, "_C*.so")
            (world.copy / "build").symlink_to(folder)
            expect("the README's line", world.python_of_readme(), ["True\n"])
        else:
            [file] = folder.rglob("_C*.so")
            if "cudart" in world.run("readelf", "-d", file):
                sys.exit(f"{file} needs the CUDA runtime")
    refused = subprocess.run(["cmake", "-S", world.copy, "-B", world.copy / "refused", "-G", "Ninja", nowhere,
                              "-DABS_DIFF_CUDA=ON", f"-DCMAKE_MODULE_PATH={SOURCE}/modules",
                              f"-DPython_EXECUTABLE={world.python}"], capture_output=True, text=True,
                             env={**world.env, "TORCH_CUDA_STACK_TOOL": TOOL}, check=False)
    expect("ON without a toolkit succeeds", refused.returncode == 0, False)
    holds(refused.stdout + refused.stderr, "TCS305")


def main():
    cases = {name[5:].replace("_", "-"): case for name, case in globals().items() if name.startswith("case_")}
    if len(sys.argv) != 2 or sys.argv[1] not in cases:
        sys.exit(f"usage: examples.py {'|'.join(cases)}")
    name = sys.argv[1]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tcs-example-") as folder:
        try:
            cases[name](World(Path(folder), name))
        except parts.Unavailable as reason:
            print(f"skipped: {reason}")
            sys.exit(77)
    print(f"{name}: passed in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
