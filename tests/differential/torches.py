# SPDX-License-Identifier: Apache-2.0
"""PyTorch's two readers of an arch list, out of its wheels: _get_cuda_arch_flags of torch.utils.cpp_extension, cut out
of its file and run with a stub for torch, and cuda_select_nvcc_arch_flags of select_compute_arch.cmake, by `cmake -P`.

Both give for each question the set of (virtual, real) pairs, or the text of their refusal.
"""
import ast
import collections
import logging
import os
import re
import subprocess
import sys
import types
import typing
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "real"))
import parts  # noqa: E402

RELEASES = ("2.15.0", "2.11.0", "2.7.1", "2.3.0", "1.13.1")
TIMEOUT_S = 300
CHUNK = 500


def pairs_in(flags):
    """(virtual, real) of every -gencode in a text: {("compute_80", "sm_86"), ("compute_80", "compute_80")}."""
    found = set()
    for virtual, codes in re.findall(r"arch=(compute_[^,\s]*),code=\[?([^\]\s;\"]+)", flags):
        found |= {(virtual, code) for code in codes.split(",")}
    return found


class Python:
    """torch.utils.cpp_extension of one release."""

    def __init__(self, release):
        source = (Path(parts.ensure(f"torch-{release}")) / "torch/utils/cpp_extension.py").read_text(encoding="utf-8")
        node = next(n for n in ast.parse(source).body
                    if isinstance(n, ast.FunctionDef) and n.name == "_get_cuda_arch_flags")
        self.devices, self.images = [], []
        cuda = types.SimpleNamespace(
            device_count=lambda: len(self.devices), get_arch_list=lambda: self.images,
            get_device_capability=lambda i: tuple(map(int, self.devices[i].split("."))))
        torch = types.SimpleNamespace(cuda=cuda, distributed=types.SimpleNamespace(is_available=lambda: False))
        space = {"os": os, "re": re, "collections": collections, "torch": torch, "warnings": warnings,
                 "logger": logging.getLogger("torch"), "List": typing.List, "Optional": typing.Optional}
        exec("from __future__ import annotations\n" + ast.unparse(node), space)  # pylint: disable=exec-used
        self.function = space["_get_cuda_arch_flags"]

    def read(self, arch_list, devices=(), images=()):
        """None for a list that was not set. A text: the exception it ends in."""
        self.devices, self.images = list(devices), list(images)
        os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
        if arch_list is not None:
            os.environ["TORCH_CUDA_ARCH_LIST"] = arch_list
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return pairs_in(" ".join(self.function()))
        except (ValueError, IndexError) as error:
            return f"{type(error).__name__}: {error}"


# In place of compiling and running a program that prints the capabilities of the devices.
NO_RUN = """
set(PROJECT_BINARY_DIR "@FOLDER@")
function(try_run result compiled)
  cmake_parse_arguments(arg "" "RUN_OUTPUT_VARIABLE" "" ${ARGN})
  set(${compiled} TRUE PARENT_SCOPE)
  set(${result} 1 PARENT_SCOPE)
  if(tcs_devices)
    set(${result} 0 PARENT_SCOPE)
    set(${arg_RUN_OUTPUT_VARIABLE} "${tcs_devices}" PARENT_SCOPE)
  endif()
endfunction()
function(tcs_ask number devices list)
  set(tcs_devices "${devices}")
  unset(CUDA_GPU_DETECT_OUTPUT CACHE)
  message(NOTICE "@${number}")
  cuda_select_nvcc_arch_flags(flags ${list})
  message(NOTICE "@${number} = ${flags}")
endfunction()
"""


class CMake:
    """select_compute_arch.cmake of one release."""

    def __init__(self, release, folder):
        wheel = Path(parts.ensure(f"torch-{release}"))
        self.module = next((wheel / "torch/share/cmake").rglob("select_compute_arch.cmake"))
        self.script = Path(folder) / f"torch-{release}.cmake"

    def read(self, questions):
        """The answers to [(nvcc release, arch list or None, devices)]; one `cmake -P` for as many as it survives."""
        found = {}
        order = sorted(range(len(questions)), key=lambda number: questions[number][0])
        for at in range(0, len(order), CHUNK):
            left = order[at:at + CHUNK]
            while left:
                found.update(self.run([(number, *questions[number]) for number in left]))
                left = [number for number in left if number not in found]
        return [found[number] for number in range(len(questions))]

    def run(self, numbered):
        lines, before = [NO_RUN.replace("@FOLDER@", str(self.script.parent))], None
        for number, nvcc, arch_list, devices in numbered:
            if nvcc != before:
                lines += ["unset(CUDA_LIMIT_GPU_ARCHITECTURE)", f"set(CUDA_VERSION {nvcc})",
                          f'include("{self.module}")']
            before = nvcc
            lines.append(f"tcs_ask({number} [==[{' '.join(devices)}]==] [==[{arch_list or ''}]==])")
        self.script.write_text("\n".join(lines), encoding="utf-8")
        done = subprocess.run(["cmake", "-P", self.script], capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False)
        found = {}
        for number, said in re.findall(r"^@(\d+)\n(.*?)(?=^@\d+\n|\Z)", done.stderr, re.MULTILINE | re.DOTALL):
            errors = re.findall(r"CMake Error[^\n]*:\n+(.*?)\n\n", said, re.DOTALL)
            flags = re.search(rf"^@{number} = (.*)$", said, re.MULTILINE)
            if not errors and not flags:
                sys.exit(f"torch's CMake gave no answer to {questions_text(numbered, number)}: {said}")
            found[int(number)] = " ".join(errors[0].split()) if errors else pairs_in(flags[1])
        if not found:
            sys.exit(f"torch's CMake gave no answers: {done.stderr}")
        return found


def questions_text(numbered, number):
    return next(repr(row[1:]) for row in numbered if row[0] == int(number))
