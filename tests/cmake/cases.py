#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Configures tiny projects and holds what CMake prints and does against what it should.

    cases.py list                      the names of the cases, one a line
    cases.py run NAME                  one case (exit 0 good, 1 not, 77 skipped: says why)

From the environment: TCS_CMAKE (the CMake to use), TCS_TOOL (a built tcstack, for the cases that want the real one).
A case is a function named case_...; its docstring is the sentence that it proves.
"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
CMAKE = os.environ.get("TCS_CMAKE", "cmake")
FAIL = {"_tcs_outcome": "fail", "_tcs_summary": "TorchCudaStack: 8.0; nvcc 12.4; torch 2.15.0+cu132 - fail",
        "_tcs_fatal": "  error[TCS302 x]: nvcc is CUDA 12, PyTorch is CUDA 13\n  \n  help: one of the two",
        "TorchCudaStack_STATUS": "fail", "TorchCudaStack_Toolkit_FOUND": "FALSE",
        "TorchCudaStack_Toolkit_STATUS": "fail"}


class Skip(Exception):
    """Why a case cannot be tried here."""


class World:
    """A scratch folder with a home of its own, and the projects in it."""

    def __init__(self, root):
        self.root = Path(root)
        self.log = self.root / "stub.jsonl"
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("TORCH_CUDA", "CUDA", "STUB_", "XDG_", "CMAKE_")) and k != "CXX"}
        self.env.update(HOME=str(self.root / "home"), STUB_LOG=str(self.log), LC_ALL="C.UTF-8")
        (self.root / "home").mkdir()
        self.text, self.raw = "", b""
        self.wrap = []  # a command that runs CMake

    def plan(self, **changes):
        self.env["STUB_PLAN"] = json.dumps(changes)

    def project(self, body, name="p", languages="NONE", head="", files=()):
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\n{head}\nproject(p LANGUAGES {languages})\n{body}\n")
        for file, text in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        return folder

    def modules(self, path=None):
        return f'list(APPEND CMAKE_MODULE_PATH "{path or REPO / "modules"}")\n'

    def configure(self, folder, *arguments, stub=True, tool=None, build=None, generator="Ninja"):
        """Exit status; what was printed is in self.text, the build folder in self.build."""
        self.build = build or folder / "build"
        command = [CMAKE, "-S", str(folder), "-B", str(self.build), "-G", generator]
        if stub:
            command.append(f"-DTorchCudaStack_TOOL={HERE / 'stub_tcstack.py'}")
        elif tool:
            command.append(f"-DTorchCudaStack_TOOL={tool}")
        done = subprocess.run([*self.wrap, *command, *arguments], env=self.env, timeout=600, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.raw = done.stdout
        self.text = self.raw.decode("utf-8", "backslashreplace")
        return done.returncode

    def calls(self):
        """Arguments of every call of the stub, as lists."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def sets(self, call=-1):
        arguments = self.calls()[call]
        pairs = [arguments[n + 1] for n, word in enumerate(arguments) if word == "--set"]
        return dict(pair.split("=", 1) for pair in pairs)

    def good(self, status):
        assert status == 0, f"cmake ended with {status}"

    def bad(self, status):
        assert status != 0, "cmake should have stopped"

    def says(self, *texts):
        # CMake wraps what is not indented, at a column that depends on the length of paths.
        said = " ".join(self.text.split())
        for text in texts:
            assert " ".join(text.split()) in said, f"does not say: {text}"

    def silent(self, *texts):
        for text in texts:
            assert text not in self.text, f"should not say: {text}"


def real_tool():
    tool = os.environ.get("TCS_TOOL", "")
    if not tool or not Path(tool).exists():
        raise Skip("needs TCS_TOOL, a built tcstack")
    return tool


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


# ---- what is said -------------------------------------------------------------------------------------------------


def case_success_is_one_line(w):
    """Success is one status line."""
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)")))
    lines = [line for line in w.text.splitlines() if "TorchCudaStack" in line]
    assert lines == ["-- TorchCudaStack: 8.0 9.0; a healthy machine"], lines


def case_quiet_success_says_nothing(w):
    """With QUIET success says nothing, notices included."""
    w.plan(_tcs_notices="  note[TCS910 x]: something")
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack QUIET)")))
    w.silent("TorchCudaStack:", "TCS910")


def case_notices_are_said(w):
    """Findings below fail-on are printed whole, before the status line, and where the tool lies that says more."""
    w.plan(_tcs_notices="  warning[TCS303 x]: nvcc is 13.0\n  \n  help: do this\n  more: tcstack explain TCS303\n")
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack)")))
    w.says("  warning[TCS303 x]: nvcc is 13.0\n  \n  help: do this\n  more: tcstack explain TCS303\n  tcstack: /")


def case_required_failure_stops(w):
    """REQUIRED and an error: the findings as they are, nothing enabled afterwards."""
    w.plan(**FAIL)
    body = w.modules() + 'find_package(TorchCudaStack REQUIRED)\nmessage(STATUS "went on")'
    w.bad(w.configure(w.project(body)))
    w.says("CMake Error", "    error[TCS302 x]: nvcc is CUDA 12, PyTorch is CUDA 13\n", "    help: one of the two\n")
    w.silent("went on", "Could NOT find")


def case_required_quiet_failure_stops(w):
    """QUIET REQUIRED still prints the fatal error."""
    w.plan(**FAIL)
    w.bad(w.configure(w.project(w.modules() + "find_package(TorchCudaStack QUIET REQUIRED)")))
    w.says("error[TCS302 x]")


def case_optional_failure_goes_on(w):
    """Not REQUIRED: FOUND is false, the findings are a notice, the components tell which."""
    w.plan(**FAIL)
    body = w.modules() + (
        "find_package(TorchCudaStack)\n"
        'message(STATUS "F=${TorchCudaStack_FOUND} T=${TorchCudaStack_Toolkit_FOUND} P=${TorchCudaStack_Python_FOUND}")')
    w.good(w.configure(w.project(body)))
    w.says("  error[TCS302 x]", "F=FALSE T=FALSE P=TRUE")
    w.silent("CMake Warning", "Could NOT find")


def case_optional_quiet_failure_is_silent(w):
    """QUIET and not REQUIRED: a failure says nothing."""
    w.plan(**FAIL)
    body = w.modules() + 'find_package(TorchCudaStack QUIET)\nmessage(STATUS "F=${TorchCudaStack_FOUND}")'
    w.good(w.configure(w.project(body)))
    w.silent("TCS302", "TorchCudaStack:")
    w.says("F=FALSE")


def case_unknown_component(w):
    """An unknown component is an error that lists the known ones."""
    w.bad(w.configure(w.project(w.modules() + "find_package(TorchCudaStack COMPONENTS Driver Nvcc)")))
    w.says("TorchCudaStack has no component Nvcc", "components: Device Driver Toolkit")


def case_required_component(w):
    """A component that failed makes find_package(COMPONENTS) fail, another does not."""
    w.plan(TorchCudaStack_Driver_FOUND="FALSE")
    body = w.modules() + 'find_package(TorchCudaStack COMPONENTS Driver)\nmessage(STATUS "F=${TorchCudaStack_FOUND}")'
    w.good(w.configure(w.project(body)))
    w.says("F=FALSE")
    w.good(w.configure(w.project(body.replace("COMPONENTS Driver", "COMPONENTS Toolkit"), name="q")))
    w.says("F=TRUE")


def case_versions(w):
    """A version and a version range are honoured."""
    for asked, found in (("0.1", "TRUE"), ("0.1...<1", "TRUE"), ("9.0", "FALSE"), ("0.2...<1", "FALSE")):
        body = w.modules() + f'find_package(TorchCudaStack {asked})\nmessage(STATUS "F=${{TorchCudaStack_FOUND}}.")'
        w.good(w.configure(w.project(body, name=f"v{asked}")))
        w.says(f"F={found}.")
    calls = len(w.calls())
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack 9.0)", name="w")))
    w.says("TorchCudaStack not used:", "0.1.0", "9.0")
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack 9.0 QUIET)", name="x")))
    w.silent("TorchCudaStack not used")
    w.bad(w.configure(w.project(w.modules() + "find_package(TorchCudaStack 9.0 REQUIRED)", name="y")))
    w.says("TorchCudaStack: ", "9.0")
    assert len(w.calls()) == calls, "a machine was measured for a version that is not asked for"


def case_version_is_the_repositorys(w):
    """The module, which may be copied alone, knows the version that VERSION says."""
    version = (REPO / "VERSION").read_text().strip()
    load = REPO / "modules" / "TorchCudaStack" / "detail" / "_tcs_load.cmake"
    assert f"set(TorchCudaStack_VERSION {version})" in load.read_text()


def case_bad_input(w):
    """What the tool refuses stops the configure with its text."""
    w.env.update(STUB_EXIT="2", STUB_STDERR="TORCH_CUDA_ARCH_LIST: '8.0,8.6' is malformed\nhelp: 8.0;8.6\n")
    w.bad(w.configure(w.project(w.modules() + "find_package(TorchCudaStack)")))
    w.says("bad input", "    TORCH_CUDA_ARCH_LIST: '8.0,8.6' is malformed\n", "help: 8.0;8.6")


def case_tool_that_cannot_work(w):
    """A tool that ends with 3 is a reason, not a crash."""
    w.env.update(STUB_EXIT="3", STUB_STDERR="cannot write facts.json: disk full\n")
    body = w.modules() + 'find_package(TorchCudaStack)\nmessage(STATUS "F=${TorchCudaStack_FOUND}")'
    w.good(w.configure(w.project(body)))
    w.says("TorchCudaStack not used", "disk full", "F=FALSE")
    w.bad(w.configure(w.project(body.replace("Stack)", "Stack REQUIRED)"), name="q")))
    w.says("its tool could not work", "disk full")


def case_skip_is_loud(w):
    """TorchCudaStack_SKIP measures nothing and says so."""
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)"), "-DTorchCudaStack_SKIP=ON"))
    w.says("CMake Warning", "nothing was measured")
    assert not w.calls()


def case_called_in_a_function(w):
    """Inside a function it says that CUDA's settings would be lost."""
    body = w.modules() + "function(f)\nfind_package(TorchCudaStack)\nendfunction()\nf()"
    w.good(w.configure(w.project(body)))
    w.says("inside a function")


# ---- what is handed to the tool, and back -------------------------------------------------------------------------


def case_values_reach_the_tool_unchanged(w):
    """Semicolons, quotes, brackets, dollars and UTF-8 reach the tool as they are, and nothing of them is run."""
    nasty = ["8.6;9.0", "a b\"c'd", "x]==]y[z", "$(touch pwned)`touch pwned`", "$ENV{HOME}", "größe", "]=]) message(FATAL"]
    for n, value in enumerate(nasty):
        (w.root / f"init{n}.cmake").write_text(f"set(TorchCudaStack_TARGETS [=====[{value}]=====])\n")
        body = w.modules() + f'include("{w.root}/init{n}.cmake")\nfind_package(TorchCudaStack)'
        w.good(w.configure(w.project(body, name=f"n{n}")))
        assert w.sets()["TARGETS"] == value, (w.sets()["TARGETS"], value)
    assert not list(w.root.rglob("pwned"))


def case_paths(w):
    """Source and build folders with spaces, quotes and UTF-8 work."""
    folder = w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)", name="a b'c é")
    w.good(w.configure(folder, build=w.root / "out $x (1) é'"))
    assert Path(w.calls()[-1][2]) == w.root / "out $x (1) é'" / "TorchCudaStack"


