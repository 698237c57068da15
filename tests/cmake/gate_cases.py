# SPDX-License-Identifier: Apache-2.0
"""The cases of TorchCudaStackGate.cmake; run by cases.py. The projects know nothing of TorchCudaStack."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

from cases import CMAKE, FAIL, HERE, REPO, SHOW, Skip, fake_torch, installed, recorded, real_tool

GATE = REPO / "modules" / "TorchCudaStackGate.cmake"
LOOK = ('\nmessage(STATUS "L=${TORCH_CUDA_ARCH_LIST} A=${CMAKE_CUDA_ARCHITECTURES} C=${CMAKE_CUDA_COMPILER} '
        'R=${CUDA_TOOLKIT_ROOT_DIR} T=${Torch_DIR}.")')
FLAGS = SHOW.split("get_target_property(options")[0] + 'message(STATUS "LINKS=${links}|")'
PLAN_FLAGS = "-DX -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -DY|"
CHOICES = {"_tcs_nvcc": "/opt/x/bin/nvcc", "_tcs_root": "/opt/x", "_tcs_torch_dir": "/opt/t",
           "TorchCudaStack_CUDA_ARCHITECTURES": "80-real;90-real"}
FIND_FOO = """
cmake_policy(GET CMP0074 roots)
cmake_policy(GET CMP0142 suffixes)
message(STATUS "Foo: ${Foo_FIND_COMPONENTS} ${Foo_FIND_VERSION} ${Foo_FIND_QUIETLY} before=${Foo_FOUND} [${roots}|${suffixes}]")
set(Foo_FOUND ${FOO})
"""
PROVIDER = """
macro(other_provide method package)
  message(STATUS "other: ${method} ${package} ${ARGN}")
  if("${package}" STREQUAL "Torch")
    find_package(${package} ${ARGN} BYPASS_PROVIDER)
  endif()
endmacro()
cmake_language(
  SET_DEPENDENCY_PROVIDER other_provide
  SUPPORTED_METHODS FIND_PACKAGE
)
"""


def gated(w, folder, *arguments, before=(), after=(), gate=GATE, **how):
    """Configures under the gate, with other files before and after it."""
    files = ";".join(map(str, [*before, gate, *after]))
    return w.configure(folder, f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={files}", *arguments, **how)


def file(w, name, text):
    path = w.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ---- the first project() call ---------------------------------------------------------------------------------------


def case_gate_stops_before_any_language(w):
    """A finding stops a project that knows nothing of us, before any compiler is looked for."""
    w.plan(**FAIL)
    w.bad(gated(w, w.project('message(STATUS "went on without CUDA")', languages="CXX")))
    w.says("CMake Error", "    error[TCS302 x]: nvcc is CUDA 12, PyTorch is CUDA 13\n", "    help: one of the two\n",
           'note: a "CMAKE_..._COMPILER not set" after this comes of this stop alone\n')
    w.silent("went on", "compiler identification")


def case_gate_lets_a_project_without_cuda_through(w):
    """What is built along with others and names neither CUDA nor Torch is not stopped, nor measured."""
    w.plan(**FAIL)
    folder = w.project('add_subdirectory(below)', languages="NONE")
    file(w, folder / "below" / "CMakeLists.txt", 'message(STATUS "went on")')
    w.good(gated(w, folder))
    w.says("went on", "no CMake file here names CUDA or Torch")
    assert not (folder / "build" / "TorchCudaStack" / "gate").exists()
    for words in ("enable_language(CUDA)", "find_package(Torch REQUIRED)", "include(../more.cmake)"):
        file(w, folder / "below" / "CMakeLists.txt", 'message(STATUS "went on")\n' + words)
        w.bad(gated(w, folder))
        w.says("error[TCS302 x]: nvcc is CUDA 12")
        w.silent("went on")


def case_gate_sees_cuda_in_a_linked_folder(w):
    """A folder of the project that is a link is read as well; one that leads back to itself does no harm."""
    w.plan(**FAIL)
    file(w, "elsewhere/CMakeLists.txt", "enable_language(CUDA)")
    folder = w.project("add_subdirectory(linked)")
    (folder / "linked").symlink_to(w.root / "elsewhere")
    (folder / "self").symlink_to(folder)
    w.bad(gated(w, folder))
    w.says("error[TCS302 x]: nvcc is CUDA 12")


def case_gate_judges_torch_of_a_project_that_did_not_name_it(w):
    """What was not seen in the source folder is judged where it asks for Torch."""
    w.plan(**FAIL)
    outside = file(w, "outside.cmake", "find_package(Torch REQUIRED)")
    folder = w.project('include("${MORE}")\nmessage(STATUS "went on")', languages="CXX")
    w.bad(gated(w, folder, f"-DMORE={outside}"))
    w.says("no CMake file here names CUDA or Torch", "error[TCS302 x]: nvcc is CUDA 12")
    w.silent("went on")


def case_gate_sets_the_plan(w):
    """The plan and the toolkit are set for the whole project; the tool is told where that lies."""
    w.plan(**CHOICES)
    folder = w.project(LOOK)
    w.good(gated(w, folder, "-DTorchCudaStack_PURPOSE=extension"))
    w.says("L=8.0 9.0 A=80-real;90-real C=/opt/x/bin/nvcc R=/opt/x T=/opt/t.")
    given = w.sets()
    assert given["SOURCE_DIR"] == str(folder) and given["BINARY_DIR"] == str(folder / "build"), given
    assert given["PURPOSE"] == "extension" and given["TORCH_OPTIONAL"] == "ON", given
    assert [line for line in w.text.splitlines() if "TorchCudaStack" in line] == [
        "-- TorchCudaStack: 8.0 9.0; a healthy machine"]


def case_gate_leaves_pytorchs_own_tree_its_architectures(w):
    """PyTorch's own tree warns of a CMAKE_CUDA_ARCHITECTURES, so that it gets none."""
    w.plan(_tcs_purpose="pytorch-source", **CHOICES)
    w.good(gated(w, w.project(LOOK)))
    w.says("L=8.0 9.0 A= C=")


