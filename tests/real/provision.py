#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The nvcc of PyTorch's CUDA out of PyPI, where no other toolkit is in reach: `tcstack toolkit add` and
TorchCudaStack_PROVISION.

A wheel that was changed is refused; calls at once leave one toolkit; CMake enables CUDA with it; an extension with ATen's
CUDA headers configures, builds and is verified; the second configure needs no network. From the environment: TCS_TOOL, a
built tcstack. Exit 77 where something cannot be had here.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matrix
import packages
import parts

RELEASE = "13.2"
# As matrix.ISOLATE, and the machine's own headers.
ISOLATE = 'if [ -d /usr/local/include ]; then mount --bind "$1" /usr/local/include || exit 77; fi\n' + matrix.ISOLATE
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(enabled LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(enabled main.cu)
target_link_libraries(enabled PRIVATE CUDA::cudart)
"""
MAIN = """#include <cuda_runtime.h>
__global__ void kernel(int* p) { *p = 1; }
int main() { int count = 0; kernel<<<1, 1>>>(nullptr); return cudaGetDeviceCount(&count) == cudaSuccess ? 0 : 1; }
"""


class World:
    def __init__(self, scratch):
        self.tool, self.scratch = os.environ["TCS_TOOL"], scratch
        self.empty = scratch / "empty"
        self.empty.mkdir()
        self.python = packages.environment()
        self.env = matrix.environment("none")
        for name in [n for n in self.env if n.startswith(("TORCH_CUDA_STACK_", "CUDAHOSTCXX", "CUDAARCHS"))]:
            del self.env[name]
        self.env.update(XDG_CACHE_HOME=str(scratch / "cache"), TORCH_CUDA_STACK_TOOL=self.tool)

    def run(self, *command, network=True, **more):
        """Exit status and all that was said, on a machine without a toolkit."""
        flags = "-m" if os.geteuid() == 0 else "-rm"
        words = ["unshare", flags + ("" if network else "n"), "sh", "-c", ISOLATE, "sh", self.empty, *command]
        done = subprocess.run(list(map(str, words)), env={**self.env, **more}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
        return done.returncode, done.stdout

    def add(self, release, into, **more):
        return self.run(self.tool, "toolkit", "add", release, "--into", into, **more)


def wants(got, status, *texts):
    """The output, where the command ended with that status and said the texts."""
    if got[0] != status or any(text not in " ".join(got[1].split()) for text in texts):
        print(got[1])
        sys.exit(f"exit status {got[0]}, expected {status} and: {' | '.join(texts)}")
    return got[1]


def nothing_beside(into):
    left = [path.name for path in into.parent.glob(f"{into.name}*")]
    if left != ([into.name] if into.exists() else []):
        sys.exit(f"beside {into}: {left}")


def wheels(world):
    """The wheels of the release as files, and the digests of the table."""
    folder = world.scratch / "wheels"
    told = subprocess.check_output([world.tool, "tables", "toolkit-wheels", "--json"], text=True)
    rows = [row for row in json.loads(told)["tables"][0]["rows"] if row["cuda"].startswith(RELEASE + ".")]
    pins = world.scratch / "pins.txt"
    pins.write_text("".join(f"{row['package']}=={row['version']} --hash=sha256:{row[os.uname().machine]}\n"
                            for row in rows), encoding="ascii")
    parts.run("wheels", [*parts.pip_command(), "download", "--quiet", "--no-deps", "--only-binary=:all:",
                         "--require-hashes", "--dest", folder, "-r", pins])
    return folder


def try_add(world):
    folder, into = wheels(world), world.scratch / "a folder" / "cuda"
    local = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder).replace(" ", "%20"), "network": False}
    changed = world.scratch / "changed"
    shutil.copytree(folder, changed)
    with open(next(changed.glob("nvidia_cuda_crt*")), "ab") as wheel:
        wheel.write(b"\0")
    wants(world.add(RELEASE, into, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(changed), network=False), 1,
          "DO NOT MATCH THE HASHES", "nvidia-cuda-crt")
    if into.exists():
        sys.exit(f"{into} is there after a refusal")
    nothing_beside(into)
    shutil.rmtree(changed)
    print("a changed wheel is refused, and nothing stays")

    command = ["sh", "-c", '"$@" & "$@" & wait $! ; a=$?; wait; exit $a', "sh",
               world.tool, "toolkit", "add", RELEASE, "--into", into]
    wants(world.run(*command, **local), 0, f"{into}'")
    nothing_beside(into)
    wants(world.add(RELEASE, into, **local), 0, "is there already")
    wants(world.add("13.0", into, **local), 2, "left as it is")
    wants(world.run(into / "bin/nvcc", "--version"), 0, f"release {RELEASE},")
    print("two calls at once make one toolkit; another release is not put over it")
    try_odd_places(world, local)
    return into


def try_odd_places(world, local):
    """An empty folder that cannot be replaced, settings of pip that lead elsewhere, a toolkit that lost its nvcc."""
    into = world.scratch / "mounted"
    into.mkdir()
    inode = into.stat().st_ino
    elsewhere = {"PIP_PREFIX": str(world.scratch / "p"), "PIP_ROOT": str(world.scratch / "r"), "PIP_DRY_RUN": "1",
                 "PIP_CONSTRAINT": "/none", "PIP_PLATFORM": "win32", "PIP_REQUIREMENT": "/none"}
    wants(world.add(RELEASE, into, **local, **elsewhere), 0, f"{into}'")
    left = [path.name for path in into.glob(".tmp*")]
    if into.stat().st_ino != inode or left or (world.scratch / "r").exists():
        sys.exit(f"the folder was replaced, or more was left: {left}")
    shutil.rmtree(into / "nvidia")
    wants(world.add(RELEASE, into, **local), 2, "has lost its nvcc")
    shutil.rmtree(into)
    without = {**local, "PIP_FIND_LINKS": str(world.empty), "PIP_NO_INDEX": "1"}
    wants(world.add(RELEASE, into, **without), 1, "No matching distribution", "PIP_FIND_LINKS=FOLDER")
    print("an empty folder is filled, pip's settings do not lead elsewhere, a broken toolkit is told")


def try_cmake(world, into):
    source, build = world.scratch / "enabled", world.scratch / "enabled-build"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT, encoding="ascii")
    (source / "main.cu").write_text(MAIN, encoding="ascii")
    cmake = parts.ensure("cmake-3.25") / "bin/cmake"
    wants(world.run(cmake, "-S", source, "-B", build, f"-DCUDAToolkit_ROOT={into}",
                    f"-DCMAKE_CUDA_COMPILER={into}/bin/nvcc", "-DCMAKE_CUDA_ARCHITECTURES=80"), 0,
          "Found CUDAToolkit")
    wants(world.run(cmake, "--build", build), 0, "Built target enabled")
    print("CMake 3.25 enables CUDA and links with it")


def try_provision(world):
    source = world.scratch / "project"
    shutil.copytree(matrix.PROJECT, source)
    text = (source / "op.cpp").read_text(encoding="ascii")
    other = text.replace("<c10/cuda/CUDAStream.h>", "<ATen/cuda/CUDAContext.h>")
    (source / "op.cpp").write_text(other, encoding="ascii")
    if other == text:
        sys.exit("the project has another include by now")
    modules = source / "CMakeLists.txt"
    modules.write_text(modules.read_text(encoding="ascii").replace(
        "${CMAKE_CURRENT_SOURCE_DIR}/../../..", str(matrix.HERE.parents[1])), encoding="ascii")
    cmake = parts.ensure("cmake-4.4") / "bin/cmake"

    def configure(build, *more, **how):
        return world.run(cmake, "-S", source, "-B", world.scratch / build, "-G", "Ninja",
                         f"-DPython_EXECUTABLE={world.python}", "-DTORCH_CUDA_ARCH_LIST=8.0", *more, **how)

    on = "-DTorchCudaStack_PROVISION=ON"
    wants(configure("without"), 1, "error[TCS301", "TorchCudaStack_PROVISION=ON")
    wants(configure("offline", on, network=False, PIP_RETRIES="0"), 1, "error[TCS301", "could not be fetched")
    wants(configure("first", on), 0, f"pip fetches nvcc of CUDA {RELEASE}", "came from PyPI")
    wants(world.run(cmake, "--build", world.scratch / "first"), 0, "verified: ")
    print("PROVISION brings it, and an extension with ATen's CUDA headers is built and verified")
    for build, more in ("first", {}), ("second", {}), ("third", {"TORCH_CUDA_STACK_PROVISION": "ON"}):
        text = wants(configure(build, *([] if more else [on]), network=False, **more), 0)
        if "PROVISION" in text:
            sys.exit(f"{build}: {text}")
    wants(world.run(world.tool, "run", "--provision", "--arch-list", "8.0", f"-DPython_EXECUTABLE={world.python}",
                    "--", "nvcc", "--version", network=False), 0, f"release {RELEASE},")
    print("what comes later needs no network")
    if "toolkits-pypi: 0 files" in wants(world.run(world.tool, "cache", "info"), 0, "toolkits-pypi: "):
        sys.exit("the cache does not know the toolkit")
    wants(world.run(world.tool, "cache", "clear"), 0)
    if any((world.scratch / "cache/torch-cuda-stack/toolkits-pypi").glob("*")):
        sys.exit("the cache keeps the toolkit")


def main():
    if not matrix.can_isolate():
        print("no mount namespaces here")
        return parts.SKIP
    with tempfile.TemporaryDirectory(prefix="tcs-provision-") as scratch:
        world = World(Path(scratch))
        try_cmake(world, try_add(world))
        try_provision(world)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"skip: {reason}")
        sys.exit(parts.SKIP)