def case_module_folder_with_odd_characters(w):
    """Modules and sources in a folder with a space, a quote, brackets and a star compile their tool."""
    for n, name in enumerate(("pack [1 'x", "pack [1] *?")):
        copy = fake_package(w, name)
        body = w.modules(copy / "modules") + "find_package(TorchCudaStack REQUIRED)"
        w.good(w.configure(w.project(body, f"p{n}"), stub=False))
        w.says("-- TorchCudaStack: fake core")
    main = copy / "probe-src" / "unity" / "main.cpp"
    main.write_text(main.read_text().replace("fake core", "newer core"))
    w.good(w.configure(w.root / "p1", stub=False))
    w.says("newer core")


def case_users_list_is_the_users(w):
    """A list of the user's is passed on and never rewritten; ours is set where there is none."""
    body = w.modules() + 'find_package(TorchCudaStack REQUIRED)\nmessage(STATUS "L=${TORCH_CUDA_ARCH_LIST}.")'
    w.good(w.configure(w.project(body), "-DTORCH_CUDA_ARCH_LIST=7.5"))
    w.says("L=7.5.")
    assert w.sets()["TORCH_CUDA_ARCH_LIST"] == "7.5"
    w.good(w.configure(w.project(body, name="q")))
    w.says("L=8.0;9.0.")
    assert "TORCH_CUDA_ARCH_LIST" not in w.sets()


def case_our_choices_are_not_the_users(w):
    """Neither a second find_package() nor a second configure takes our choices for the user's."""
    w.plan(_tcs_nvcc="/opt/x/bin/nvcc", _tcs_root="/opt/x", _tcs_host_compiler="/usr/bin/g++-11",
           _tcs_torch_dir="/opt/t")
    (w.root / "p" / "sub").mkdir(parents=True)
    (w.root / "p" / "sub" / "CMakeLists.txt").write_text("find_package(TorchCudaStack REQUIRED)\n")
    folder = w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)\nadd_subdirectory(sub)")
    for _ in range(2):
        w.good(w.configure(folder))
    assert len(w.calls()) == 4
    for n in range(4):
        assert set(w.sets(n)) == {"CMAKE_VERSION"}, w.sets(n)
    cache = (w.build / "CMakeCache.txt").read_text()
    ours = [line for line in cache.splitlines() if line.startswith("TorchCudaStack_") and ":INTERNAL" in line]
    assert len([line for line in ours if "OWN_CHOICES" in line]) == 1, ours


def case_what_cmake_found_is_not_the_users(w):
    """Cache entries that CMake's own searches wrote are not passed as the user's; -D is."""
    body = w.modules() + (
        'set(CUDA_TOOLKIT_ROOT_DIR /found CACHE PATH "Toolkit location.")\n'
        'set(CMAKE_CUDA_ARCHITECTURES 75 CACHE STRING "CUDA architectures")\nfind_package(TorchCudaStack)')
    w.good(w.configure(w.project(body)))
    assert "CUDA_TOOLKIT_ROOT_DIR" not in w.sets() and "CMAKE_CUDA_ARCHITECTURES" not in w.sets()
    body = w.modules() + "find_package(TorchCudaStack)"
    w.good(w.configure(w.project(body, name="q"), "-DCUDA_TOOLKIT_ROOT_DIR=/mine", "-DCMAKE_CUDA_ARCHITECTURES=86"))
    assert w.sets()["CUDA_TOOLKIT_ROOT_DIR"] == "/mine" and w.sets()["CMAKE_CUDA_ARCHITECTURES"] == "86"


def case_the_trees_compiler(w):
    """The compiler that an old build tree keeps is what the tool is told, before CUDA is enabled again."""
    folder = w.project(w.modules() + "find_package(TorchCudaStack)")
    w.good(w.configure(folder))
    version = subprocess.run([CMAKE, "--version"], text=True, capture_output=True).stdout.split()[2]
    kept = folder / "build" / "CMakeFiles" / version / "CMakeCUDACompiler.cmake"
    kept.write_text('set(CMAKE_CUDA_COMPILER "/old/bin/nvcc")\nset(CMAKE_CUDA_COMPILER_LOADED 1)\n')
    w.good(w.configure(folder, "-DCMAKE_CUDA_COMPILER=/new/bin/nvcc"))
    assert w.sets()["TREE_CUDA_COMPILER"] == "/old/bin/nvcc"
    assert w.sets()["CMAKE_CUDA_COMPILER"] == "/new/bin/nvcc"


# ---- find_package(Torch), with a torch that is only CMake code -----------------------------------------------------

FAKE_TORCH = """
set(TORCH_INSTALL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../..")
if(NOT TARGET torch::cudart)
  add_library(torch::cudart INTERFACE IMPORTED)
  add_library(torch INTERFACE IMPORTED)
  add_library(torch::nvtoolsext INTERFACE IMPORTED)
  set_property(TARGET torch::nvtoolsext PROPERTY INTERFACE_LINK_LIBRARIES CUDA::nvToolsExt)
  set_property(TARGET torch PROPERTY INTERFACE_LINK_LIBRARIES "torch::cudart;CUDA_nvrtc_LIBRARY-NOTFOUND;torch::nvtoolsext")
  if(FAKE_CUDNN)
    find_package(CUDNN)
    if(NOT CUDNN_FOUND)
      message(FATAL_ERROR "no cuDNN")
    endif()
    add_library(caffe2::cudnn-public INTERFACE IMPORTED)
    set_property(TARGET caffe2::cudnn-public PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${CUDNN_INCLUDE_PATH}")
  endif()
  set(list "${TORCH_CUDA_ARCH_LIST}")
  if(NOT list)
    set(list 5.0 9.0)
  endif()
  set(NVCC_FLAGS_EXTRA "")
  if((NOT EXISTS ${TORCH_CUDA_ARCH_LIST}) AND (DEFINED ENV{TORCH_CUDA_ARCH_LIST}))
    message(FATAL_ERROR "the environment's list goes before the variable")
  endif()
  string(REPLACE " " ";" list "${list}")
  foreach(arch IN LISTS list)
    if(NOT arch MATCHES "^[0-9]+[.][0-9]$")
      message(FATAL_ERROR "Unknown CUDA Architecture Name ${arch}")
    endif()
    string(REPLACE "." "" n "${arch}")
    list(APPEND NVCC_FLAGS_EXTRA -gencode "arch=compute_${n},code=sm_${n}")
  endforeach()
  string(REPLACE ";" " " flags "${NVCC_FLAGS_EXTRA}")
  string(APPEND CMAKE_CUDA_FLAGS " -DX ${flags} -DY")
  set(CMAKE_CUDA_ARCHITECTURES OFF)
endif()
set(TORCH_LIBRARIES torch CUDA_nvrtc_LIBRARY-NOTFOUND)
set(Torch_FOUND TRUE)
"""


def fake_torch(w):
    config = w.root / "fake torch" / "share" / "cmake" / "Torch" / "TorchConfig.cmake"
    config.parent.mkdir(parents=True)
    config.write_text(FAKE_TORCH)
    return str(config.parent)


SHOW = ('\nmessage(STATUS "FLAGS=${CMAKE_CUDA_FLAGS}| A=${CMAKE_CUDA_ARCHITECTURES} LIBS=${TORCH_LIBRARIES}|")\n'
        "get_target_property(links torch INTERFACE_LINK_LIBRARIES)\n"
        "get_target_property(options TorchCudaStack::Archs INTERFACE_COMPILE_OPTIONS)\n"
        'message(STATUS "LINKS=${links}| OPTIONS=${options}|")')


def case_torch_gets_the_plan(w):
    """find_package(Torch) is given the plan's list; what it hands on and the toolkit lacks is left out, in one line."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)" + SHOW, languages="CXX")))
    w.says("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90", "A=OFF", "LIBS=torch|",
           "LINKS=torch::cudart;torch::nvtoolsext|", "left out what PyTorch's CMake code links")
    assert w.text.count("left out") == 1


def case_users_list_goes_before_the_environments(w):
    """A list as a variable goes before one in the environment, in old releases of torch as well, and is left as it is."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    w.env["TORCH_CUDA_ARCH_LIST"] = "5.0"
    show = '\nmessage(STATUS "L=${TORCH_CUDA_ARCH_LIST} E=$ENV{TORCH_CUDA_ARCH_LIST}.")'
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)" + SHOW + show, languages="CXX"),
                       "-DTORCH_CUDA_ARCH_LIST=8.0;9.0"))
    w.says("L=8.0;9.0 E=5.0.", "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90")