def case_gate_users_values_win(w):
    """What the user set is passed on and stays as it is."""
    w.plan(**CHOICES)
    mine = {"TORCH_CUDA_ARCH_LIST": "7.5", "CMAKE_CUDA_ARCHITECTURES": "86", "CMAKE_CUDA_COMPILER": "/my/nvcc",
            "CUDA_TOOLKIT_ROOT_DIR": "/my", "Torch_DIR": "/mine"}
    w.good(gated(w, w.project(LOOK), *(f"-D{name}={value}" for name, value in mine.items())))
    w.says("L=7.5 A=86 C=/my/nvcc R=/my T=/mine.")
    assert {name: w.sets()[name] for name in mine} == mine, w.sets()


def case_gate_second_configure(w):
    """A second configure tells the tool the same: our choices of the first are not the user's."""
    w.plan(**{**CHOICES, "_tcs_torch_dir": fake_torch(w), "_tcs_nvcc": ""})
    folder = w.project("find_package(Torch REQUIRED)" + FLAGS, languages="CXX")
    w.good(gated(w, folder))
    first = w.sets()
    w.good(gated(w, folder))
    assert len(w.calls()) == 2 and w.sets() == first, (first, w.sets())
    w.says(PLAN_FLAGS)


def case_gate_skip(w):
    """TorchCudaStack_SKIP opens the gate, and says so."""
    w.plan(**FAIL)
    w.good(gated(w, w.project(LOOK), "-DTorchCudaStack_SKIP=ON"))
    w.says("CMake Warning", "the gate is open", "L= A=")
    assert not w.calls()


def case_gate_fail_on_and_allow(w):
    """FAIL_ON and ALLOW reach the tool, as of find_package()."""
    w.good(gated(w, w.project(LOOK), "-DTorchCudaStack_FAIL_ON=warning", "-DTorchCudaStack_ALLOW=TCS501;TCS303"))
    assert w.sets()["FAIL_ON"] == "warning" and w.sets()["ALLOW"] == "TCS501;TCS303", w.sets()


def case_gate_recorded_facts_choose_nothing(w):
    """Recorded facts: the findings, and nothing of another machine's paths."""
    folder = w.project(LOOK, files=[("facts.json", recorded("922-image-does-not-run-near"))])
    facts = (f"-DTorchCudaStack_FACTS={folder}/facts.json", "-DTORCH_CUDA_ARCH_LIST=8.0;8.6+PTX;9.0")
    w.good(gated(w, folder, *facts, stub=False, tool=real_tool()))
    w.says("recorded facts", "L=8.0;8.6+PTX;9.0 A= C= R= T=.")


