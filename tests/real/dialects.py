#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each dialect of a plan against its real consumer.

    torch's CMake   cuda_select_nvcc_arch_flags of select_compute_arch.cmake in the wheels, by `cmake -P`
    torch's Python  _get_cuda_arch_flags, cut out of the wheels' cpp_extension.py, with a stub for torch
    CMake           CUDA_ARCHITECTURES of real targets: one configure of a tiny project, flags read in build.ninja
    nvcc            `nvcc --dryrun` with the gencode flags, -arch=all, -arch=all-major, and every architecture alone

And the architectures that each wheel is said to be built for, from the images in its libraries, are those that its
builders asked for (libtorch_cuda.so has them in every fat binary; libtorch_cuda_linalg.so has not).

All are compared as sets of (virtual, real) pairs, or of images where a consumer shows no more. What a dialect says to
leave out must be exactly what is missing from it.

    dialects.py        environment: TCS_TOOL, the tcstack to test. Exit 77 when a part cannot be had.
"""
import ast
import collections
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
import typing
from pathlib import Path

import parts

# torch wheel -> the CUDA release of an nvcc that its users have
TORCHES = {"torch-2.15.0": "13.2", "torch-2.11.0": "13.0", "torch-2.7.1": "12.8", "torch-2.3.0": "12.4",
           "torch-1.13.1": "11.8"}
OWN = {"torch-2.15.0": "7.5;8.0;8.6;9.0;10.0;12.0", "torch-2.11.0": "7.5;8.0;8.6;9.0;10.0;12.0",
       "torch-2.7.1": "5.0;6.0;7.0;7.5;8.0;8.6;9.0", "torch-2.3.0": "5.0;6.0;7.0;7.5;8.0;8.6;9.0",
       "torch-1.13.1": "3.7;5.0;6.0;7.0;7.5;8.0;8.6"}
NVCCS = {"toolkit-13.0": ("13.0", "nvidia/cu13/bin/nvcc"), "toolkit-13.2": ("13.2", "nvidia/cu13/bin/nvcc"),
         "toolkit-13.5": ("13.5", "nvidia/cu13/bin/nvcc"), "toolkit-12.4": ("12.4", "bin/nvcc"),
         "toolkit-11.8": ("11.8", "bin/nvcc")}
LISTS = ["8.0", "8.6+PTX", "8.0;8.6;8.9;9.0+PTX", "9.0 8.0", "9.0a;9.0", "9.0a+PTX", "8.6(8.0)", "8.6(8.0)+PTX",
         "8.0+PTX;8.6(8.0)", "80-virtual;8.6", "Ampere", "Ampere+PTX", "Turing;Hopper", "Blackwell", "Blackwell+PTX",
         "Blackwell+Tegra", "10.0;12.0", "10.0a;12.0a", "12.0f;10.0f", "12.1", "10.1", "10.3", "11.0", "8.7", "8.8",
         "12.1 9.0 8.0 10.0+PTX", "all", "all-major", "Kepler;Maxwell;Pascal;Volta", "Kepler+Tesla;3.5+PTX",
         "6.1;7.0;7.5", "7.5;8.0;8.6;9.0;10.0;12.0"]
ARCHS = [f"{sm}{suffix}" for sm in (
    "30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 107 110 120 121").split() for suffix in
    ("", "a", "f")]
CMAKES = {"cmake-3.25": "plain", "cmake-4.4": "all"}
TIMEOUT_S = 300

Answer = collections.namedtuple("Answer", "text left_out")
failures = []
counts = collections.Counter()


def check(holds, kind, text):
    """Count a comparison; say what is wrong and go on."""
    counts[kind] += 1
    if not holds:
        failures.append(text)
        print(f"FAIL {kind}: {text}", flush=True)


def pairs(flags):
    """(virtual, real) of every -gencode in a text: {('compute_80', 'sm_86'), ('compute_80', 'compute_80')}."""
    found = set()
    for virtual, codes in re.findall(r"arch=(compute_\d+[af]?),code=\[?([a-z0-9_,]+)", flags):
        found |= {(virtual, code) for code in codes.split(",")}
    return found


class Tool:
    """tcstack plan, for one declared machine."""

    def __init__(self, folder, cuda, torch=None, libraries=None):
        facts = {"schema": "torch-cuda-stack/facts/1", "origin": "declared", "devices": {"state": "none", "list": []},
                 "toolkits": {"selected": 0, "list": [{"root": "/cuda", "nvcc": "/cuda/bin/nvcc", "version": cuda}]}}
        if torch:
            facts["torch"] = {"state": "found", "version": torch, "flavour": "cuda"}
            facts["torch"]["libraries"] = libraries or []
        self.facts = Path(folder) / "facts.json"
        self.facts.write_text(json.dumps(facts))
        self.kept = {}

    def ask(self, arch_list, form):
        """One answer; without a list it is the plan for the default targets."""
        if (arch_list, form) not in self.kept:
            asked = ["--arch-list", arch_list] if arch_list else []
            done = subprocess.run([os.environ["TCS_TOOL"], "plan", "--facts", self.facts, *asked, "--fail-on", "never",
                                   "--emit", form], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            # 1 and no output: nothing can be said in this form, because the plan is empty or it says none of it.
            if done.returncode not in (0, 1) or (done.returncode == 1 and done.stdout):
                raise SystemExit(f"tcstack plan --emit {form}: exit {done.returncode}: {done.stderr}")
            self.kept[arch_list, form] = Answer(done.stdout.strip(), pairs(done.stderr))
        return self.kept[arch_list, form]

    def plan(self, arch_list):
        return pairs(self.ask(arch_list, "gencode").text)


def check_torch_cmake(folder, name, tool):
    """One `cmake -P` for all lists: torch's own function, and what it made of each."""
    script = Path(folder) / f"{name}.cmake"
    module = next((Path(parts.ensure(name)) / "torch/share/cmake").rglob("select_compute_arch.cmake"))
    lines = [f'include("{module}")']
    asked = [arch_list for arch_list in LISTS if tool.ask(arch_list, "torch-list").text]
    for number, arch_list in enumerate(asked):
        text = tool.ask(arch_list, "torch-list").text
        lines += [f'set(list "{text}")', "cuda_select_nvcc_arch_flags(flags ${list})",
                  f'message(NOTICE "@{number} ${{flags}}")']
    script.write_text("\n".join(lines))
    done = subprocess.run(["cmake", "-DCUDA_VERSION=13.0", "-P", script], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    check(done.returncode == 0, "torch CMake", f"{name}: {done.stderr}")
    answers = dict(re.findall(r"^@(\d+) (.*)$", done.stderr, re.MULTILINE))
    for number, arch_list in enumerate(asked):
        said, plan = tool.ask(arch_list, "torch-list"), tool.plan(arch_list)
        got = pairs(answers.get(str(number), ""))
        check(got | said.left_out == plan and not got & said.left_out, "torch CMake",
              f"{name}: {arch_list} as {said.text}: {sorted(got)}, left out {sorted(said.left_out)}, plan {sorted(plan)}")


def check_own(folder, name, cuda):
    """The default plan without a GPU: what the wheel was built for."""
    files = sorted((Path(parts.ensure(name)) / "torch/lib").glob("libtorch_cuda*.so"))
    done = subprocess.run([os.environ["TCS_TOOL"], "images", "--json", *files], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=True)
    libraries = []
    for file in json.loads(done.stdout)["files"]:
        libraries.append({"name": Path(file["path"]).name, "images": [i["arch"] for i in file["images"]],
                          "fat_binaries": file["fat_binaries"], "sets": file["sets"],
                          "coverage": [{k: i[k] for k in ("arch", "count", "fat_binaries")} for i in file["images"]]})
    for drop in ("none", "sets"):  # older recordings have counts only
        for library in libraries:
            library.pop(drop, None)
        tool = Tool(folder, cuda, name.removeprefix("torch-"), libraries)
        got = "".join(f"{real[3:-1]}.{real[-1]};" for _, real in sorted(
            tool.plan(""), key=lambda pair: int(pair[1][3:])))[:-1]
        check(got == OWN[name], "own archs", f"{name} without {drop}: {got}, not {OWN[name]}")


def torch_python(name):
    """_get_cuda_arch_flags of a wheel, without importing torch."""
    source = (Path(parts.ensure(name)) / "torch/utils/cpp_extension.py").read_text()
    node = next(n for n in ast.parse(source).body
                if isinstance(n, ast.FunctionDef) and n.name == "_get_cuda_arch_flags")
    space = {"os": os, "re": re, "collections": collections, "torch": types.SimpleNamespace(),
             "logger": logging.getLogger("torch"), "List": typing.List, "Optional": typing.Optional}
    exec("from __future__ import annotations\n" + ast.unparse(node), space)  # pylint: disable=exec-used
    return space["_get_cuda_arch_flags"]


def exported(text):
    """The variables of `--emit env`."""
    words = [word for line in text.splitlines() for word in shlex.split(line)[1:]]
    return dict(word.split("=", 1) for word in words)


def check_torch_python(name, tool):
    function = torch_python(name)
    for arch_list in LISTS:
        env, plan = exported(tool.ask(arch_list, "env").text), tool.plan(arch_list)
        appended = pairs(env.get("NVCC_APPEND_FLAGS", ""))
        text = env.get("TORCH_CUDA_ARCH_LIST", "")
        got = set()
        if text:
            os.environ["TORCH_CUDA_ARCH_LIST"] = text
            try:
                got = pairs(" ".join(function()))
            except ValueError as error:
                check(False, "torch Python", f"{name}: {arch_list} as {text}: {error}")
                continue
        check(got | appended == plan and not got & appended, "torch Python",
              f"{name}: {arch_list} as {text}: {sorted(got)}, appended {sorted(appended)}, plan {sorted(plan)}")


def nvcc_images(nvcc, flags, folder):
    """The images that nvcc would make, or the line in which it refuses."""
    source = Path(folder) / "t.cu"
    source.write_text("__global__ void k() {}\n")
    done = subprocess.run([nvcc, *flags, "--dryrun", "-c", source, "-o", "t.o"], capture_output=True, text=True,
                          cwd=folder, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        return next((line for line in done.stderr.splitlines() if "fatal" in line), f"exit {done.returncode}")
    kinds = re.findall(r"(?:--image3=kind=|--image=profile=)(elf|ptx)?(?:,sm=)?(\w+),file=", done.stderr)
    return {("compute_" if kind == "ptx" else "sm_") + sm for kind, sm in kinds}


def check_nvcc(name, folder):
    """What a plan says is what nvcc does; what the planner refuses, nvcc refuses."""
    cuda, path = NVCCS[name]
    nvcc, tool = Path(parts.ensure(name)) / path, Tool(folder, cuda)
    for word in ("all", "all-major"):
        theirs = nvcc_images(nvcc, [f"-arch={word}"], folder)
        ours = {code for _, code in tool.plan(word)}
        check(theirs == ours, "nvcc -arch", f"{name}: {word}: nvcc {theirs}, plan {ours}")
    for arch_list in LISTS:
        plan = tool.plan(arch_list)
        if plan:
            theirs = nvcc_images(nvcc, tool.ask(arch_list, "gencode").text.split(), folder)
            check(theirs == {code for _, code in plan}, "nvcc", f"{name}: {arch_list}: nvcc {theirs}, plan {plan}")
    for arch in ARCHS:
        theirs = nvcc_images(nvcc, [f"-gencode=arch=compute_{arch},code=sm_{arch}"], folder)
        check((theirs == {f"sm_{arch}"}) == bool(tool.plan(f"sm_{arch}")), "nvcc one arch",
              f"{name}: {arch}: nvcc {theirs}, plan {tool.plan(f'sm_{arch}')}")


def cmake_flags(name, nvcc, texts, folder):
    """CUDA_ARCHITECTURES of one target each -> the pairs in its compile flags."""
    source, cmake = Path(folder) / f"project-{name}", Path(parts.ensure(name)) / "bin/cmake"
    source.mkdir()
    (source / "t.cu").write_text("__global__ void k() {}\n")
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(t LANGUAGES CUDA)"]
    for number, text in enumerate(texts):
        lines += [f"add_library(t{number} OBJECT t.cu)",
                  f'set_target_properties(t{number} PROPERTIES CUDA_ARCHITECTURES "{text}")']
    (source / "CMakeLists.txt").write_text("\n".join(lines))
    done = subprocess.run([cmake, "-S", source, "-B", source / "b", "-G", "Ninja", f"-DCMAKE_CUDA_COMPILER={nvcc}",
                           "-DCMAKE_CUDA_ARCHITECTURES=90"], capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False)
    if done.returncode != 0:
        return done.stdout + done.stderr
    found = {}
    for block in re.split(r"\n(?=build )", (source / "b/build.ninja").read_text()):
        target = re.match(r"build CMakeFiles/t(\d+)\.dir/t\.cu\.o:", block)
        if target:
            found[int(target[1])] = pairs(re.search(r"FLAGS = (.*)", block)[1])
    return found


def check_cmake(folder):
    """CMAKE_CUDA_ARCHITECTURES as real CMakes read it, with a real nvcc 13."""
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    nvcc = nvcc or Path(parts.ensure("toolkit-13.0")) / "nvidia/cu13/bin/nvcc"
    if not shutil.which("ninja"):
        raise parts.Unavailable("ninja is not there")
    release = re.search(r"release (\d+\.\d+)", subprocess.run([nvcc, "--version"], capture_output=True, text=True,
                                                              timeout=TIMEOUT_S, check=True).stdout)[1]
    tool = Tool(folder, release)
    for name, which in CMAKES.items():
        texts = {}
        for arch_list in LISTS:
            text = tool.ask(arch_list, "cmake-architectures").text
            if text and (which == "all" or not re.search(r"[af]", text.replace("real", "").replace("virtual", ""))):
                texts[arch_list] = text
        got = cmake_flags(name, nvcc, list(texts.values()), folder)
        if isinstance(got, str):
            check(False, "CMake", f"{name}: {got}")
            continue
        for number, (arch_list, text) in enumerate(texts.items()):
            left_out = tool.ask(arch_list, "cmake-architectures").left_out
            check(got.get(number, set()) | left_out == tool.plan(arch_list), "CMake",
                  f"{name}: {arch_list} as {text}: {got.get(number)}, plan {tool.plan(arch_list)}")


def main():
    if not os.environ.get("TCS_TOOL"):
        print("dialects.py: TCS_TOOL names no tcstack", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        for name, cuda in TORCHES.items():
            tool = Tool(folder, cuda, name.removeprefix("torch-"))
            check_torch_cmake(folder, name, tool)
            check_torch_python(name, tool)
            check_own(folder, name, cuda)
        for name in NVCCS:
            check_nvcc(name, folder)
        check_cmake(folder)
    print(f"{dict(counts)}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except parts.Unavailable as reason:
        print(f"dialects.py: skip: {reason}", file=sys.stderr)
        sys.exit(parts.SKIP)