def case_torch_never_reads_the_users_words(w):
    """torch gets the plan's text, not words of the user's that it stops at or reads otherwise; they stay the user's."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    show = '\nmessage(STATUS "L=${TORCH_CUDA_ARCH_LIST} E=$ENV{TORCH_CUDA_ARCH_LIST}.")'
    folder = w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)" + SHOW + show, languages="CXX")
    for words in ("sm_90", "Common", "8.6(8.0)+PTX"):
        w.good(w.configure(folder, f"-DTORCH_CUDA_ARCH_LIST={words}"))
        w.says(f"L={words} E=.",
               "FLAGS= -DX -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -DY|")
    w.env["TORCH_CUDA_ARCH_LIST"] = "Common"
    w.good(w.configure(w.project((folder / "CMakeLists.txt").read_text().split("CXX)\n")[1], "q", "CXX")))
    w.says("E=Common.", "FLAGS= -DX -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -DY|")


def case_plan_that_torch_cannot_say(w):
    """Where torch's words cannot say the plan, the list that it makes up gives way to the plan's flags."""
    w.plan(_tcs_torch_dir=fake_torch(w), TorchCudaStack_TORCH_CUDA_ARCH_LIST="",
           TorchCudaStack_GENCODE_FLAGS="-gencode=arch=compute_80,code=sm_86")
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)" + SHOW, languages="CXX"),
                       "-DTORCH_CUDA_ARCH_LIST=8.6(8.0)"))
    w.says("FLAGS= -DX -DY -gencode arch=compute_80,code=sm_86|", "A=OFF", "made up (compute_50,code=sm_50")


def case_torch_first_with_a_made_up_list(w):
    """Torch first, with a list that it made up: its tokens give way to the plan's, and a line says so."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    body = w.modules() + "find_package(Torch REQUIRED)\nfind_package(TorchCudaStack REQUIRED)" + SHOW
    w.good(w.configure(w.project(body, languages="CXX"), f"-DTorch_DIR={w.root}/fake torch/share/cmake/Torch"))
    w.says("replaced the architectures that find_package(Torch) made up",
           "FLAGS= -DX -DY -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90|")


def case_torch_first_with_cmake_architectures(w):
    """Torch first, and CMAKE_CUDA_ARCHITECTURES of the user's, which torch ignores: its own list gives way."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    body = w.modules() + "find_package(Torch REQUIRED)\nfind_package(TorchCudaStack REQUIRED)" + SHOW
    w.good(w.configure(w.project(body, languages="CXX"), f"-DTorch_DIR={w.root}/fake torch/share/cmake/Torch",
                       "-DCMAKE_CUDA_ARCHITECTURES=80;90"))
    w.says("replaced the architectures that find_package(Torch) made up (compute_50,code=sm_50",
           "FLAGS= -DX -DY -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90|", "A=OFF")


def case_torch_first_reads_the_users_list_otherwise(w):
    """Torch first, and it read the user's list as something else than the plan: the plan's, and it is said."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    body = w.modules() + "find_package(Torch REQUIRED)\nfind_package(TorchCudaStack REQUIRED)" + SHOW
    w.good(w.configure(w.project(body, languages="CXX"), f"-DTorch_DIR={w.root}/fake torch/share/cmake/Torch",
                       "-DTORCH_CUDA_ARCH_LIST=8.6"))
    w.says("find_package(Torch) read TORCH_CUDA_ARCH_LIST=8.6 as compute_86,code=sm_86: replaced by the plan's",
           "FLAGS= -DX -DY -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90|")


def case_torch_first_with_the_users_list(w):
    """Torch first, with the user's list, which is the plan: nothing is replaced."""
    w.plan(_tcs_torch_dir=fake_torch(w), TorchCudaStack_TORCH_CUDA_ARCH_LIST="7.0",
           TorchCudaStack_GENCODE_FLAGS="-gencode=arch=compute_70,code=sm_70")
    body = w.modules() + "find_package(Torch REQUIRED)\nfind_package(TorchCudaStack REQUIRED)" + SHOW
    w.good(w.configure(w.project(body, languages="CXX"), f"-DTorch_DIR={w.root}/fake torch/share/cmake/Torch",
                       "-DTORCH_CUDA_ARCH_LIST=7.0"))
    w.says("FLAGS= -DX -gencode arch=compute_70,code=sm_70 -DY|")
    w.silent("replaced the architectures")


def case_archs_carry_what_flags_lack(w):
    """TorchCudaStack::Archs holds what the list of torch cannot say, and only that."""
    w.plan(_tcs_torch_dir=fake_torch(w), TorchCudaStack_TORCH_CUDA_ARCH_LIST="8.0")
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)" + SHOW, languages="CXX")))
    w.says("OPTIONS=$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<NOT:$<BOOL:$<TARGET_PROPERTY:TorchCudaStack_SOURCE_ARCHS>>>>:"
           "SHELL:-gencode arch=compute_90,code=sm_90>|")


def case_old_torch_without_cudnn(w):
    """A torch that insists on cuDNN is told that an extension needs none, and no false header is left behind."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    body = w.modules() + ("find_package(TorchCudaStack REQUIRED)\n"
                          "get_target_property(d caffe2::cudnn-public INTERFACE_INCLUDE_DIRECTORIES)\n"
                          'message(STATUS "DIRS=${d}|")')
    w.good(w.configure(w.project(body, languages="CXX"), "-DFAKE_CUDNN=ON"))
    w.says("asks for cuDNN, which is not here")
    assert re.search(r"DIRS=(d-NOTFOUND)?\|", w.text), w.text


def case_another_torch_than_measured(w):
    """A Torch that CMake takes from elsewhere than the tool measured stops, with both folders."""
    other = w.root / "other" / "share" / "cmake" / "Torch"
    other.mkdir(parents=True)
    w.plan(_tcs_torch_dir=str(other))
    body = w.modules() + "find_package(TorchCudaStack REQUIRED)"
    w.bad(w.configure(w.project(body, languages="CXX"), f"-DTorch_DIR={fake_torch(w)}"))
    w.says("the PyTorch that was measured is not the one that CMake uses", f"measured  {other}",
           f"used      {w.root}/fake torch/share/cmake/Torch (Torch_DIR)")


def case_siblings_do_not_see_each_other(w):
    """What a call in one directory chose or read is not the user's in the next one; the same plan twice is fine."""
    call = 'set(TorchCudaStack_TARGETS %s)\nfind_package(TorchCudaStack REQUIRED)\n'
    other = json.dumps({"TorchCudaStack_TORCH_CUDA_ARCH_LIST": "8.6"})
    files = [("a/CMakeLists.txt", f"set(CMAKE_CUDA_ARCHITECTURES 86-real)\nset(ENV{{STUB_PLAN}} [==[{other}]==])\n"
              + call % "8.6"), ("b/CMakeLists.txt", call % "8.0")]
    body = w.modules() + call % "9.0" + "add_subdirectory(a)\nadd_subdirectory(b)"
    w.good(w.configure(w.project(body, files=files)))
    seen = [w.sets(n) for n in range(3)]
    assert [s["TARGETS"] for s in seen] == ["9.0", "8.6", "8.0"], seen
    assert [s.get("CMAKE_CUDA_ARCHITECTURES") for s in seen] == [None, "86-real", None], seen
    assert not any("TORCH_CUDA_ARCH_LIST" in s for s in seen), seen


def case_archs_carry_the_plan_to_the_device_link(w):
    """A comma in a generator expression would split `arch=...,code=...` of the device link."""
    w.good(w.configure(w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)\n"
                                 "get_target_property(o TorchCudaStack::Archs INTERFACE_LINK_OPTIONS)\n"
                                 'message(STATUS "O=${o}.")')))
    w.says("$<DEVICE_LINK:SHELL:-gencode arch=compute_80$<COMMA>code=sm_80>")


def case_torn_tool_is_made_again(w):
    """A cached tool that a crash or a full disk left without content is compiled anew, in the cache and in the tree."""
    pack = fake_package(w)
    body = w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"
    w.good(w.configure(w.project(body), stub=False))
    core = cores(w.root / "home" / ".cache" / "torch-cuda-stack")[0]
    for torn in (core, w.build / "TorchCudaStack" / "tcstack"):
        torn.unlink()
        torn.write_bytes(b"")
        torn.chmod(0o755)
    w.good(w.configure(w.project(body), stub=False))
    w.says("-- TorchCudaStack: fake core")
    assert core.stat().st_size > 0


def case_torch_that_does_not_want(w):
    """A find_package(Torch) that finds nothing is fatal only where ours is REQUIRED, and QUIET is handed on."""
    config = Path(fake_torch(w)) / "TorchConfig.cmake"
    config.write_text('if(NOT Torch_FIND_QUIETLY)\nmessage(STATUS "torch is loud")\nendif()\nset(Torch_FOUND FALSE)\n')
    w.plan(_tcs_torch_dir=str(config.parent))
    body = w.modules() + ('find_package(TorchCudaStack HOW)\n'
                          'message(STATUS "F=${TorchCudaStack_FOUND} T=${TorchCudaStack_Torch_FOUND}.")')
    w.good(w.configure(w.project(body.replace("HOW", ""), languages="CXX")))
    w.says("finds no PyTorch that it can use", "F=FALSE T=FALSE.", "torch is loud")
    w.good(w.configure(w.project(body.replace("HOW", "QUIET"), "q", "CXX")))
    w.silent("finds no PyTorch", "torch is loud")
    w.bad(w.configure(w.project(body.replace("HOW", "REQUIRED"), "r", "CXX")))
    w.silent("F=")