def case_gate_is_passed_once(w):
    """Several project() calls, and the file named twice, measure once."""
    folder = w.project("project(q LANGUAGES NONE)\nadd_subdirectory(sub)" + LOOK,
                       files=[("sub/CMakeLists.txt", "project(sub LANGUAGES NONE)\n")])
    w.good(gated(w, folder, after=[GATE]))
    assert len(w.calls()) == 1
    assert w.text.count("TorchCudaStack:") == 1


def case_gate_paths(w):
    """A folder with blanks, and a path relative to the source folder."""
    shutil.copytree(REPO / "modules", w.root / "p" / "our modules [1]")
    folder = w.project(LOOK)
    for path in (folder / "our modules [1]" / GATE.name, f"our modules [1]/{GATE.name}"):
        w.good(gated(w, folder, gate=path))
        w.says("L=8.0 9.0 A=")


def case_gate_of_an_installation(w):
    """The installed gate runs the installed tool."""
    prefix = installed(w)
    w.good(gated(w, w.project(LOOK), gate=prefix / "share/cmake/TorchCudaStack/modules" / GATE.name, stub=False))
    w.says("L=8.0 9.0 A=")
    assert len(w.calls()) == 1


def case_gate_cross_compiling(w):
    """A toolchain file is read before the gate: no device is probed."""
    chain = file(w, "chain.cmake", "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_CXX_COMPILER /usr/bin/g++)\n")
    w.good(gated(w, w.project(LOOK), f"-DCMAKE_TOOLCHAIN_FILE={chain}"))
    assert w.sets()["CROSSCOMPILING"] == "ON" and w.sets()["CXX_COMPILER"] == "/usr/bin/g++", w.sets()


def case_gate_as_a_toolchain_file(w):
    """As a toolchain file it says how it is to be named."""
    w.bad(w.configure(w.project("", languages="CXX"), f"-DCMAKE_TOOLCHAIN_FILE={GATE}"))
    w.says("is no toolchain file", "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=")


