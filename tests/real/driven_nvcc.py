#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a real nvcc refuses the host compiler that it would call, the environment of `tcstack plan --emit env` makes it
compile, as a build does that only calls nvcc; a pip toolkit links by CUDA_HOME and lib64 alone; and what PyTorch's list
cannot say is built beside what it says.

From the environment: TCS_TOOL.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import parts

KERNEL = ("__global__ void k(float* p) { *p = 1.f; }\n"
          "int main() { k<<<1, 1>>>(nullptr); return cudaDeviceReset() != 0; }\n")


def shell(text, folder, toolkit, **variables):
    """The text in sh, with no toolkit in reach but by what plan says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "NVCC", "TORCH"))}
    for name in ("CC", "CXX", "LIBRARY_PATH", "CMAKE_ARGS"):
        environment.pop(name, None)
    environment.update(variables, XDG_CACHE_HOME=str(folder / "cache"), TOOL=os.environ["TCS_TOOL"],
                       TOOLKIT=str(toolkit))
    return subprocess.run(["sh", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False)


TOLD = ' "-DTorchCudaStack_TOOLKIT=$TOOLKIT"'
PLAN = f'"$TOOL" plan --emit env --arch-list 8.6 --fail-on never{TOLD} > env.sh 2> notes && . ./env.sh && '


def refused(folder):
    """nvcc 11.8 and a g++ after 11."""
    toolkit = parts.ensure("toolkit-11.8")
    plain = shell('"$TOOLKIT/bin/nvcc" -c k.cu -o k.o', folder, toolkit)
    if plain.returncode == 0:
        return print("skip: this machine's g++ is one that nvcc 11.8 takes")
    done = shell(PLAN + "nvcc -c k.cu -o k.o && echo $NVCC_CCBIN", folder, toolkit)
    said = (folder / "env.sh").read_text(encoding="utf-8")
    if "NVCC_CCBIN" not in said:
        return print("skip: this machine has no host compiler that nvcc 11.8 takes")
    assert done.returncode == 0, done.stderr
    assert "NVCC_PREPEND_FLAGS='-ccbin " in said, said
    return print(f"nvcc 11.8 compiles with {done.stdout.strip()}, and alone it does not")


def linked(folder):
    """Of pip's layout, as setuptools calls the linker."""
    toolkit = parts.ensure("toolkit-13.2") / "nvidia/cu13"
    link = 'nvcc -c k.cu -o k.o && g++ k.o "-L$CUDA_HOME/lib64" -lcudart -o k && echo $CUDA_HOME'
    done = shell(PLAN + link, folder, toolkit)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() != str(toolkit), done.stdout
    print("a pip toolkit links by its completed CUDA_HOME")
    done = shell(PLAN.replace(TOLD, "") + link, folder, toolkit, CUDA_HOME=str(toolkit))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(toolkit), done.stdout
    assert "LIBRARY_PATH" in (folder / "env.sh").read_text(encoding="utf-8")
    print("and by the user's own, which stays")


def beside(folder):
    """12.0f, which PyTorch's list has no word for: what stands in the list and what is appended go together."""
    toolkit = parts.ensure("toolkit-13.2") / "nvidia/cu13"
    build = ('listed=$(echo $TORCH_CUDA_ARCH_LIST | tr -d .) && '
             'nvcc -gencode=arch=compute_$listed,code=sm_$listed -c k.cu -o k.o && "$TOOL" images k.o')
    done = shell(PLAN.replace("8.6", "12.0f") + build, folder, toolkit)
    assert done.returncode == 0, done.stderr
    assert "sm_120f" in done.stdout and "sm_120a" in done.stdout, done.stdout
    print("nvcc builds 12.0f beside the 12.0a that keeps PyTorch's list from being empty")


def main():
    for case in (refused, linked, beside):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.cu").write_text(KERNEL, encoding="ascii")
            case(Path(folder))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"skip: {reason}")
        sys.exit(parts.SKIP)
