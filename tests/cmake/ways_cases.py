# SPDX-License-Identifier: Apache-2.0
"""Ways into a project, each from a user's project outside this repository: installed and moved, fetched from a git
repository, copied; and out of it: libraries that are exported, installed, moved and used where no nvcc is. Run by cases.py."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cases import CMAKE, HERE, REPO, Skip, built, fake_torch, real_tool, recorded, script

FIND = 'find_package(TorchCudaStack 0.1...<1 REQUIRED)\nmessage(STATUS "L=${TORCH_CUDA_ARCH_LIST} F=${TorchCudaStack_FOUND}.")\n'
PARTS = ("CMakeLists.txt", "VERSION", "cmake", "modules", "probe-src")


def git(folder, *arguments):
    done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments], cwd=folder, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def repository(w, version="0.1.0"):
    """A git repository with what a project needs of this one, its tag v<version>."""
    if not shutil.which("git"):
        raise Skip("needs git")
    folder = w.root / f"upstream {version}"
    folder.mkdir()
    for part in PARTS:
        if (REPO / part).is_dir():
            shutil.copytree(REPO / part, folder / part)
        else:
            shutil.copy(REPO / part, folder / part)
    if version != "0.1.0":
        (folder / "VERSION").write_text(version + "\n")
        load = folder / "modules" / "TorchCudaStack" / "detail" / "_tcs_load.cmake"
        load.write_text(load.read_text().replace("set(TorchCudaStack_VERSION 0.1.0)", f"set(TorchCudaStack_VERSION {version})"))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")
    git(folder, "tag", f"v{version}")
    return folder


def fetched(folder, name="TorchCudaStack", version="0.1.0", more="", available=True):
    text = (f'include(FetchContent)\nFetchContent_Declare({name} GIT_REPOSITORY "file://{folder}" GIT_TAG v{version} {more})\n')
    return text + (f"FetchContent_MakeAvailable({name})\n" if available else "")


def left_behind(w):
    """Targets, install rules and tests that a configured project has, and cache entries that are not CMake's own."""
    targets = subprocess.run([CMAKE, "--build", w.build, "--target", "help"], text=True, capture_output=True).stdout
    assert not re.search(r"tcstack|tcs_|write-pages", targets), targets
    for rules in w.build.rglob("cmake_install.cmake"):
        text = rules.read_text()
        assert not re.search(r"file\(INSTALL", text), text
    tests = [t for p in w.build.rglob("CTestTestfile.cmake") for t in p.read_text().splitlines() if t.startswith("add_test")]
    assert not tests, tests
    entries = re.findall(r"^([^#/][^:=\n]*):", (w.build / "CMakeCache.txt").read_text(), re.MULTILINE)
    ours = {e for e in entries if re.match(r"(?i)_?(tcs|torchcudastack)", e)}
    known = {"TorchCudaStack_BINARY_DIR", "TorchCudaStack_SOURCE_DIR", "TorchCudaStack_IS_TOP_LEVEL", "TorchCudaStack_DIR",
             "TorchCudaStack_TOOL", "TorchCudaStack_OWN_CHOICES"}
    assert ours <= known, ours - known


def quiet(w):
    """Nothing but the one line of find_package() and what the project says itself."""
    lines = [line for line in w.text.splitlines()
             if line.strip() and not re.match(r"-- (Configuring|Generating|Build files|L=|The C|Detecting|Check for)", line)]
    assert lines == ["-- TorchCudaStack: 8.0 9.0; a healthy machine"], lines


def case_ways_fetched_from_git(w):
    """FetchContent from a git repository in five lines: no message, target, test, install rule or cache entry of its own."""
    w.good(w.configure(w.project(fetched(repository(w)) + FIND + "include(CTest)\n")))
    w.says("L=8.0;9.0 F=")
    quiet(w)
    left_behind(w)
    w.good(w.configure(w.root / "p"))
    quiet(w)


def case_ways_find_package_args(w):
    """FIND_PACKAGE_ARGS: fetched where no package is installed; where one is, that one, and nothing is fetched."""
    upstream = repository(w)
    body = fetched(upstream, more="FIND_PACKAGE_ARGS 0.1...<1") + FIND
    w.good(w.configure(w.project(body)))
    w.says("L=8.0;9.0 F=")
    assert (w.build / "_deps" / "torchcudastack-src" / "modules").is_dir()
    prefix = installed(w)
    folder = w.project(body, "q")
    w.good(w.configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}"))
    w.says("L=8.0;9.0 F=")
    assert not (w.build / "_deps" / "torchcudastack-src").exists(), "fetched although it is installed"


