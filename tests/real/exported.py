#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A CUDA library with a real PyTorch: compiled and verified, install(EXPORT)ed, moved; then found, linked and run by a
project in another folder, with another CMake, where no nvcc and no CUDA toolkit is in reach.

From the environment: TCS_TOOL, a built tcstack. Exit 77 where something cannot be had here.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matrix
import packages
import parts

REPO = Path(__file__).resolve().parent.parent.parent
LIBRARY = """cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "${MODULES}")
find_package(TorchCudaStack 0.1 REQUIRED)
add_library(kernels OBJECT kernel.cu)
set_target_properties(kernels PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(kernels PRIVATE TorchCudaStack::Archs)
add_library(shared SHARED op.cpp $<TARGET_OBJECTS:kernels>)
target_link_libraries(shared PUBLIC TorchCudaStack::Torch)
add_library(static STATIC op.cpp kernel.cu)
target_link_libraries(static PRIVATE TorchCudaStack::Torch)
torch_cuda_stack_verify(static)
string(REGEX MATCH "^[0-9]+[.][0-9]+" MINOR "${TorchCudaStack_TORCH_VERSION}")
install(TARGETS shared static EXPORT mine)
install(EXPORT mine NAMESPACE mine:: FILE mine-targets.cmake DESTINATION lib/cmake/mine)
configure_file(mine-config.cmake.in mine-config.cmake @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mine-config.cmake" "${TorchCudaStack_LINK_MODULE}" DESTINATION lib/cmake/mine)
"""
CONFIG = """include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_dependency(TorchCudaStackLink @MINOR@)
include("${CMAKE_CURRENT_LIST_DIR}/mine-targets.cmake")
"""
KERNEL = """#include <cuda_runtime.h>
__global__ void kernel(int* p) { *p = 1; }
int devices() { int n = 0; kernel<<<1, 1>>>(nullptr); return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0; }
"""
OP = """#include <ATen/ATen.h>
int devices();
long sum() { return at::ones({3}).sum().item<long>() + 0 * devices(); }
"""
USE = """cmake_minimum_required(VERSION 3.25)
project(use LANGUAGES CXX)
find_package(mine REQUIRED)
foreach(kind IN ITEMS shared static)
  add_executable(use_${kind} main.cpp)
  target_link_libraries(use_${kind} PRIVATE mine::${kind})
endforeach()
"""
MAIN = "long sum();\nint main() { return sum() != 3; }\n"


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                          check=False, **more)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"{command[0]} ended with {done.returncode}")
    return done.stdout


def project(folder, **files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", "-").replace("_", ".")).write_text(text)
    return folder


def cmake(version):
    return Path(parts.ensure(f"cmake-{version}")) / "bin" / "cmake"


def main():
    if not shutil.which("nvcc") and not Path("/usr/local/cuda/bin/nvcc").exists():
        raise parts.Unavailable("no nvcc here")
    python = packages.environment()
    with tempfile.TemporaryDirectory(prefix="tcs-exported-") as scratch:
        root = Path(scratch)
        library = project(root / "library", CMakeLists_txt=LIBRARY, mine__config_cmake_in=CONFIG, kernel_cu=KERNEL, op_cpp=OP)
        build = root / "build of it"
        env = {**matrix.environment("none"), "PATH": f"/usr/local/cuda/bin:{os.environ['PATH']}"}
        told = run(cmake("3.25"), "-S", library, "-B", build, "-G", "Ninja", f"-DMODULES={REPO / 'modules'}",
                   f"-DTorchCudaStack_TOOL={os.environ['TCS_TOOL']}", f"-DPython_EXECUTABLE={python}",
                   "-DTORCH_CUDA_ARCH_LIST=9.0", f"-DCMAKE_INSTALL_PREFIX={root / 'first'}", env=env)
        assert "TorchCudaStack: 9.0" in told, told
        run(cmake("3.25"), "--build", build, env=env)
        run(cmake("3.25"), "--install", build, env=env)
        (root / "another place").mkdir()
        prefix = (root / "first").rename(root / "another place" / "prefix")
        shutil.rmtree(build)
        shutil.rmtree(library)
        for text in (prefix / "lib" / "cmake" / "mine").glob("mine-*.cmake"):
            for path in (str(root), str(REPO), "/usr/local", "site-packages", "gencode"):
                assert path not in text.read_text(), f"{text.name} holds {path}"
        print("built, verified, installed, moved; no path of this machine in what was installed")

        use = project(root / "use of it", CMakeLists_txt=USE, main_cpp=MAIN)
        (root / "empty").mkdir()
        words = []
        if matrix.can_isolate():
            words = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", matrix.ISOLATE, "sh", root / "empty"]
        told = run(*words, cmake("4.4"), "-S", use, "-B", use / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
                   f"-DPython_EXECUTABLE={python}", env=matrix.environment("none"))
        assert "Found TorchCudaStackLink: " in told and "CUDA compiler" not in told, told
        run(*words, cmake("4.4"), "--build", use / "build", env=matrix.environment("none"))
        for kind in ("shared", "static"):
            run(*words, use / "build" / f"use_{kind}", env=matrix.environment("none"))
        print("found, linked and run " + ("where no nvcc is in reach" if words else "(nvcc could not be hidden here)"))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
