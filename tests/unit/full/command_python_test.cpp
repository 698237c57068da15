// SPDX-License-Identifier: Apache-2.0
#include "full/command_python.h"

#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "memory_host.h"

using namespace tcs;

namespace {

// PATH has /bin alone; an environment at /venv, another at /cwd/.venv where a test puts it.
MemoryHost machine() {
  MemoryHost host;
  host.variables["PATH"] = "/bin";
  for (const char* name : {"python3", "python", "uv", "poetry", "conda", "cmake", "bash"})
    host.program(cat("/bin/", name));
  host.program("/venv/bin/python");
  host.directories.insert("/cwd");
  return host;
}

std::string judged(const MemoryHost& host, const List<std::string>& command) {
  return python_of_command(host, command).path;
}

}  // namespace

TEST_CASE("a Python is itself, looked up as a shell would") {
  const MemoryHost host = machine();
  CHECK(judged(host, {"python3", "-m", "pip", "install", "x"}) == "/bin/python3");
  CHECK(judged(host, {"/venv/bin/python", "setup.py"}) == "/venv/bin/python");
  CHECK(judged(host, {"../venv/bin/python"}) == "/cwd/../venv/bin/python");
  CHECK(judged(host, {"python3.13t"}).empty());
  CHECK(judged(host, {"pythonista"}).empty());
}

TEST_CASE("a script is its first line's, in each form that pip writes") {
  MemoryHost host = machine();
  host.program("/bin/pip", "#!/venv/bin/python\nimport pip\n");
  host.program("/bin/torchrun", "#! /venv/bin/python -E\n");
  host.program("/bin/by-env", "#!/usr/bin/env -S python3 -u\n");
  host.program("/bin/long", "#!/bin/sh\n'''exec' \"/long path/python3\" \"$0\" \"$@\"\n' '''\n");
  host.program("/bin/long-plain", "#!/bin/sh\n'''exec' /long/python3 \"$0\" \"$@\"\n' '''\n");
  host.program("/bin/shell", "#!/bin/sh\nexec python3 x\n");
  host.program("/bin/perl-script", "#!/usr/bin/env perl\n");
  host.program("/bin/binary", std::string("\x7f") + "ELF");
  CHECK(judged(host, {"pip", "install", "x"}) == "/venv/bin/python");
  CHECK(python_of_command(host, {"pip"}).from == "the first line of /bin/pip");
  CHECK(judged(host, {"torchrun"}) == "/venv/bin/python");
  CHECK(judged(host, {"by-env"}) == "/bin/python3");
  CHECK(judged(host, {"long"}) == "/long path/python3");
  CHECK(judged(host, {"long-plain"}) == "/long/python3");
  for (const char* other : {"shell", "perl-script", "binary", "no-such"})
    CHECK(judged(host, {other}).empty());
}

TEST_CASE("what only starts another command is not looked into") {
  const MemoryHost host = machine();
  for (const char* starter : {"env", "sudo", "bash", "cmake", "tox"})
    CHECK(judged(host, {starter, "python3", "x.py"}).empty());
}

TEST_CASE("pyenv's stand-ins are judged by the Python beside them") {
  MemoryHost host = machine();
  host.variables["PATH"] = "/pyenv/shims:/bin";
  host.program("/pyenv/shims/pip3.12", "#!/usr/bin/env bash\n");
  host.program("/pyenv/shims/python3.12", "#!/usr/bin/env bash\n");
  host.program("/pyenv/shims/python3", "#!/usr/bin/env bash\n");
  CHECK(judged(host, {"pip3.12", "install", "x"}) == "/pyenv/shims/python3.12");
}

TEST_CASE("uv: --python, then UV_PYTHON, then the active environment, then .venv") {
  MemoryHost host = machine();
  host.program("/bin/python3.12");
  CHECK(judged(host, {"uv", "pip", "install", "--python", "/venv", "x"}) == "/venv/bin/python");
  CHECK(judged(host, {"uv", "build", "--python=3.12"}) == "/bin/python3.12");
  CHECK(judged(host, {"uv", "pip", "install", "-p", "/venv/bin/python"}) == "/venv/bin/python");
  CHECK(judged(host, {"uv", "pip", "install", "x"}).empty());
  host.program("/.venv/bin/python3");
  CHECK(judged(host, {"uv", "pip", "install", "x"}) == "/.venv/bin/python3");
  host.variables["VIRTUAL_ENV"] = "/venv";
  CHECK(judged(host, {"uv", "pip", "install", "x"}) == "/venv/bin/python");
  CHECK(judged(host, {"uv", "sync"}) == "/.venv/bin/python3");
  CHECK(judged(host, {"uv", "sync", "--active"}) == "/venv/bin/python");
  CHECK(judged(host, {"uv", "pip", "install", "--system", "x"}).empty());
  host.variables["UV_PYTHON"] = "3.12";
  CHECK(judged(host, {"uv", "pip", "install", "x"}) == "/bin/python3.12");
}