def case_ways_override_find_package(w):
    """OVERRIDE_FIND_PACKAGE: find_package() fetches it, in a directory below, with a version range, and again there."""
    body = fetched(repository(w), more="OVERRIDE_FIND_PACKAGE", available=False) + "add_subdirectory(sub)\n"
    w.good(w.configure(w.project(body, files=[("sub/CMakeLists.txt", FIND + FIND)])))
    assert w.text.count("L=8.0;9.0 F=") == 2, w.text
    left_behind(w)


def case_ways_parent_is_fetched_itself(w):
    """A project that brings it is itself brought by FetchContent: both find it, and it builds nothing of its own."""
    upstream = repository(w)
    middle = w.root / "middle"
    middle.mkdir()
    (middle / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(middle LANGUAGES NONE)\n"
                                           + fetched(upstream) + FIND)
    body = f'include(FetchContent)\nFetchContent_Declare(middle SOURCE_DIR "{middle}")\nFetchContent_MakeAvailable(middle)\n' + FIND
    w.good(w.configure(w.project(body)))
    assert w.text.count("L=8.0;9.0 F=") == 2, w.text
    left_behind(w)


def case_ways_exclude_from_all(w):
    """add_subdirectory(EXCLUDE_FROM_ALL SYSTEM) of a copy under another name is as quiet."""
    shutil.copytree(repository(w), w.root / "p" / "third party" / "stack")
    w.good(w.configure(w.project('add_subdirectory("third party/stack" EXCLUDE_FROM_ALL SYSTEM)\n' + FIND)))
    quiet(w)
    left_behind(w)


def case_ways_two_subprojects_bring_it(w):
    """Two subprojects bring it, under two names and in two versions: the first serves both, whatever its version says."""
    old, new = repository(w), repository(w, "0.2.0")
    files = [("a/CMakeLists.txt", fetched(old, "first") + FIND),
             ("b/CMakeLists.txt", fetched(new, "second", "0.2.0")
              + 'find_package(TorchCudaStack 0.1 REQUIRED)\nmessage(STATUS "V=${TorchCudaStack_VERSION}.")\n')]
    w.good(w.configure(w.project("add_subdirectory(a)\nadd_subdirectory(b)\n", files=files)))
    w.says("L=8.0;9.0 F=", "V=0.1.0.")
    w.silent("CMake Warning")
    left_behind(w)
    files[1] = ("b/CMakeLists.txt", fetched(new, "second", "0.2.0") + "find_package(TorchCudaStack 0.2 REQUIRED)\n")
    w.bad(w.configure(w.project("add_subdirectory(a)\nadd_subdirectory(b)\n", "q", files=files)))
    w.says("TorchCudaStack", "0.2", "0.1.0")


def case_ways_copies_are_not_mixed(w):
    """Copies of two versions on the module paths of two directories: the functions and the version are those of the first."""
    new = repository(w, "0.2.0")
    files = [("a/CMakeLists.txt", w.modules() + FIND),
             ("b/CMakeLists.txt", w.modules(new / "modules")
              + 'find_package(TorchCudaStack %s REQUIRED)\nmessage(STATUS "V=${TorchCudaStack_VERSION}.")\n')]
    top = "add_subdirectory(a)\nadd_subdirectory(b)\n"
    w.good(w.configure(w.project(top, files=[files[0], (files[1][0], files[1][1] % "0.1")])))
    w.says("V=0.1.0.")
    w.bad(w.configure(w.project(top, "q", files=[files[0], (files[1][0], files[1][1] % "0.2")])))
    w.says("0.1.0", f"({REPO / 'modules'}, the copy that this project brought first)")


def case_ways_copied_folder_under_another_name(w):
    """modules/ and probe-src/ side by side below any folder, reached through a symbolic link: it finds its sources."""
    upstream = repository(w)
    place = w.root / "p" / "extern" / "cuda-stack (copy)"
    place.mkdir(parents=True)
    for part in ("modules", "probe-src"):
        shutil.copytree(upstream / part, place / part)
    (w.root / "link").symlink_to(place)
    measured = ("-DTorchCudaStack_FAIL_ON=never", "-DTORCH_CUDA_ARCH_LIST=8.0", f"-DTorchCudaStack_TOOL={real_tool()}")
    w.good(w.configure(w.project(w.modules(w.root / "link" / "modules") + FIND), *measured, stub=False))
    w.says("L=8.0 F=")
    shutil.rmtree(place / "probe-src")
    w.bad(w.configure(w.root / "p", "-DTorchCudaStack_TOOL=", "-DTorchCudaStack_CACHE_DIR=OFF", stub=False))
    w.says("no C++ sources of the tool in", "probe-src/unity")