def case_a_directory_below_has_its_own_plan(w):
    """find_package() again below, with another plan: its flags go there alone; Archs, which both share, refuses."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    below = ('set(ENV{STUB_PLAN} [==[%s]==])\nfind_package(TorchCudaStack REQUIRED)\n'
             'message(STATUS "BELOW=${CMAKE_CUDA_FLAGS}|")')
    above = ('find_package(TorchCudaStack REQUIRED)\nadd_subdirectory(sub)\nmessage(STATUS "ABOVE=${CMAKE_CUDA_FLAGS}|")')
    other = {"TorchCudaStack_TORCH_CUDA_ARCH_LIST": "7.5",
             "TorchCudaStack_GENCODE_FLAGS": "-gencode=arch=compute_75,code=sm_75"}
    files = [("sub/CMakeLists.txt", below % json.dumps({**json.loads(w.env["STUB_PLAN"]), **other}))]
    w.good(w.configure(w.project(w.modules() + above, languages="CXX", files=files)))
    w.says("BELOW= -DX -DY -gencode arch=compute_75,code=sm_75|", "of an earlier call",
           "ABOVE= -DX -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -DY|")
    w.env.pop("STUB_PLAN")
    w.bad(w.configure(w.project(w.modules() + above, "q", files=[("sub/CMakeLists.txt", below % json.dumps(other))])))
    w.says("have different plans, and share TorchCudaStack::Archs", "/q/sub: arch=compute_75,code=sm_75")


def case_another_python_than_torchs(w):
    """A Python that the project found for itself, of another ABI than the one whose PyTorch was measured, is refused."""
    w.plan(_tcs_torch_dir=fake_torch(w), _tcs_python=str(script(w.root / "py" / "python", "#!/bin/sh\necho cpython-38-x\n")))
    body = w.modules() + ("add_library(Python::Module INTERFACE IMPORTED)\nset(Python_EXECUTABLE /bin/sh)\n"
                          "set(Python_SOABI cpython-39-x)\nfind_package(TorchCudaStack REQUIRED)\n"
                          "torch_cuda_stack_add_extension(x SOURCES x.cpp)")
    w.bad(w.configure(w.project(body, languages="CXX")))
    w.says("is not the one whose PyTorch was measured", f"measured  cpython-38-x  {w.root}/py/python",
           "used      cpython-39-x  /bin/sh")


def case_recorded_facts_choose_nothing(w):
    """FACTS: a plan only, and it says so; relative paths are relative to the source folder, wherever cmake runs."""
    w.plan(_tcs_torch_dir=fake_torch(w), _tcs_nvcc="/recorded/bin/nvcc", _tcs_root="/recorded")
    body = w.modules() + ('find_package(TorchCudaStack REQUIRED)\n'
                          'message(STATUS "N=${CMAKE_CUDA_COMPILER} L=${TorchCudaStack_TORCH_CUDA_ARCH_LIST}.")\n')
    folder = w.project(body, languages="CXX")
    w.good(w.configure(folder, "-DTorchCudaStack_FACTS=facts/a.json", "-DTorchCudaStack_REPORT_DIR=reports"))
    w.says("recorded facts (facts/a.json): a plan only, no compiler is chosen", "N= L=8.0;9.0.")
    assert w.sets()["FACTS"] == f"{folder}/facts/a.json" and w.sets()["REPORT_DIR"] == f"{folder}/reports", w.sets()
    w.env["TORCH_CUDA_STACK_FACTS"] = "b.json"
    folder = w.project(body + "torch_cuda_stack_add_extension(x SOURCES x.cpp)", "q", "CXX")
    w.bad(w.configure(folder))
    w.says("recorded facts (TorchCudaStack_FACTS) give a plan, no PyTorch to build for")
    assert w.sets()["FACTS"] == f"{folder}/b.json"


def recorded(name):
    """The facts of a machine in tests/machines, as a file of their own."""
    return json.dumps(json.loads((REPO / "tests" / "machines" / f"{name}.json").read_text())["facts"])


def case_images_are_variables(w):
    """What was measured of each image reaches the project; the table is there for who asks for it."""
    body = w.modules() + ("find_package(TorchCudaStack REQUIRED)\n"
                          "foreach(image IN LISTS TorchCudaStack_AVAILABILITY)\n"
                          "  list(JOIN TorchCudaStack_${image}_DEVICES , devices)\n"
                          '  message(STATUS "${image}: ${TorchCudaStack_${image}_BUILDS} ${TorchCudaStack_${image}_TORCH} '
                          '${devices}.")\n'
                          "endforeach()\n")
    folder = w.project(body, files=[("facts.json", recorded("922-image-does-not-run-near"))])
    facts = (f"-DTorchCudaStack_FACTS={folder}/facts.json", "-DTORCH_CUDA_ARCH_LIST=8.0;8.6+PTX;9.0")
    w.good(w.configure(folder, *facts, stub=False, tool=real_tool()))
    w.says("sm_80: built full refused.", "sm_86: built full runs.", "compute_86: built none refused.")
    w.silent("images: what nvcc builds")
    w.good(w.configure(folder, "--log-level=VERBOSE", stub=False, tool=real_tool()))
    w.says("images: what nvcc builds", "compute_86   built   none      refused: 222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION")


def case_refused_image_shows_the_table(w):
    """A configure that stops for a refused image prints the finding and the table."""
    folder = w.project(w.modules() + "find_package(TorchCudaStack REQUIRED)",
                       files=[("facts.json", recorded("922-image-does-not-run-hit"))])
    w.bad(w.configure(folder, f"-DTorchCudaStack_FACTS={folder}/facts.json", stub=False, tool=real_tool()))
    w.says("error[TCS922 image-does-not-run]: sm_86 is refused by device 1 (NVIDIA GeForce RTX 3090, compute 8.6)",
           "sm_86   built   in full   runs  refused: 209 NO_BINARY_FOR_GPU")


def case_no_language_no_torch_target(w):
    """LANGUAGES NONE: the plan only; add_extension says what it needs."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    body = w.modules() + "find_package(TorchCudaStack REQUIRED)\ntorch_cuda_stack_add_extension(x SOURCES x.cpp)"
    w.bad(w.configure(w.project(body)))
    w.says("there is no TorchCudaStack::Torch here", "in a project() that has enabled CXX")


# ---- verify -------------------------------------------------------------------------------------------------------


def verify_text(w, target, call="torch_cuda_stack_verify(t)"):
    body = w.modules() + f"find_package(TorchCudaStack REQUIRED)\n{target}\n{call}"
    files = [("a.cpp", "int a() { return 1; }\n"), ("sub/CMakeLists.txt", "add_library(t SHARED ../a.cpp)\n")]
    return w.configure(w.project(body, languages="CXX", files=files))


def case_verify_object_library(w):
    """verify on an OBJECT library is refused with what to do."""
    w.bad(verify_text(w, "add_library(t OBJECT a.cpp)"))
    w.says("a target of type OBJECT_LIBRARY has no file to", "verify what links it")


def case_verify_interface_library(w):
    """verify on an INTERFACE library is refused."""
    w.bad(verify_text(w, "add_library(t INTERFACE)"))
    w.says("a target of type INTERFACE_LIBRARY has no file")


def case_verify_of_another_directory(w):
    """verify on a target of another directory names that directory."""
    w.bad(verify_text(w, "add_subdirectory(sub)"))
    w.says("/p/sub, where")


def case_verify_missing_and_imported(w):
    """verify on no target, an alias and an imported target is refused, each in its own words."""
    w.bad(verify_text(w, ""))
    w.says("there is no target of that name")
    w.bad(verify_text(w, "add_library(t SHARED IMPORTED)"))
    w.says("nothing of it is built here")
    w.bad(verify_text(w, "add_library(u SHARED a.cpp)\nadd_library(t ALIAS u)"))
    w.says("it is an alias; verify u")


def case_verify_beside_find_package(w):
    """verify where no find_package(TorchCudaStack) reaches is refused, not left out."""
    files = [("a/CMakeLists.txt", "find_package(TorchCudaStack REQUIRED)"),
             ("b/CMakeLists.txt", "add_library(t SHARED b.cpp)\ntorch_cuda_stack_verify(t)"), ("b/b.cpp", "")]
    body = w.modules() + "add_subdirectory(a)\nadd_subdirectory(b)"
    w.bad(w.configure(w.project(body, languages="CXX", files=files)))
    w.says("torch_cuda_stack_verify(t): there is no find_package(TorchCudaStack) in")


def case_verify_where_nothing_was_found(w):
    """Not REQUIRED and not found: verify says that it does not; under SKIP find_package() has said so."""
    w.plan(**FAIL)
    body = w.modules() + "find_package(TorchCudaStack)\nadd_library(t SHARED a.cpp)\ntorch_cuda_stack_verify(t)"
    folder = w.project(body, languages="CXX", files=[("a.cpp", "")])
    w.good(w.configure(folder))
    w.says("t is not verified, find_package(TorchCudaStack) found nothing")
    w.env["TORCH_CUDA_STACK_SKIP"] = "1"
    calls = len(w.calls())
    w.good(w.configure(folder))
    w.says("nothing was measured", "no target is verified")
    assert len(w.calls()) == calls