def case_gate_after_the_languages(w):
    """As CMAKE_PROJECT_INCLUDE it checks, and says in the end that it could not repair."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    folder = w.project("find_package(Torch REQUIRED)" + FLAGS, languages="CXX")
    w.good(w.configure(folder, f"-DCMAKE_PROJECT_INCLUDE={GATE}"))
    w.says("-- TorchCudaStack: 8.0 9.0", "code=sm_80 -gencode arch=compute_90,code=sm_90", "nothing was repaired",
           "help: name TorchCudaStackGate.cmake last in CMAKE_PROJECT_TOP_LEVEL_INCLUDES")


def case_gate_with_an_old_cmake(w):
    """A CMake that is too old is told in one line."""
    w.bad(w.configure(w.project(f'set(CMAKE_VERSION 3.22.1)\ninclude("{GATE}")')))
    w.says("TorchCudaStackGate needs CMake 3.25 or newer; this is 3.22.1")


def case_gate_named_as_a_module(w):
    """CMake 3.29 and newer take it as a module of CMAKE_MODULE_PATH."""
    done = subprocess.run([sys.executable, REPO / "tests" / "real" / "parts.py", "path", "cmake-4.4"],
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip("needs the real part cmake-4.4")
    w.plan(_tcs_torch_dir=fake_torch(w))
    w.wrap = ["sh", "-c", 'shift; exec "$0" "$@"', f"{done.stdout.strip()}/bin/cmake"]
    folder = w.project("find_package(Torch REQUIRED)" + FLAGS, languages="CXX")
    w.good(gated(w, folder, f"-DCMAKE_MODULE_PATH={GATE.parent}", gate="TorchCudaStackGate"))
    w.says(PLAN_FLAGS, "LIBS=torch|")
    w.silent("nothing was repaired")


# ---- find_package(Torch) of the project -----------------------------------------------------------------------------


def case_gate_repairs_torch(w):
    """An unmodified find_package(Torch) builds the plan, and links nothing that this toolkit lacks."""
    w.plan(_tcs_torch_dir=fake_torch(w), TorchCudaStack_CUDA_ARCHITECTURES="80-real;90-real")
    w.good(gated(w, w.project("find_package(Torch REQUIRED)" + FLAGS, languages="CXX")))
    w.says(PLAN_FLAGS, "A=OFF", "LIBS=torch|", "LINKS=torch::cudart;torch::nvtoolsext|", "left out what")
    assert len(w.calls()) == 1 and w.text.count("TorchCudaStack: 8.0") == 1


def case_gate_arguments_of_the_call(w):
    """Version, QUIET, REQUIRED, COMPONENTS and paths reach PyTorch's own code."""
    torch = fake_torch(w)
    config = Path(torch) / "TorchConfig.cmake"
    config.write_text(config.read_text() + 'message(STATUS "ARGS=${Torch_FIND_QUIETLY} ${Torch_FIND_REQUIRED} '
                      '${Torch_FIND_COMPONENTS} ${Torch_FIND_VERSION}.")\n')
    (Path(torch) / "TorchConfigVersion.cmake").write_text(
        "set(PACKAGE_VERSION 2.15.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    w.plan(_tcs_torch_dir=torch)
    call = 'find_package(Torch 2.1 QUIET REQUIRED CONFIG COMPONENTS a b PATHS "/x y" "/z")'
    w.good(gated(w, w.project(call + FLAGS, languages="CXX")))
    w.says("ARGS=1 1 a;b 2.1.", PLAN_FLAGS)
    w.silent("left out what")


def case_gate_torch_in_subdirectories_and_functions(w):
    """It works in a directory below, in a function, and when it is called twice."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    folder = w.project(
        'add_subdirectory(one)\nadd_subdirectory(two)\nfunction(f)\nfind_package(Torch REQUIRED)\n'
        'message(STATUS "F=${CMAKE_CUDA_FLAGS}|")\nendfunction()\nf()\n', languages="CXX",
        files=[("one/CMakeLists.txt", "find_package(Torch)\nfind_package(Torch REQUIRED)" + FLAGS),
               ("two/CMakeLists.txt", "project(two LANGUAGES CXX)\nfind_package(Torch)" + FLAGS)])
    w.good(gated(w, folder))
    assert w.text.count("FLAGS= " + PLAN_FLAGS) == 2 and f"F= {PLAN_FLAGS}" in w.text
    assert len(w.calls()) == 1


def case_gate_and_find_package_agree(w):
    """A project that asks for TorchCudaStack itself gets the same plan, measured once and said once."""
    w.plan(_tcs_torch_dir=fake_torch(w), TorchCudaStack_CUDA_ARCHITECTURES="80-real;90-real")
    for n, body in enumerate((
            "find_package(TorchCudaStack REQUIRED)", "find_package(TorchCudaStack REQUIRED COMPONENTS Torch Driver)",
            "find_package(TorchCudaStack REQUIRED)\nfind_package(Torch REQUIRED)",
            "find_package(Torch REQUIRED)\nfind_package(TorchCudaStack REQUIRED)")):
        calls = len(w.calls())
        folder = w.project(w.modules() + body + SHOW + '\nget_target_property(p TorchCudaStack::tcstack '
                           'IMPORTED_LOCATION)\nmessage(STATUS "TOOL=${p}")', f"p{n}", "CXX")
        for _ in range(2):
            w.good(gated(w, folder))
            w.says(PLAN_FLAGS, "LIBS=torch|", "OPTIONS=|", "TOOL=/")
            assert w.text.count("TorchCudaStack: 8.0") == 1, body
        assert len(w.calls()) == calls + 2, body


def case_gate_and_what_the_project_sets(w):
    """What the project sets before find_package(Torch) is judged, and said where it comes to something else."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    folder = w.project('set(TORCH_CUDA_ARCH_LIST "7.5")\nlist(APPEND CMAKE_PREFIX_PATH /its/own)\n'
                       "find_package(Torch REQUIRED)" + LOOK, languages="CXX")
    w.good(gated(w, folder))
    assert len(w.calls()) == 2
    assert w.sets()["TORCH_CUDA_ARCH_LIST"] == "7.5" and w.sets()["CMAKE_PREFIX_PATH"] == "/its/own"
    w.says("L=7.5 A=OFF")
    assert w.text.count("TorchCudaStack: 8.0") == 1


def case_gate_and_the_python_that_the_project_finds(w):
    """find_package(Python) that comes to the plan's environment changes nothing; another one is judged."""
    for name in ("env/bin/python3", "other/bin/python3"):
        (w.root / name).parent.mkdir(parents=True)
        (w.root / name).symlink_to(sys.executable)
    (w.root / "env/bin/python3.11").symlink_to("python3")
    w.plan(_tcs_torch_dir=fake_torch(w), _tcs_python=str(w.root / "env/bin/python3"))
    for n, (python, calls) in enumerate((("env/bin/python3.11", 1), ("other/bin/python3", 3))):
        body = f'set(Python_EXECUTABLE "{w.root}/{python}")\nfind_package(Torch REQUIRED)'
        w.good(gated(w, w.project(body, f"p{n}", "CXX")))
        assert len(w.calls()) == calls, python
    assert w.sets()["Python_EXECUTABLE"] == str(w.root / "other/bin/python3")