def case_ways_presets(w):
    """A preset's settings reach the plan, and a workflow preset configures and builds."""
    folder = w.project(w.modules() + FIND)
    presets = {"version": 6, "configurePresets": [{
        "name": "cuda", "generator": "Ninja", "binaryDir": "${sourceDir}/out",
        "cacheVariables": {"TorchCudaStack_TARGETS": "8.6;9.0", "TorchCudaStack_TOOL": str(HERE / "stub_tcstack.py"),
                           "TorchCudaStack_FAIL_ON": {"type": "STRING", "value": "warning"}},
        "environment": {"TORCH_CUDA_ARCH_LIST": "8.0"}}],
        "buildPresets": [{"name": "cuda", "configurePreset": "cuda"}],
        "workflowPresets": [{"name": "cuda", "steps": [{"type": "configure", "name": "cuda"}, {"type": "build", "name": "cuda"}]}]}
    (folder / "CMakePresets.json").write_text(json.dumps(presets))
    done = subprocess.run([CMAKE, "--workflow", "--preset", "cuda"], cwd=folder, env=w.env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    w.text = done.stdout
    w.good(done.returncode)
    assert w.sets()["TARGETS"] == "8.6;9.0" and w.sets()["FAIL_ON"] == "warning", w.sets()


def installed(w, name="moved to here"):
    """The package as the repository's own install rules lay it, moved elsewhere afterwards."""
    build = Path(real_tool()).parent.parent
    if not (build / "cmake_install.cmake").exists():
        raise Skip("needs the build folder of TCS_TOOL")
    prefix = w.root / name / "prefix"
    prefix.parent.mkdir()
    done = subprocess.run([CMAKE, "--install", build, "--prefix", w.root / "first"], text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (w.root / "first").rename(prefix)
    return prefix


def case_ways_installed_and_moved(w):
    """cmake --install, then another place with a blank: version ranges, components, and a clean path of the tool."""
    prefix = installed(w)
    body = ('find_package(TorchCudaStack %s)\nget_target_property(p TorchCudaStack::tcstack IMPORTED_LOCATION)\n'
            'message(STATUS "P=${p}| F=${TorchCudaStack_FOUND} V=${TorchCudaStack_VERSION} T=${TorchCudaStack_Toolkit_FOUND}.")')
    given = f"-DCMAKE_PREFIX_PATH={prefix}"
    for n, asked in enumerate(("", "0.1", "0.1...<1", "0.1.0 EXACT", "0.1...<1 CONFIG REQUIRED COMPONENTS Driver Toolkit")):
        w.good(w.configure(w.project(body % asked, f"p{n}"), given, "-DTORCH_CUDA_ARCH_LIST=9.0", "-DTorchCudaStack_FAIL_ON=never", stub=False))
        w.says(f"P={prefix}/bin/tcstack|", "V=0.1.0")
    for n, asked in enumerate(("0.2", "1", "0.2...<1", "0.0.1...<0.1")):
        w.bad(w.configure(w.project(f"find_package(TorchCudaStack {asked} REQUIRED)", f"q{n}"), given, stub=False))
        w.says("TorchCudaStackConfig.cmake, version: 0.1.0")
    folder = w.project("find_package(TorchCudaStack REQUIRED)", "r", files=[("facts.json", recorded("922-image-does-not-run-hit"))])
    w.bad(w.configure(folder, given, f"-DTorchCudaStack_FACTS={folder}/facts.json", stub=False))
    w.says(f"tcstack: {prefix}/bin/tcstack")
    w.silent("/../")
    assert not [p for p in prefix.rglob("*.cmake") if str(w.root / "first") in p.read_text(errors="replace")]


def case_ways_installed_without_its_tool(w):
    """An installed package whose tool is gone compiles its own from the sources beside it."""
    prefix = installed(w)
    (prefix / "bin" / "tcstack").unlink()
    share = prefix / "share" / "cmake" / "TorchCudaStack"
    assert (share / "probe-src" / "unity" / "tool.cpp").exists() and (share / "probe-src" / "tables").is_dir()
    w.bad(w.configure(w.project(FIND), f"-DCMAKE_PREFIX_PATH={prefix}", "-DTorchCudaStack_HOST_CXX=/nowhere/g++", stub=False))
    w.says("no C++ compiler to build its tool with")


# ---- and out of it: a library that links our targets is a package ---------------------------------------------------

LIBRARY = """
find_package(TorchCudaStack 0.1 REQUIRED)
add_library(shared SHARED s.cpp)
target_link_libraries(shared PUBLIC TorchCudaStack::Torch)
add_library(static STATIC s.cpp)
target_link_libraries(static PRIVATE TorchCudaStack::Torch TorchCudaStack::Archs)
add_library(objects OBJECT s.cpp)
target_link_libraries(objects PUBLIC TorchCudaStack::Torch)
add_library(header INTERFACE)
target_link_libraries(header INTERFACE TorchCudaStack::Torch)
add_library(kernels STATIC s.cpp)
target_link_libraries(kernels PRIVATE "$<BUILD_INTERFACE:TorchCudaStack::Archs>")
install(TARGETS shared static objects header kernels EXPORT mine OBJECTS DESTINATION lib)
install(EXPORT mine NAMESPACE my:: FILE mine-targets.cmake DESTINATION lib/cmake/mine)
export(EXPORT mine NAMESPACE my:: FILE "${CMAKE_CURRENT_BINARY_DIR}/mine-targets.cmake")
install(FILES mine-config.cmake "${TorchCudaStack_LINK_MODULE}" DESTINATION lib/cmake/mine)
file(COPY mine-config.cmake "${TorchCudaStack_LINK_MODULE}" DESTINATION "${CMAKE_CURRENT_BINARY_DIR}")
"""
CONFIG = """include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_dependency(%s)
include("${CMAKE_CURRENT_LIST_DIR}/mine-targets.cmake")
"""
USE = """
find_package(mine REQUIRED)
foreach(kind IN ITEMS shared static objects header kernels)
  add_executable(use_${kind} main.cpp)
  if(NOT kind STREQUAL "header")
    target_compile_definitions(use_${kind} PRIVATE CALLS)
  endif()
  target_link_libraries(use_${kind} PRIVATE my::${kind})
endforeach()
message(STATUS "CUDA=${CMAKE_CUDA_COMPILER} FLAGS=${CMAKE_CUDA_FLAGS} A=${CMAKE_CUDA_ARCHITECTURES}.")
"""
MAIN = "int mine();\nint main() {\n#ifdef CALLS\n  return mine();\n#endif\n  return 0;\n}\n"


def small_torch(w, version="2.15.0", name="site"):
    """A PyTorch of one real library and CMake code that nobody may read: a consumer needs no find_package(Torch)."""
    root = w.root / name / "torch"
    config = root / "share" / "cmake" / "Torch"
    config.mkdir(parents=True)
    (config / "TorchConfig.cmake").write_text('message(FATAL_ERROR "this wants an nvcc")\n# -D_GLIBCXX_USE_CXX11_ABI=1\n')
    (config / "TorchConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n')
    (root / "include" / "ATen").mkdir(parents=True)
    (root / "include" / "ATen" / "ATen.h").write_text("#error C++17 or later compatible compiler is required to use ATen.\n")
    (root / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (root / "lib").mkdir()
    source = w.root / "torch.cpp"
    source.write_text("int at_zero() { return 0; }\n")
    done = subprocess.run(["c++", "-shared", "-fPIC", "-o", root / "lib" / "libtorch_cpu.so", source], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    for name in ("torch", "c10"):
        shutil.copy(root / "lib" / "libtorch_cpu.so", root / "lib" / f"lib{name}.so")
    return root


def library(w, find="TorchCudaStackLink 2.15...<2.16"):
    """The library, built with the fake torch, installed and moved; and its build folder."""
    w.plan(_tcs_torch_dir=fake_torch(w))
    files = [("s.cpp", "int mine() { return 0; }\n"), ("mine-config.cmake", CONFIG % find)]
    folder = w.project(w.modules() + LIBRARY, "library", "CXX", files=files)
    w.good(w.configure(folder, f"-DCMAKE_INSTALL_PREFIX={w.root}/laid"))
    w.good(built(w))
    w.good(built(w, "--target", "install"))
    (w.root / "another place").mkdir()
    return (w.root / "laid").rename(w.root / "another place" / "prefix"), w.build


def uses(w, *arguments, name="use", body=USE):
    folder = w.project(body, name, "CXX", files=[("main.cpp", MAIN)])
    w.env["PATH"] = "/usr/bin:/bin" if Path("/usr/bin/ninja").exists() else w.env["PATH"]
    w.log.unlink(missing_ok=True)
    return w.configure(folder, *arguments, stub=False)


def case_ways_exported_library_holds_no_path(w):
    """install(EXPORT): libraries of each kind name our targets, and no path of the build or of the machine's PyTorch."""
    prefix, _ = library(w)
    texts = "".join(p.read_text() for p in (prefix / "lib" / "cmake" / "mine").glob("mine*.cmake"))
    for path in (w.root, REPO, "/usr/local/cuda", "site-packages", "/fake torch"):
        assert str(path) not in texts, f"{path} is in what was installed"
    assert 'INTERFACE_LINK_LIBRARIES "TorchCudaStack::Torch"' in texts and "gencode" not in texts, texts
    assert "TorchCudaStack" not in texts.split("my::kernels STATIC IMPORTED")[1].split("\n)")[0], texts


def case_ways_exported_library_is_used_without_nvcc(w):
    """The moved library in another project: found, linked and run without our tool, an nvcc, or PyTorch's CMake code."""
    prefix, build = library(w)
    root = small_torch(w)
    for n, (given, where) in enumerate(((f"-DTorch_DIR={root}/share/cmake/Torch", prefix),
                                        (f"-DTorch_ROOT={root}", prefix),
                                        ("", f"{prefix};{root}"), ("", f"{prefix};{root}/share/cmake"),
                                        (f"-Dmine_DIR={build}", str(root)))):
        arguments = [f"-DCMAKE_PREFIX_PATH={where}"] + ([given] if given else [])
        w.good(uses(w, *arguments, name=f"use{n}"))
        w.says(f"Found TorchCudaStackLink: {root}", "CUDA= FLAGS= A=.")
        assert not w.calls(), "the tool was run"
        cache = (w.build / "CMakeCache.txt").read_text()
        assert not re.search(r"^(TorchCudaStackLinkTorch|Torch_DIR:PATH|CUDA_|_tcs)", cache, re.MULTILINE), cache
        if n in (0, 4):
            w.good(built(w))
            for kind in ("shared", "static", "objects", "header", "kernels"):
                assert subprocess.run([w.build / f"use_{kind}"], check=False).returncode == 0, kind


def case_ways_exported_library_finds_the_pythons_torch(w):
    """Without a hint it is the PyTorch of Python_EXECUTABLE or of the active environment, which is not imported."""
    prefix, _ = library(w)
    root = small_torch(w)
    python = script(w.root / "env" / "bin" / "python", f'#!/bin/sh\nPYTHONPATH="{root.parent}" exec "{sys.executable}" "$@"\n')
    w.good(uses(w, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPython_EXECUTABLE={python}"))
    w.says(f"Found TorchCudaStackLink: {root}")
    w.env["VIRTUAL_ENV"] = str(w.root / "env")
    w.good(uses(w, f"-DCMAKE_PREFIX_PATH={prefix}", name="v"))
    w.says(f"Found TorchCudaStackLink: {root}")


def case_ways_exported_library_and_a_distributions_torch(w):
    """Debian lays CMake files and libraries in lib/<machine>, and the headers beside lib."""
    prefix, _ = library(w)
    root, usr = small_torch(w), w.root / "usr"
    machine = usr / "lib" / "x86_64-linux-gnu"
    (machine / "cmake").mkdir(parents=True)
    (root / "share" / "cmake" / "Torch").rename(machine / "cmake" / "Torch")
    (root / "include").rename(usr / "include")
    for file in (root / "lib").iterdir():
        file.rename(machine / file.name)
    w.good(uses(w, f"-DCMAKE_PREFIX_PATH={prefix};{usr}"))
    w.says(f"Found TorchCudaStackLink: {usr} ")
    w.good(built(w))


def case_ways_exported_library_and_another_torch(w):
    """A PyTorch of another minor version, or none, is why the package is not found; it stops a REQUIRED find_package()."""
    prefix, _ = library(w)
    root = small_torch(w, "2.11.0")
    given = f"-DCMAKE_PREFIX_PATH={prefix}"
    w.bad(uses(w, given, f"-DTorch_DIR={root}/share/cmake/Torch"))
    w.says('Found unsuitable version "2.11.0", required range is "2.15...<2.16"')
    w.silent("in sight")
    nobody = script(w.root / "bare" / "python", "#!/bin/sh\nexit 1\n")
    w.bad(uses(w, given, f"-DPython_EXECUTABLE={nobody}", name="none"))
    w.says("there is no PyTorch in sight: name it with -DTorch_DIR=")
    body = 'find_package(mine QUIET)\nmessage(STATUS "M=${mine_FOUND}.")'
    w.good(uses(w, given, f"-DPython_EXECUTABLE={nobody}", name="optional", body=body))
    assert re.search(r"M=(FALSE|0)[.]", w.text), w.text
    w.silent("PyTorch")


def case_ways_exported_library_by_component(w):
    """find_dependency(TorchCudaStack COMPONENTS Link) where TorchCudaStack is at hand: the same, no tool is run."""
    prefix, _ = library(w, "TorchCudaStack 0.1...<1 COMPONENTS Link")
    root = small_torch(w)
    given = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTorch_DIR={root}/share/cmake/Torch")
    w.good(uses(w, *given, body=w.modules() + USE))
    assert len([line for line in w.text.splitlines() if "TorchCudaStack" in line]) == 1, w.text
    assert not w.calls()
    w.good(built(w))
    w.bad(uses(w, *given, name="old", body=w.modules() + "find_package(TorchCudaStack 9 REQUIRED COMPONENTS Link)"))
    w.says('unsuitable version "0.1.0"', '"9"')
    w.bad(uses(w, given[0], f"-DPython_EXECUTABLE={script(w.root / 'bare' / 'python', '#!/bin/sh')}", name="none",
               body=w.modules() + USE))
    w.says("there is no PyTorch in sight")


def case_ways_exported_library_then_a_plan(w):
    """A project finds such a library and then a plan of its own, or the other way, here or below: one PyTorch, its flags."""
    prefix, _ = library(w)
    ours = 'find_package(TorchCudaStack REQUIRED)\nmessage(STATUS "FLAGS=${CMAKE_CUDA_FLAGS}|")\n'
    links = 'get_target_property(l TorchCudaStack::Torch INTERFACE_LINK_LIBRARIES)\nmessage(STATUS "LINKS=${l}|")\n'
    mine = "find_package(mine REQUIRED)\n"
    config = w.root / "fake torch" / "share" / "cmake" / "Torch"
    (config / "TorchConfigVersion.cmake").write_text('set(PACKAGE_VERSION "2.15.0")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n')
    given = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTorch_DIR={config}")
    flags = "FLAGS= -DX -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -DY|"
    for n, body in enumerate((mine + ours, ours + mine)):
        w.good(w.configure(w.project(w.modules() + body + links, f"both{n}", "CXX"), *given))
        w.says(flags, "LINKS=torch;TorchCudaStack::Archs|")
    folder = w.project(w.modules() + mine + "add_subdirectory(sub)\n" + links, "below", "CXX",
                       files=[("sub/CMakeLists.txt", ours + links)])
    w.good(w.configure(folder, *given))
    w.says(flags, "TorchCudaStack::Archs|")
    other = small_torch(w, name="other site")
    w.bad(w.configure(w.project(w.modules() + f'set(Torch_DIR "{other}/share/cmake/Torch")\n' + mine
                                + "unset(Torch_DIR)\n" + ours, "two", "CXX"), *given[:1]))
    w.says("the PyTorch that was measured is not the one that CMake uses", f"used {other}/share/cmake/Torch",
           "by a package that was found before")


def case_ways_exported_library_beside_kernels_of_the_project(w):
    """A project with .cu files of its own that links such a library: PyTorch's C++ standard reaches nvcc, with an old CMake too."""
    nvcc = Path("/usr/local/cuda/bin/nvcc")
    if not nvcc.exists():
        raise Skip("needs an nvcc in /usr/local/cuda")
    prefix, _ = library(w)
    root = small_torch(w)
    header = root / "include" / "ATen" / "ATen.h"
    header.write_text(header.read_text().replace("C++17", "C++20"))
    body = ("find_package(mine REQUIRED)\nenable_language(CUDA)\nadd_executable(x k.cu main.cpp)\n"
            "target_compile_definitions(x PRIVATE CALLS)\ntarget_link_libraries(x PRIVATE my::shared)\n")
    folder = w.project(body, "kernels", "CXX", files=[("main.cpp", MAIN), ("k.cu", "__global__ void k() {}\n")])
    w.good(w.configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTorch_DIR={root}/share/cmake/Torch",
                       f"-DCMAKE_CUDA_COMPILER={nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90-real", stub=False))
    w.good(built(w, "-v"))
    assert " -std=c++20" in next(line for line in w.text.splitlines() if " -x cu " in line), w.text