def built(w, *arguments):
    done = subprocess.run([CMAKE, "--build", str(w.build), *arguments], env=w.env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    w.text = done.stdout
    return done.returncode


def option(call, name):
    return call[call.index(name) + 1] if name in call else None


def case_two_directories_two_plans(w):
    """find_package() in two directories: each target is held against the plan of its own."""
    part = 'set(TorchCudaStack_TARGETS %s)\nfind_package(TorchCudaStack REQUIRED)\nadd_library(%s SHARED ../x.cpp)\n' \
           'torch_cuda_stack_verify(%s)'
    files = [("a/CMakeLists.txt", part % ("8.0", "a", "a")), ("b/CMakeLists.txt", part % ("9.0", "b", "b")),
             ("x.cpp", "int x() { return 1; }\n")]
    w.good(w.configure(w.project(w.modules() + "add_subdirectory(a)\nadd_subdirectory(b)", languages="CXX",
                                 files=files)))
    assert [w.sets(n)["TARGETS"] for n in (0, 1)] == ["8.0", "9.0"]
    w.good(built(w))
    plans = {Path(c[1]).name: option(c, "--plan") for c in w.calls() if c[0] == "verify"}
    assert plans == {f"lib{n}.so": f"{w.build}/{n}/TorchCudaStack/plan.json" for n in "ab"}, plans


def case_verify_sources_with_sets_of_their_own(w):
    """SOURCE_IMAGES: the objects of those sources are held against their set, the others against the plan."""
    source = [(f"{n}.cu", f"int {n}() {{ return 1; }}\n") for n in "abc"]
    text = ("set_source_files_properties(a.cu b.cu c.cu PROPERTIES LANGUAGE CXX)\nadd_library(t SHARED a.cu b.cu c.cu)\n"
            "torch_cuda_stack_verify(t SOURCE_IMAGES ")
    head = w.modules() + "find_package(TorchCudaStack REQUIRED)\n" + text
    w.good(w.configure(w.project(head + "a.cu sm_90a b.cu sm_100a sm_103a)", languages="CXX", files=source)))
    w.good(built(w))
    seen = [(option(c, "--images"), [Path(n).name for n in Path(option(c, "--objects")).read_text().split()])
            for c in w.calls() if c[0] == "verify"]
    assert seen == [("sm_90a", ["a.cu.o"]), ("sm_100a;sm_103a", ["b.cu.o"]), (None, ["c.cu.o"])], seen
    assert ["--rest" in c for c in w.calls() if c[0] == "verify"] == [False, False, True]
    w.bad(w.configure(w.project(head + "a.cu b.cu sm_90)", "q", "CXX", files=source)))
    w.says("a.cu names no image such as")
    w.bad(w.configure(w.project(head + "aa.cu sm_90)", "u", "CXX", files=source)))
    w.says("aa.cu is no source of the target")
    w.good(w.configure(w.project(head + "${CMAKE_CURRENT_SOURCE_DIR}/a.cu sm_90)", "v", "CXX", files=source)))
    near = source + [("a-b.cu", "int ab() { return 1; }\n"), ("a_b.cu", "int a_b() { return 1; }\n")]
    w.good(w.configure(w.project(head.replace("b.cu c.cu", "a-b.cu a_b.cu") + "a-b.cu sm_90a)", "near", "CXX", files=near)))
    listed = w.build / "CMakeFiles/t.dir/tcs-objects--1.txt"
    assert [Path(n).name for n in listed.read_text().split()] == ["a-b.cu.o"], listed.read_text()
    later = head.replace("b.cu c.cu", "later.cpp $<TARGET_OBJECTS:o>") + "a.cu sm_90a)\nadd_custom_command(OUTPUT later.cpp COMMAND x)"
    w.good(w.configure(w.project(later.replace("add_library(t", "add_library(o OBJECT a.cu)\nadd_library(t"), "later", "CXX",
                                 files=source)))
    twins = source + [("d/a.cu", "int twin() { return 1; }\n")]
    w.bad(w.configure(w.project(head.replace("SHARED a.cu", "SHARED d/a.cu a.cu") + "a.cu sm_90)", "x", "CXX", files=twins)))
    w.says("two sources are named a.cu")
    w.bad(w.configure(w.project(head + "sm_90 b.cu)", "r", "CXX", files=source)))
    w.says("SOURCE_IMAGES starts with sm_90; expected a")


def verify_runs(w, generator, *config):
    w.good(verify_text(w, "add_library(t SHARED a.cpp)", "torch_cuda_stack_verify(t IMAGES sm_80 sm_90)")
           if generator == "Ninja" else w.configure(w.root / "p", generator=generator, build=w.root / "multi"))
    done = subprocess.run([CMAKE, "--build", str(w.build), *config], env=w.env, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    call = [c for c in w.calls() if c[0] == "verify"][-1]
    assert call[1].endswith("libt.so") and call[call.index("--images") + 1] == "sm_80;sm_90", call
    assert option(call, "--facts") == f"{w.build}/TorchCudaStack/facts.json", call
    assert option(call, "--plan") == f"{w.build}/TorchCudaStack/plan.json", call
    objects = Path(call[call.index("--objects") + 1]).read_text().split("\n")
    assert len(objects) == 2 and objects[0].endswith("a.cpp.o") and (w.build / objects[0]).exists(), objects


def case_verify_runs_after_the_link(w):
    """After the link the tool is handed the file, the plan and the target's own objects; Multi-Config too."""
    verify_runs(w, "Ninja")
    verify_runs(w, "Ninja Multi-Config", "--config", "Release")


# ---- architectures of single sources -------------------------------------------------------------------------------


def intersected(w, call, *arguments, name="p", archs="8.0;8.6+PTX;9.0"):
    """torch_cuda_stack_intersect(H <call>) beside a plan for `archs`, of a recorded machine."""
    body = w.modules() + ("find_package(TorchCudaStack REQUIRED)\n"
                          f"torch_cuda_stack_intersect(H {call})\n"
                          'message(STATUS "H=${H}| F=${H_GENCODE_FLAGS}| I=${H_IMAGES}| U=${H_UNSERVED}|")\n')
    folder = w.project(body, name, files=[("facts.json", recorded("922-image-does-not-run-near"))])
    return w.configure(folder, f"-DTorchCudaStack_FACTS={folder}/facts.json", f"-DTORCH_CUDA_ARCH_LIST={archs}",
                       *arguments, stub=False, tool=real_tool())


def case_intersect_says_what_a_source_is_compiled_for(w):
    """Of a source's architectures those that the plan needs, in three forms, and what is left without it in one line."""
    w.good(intersected(w, "ARCHS 9.0a 10.0f"))
    w.says("H=9.0a| F=-gencode=arch=compute_90a,code=sm_90a| I=sm_90a| U=compute_86;8.0;8.6|",
           "TorchCudaStack: H: serves not all of the plan: compute_86: PTX of 'a' and 'f' architectures serves no GPU to")
    w.good(intersected(w, 'ARCHS "8.0;9.0a" NAME attention'))
    w.says("H=8.0+PTX;9.0a|", "I=sm_80;compute_80;sm_90a| U=|")
    w.silent("serves not all", "CMake Warning")


def case_intersect_is_never_empty_in_silence(w):
    """Nothing left: a warning with both sides; an error with REQUIRED; one line with OPTIONAL."""
    said = ("hopper: none of its architectures (10.0a 10.3a) serves the plan (sm_80 sm_86 compute_86 sm_90)",
            "8.0 8.6 9.0: none of the file's architectures runs there")
    w.good(intersected(w, "ARCHS 10.0a 10.3a NAME hopper"))
    w.says("CMake Warning", *said, "or say OPTIONAL", "H=| F=| I=| U=compute_86;8.0;8.6;9.0|")
    w.bad(intersected(w, "ARCHS 10.0a 10.3a NAME hopper REQUIRED", name="q"))
    w.says("CMake Error", *said)
    w.silent("H=|")
    w.good(intersected(w, "ARCHS 10.0a 10.3a NAME hopper OPTIONAL", name="r"))
    w.says(f"-- TorchCudaStack: {said[0]}", "H=|")
    w.silent("CMake Warning")


def case_intersect_of_what_is_no_architecture(w):
    """What is no architecture, and arguments that nobody knows, stop with what they are."""
    w.bad(intersected(w, "ARCHS 9.0f"))
    w.says("torch_cuda_stack_intersect(H): tcstack intersect: H: '9.0f' is no architecture; did you mean 9.0a?")
    w.bad(intersected(w, 'ARCHS 9.0 "$(touch pwned)" NAME "a]]b"', name="q"))
    w.says("'$(touch' is no architecture")
    w.bad(intersected(w, "ARCHS", name="r"))
    w.says("ARCHS names no architecture")
    w.bad(intersected(w, "9.0", name="s"))
    w.says("unknown argument 9.0")
    w.bad(intersected(w, "ARCHS 9.0 OPTIONAL REQUIRED", name="t"))
    w.says("OPTIONAL and REQUIRED exclude each other")


def case_intersect_without_a_plan(w):
    """Under SKIP there is no plan: the intersection is empty, and that is said."""
    w.good(intersected(w, "ARCHS 9.0a", "-DTorchCudaStack_SKIP=ON"))
    w.says("H: there is no plan, TorchCudaStack_SKIP is set", "H=| F=| I=| U=|")


def case_source_archs_refusals(w):
    """What is no source of the target, has no architecture, comes after verify, or gets no answer is refused."""
    head = w.modules() + ("find_package(TorchCudaStack REQUIRED)\n"
                          "set_source_files_properties(a.cu b.cu PROPERTIES LANGUAGE CXX)\n"
                          "add_library(t SHARED a.cu b.cu)\nadd_library(v ALIAS t)\nadd_library(i INTERFACE a.cu)\n")
    for n, (call, text) in enumerate((
            ("torch_cuda_stack_source_archs(t c.cu 9.0a)", "c.cu is no source of the target"),
            ("torch_cuda_stack_source_archs(t a.cu 9.0a d/a.cu 9.0)", "d/a.cu is no source of the target"),
            ("torch_cuda_stack_source_archs(t a.cu b.cu 9.0)", "a.cu has no architecture behind it"),
            ("torch_cuda_stack_source_archs(t)", "names no file"),
            ("torch_cuda_stack_source_archs(v a.cu 9.0)", "it is an alias; name t"),
            ("torch_cuda_stack_source_archs(n a.cu 9.0)", "there is no target of that name"),
            ("torch_cuda_stack_source_archs(i a.cu 9.0)", "it compiles nothing here; name the target that compiles"),
            ("torch_cuda_stack_source_archs(t a.cu 9.0)", "gave no answer"),
            ("torch_cuda_stack_verify(t)\ntorch_cuda_stack_source_archs(t a.cu 9.0)",
             "call it before torch_cuda_stack_verify(t)"))):
        files = [("a.cu", "int a() { return 1; }\n"), ("b.cu", "int b() { return 1; }\n")]
        w.bad(w.configure(w.project(head + call, f"p{n}", "CXX", files=files)))
        w.says("torch_cuda_stack_source_archs(", text)


SOURCES_OF_THEIR_OWN = """
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(TorchCudaStack REQUIRED COMPONENTS Toolkit)
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
if(AS_TORCH)
  string(REPLACE ";" " " flags " ${TorchCudaStack_GENCODE_FLAGS}")
  string(REPLACE "-gencode=" "-gencode " flags "${flags}")
  string(APPEND CMAKE_CUDA_FLAGS " -DX${flags} -DY")
  set_property(TARGET TorchCudaStack::Archs PROPERTY INTERFACE_COMPILE_OPTIONS "")
endif()
add_subdirectory(below)
add_library(t SHARED plain.cu hopper.cu blackwell.cu)
target_link_libraries(t PRIVATE TorchCudaStack::Archs)
torch_cuda_stack_source_archs(t hopper.cu 9.0a blackwell.cu 10.0f 12.0f ${OPTIONAL})
torch_cuda_stack_verify(t)
add_library(u STATIC hopper.cu plain.cu)
target_link_libraries(u PRIVATE TorchCudaStack::Archs)
torch_cuda_stack_verify(u)
"""


def images_of(w, file):
    text = subprocess.run([real_tool(), "images", str(w.build / file)], text=True, capture_output=True).stdout
    return sorted(set(re.findall(r"(?:sm|compute)_[0-9]+[af]?", text)))


def sources_of_their_own(w, *arguments, generator="Ninja", build="b"):
    if not Path("/usr/local/cuda/bin/nvcc").exists():
        raise Skip("needs an nvcc in /usr/local/cuda")
    w.env["PATH"] = "/usr/local/cuda/bin:" + w.env["PATH"]
    kernel = "__global__ void k() {}\nvoid f_%s() { k<<<1, 1>>>(); }\n"
    files = [(f"{n}.cu", kernel.replace("k", f"k_{n}") % n) for n in ("plain", "hopper", "blackwell")]
    files += [("below/CMakeLists.txt", "add_library(s STATIC ../plain.cu)\n"
               "target_link_libraries(s PRIVATE TorchCudaStack::Archs)\ntorch_cuda_stack_verify(s)\n")]
    folder = w.project(w.modules() + SOURCES_OF_THEIR_OWN, languages="CXX", files=files)
    return w.configure(folder, *arguments, stub=False, tool=real_tool(), generator=generator, build=w.root / build)


def case_sources_are_compiled_for_sets_of_their_own(w):
    """Real nvcc: single sources for their intersection, all else for the plan, wherever the plan's flags came from."""
    plan = ["compute_103", "sm_103", "sm_86", "sm_90"]
    for n, (generator, torch) in enumerate((("Ninja", "ON"), ("Unix Makefiles", "OFF"))):
        w.good(sources_of_their_own(w, "-DTORCH_CUDA_ARCH_LIST=8.6;9.0;10.3+PTX", f"-DAS_TORCH={torch}",
                                    generator=generator, build=f"b{n}"))
        w.says("hopper.cu: serves not all of the plan: ", "8.6 10.3: none of the file's")
        w.good(built(w))
        w.says("verified: every fat binary holds sm_90a", "verified: every fat binary holds sm_100f",
               "verified: every fat binary holds sm_86 sm_90 sm_103 compute_103")
        seen = {str(p.relative_to(w.build)): images_of(w, p) for p in w.build.rglob("*.cu.o")}
        assert seen == {"CMakeFiles/t.dir/hopper.cu.o": ["sm_90a"], "CMakeFiles/t.dir/blackwell.cu.o": ["sm_100f"],
                        "CMakeFiles/t.dir/plain.cu.o": plan, "CMakeFiles/u.dir/hopper.cu.o": plan,
                        "CMakeFiles/u.dir/plain.cu.o": plan, "below/CMakeFiles/s.dir/__/plain.cu.o": plan}, seen
        commands = json.loads((w.build / "compile_commands.json").read_text())
        assert all(("-DX" in c["command"]) == (torch == "ON") for c in commands if c["file"].endswith(".cu"))


def case_source_that_the_plan_does_not_need(w):
    """Real nvcc: a source without an architecture for the plan is an error, and left out where it is OPTIONAL."""
    w.bad(sources_of_their_own(w, "-DTORCH_CUDA_ARCH_LIST=9.0"))
    w.says("blackwell.cu: none of its architectures (10.0f 12.0f) serves the plan (sm_90)", "does without it: 10.0f 12.0f OPTIONAL")
    w.good(sources_of_their_own(w, "-DTORCH_CUDA_ARCH_LIST=9.0", "-DOPTIONAL=OPTIONAL"))
    w.says("-- TorchCudaStack: blackwell.cu: none of its", "-- TorchCudaStack: t is built without blackwell.cu")
    commands = json.loads((w.build / "compile_commands.json").read_text())
    assert not [c for c in commands if c["file"].endswith("blackwell.cu")]
    assert flags_of(w, "hopper.cu") == ["sm_90a"], flags_of(w, "hopper.cu")


# ---- how it comes into a project ----------------------------------------------------------------------------------


def case_add_subdirectory(w):
    """add_subdirectory() of this repository is quiet, builds nothing, and find_package() then works."""
    folder = w.project(f'add_subdirectory("{REPO}" tcs)\nfind_package(TorchCudaStack REQUIRED)\n'
                       'message(STATUS "L=${TORCH_CUDA_ARCH_LIST} F=${TorchCudaStack_FOUND}.")')
    w.good(w.configure(folder))
    w.says("L=8.0;9.0 F=")
    w.silent("compiler identification", "Catch2")


def case_fetch_content(w):
    """FetchContent_MakeAvailable() of this repository, then find_package() in a subdirectory."""
    folder = w.project(f'include(FetchContent)\nFetchContent_Declare(tcs SOURCE_DIR "{REPO}")\n'
                       "FetchContent_MakeAvailable(tcs)\nadd_subdirectory(sub)",
                       files=[("sub/CMakeLists.txt", "find_package(TorchCudaStack 0.1 REQUIRED)\n"
                                                     'message(STATUS "L=${TORCH_CUDA_ARCH_LIST}.")')])
    w.good(w.configure(folder))
    w.says("L=8.0;9.0.")


def case_override_find_package(w):
    """OVERRIDE_FIND_PACKAGE: find_package() takes this repository in and its results reach the caller."""
    folder = w.project(f'include(FetchContent)\nFetchContent_Declare(TorchCudaStack SOURCE_DIR "{REPO}" '
                       "OVERRIDE_FIND_PACKAGE)\nfind_package(TorchCudaStack 0.1 REQUIRED)\n"
                       'message(STATUS "L=${TORCH_CUDA_ARCH_LIST} F=${TorchCudaStack_FOUND}.")')
    w.good(w.configure(folder))
    w.says("L=8.0;9.0 F=")


def installed(w):
    """The package as `cmake --install` lays it (the stub is its tool), moved elsewhere."""
    prefix = w.root / "moved prefix"
    package = prefix / "share" / "cmake" / "TorchCudaStack"
    package.mkdir(parents=True)
    shutil.copytree(REPO / "modules", package / "modules")
    shutil.copy(REPO / "cmake" / "TorchCudaStackConfig.cmake", package)
    template = (REPO / "cmake" / "installed.cmake.in").read_text()
    (package / "modules" / "TorchCudaStack" / "detail" / "_tcs_installed.cmake").write_text(
        template.replace("@_tcs_tool_from_here@", "../../../../../../bin/tcstack"))
    (prefix / "bin").mkdir()
    shutil.copy(HERE / "stub_tcstack.py", prefix / "bin" / "tcstack")
    return prefix


def case_installed_package(w):
    """Config mode from an install prefix, moved elsewhere: its own tool and its own modules."""
    prefix = installed(w)
    folder = w.project("find_package(TorchCudaStack REQUIRED)\nget_target_property(p TorchCudaStack::tcstack "
                       'IMPORTED_LOCATION)\nfile(REAL_PATH "${p}" p)\nmessage(STATUS "P=${p}")')
    w.good(w.configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", stub=False))
    w.says("-- TorchCudaStack: 8.0 9.0", f"P={prefix}/bin/tcstack")


# ---- the tool is compiled at the first configure --------------------------------------------------------------------

FAKE_MAIN = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/stat.h>
int answer();
int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "--version")) return std::puts("tcstack " TCS_VERSION) < 0;
  std::string dir;
  for (int i = 1; i + 1 < argc; ++i)
    if (!std::strcmp(argv[i], "--dir")) dir = argv[i + 1];
  mkdir(dir.c_str(), 0755);
  FILE* out = std::fopen((dir + "/plan.cmake").c_str(), "w");
  if (!out || answer() != 42) return 3;
  std::fputs("set(_tcs_outcome ok)\nset(_tcs_summary [[TorchCudaStack: fake core " TCS_VERSION "]])\n", out);
  for (const char* c : {"Device", "Driver", "Toolkit", "HostCompiler", "Runtime", "Torch", "Python"})
    std::fprintf(out, "set(TorchCudaStack_%s_FOUND TRUE)\n", c);
  return std::fclose(out);
}
"""


def fake_package(w, name="pack"):
    """modules/ and probe-src/ as a user copies them, the sources being two small units."""
    root = w.root / name
    shutil.copytree(REPO / "modules", root / "modules")
    units = root / "probe-src" / "unity"
    units.mkdir(parents=True)
    (units / "main.cpp").write_text(FAKE_MAIN)
    (units / "answer_o1.cpp").write_text("int answer() { return 42; }\n")
    return root


def cores(folder):
    return sorted(folder.glob("core/*/tcstack-core")) if folder.exists() else []


def case_copied_folder_compiles_its_tool_once(w):
    """A copied modules/ + probe-src/ compiles its tool once for a user, in a 0700 folder; the next project re-uses it."""
    pack = fake_package(w)
    body = w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"
    w.good(w.configure(w.project(body), stub=False))
    version = (REPO / "VERSION").read_text().strip()
    w.says(f"-- TorchCudaStack: fake core {version}")
    cache = w.root / "home" / ".cache" / "torch-cuda-stack"
    assert len(cores(cache)) == 1
    assert stat.S_IMODE(cores(cache)[0].parent.stat().st_mode) == 0o700
    assert not list(cache.rglob("*.o")) and not list(cache.glob("core/tmp-*"))
    before = cores(cache)[0].stat().st_mtime_ns
    w.good(w.configure(w.project(body, name="q"), stub=False))
    assert [c.stat().st_mtime_ns for c in cores(cache)] == [before]


def case_cleared_cache_breaks_no_build_tree(w):
    """The tool that a build tree's steps name lies in the tree: a cleared cache takes nothing from it."""
    pack = fake_package(w)
    body = w.modules(pack / "modules") + ("find_package(TorchCudaStack REQUIRED)\n"
                                          "get_target_property(p TorchCudaStack::tcstack IMPORTED_LOCATION)\n"
                                          'message(STATUS "P=${p}.")')
    folder = w.project(body)
    w.good(w.configure(folder, stub=False))
    w.says(f"P={w.build}/TorchCudaStack/tcstack.")
    cache = w.root / "home" / ".cache" / "torch-cuda-stack"
    assert len(cores(cache)) == 1
    shutil.rmtree(cache)
    assert os.access(w.build / "TorchCudaStack" / "tcstack", os.X_OK)
    w.good(w.configure(folder, stub=False))
    w.says("fake core", f"P={w.build}/TorchCudaStack/tcstack.")
    assert not cores(cache), "compiled again although the tree has its tool"