def case_gate_in_a_preset(w):
    """A preset names the gate like any cache variable."""
    given = {"CMAKE_PROJECT_TOP_LEVEL_INCLUDES": str(GATE), "TorchCudaStack_TOOL": str(HERE / "stub_tcstack.py")}
    preset = {"name": "gated", "generator": "Ninja Multi-Config", "binaryDir": "${sourceDir}/out", "cacheVariables": given}
    w.plan(**CHOICES)
    folder = w.project(LOOK, files=[("CMakeUserPresets.json", json.dumps({"version": 6, "configurePresets": [preset]}))])
    done = subprocess.run([CMAKE, "--preset", "gated"], cwd=folder, env=w.env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600)
    w.text = done.stdout
    w.good(done.returncode)
    w.says("L=8.0 9.0 A=80-real;90-real")


def case_gate_torch_is_missing(w):
    """That there is no PyTorch stops where it is required, and only there."""
    for n, call in enumerate(("", "find_package(Torch)", "find_package(Torch QUIET)")):
        w.good(gated(w, w.project(call + '\nmessage(STATUS "F=${Torch_FOUND}.")', f"p{n}", "CXX")))
        w.says("F=." if n == 0 else "F=0.")
        assert w.text.count("Could not find a package configuration file") == (n == 1), call
        assert all(w.sets(m)["TORCH_OPTIONAL"] == "ON" for m in range(len(w.calls())))
    for n, given in enumerate(([], ["-DCMAKE_REQUIRE_FIND_PACKAGE_Torch=ON"])):
        call = "find_package(Torch)" if given else "find_package(Torch REQUIRED)"
        w.bad(gated(w, w.project(call, f"q{n}", "CXX"), *given))
        assert "TORCH_OPTIONAL" not in w.sets() and w.sets(-2)["TORCH_OPTIONAL"] == "ON", call


def case_gate_leaves_a_missing_torch_to_the_projects_own_check(w):
    """The gate's plan, for which a PyTorch may be missing, is not that of a find_package(TorchCudaStack)."""
    for n, call in enumerate(("REQUIRED", "REQUIRED COMPONENTS Torch")):
        w.plan()
        w.good(gated(w, w.project(w.modules() + f"find_package(TorchCudaStack {call})", f"p{n}", "NONE")))
        assert "TORCH_OPTIONAL" not in w.sets() and w.sets(-2)["TORCH_OPTIONAL"] == "ON", call


def case_gate_before_a_torch_is_in_sight(w):
    """The real tool, no PyTorch: no failure by itself, a plan where one is asked for, the findings of what cannot be."""
    machine = {**json.loads(recorded("602-torch-missing-hit")), "devices": {"state": "none", "list": []}}
    folder = w.project(LOOK, files=[("facts.json", json.dumps(machine))])
    facts = f"-DTorchCudaStack_FACTS={folder}/facts.json"
    w.good(gated(w, folder, facts, stub=False, tool=real_tool()))
    w.says("no PyTorch and no list in sight: find_package(Torch) will be judged")
    w.good(gated(w, folder, facts, "-DTorchCudaStack_TARGETS=8.6", stub=False, tool=real_tool()))
    w.says("TorchCudaStack: 8.6;")
    w.bad(gated(w, folder, facts, "-DTORCH_CUDA_ARCH_LIST=99.9", stub=False, tool=real_tool()))
    w.says("error[TCS905", "CMake Error")
    w.silent("error[TCS602")


def case_gate_another_torch_than_measured(w):
    """A PyTorch other than the measured one stops, though the project names it to find_package()."""
    w.plan(_tcs_torch_dir="/elsewhere/share/cmake/Torch")
    w.bad(gated(w, w.project(f'set(Torch_DIR "{fake_torch(w)}")\nfind_package(Torch REQUIRED)', languages="CXX")))
    w.says("the PyTorch that was measured is not the one that CMake uses")