TEST_CASE("a manager of environments is not judged by its own Python") {
  MemoryHost host = machine();
  host.program("/bin/poetry", "#!/opt/poetry/bin/python\n");
  CHECK(judged(host, {"poetry", "install"}).empty());
  host.program("/cwd/.venv/bin/python");
  CHECK(judged(host, {"poetry", "install"}) == "/cwd/.venv/bin/python");
  host.variables["VIRTUAL_ENV"] = "/venv";
  CHECK(judged(host, {"poetry", "install"}) == "/venv/bin/python");
}

TEST_CASE("conda run: the environment by path or by name") {
  MemoryHost host = machine();
  host.variables["CONDA_EXE"] = "/opt/conda/bin/conda";
  host.program("/opt/conda/envs/one/bin/python");
  CHECK(judged(host, {"conda", "run", "-n", "one", "pip"}) == "/opt/conda/envs/one/bin/python");
  CHECK(judged(host, {"conda", "run", "-p", "/venv", "pip"}) == "/venv/bin/python");
  CHECK(judged(host, {"conda", "run", "-n", "none", "pip"}).empty());
}

TEST_CASE("pip --python names another than pip's own") {
  MemoryHost host = machine();
  host.program("/bin/pip", "#!/bin/python3\n");
  CHECK(judged(host, {"pip", "--python", "/venv", "install", "x"}) == "/venv/bin/python");
}

TEST_CASE("a build in an environment of its own is known by its words") {
  const MemoryHost host = machine();
  const auto missing = [&](const char* words) {
    return missing_no_isolation(host, split(std::string(words), " "));
  };
  for (const char* words :
       {"pip install x", "pip3 wheel .", "/venv/bin/pip -q install x", "python3 -m pip install x",
        "python3 -W error -m pip download x", "uv pip install x", "uv build", "uv sync"})
    CHECK(missing(words) == "--no-build-isolation");
  for (const char* words : {"python3 -m build", "pyproject-build --wheel", "build ."})
    CHECK(missing(words) == "--no-isolation");
  for (const char* words :
       {"pip install --no-build-isolation x", "pip list", "pip", "pip install --help",
        "uv pip list", "python3 -m build -n", "python3 -m build --no-isolation",
        "python3 setup.py install", "uv pip install --no-build-isolation-package x x",
        "cmake --build .", "ninja", "python3 pip", "python3 -c install -m pip install"})
    CHECK(missing(words).empty());
}

TEST_CASE("isolation is switched off by variables and files of settings, too") {
  MemoryHost host = machine();
  const List<std::string> pip = {"pip", "install", "x"}, uv = {"uv", "pip", "install", "x"};
  host.variables["PIP_NO_BUILD_ISOLATION"] = "1";  // pip: build isolation = 1
  CHECK_FALSE(missing_no_isolation(host, pip).empty());
  host.variables["PIP_NO_BUILD_ISOLATION"] = "False";
  CHECK(missing_no_isolation(host, pip).empty());
  CHECK_FALSE(missing_no_isolation(host, uv).empty());
  host.variables["UV_NO_BUILD_ISOLATION"] = "1";
  CHECK(missing_no_isolation(host, uv).empty());
  host.variables.clear();
  host.files["/cwd/pyproject.toml"] = "[tool.uv]\nno-build-isolation-package = [\"x\"]\n";
  CHECK(missing_no_isolation(host, uv).empty());
  CHECK_FALSE(missing_no_isolation(host, pip).empty());
  host.variables["PIP_CONFIG_FILE"] = "/pip.conf";
  host.files["/pip.conf"] = "[install]\nno-build-isolation = false\n";
  CHECK(missing_no_isolation(host, pip).empty());
}

TEST_CASE("a cmake that configures is told from one that does something else") {
  const auto configures = [](const char* words) {
    return configures_with_cmake(split(std::string(words), " "));
  };
  for (const char* words : {"cmake -B build", "cmake .", "/opt/bin/cmake --preset x", "cmake3 .."})
    CHECK(configures(words));
  for (const char* words :
       {"cmake", "cmake --build .", "cmake --install .", "cmake -E echo", "cmake -P x.cmake",
        "cmake --workflow --preset x", "cmake --workflow=x", "cmake --version", "cmake --help-full",
        "cmake --open b", "ninja -C b", "make", "ccmake ."})
    CHECK_FALSE(configures(words));
}