def case_source_error_is_said_once(w):
    """A source that no compiler takes: the first compiler's first lines, once, and no second folder is tried."""
    pack = fake_package(w)
    second = w.root / "second" / "clang++"  # a machine may have g++ alone
    second.parent.mkdir()
    second.write_text('#!/bin/sh\nexec c++ "$@"\n')
    second.chmod(0o755)
    w.env["PATH"] = f"{second.parent}:{w.env.get('PATH', os.environ['PATH'])}"
    (pack / "probe-src" / "unity" / "main.cpp").write_text("int main() { return nonsense; }\n" + "bad line;\n" * 60)
    w.bad(w.configure(w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"), stub=False))
    w.says("its tool could not be compiled", "other C++ compilers were tried")
    assert w.text.count("nonsense") in (1, 2, 3), w.text.count("nonsense")  # the message, and the line it quotes
    lines = [line for line in w.text.splitlines() if "main.cpp" in line]
    assert 1 <= len(lines) <= 15 and w.text.count("ended with") == 1, w.text.count("ended with")
    assert not (w.build / "TorchCudaStack" / "cache").exists()


def case_cache_that_others_may_write(w):
    """A cache that others may write to is not run from; a relative one is refused."""
    pack = fake_package(w)
    folder = w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)")
    shared = w.root / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    w.good(w.configure(folder, f"-DTorchCudaStack_CACHE_DIR={shared}", stub=False))
    w.says("cache not used", "others may write to it", "fake core")
    assert not list(shared.iterdir()) and len(cores(w.build / "TorchCudaStack" / "cache")) == 1
    w.bad(w.configure(folder, "-DTorchCudaStack_CACHE_DIR:STRING=some/where", stub=False))
    w.says("TorchCudaStack_CACHE_DIR is no absolute path: some/where")
    w.env["TORCH_CUDA_STACK_CACHE_DIR"] = "off"
    w.good(w.configure(w.project((folder / "CMakeLists.txt").read_text().split("NONE)\n")[1], "q"), stub=False))
    assert len(cores(w.build / "TorchCudaStack" / "cache")) == 1 and not (w.root / "home" / ".cache").exists()


def case_changed_source_is_compiled_again(w):
    """The key is the content: a changed source gives a new tool."""
    pack = fake_package(w)
    body = w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"
    w.good(w.configure(w.project(body), stub=False))
    main = pack / "probe-src" / "unity" / "main.cpp"
    main.write_text(main.read_text().replace("fake core", "newer core"))
    w.good(w.configure(w.project(body), stub=False))
    w.says("newer core")
    assert len(cores(w.root / "home" / ".cache" / "torch-cuda-stack")) == 2


def case_eight_configures_at_once(w):
    """Eight configures at once all succeed and leave one tool and no scratch."""
    pack = fake_package(w)
    body = w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"
    folders = [w.project(body, name=f"e{n}") for n in range(8)]
    running = [subprocess.Popen([CMAKE, "-S", str(f), "-B", str(f / "build"), "-G", "Ninja"], env=w.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for f in folders]
    texts = [p.communicate(timeout=600)[0] for p in running]
    w.text = "\n".join(texts)
    assert [p.returncode for p in running] == [0] * 8
    cache = w.root / "home" / ".cache" / "torch-cuda-stack"
    assert len(cores(cache)) == 1 and not list(cache.glob("core/tmp-*"))


def case_home_that_cannot_be_written(w):
    """A HOME that cannot be written to: the tool lies in the build tree."""
    pack = fake_package(w)
    (w.root / "file").write_text("")  # nobody, root included, makes a folder below a file
    w.env["HOME"] = str(w.root / "file")
    w.good(w.configure(w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"), stub=False))
    assert len(cores(w.build / "TorchCudaStack" / "cache")) == 1


def case_full_disk(w):
    """A cache on a full disk: the tool lies in the build tree."""
    (w.root / "small").mkdir()
    mount = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=16k none "$0" && exec "$@"', str(w.root / "small")]
    if not shutil.which("unshare") or subprocess.run([*mount, "true"], capture_output=True).returncode:
        raise Skip("needs the right to mount a small file system")
    pack = fake_package(w)
    w.wrap = mount
    w.env["XDG_CACHE_HOME"] = str(w.root / "small")
    w.good(w.configure(w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)"), stub=False))
    w.says("fake core")
    assert len(cores(w.build / "TorchCudaStack" / "cache")) == 1


def case_cache_off(w):
    """TorchCudaStack_CACHE_DIR=OFF leaves the user's folders alone."""
    pack = fake_package(w)
    folder = w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)")
    w.good(w.configure(folder, "-DTorchCudaStack_CACHE_DIR=OFF", stub=False))
    assert not (w.root / "home" / ".cache").exists()
    assert len(cores(w.build / "TorchCudaStack" / "cache")) == 1


def case_broken_compiler_gives_way(w):
    """A compiler in CXX that does not work gives way to the next; where one was named it does not, and its words show."""
    pack = fake_package(w)
    broken = script(w.root / "bad g++", "#!/bin/sh\necho 'bad: no such option' >&2\nexit 1\n")
    w.env["CXX"] = f"'{broken}'"
    folder = w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)")
    w.good(w.configure(folder, stub=False))
    w.says("fake core")
    w.bad(w.configure(folder, f"-DTorchCudaStack_HOST_CXX={broken}", stub=False))
    w.says("its tool could not be compiled", "bad: no such option")


def case_no_compiler(w):
    """No compiler at all: says what to set."""
    pack = fake_package(w)
    folder = w.project(w.modules(pack / "modules") + "find_package(TorchCudaStack REQUIRED)")
    w.bad(w.configure(folder, "-DTorchCudaStack_HOST_CXX=/nowhere/g++", stub=False))
    w.says("no C++ compiler to build its tool with", "TorchCudaStack_HOST_CXX")


# ---- toolkits that are not what they should be, with the real tool --------------------------------------------------


def double_nvcc(w, text, name="toolkit"):
    root = w.root / name
    script(root / "bin" / "nvcc", "#!/bin/sh\n" + text)
    (root / "include").mkdir()
    (root / "include" / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
    return root


def configure_toolkit(w, root, *arguments):
    body = w.modules() + ('find_package(TorchCudaStack COMPONENTS Toolkit)\n'
                          'message(STATUS "F=${TorchCudaStack_FOUND} S=${TorchCudaStack_Toolkit_STATUS}.")')
    folder = w.project(body, name=root.name + " p")
    return w.configure(folder, f"-DTorchCudaStack_TOOLKIT={root}", *arguments, stub=False, tool=real_tool())


def case_nvcc_that_hangs(w):
    """An nvcc that hangs is a finding, within the time that a probe may take."""
    root = double_nvcc(w, "sleep 300\n")
    start = time.time()
    w.good(configure_toolkit(w, root, "-DTorchCudaStack_TIMEOUT=2"))
    assert time.time() - start < 60, time.time() - start
    w.says("S=fail", "error[TCS305", f"{root}/bin/nvcc", "no answer in 2 s")


def case_nvcc_that_prints_garbage(w):
    """An nvcc that prints garbage is a finding that shows where it lies."""
    root = double_nvcc(w, "head -c 4000 /dev/urandom\n")
    w.good(configure_toolkit(w, root))
    w.says("S=fail", "error[TCS305", f"{root}/bin/nvcc", "printed what no nvcc prints")
    odd = [c for c in w.text if ord(c) < 32 and c not in "\n\t"]
    assert w.raw.isascii() and not odd, "raw bytes of the toolkit's output are printed"


def case_nvcc_is_a_directory(w):
    """A folder where nvcc should be is a finding."""
    root = w.root / "toolkit"
    (root / "bin" / "nvcc").mkdir(parents=True)
    w.good(configure_toolkit(w, root))
    w.says("S=fail", "error[TCS305", f"{root} holds no bin/nvcc")


def case_list_with_shell_syntax(w):
    """A list with shell syntax is refused, and nothing of it is run."""
    root = double_nvcc(w, "exit 1\n")
    configure_toolkit(w, root, "-DTORCH_CUDA_ARCH_LIST=$(touch pwned);8.0")
    w.silent("F=TRUE")
    w.says("error[TCS906", "$(touch pwned)")
    assert not list(w.root.rglob("pwned"))


# ---- the machine's nvcc and a real PyTorch, where both are here ------------------------------------------------------


def real_torch():
    done = subprocess.run([sys.executable, REPO / "tests" / "real" / "parts.py", "path", "torch-2.15.0"],
                          capture_output=True, text=True)
    if done.returncode or not Path("/usr/local/cuda/bin/nvcc").exists():
        raise Skip("needs the real part torch-2.15.0 and an nvcc in /usr/local/cuda")
    return Path(done.stdout.strip()) / "torch" / "share" / "cmake" / "Torch"


def configure_real(w, *arguments, languages="CXX", body="", generator="Ninja", first=""):
    tool = real_tool()
    files = [("k.cu", "__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n"), ("m.cpp", "#include <Python.h>\n")]
    body = w.modules() + first + ("find_package(TorchCudaStack REQUIRED)\n"
                          "torch_cuda_stack_add_extension(x SOURCES m.cpp k.cu)\n"
                          'message(STATUS "NVCC=${CMAKE_CUDA_COMPILER}. A=${CMAKE_CUDA_ARCHITECTURES}. '
                          'FLAGS=${CMAKE_CUDA_FLAGS}.")\n') + body
    w.env["PATH"] = "/usr/local/cuda/bin:" + w.env["PATH"]
    return w.configure(w.project(body, languages=languages, files=files), f"-DTorch_DIR={real_torch()}",
                       "-DTorchCudaStack_ALLOW=TCS501", *arguments, stub=False, tool=tool, generator=generator)


def flags_of(w, file="k.cu"):
    commands = json.loads((w.build / "compile_commands.json").read_text())
    return sorted(re.findall(r",code=([a-z0-9_]+)", next(c["command"] for c in commands if c["file"].endswith(file))))


def case_real_plan_reaches_the_compiler_once(w):
    """Real torch, real nvcc: each image of the plan is asked for once, by torch's flags alone."""
    w.good(configure_real(w, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DTORCH_CUDA_ARCH_LIST=8.0;9.0+PTX"))
    assert flags_of(w) == ["compute_90", "sm_80", "sm_90"], flags_of(w)
    w.says("A=OFF.")
    w.silent("pytorch is not compatible with")


def case_real_cmake_architectures_are_the_plan(w):
    """-DCMAKE_CUDA_ARCHITECTURES=86, which torch ignores, becomes the plan; so it stays on the second configure."""
    for _ in range(2):
        w.good(configure_real(w, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CUDA_ARCHITECTURES=86-real"))
        assert flags_of(w) == ["sm_86"], flags_of(w)


def case_real_cuda_enabled_first(w):
    """CUDA enabled by project(): CMake's default architecture does not count as the user's."""
    w.good(configure_real(w, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", languages="CXX CUDA"))
    assert "sm_90" in flags_of(w) and "sm_52" not in flags_of(w), flags_of(w)


def case_real_torch_again(w):
    """A find_package(Torch) of the project's own afterwards, and its TORCH_LIBRARIES, work too."""
    body = 'find_package(Torch REQUIRED)\nadd_library(y SHARED k.cu)\ntarget_link_libraries(y "${TORCH_LIBRARIES}")'
    w.good(configure_real(w, body=body))
    w.silent("NOTFOUND")


def case_real_torch_first(w):
    """find_package(Torch) before ours: the plan's flags alone, and a CMake that has no CUDA20 generates."""
    w.good(configure_real(w, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CUDA_ARCHITECTURES=90-real",
                          first="find_package(Torch REQUIRED)\n"))
    assert flags_of(w) == ["sm_90"], flags_of(w)
    w.says("replaced the architectures that find_package(Torch) made up")


def case_real_words_of_the_user(w):
    """-DTORCH_CUDA_ARCH_LIST=sm_90 and Common, at which torch stops or reads its own: the plan's flags alone."""
    w.good(configure_real(w, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DTORCH_CUDA_ARCH_LIST=sm_90"))
    assert flags_of(w) == ["sm_90"], flags_of(w)
    w.good(configure_real(w, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DTORCH_CUDA_ARCH_LIST=Common"))
    flags = flags_of(w)
    assert "sm_90" in flags and len(flags) == len(set(flags)) and "sm_50" not in flags, flags


def case_real_lost_architecture_fails_the_build(w):
    """A flag that drops an architecture of the plan fails the link, which names what is lacking; without it it builds."""
    w.good(configure_real(w, "-DTORCH_CUDA_ARCH_LIST=8.0;9.0"))
    w.good(built(w))
    w.says("verified: every fat binary holds sm_80 sm_90")
    w.good(configure_real(w, "-DTORCH_CUDA_ARCH_LIST=8.0;9.0",
                          body='set(CMAKE_CUDA_FLAGS "-gencode arch=compute_80,code=sm_80")\n'))
    w.bad(built(w))
    w.says("what was built is not what was planned", "lacks sm_90 (there: sm_80)", "k.cu.o", "NVCC_APPEND_FLAGS")


def case_real_extension_with_sets_of_single_sources(w):
    """Real torch: SOURCE_ARCHS of an extension, whose flags torch put into CMAKE_CUDA_FLAGS; verified after the link."""
    w.good(configure_real(w, "-DTORCH_CUDA_ARCH_LIST=8.6;9.0", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                          body="file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/h.cu [==[__global__ void h() {}\nvoid g() { h<<<1, 1>>>(); }\n]==])\n"
                               "torch_cuda_stack_add_extension(y SOURCES m.cpp k.cu h.cu SOURCE_ARCHS h.cu 9.0a)\n"))
    assert flags_of(w, "h.cu") == ["sm_90a"] and flags_of(w) == ["sm_86", "sm_90"], (flags_of(w, "h.cu"), flags_of(w))
    w.good(built(w))
    w.says("verified: every fat binary holds sm_90a", "verified: every fat binary holds sm_86 sm_90")


def case_real_multi_config(w):
    """Ninja Multi-Config configures, and each configuration has its own list of objects."""
    w.good(configure_real(w, generator="Ninja Multi-Config"))
    for config in ("Debug", "Release"):
        text = (w.build / "CMakeFiles" / "x.dir" / f"tcs-objects-{config}.txt").read_text()
        assert f"/{config}/k.cu.o" in text, text


def case_real_launcher(w):
    """CUDACXX='ccache nvcc' and CMAKE_CUDA_COMPILER_LAUNCHER: the nvcc behind the launcher is the one judged."""
    ccache = script(w.root / "bin" / "ccache", '#!/bin/sh\nexec "$@"\n')
    w.good(configure_real(w, f"-DCMAKE_CUDA_COMPILER_LAUNCHER={ccache}"))
    w.env["CUDACXX"] = f"{ccache} /usr/local/cuda/bin/nvcc"
    shutil.rmtree(w.build)
    w.good(configure_real(w))
    w.says("nvcc 13.0")


def case_real_wrapper(w):
    """An nvcc that is a script around the real one works."""
    wrapper = script(w.root / "wrapped" / "nvcc", '#!/bin/sh\nexec /usr/local/cuda/bin/nvcc "$@"\n')
    w.good(configure_real(w, f"-DCMAKE_CUDA_COMPILER={wrapper}"))
    w.says(f"NVCC={wrapper}.")


def case_real_clang(w):
    """clang as the CUDA compiler is recognised: it says what clang cannot do with PyTorch's flags."""
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if not clang:
        raise Skip("needs clang++")
    w.bad(configure_real(w, f"-DCMAKE_CUDA_COMPILER={clang}"))
    w.says("error[TCS404 clang-as-cuda-compiler]", "-DCMAKE_CUDA_HOST_COMPILER=")
    w.silent("Failed to detect")


def case_real_stale_compiler(w):
    """A changed CMAKE_CUDA_COMPILER in an old build tree is said, not swallowed."""
    done = subprocess.run([sys.executable, REPO / "tests" / "real" / "parts.py", "path", "toolkit-13.2"],
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip("needs the real part toolkit-13.2")
    w.good(configure_real(w))
    w.bad(configure_real(w, f"-DCMAKE_CUDA_COMPILER={done.stdout.strip()}/nvidia/cu13/bin/nvcc"))
    w.says("error[TCS306", "--fresh")


def main(names):
    cases = {name[5:]: f for name, f in names.items() if name.startswith("case_")}
    if sys.argv[1:] == ["list"]:
        print("\n".join(cases))
        return 0
    if len(sys.argv) != 3 or sys.argv[1] != "run" or sys.argv[2] not in cases:
        print(__doc__)
        return 2
    case = cases[sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="tcs-cmake-") as root:
        w = World(root)
        try:
            case(w)
        except Skip as reason:
            print(f"skipped: {reason}")
            return 77
        except (AssertionError, KeyError, IndexError) as wrong:
            print(f"{case.__doc__}\n  but: {wrong!r}\n--- what was printed\n{w.text}")
            return 1
    print(case.__doc__)
    return 0


if __name__ == "__main__":
    import cases  # once more, as the module that gate_cases.py imports from
    import gate_cases
    import ways_cases
    sys.exit(cases.main({**vars(cases), **vars(gate_cases), **vars(ways_cases)}))