def case_gate_leaves_other_packages_alone(w):
    """Other packages are found as without a gate: components, versions, a second call, results, policies."""
    body = ('list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_SOURCE_DIR}")\n'
            "set(FOO 1)\nfind_package(Foo 1.2 COMPONENTS a)\nfind_package(Foo QUIET COMPONENTS b)\n"
            'message(STATUS "Foo=${Foo_FOUND}")\nunset(Foo_FOUND)\nset(FOO 0)\nfind_package(Foo)\n'
            'message(STATUS "Foo=${Foo_FOUND}")\n')
    seen = []
    for name, how in (("with", gated), ("without", lambda w, folder: w.configure(folder))):
        folder = w.root / name
        w.project("", name, files=[("FindFoo.cmake", FIND_FOO)])
        (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.5)\nproject(p LANGUAGES NONE)\n{body}")
        w.good(how(w, folder))
        seen.append([line for line in w.text.splitlines() if "Foo" in line])
    assert seen[0] == seen[1] and len(seen[0]) == 5, seen


def case_gate_of_an_old_project(w):
    """A project with the policies of CMake 3.5 is measured and repaired like another."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    folder = w.project("")
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.5)\nproject(p CXX)\n"
                                           "find_package(Torch REQUIRED)" + FLAGS)
    w.good(gated(w, folder))
    w.says(PLAN_FLAGS, "LIBS=torch|", "LINKS=torch::cudart;torch::nvtoolsext|")


# ---- another dependency provider ------------------------------------------------------------------------------------


def case_gate_calls_the_provider_before_it(w):
    """A provider that was there first goes on providing, and PyTorch is repaired around it."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    other = file(w, "other dir/other.cmake", PROVIDER)
    wrapped = file(w, "other dir/wrap.cmake", 'include("${CMAKE_CURRENT_LIST_DIR}/other.cmake")\n')
    for n, first in enumerate((other, wrapped)):
        folder = w.project("find_package(Foo QUIET)\nfind_package(Torch REQUIRED)" + FLAGS, f"p{n}", "CXX")
        w.good(gated(w, folder, before=[first]))
        w.says("other: FIND_PACKAGE Foo QUIET", "other: FIND_PACKAGE Torch REQUIRED", PLAN_FLAGS, "LIBS=torch|")
        w.silent("nothing was repaired")


def case_gate_hands_on_every_method_of_the_provider_before_it(w):
    """One that also provides for FetchContent goes on doing so, and CMake does what it leaves."""
    other = file(w, "other.cmake", PROVIDER.replace("METHODS FIND", "METHODS FETCHCONTENT_MAKEAVAILABLE_SERIAL FIND"))
    folder = w.project('include(FetchContent)\nFetchContent_Declare(dep SOURCE_DIR "${CMAKE_CURRENT_SOURCE_DIR}/dep")\n'
                       "FetchContent_MakeAvailable(dep)\nfind_package(Foo QUIET)",
                       files=[("dep/CMakeLists.txt", 'message(STATUS "dep is read")\n')])
    w.good(gated(w, folder, before=[other]))
    w.says("other: FETCHCONTENT_MAKEAVAILABLE_SERIAL dep SOURCE_DIR", "dep is read", "other: FIND_PACKAGE Foo QUIET")


def case_gate_is_not_in_the_way_of_a_later_provider(w):
    """A provider set after the gate's keeps its place: what it found is checked in the end."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    other = file(w, "other.cmake", PROVIDER)
    w.good(gated(w, w.project("add_subdirectory(sub)", languages="CXX",
                              files=[("sub/CMakeLists.txt", "find_package(Torch REQUIRED)\n")]), after=[other]))
    w.says("other: FIND_PACKAGE Torch REQUIRED", "nothing was repaired", "help: name TorchCudaStackGate.cmake last")
    body = "set(TORCH_CUDA_ARCH_LIST 5.0)\nfind_package(Torch REQUIRED)\n"
    w.bad(gated(w, w.project(body, "q", "CXX"), after=[other]))
    w.says("CMAKE_CUDA_FLAGS are not those of the plan", "planned arch=compute_80,code=sm_80 arch=compute_90,code=sm_90",
           "present arch=compute_50,code=sm_50")


def case_gate_does_not_displace_a_provider_it_cannot_name(w):
    """Where a file sets a provider by a name that only CMake knows, ours is not set."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    named = "set(name other_provide)" + PROVIDER.replace("PROVIDER other_provide", "PROVIDER ${name}")
    other = file(w, "other.cmake", named)
    w.good(gated(w, w.project("find_package(Torch REQUIRED)", languages="CXX"), before=[other]))
    w.says("other: FIND_PACKAGE Torch REQUIRED", "nothing was repaired")
