// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/gather.h"
#include "memory_host.h"

using namespace tcs;

namespace {

const std::string elf =
    "\x7f"
    "ELF and more";

void add_python(MemoryHost& host, const std::string& prefix, const std::string& release) {
  host.program(prefix + "/bin/python" + release, elf);
  host.links[prefix + "/bin/python3"] = "python" + release;
  host.files[prefix + "/lib/python" + release + "/os.py"] = "";
  host.directories.insert(prefix + "/lib/python" + release + "/site-packages");
}

void add_venv(MemoryHost& host, const std::string& prefix, const std::string& base,
              const std::string& release, const std::string& config) {
  host.links[prefix + "/bin/python3"] = base + "/bin/python3";
  host.files[prefix + "/pyvenv.cfg"] = config;
  host.directories.insert(prefix + "/lib/python" + release + "/site-packages");
}

Facts gather(MemoryHost& host, const Inputs& in = {}) {
  Facts facts;
  gather_python(host, in, facts);
  return facts;
}

}  // namespace

TEST_CASE("a venv is known by its pyvenv.cfg and nothing is run") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  add_venv(host, "/home/me/my env", "/usr", "3.11",
           "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n");
  host.directories.insert("/usr/lib/python3/dist-packages");
  host.variables = {{"PATH", "/usr/bin"}, {"VIRTUAL_ENV", "/home/me/my env"}};
  Facts facts = gather(host);
  CHECK(facts.python.state.is("found"));
  CHECK(facts.python.kind.is("venv"));
  CHECK(facts.python.version.is("3.11.2"));
  CHECK(facts.python.executable.is("/home/me/my env/bin/python3"));
  CHECK(facts.python.executable.from == "VIRTUAL_ENV");
  CHECK(facts.python.search_path ==
        List<std::string>{"/home/me/my env/lib/python3.11/site-packages"});
  CHECK(host.ran.empty());
}

TEST_CASE(
    "the Python beside an installed tcstack comes before PATH and after an active environment") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  const std::string config = "home = /usr/bin\nversion = 3.11.2\n";
  add_venv(host, "/own", "/usr", "3.11", config);
  add_venv(host, "/active", "/usr", "3.11", config);
  host.variables = {{"PATH", "/usr/bin"}, {"TORCH_CUDA_STACK_PYTHON", "/own/bin/python3"}};
  Facts facts = gather(host);
  CHECK(facts.python.executable.is("/own/bin/python3"));
  CHECK(facts.python.executable.from == "TORCH_CUDA_STACK_PYTHON");
  host.variables["VIRTUAL_ENV"] = "/active";
  CHECK(gather(host).python.executable.is("/active/bin/python3"));
}

TEST_CASE("a venv with system packages also takes Debian's dist-packages") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.directories.insert("/usr/lib/python3/dist-packages");
  host.directories.insert("/usr/local/lib/python3.11/dist-packages");
  add_venv(host, "/v", "/usr", "3.11", "include-system-site-packages = true\nversion = 3.11.2\n");
  host.variables = {{"VIRTUAL_ENV", "/v"}};
  Facts facts = gather(host);
  CHECK(facts.python.search_path[0] == "/v/lib/python3.11/site-packages");
  CHECK(facts.python.search_path[1] == "/usr/local/lib/python3.11/dist-packages");
  CHECK(facts.python.search_path[2] == "/usr/lib/python3/dist-packages");
}

TEST_CASE("the user's own packages come before the system's, unless switched off") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.directories.insert("/home/u/.local/lib/python3.11/site-packages");
  host.variables = {{"PATH", "/usr/bin"}, {"HOME", "/home/u"}};
  CHECK(gather(host).python.search_path[0] == "/home/u/.local/lib/python3.11/site-packages");
  host.variables["PYTHONNOUSERSITE"] = "1";
  CHECK(gather(host).python.search_path[0] == "/usr/lib/python3.11/site-packages");
}

TEST_CASE("Python_EXECUTABLE wins over every environment") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  add_python(host, "/opt/py", "3.13");
  add_venv(host, "/v", "/usr", "3.11", "version = 3.11.2\n");
  host.variables = {{"PATH", "/usr/bin"}, {"VIRTUAL_ENV", "/v"}};
  Inputs in;
  in.set["Python_EXECUTABLE"] = "/opt/py/bin/python3";
  Facts facts = gather(host, in);
  CHECK(facts.python.prefix.is("/opt/py"));
  CHECK(facts.python.version.is("3.13"));
}

TEST_CASE("a Python_EXECUTABLE that does not exist is not replaced by another") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.variables = {{"PATH", "/usr/bin"}};
  Inputs in;
  in.set["Python_EXECUTABLE"] = "/gone/python";
  Facts facts = gather(host, in);
  CHECK(facts.python.state.is("absent"));
  CHECK(facts.python.reason == "Python_EXECUTABLE names /gone/python, which is not a program");
}

TEST_CASE("conda's Python is told from others by conda-meta") {
  MemoryHost host;
  add_python(host, "/opt/conda", "3.12");
  host.directories.insert("/opt/conda/conda-meta");
  host.files["/opt/conda/include/python3.12/patchlevel.h"] =
      "#define PY_VERSION      \t\"3.12.4\"\n";
  host.variables = {{"CONDA_PREFIX", "/opt/conda"}, {"PATH", ""}};
  Facts facts = gather(host);
  CHECK(facts.python.kind.is("conda"));
  CHECK(facts.python.version.is("3.12.4"));
  CHECK(facts.python.executable.from == "CONDA_PREFIX");
}

TEST_CASE("in one folder the newest version wins, as in CMake's FindPython") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.program("/usr/bin/python3.13", elf);
  host.files["/usr/lib/python3.13/os.py"] = "";
  host.variables = {{"PATH", "/usr/bin"}};
  CHECK(gather(host).python.executable.is("/usr/bin/python3.13"));
}

TEST_CASE("a free-threaded Python is told by its library folder") {
  MemoryHost host;
  add_python(host, "/opt/py", "3.13t");
  add_venv(host, "/v", "/opt/py", "3.13t", "version = 3.13.1\n");
  host.variables = {{"PATH", "/opt/py/bin"}};
  CHECK(gather(host).python.free_threaded.is(true));
  host.variables["VIRTUAL_ENV"] = "/v";
  Facts facts = gather(host);
  CHECK(facts.python.version.is("3.13.1"));
  CHECK(facts.python.free_threaded.is(true));
  MemoryHost usual;
  add_python(usual, "/usr", "3.13");
  usual.variables = {{"PATH", "/usr/bin"}};
  CHECK(gather(usual).python.free_threaded.is(false));
}

TEST_CASE("a shim is asked, and its answer names the real interpreter") {
  MemoryHost host;
  host.program("/home/u/.pyenv/shims/python3", "#!/usr/bin/env bash\n");
  host.program("/home/u/.pyenv/shims/python3.12", "#!/usr/bin/env bash\n");
  host.directories.insert("/home/u/.pyenv/versions/3.11.7/lib/python3.11/site-packages");
  host.variables = {{"PATH", "/home/u/.pyenv/shims"}};
  host.on_run = [](const Command& command) {
    CHECK(command.argv[0] == "/home/u/.pyenv/shims/python3");
    CHECK(command.timeout_ms == 30000);
    return MemoryHost::exits(
        0,
        "tcs-python 1\nexecutable /home/u/.pyenv/versions/3.11.7/bin/python3\n"
        "version 3.11.7\nprefix /home/u/.pyenv/versions/3.11.7\n"
        "base /home/u/.pyenv/versions/3.11.7\n"
        "path /home/u/.pyenv/versions/3.11.7/lib/python311.zip\n"
        "path /home/u/.pyenv/versions/3.11.7/lib/python3.11/site-packages\nend\n",
        "warning on the other stream\n");
  };
  Facts facts = gather(host);
  CHECK(facts.python.executable.is("/home/u/.pyenv/versions/3.11.7/bin/python3"));
  CHECK(facts.python.kind.is("pyenv"));
  CHECK(facts.python.search_path ==
        List<std::string>{"/home/u/.pyenv/versions/3.11.7/lib/python3.11/site-packages"});
}

TEST_CASE("a python that prints garbage, hangs or fails is passed over with its reason") {
  MemoryHost host;
  host.program("/shims/python3", "#!/bin/sh\n");
  host.variables = {{"PATH", "/shims"}};
  host.on_run = [](const Command&) { return MemoryHost::exits(0, "hello\n"); };
  Facts facts = gather(host);
  CHECK(facts.python.state.is("absent"));
  CHECK(facts.python.reason == "/shims/python3 did not answer as a Python does: \"hello\"");

  host.on_run = [](const Command&) {
    return MemoryHost::exits(0, "tcs-python 1\nversion 3.x\nprefix x\nend\n");
  };
  CHECK(gather(host).python.state.is("absent"));

  host.on_run = [](const Command&) {
    Outcome outcome;
    outcome.state = Outcome::State::TimedOut;
    outcome.ms = 30000;
    return outcome;
  };
  CHECK(gather(host).python.reason.find("/shims/python3 gave no answer: ") == 0);

  add_python(host, "/usr", "3.11");
  host.variables["PATH"] = "/shims:/usr/bin";
  CHECK(gather(host).python.prefix.is("/usr"));
}

TEST_CASE("a named Python that does not answer is told with the name of the setting") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.program("/dead/bin/python", "#!/bin/sh\n");
  host.links["/dead/bin/python3"] = "python";
  host.variables = {{"PATH", "/usr/bin"}};
  host.on_run = [](const Command&) {
    Outcome outcome;
    outcome.state = Outcome::State::TimedOut;
    outcome.ms = 3000;
    return outcome;
  };
  Inputs in;
  in.set["Python_EXECUTABLE"] = "/dead/bin/python";
  Facts facts = gather(host, in);
  CHECK(facts.python.state.is("absent"));
  CHECK(facts.python.state.from == "Python_EXECUTABLE");
  CHECK(facts.python.reason ==
        "Python_EXECUTABLE: /dead/bin/python gave no answer: no answer in 3 s");

  host.variables["VIRTUAL_ENV"] = "/dead";
  host.ran.clear();
  facts = gather(host);
  CHECK(facts.python.executable.is("/usr/bin/python3.11"));
  CHECK(facts.python.reason ==
        "VIRTUAL_ENV: /dead/bin/python3 gave no answer: no answer in 3 s; used instead: "
        "/usr/bin/python3.11 (PATH)");
  CHECK(host.ran.size() == 1);  // both names are one program
}

TEST_CASE("a VIRTUAL_ENV without a Python is told where PATH's is used; a conda prefix is not") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.variables = {{"PATH", "/usr/bin"}, {"CONDA_PREFIX", "/c"}};
  CHECK(gather(host).python.reason.empty());
  host.variables["VIRTUAL_ENV"] = "/gone";
  CHECK(gather(host).python.reason ==
        "VIRTUAL_ENV is /gone, which has no bin/python (no such folder); used instead: "
        "/usr/bin/python3.11 (PATH)");
}

TEST_CASE("a PYTHONHOME under which no Python starts is named") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.variables = {{"PATH", "/usr/bin"}, {"PYTHONHOME", "/nope"}};
  host.on_run = [](const Command&) {
    return MemoryHost::exits(1, "", "Fatal Python error: init_fs_encoding\n\nCurrent thread\n");
  };
  Facts facts = gather(host);
  CHECK(facts.python.state.is("absent"));
  CHECK(facts.python.reason ==
        "/usr/bin/python3.11 gave no answer: Fatal Python error: "
        "init_fs_encoding; PYTHONHOME is /nope");
}

TEST_CASE("pip's isolated build is asked, because its path is arranged in code") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  host.variables = {{"PATH", "/usr/bin"}, {"PYTHONPATH", "/tmp/pip-build-env-abc/site"}};
  host.directories.insert("/tmp/pip-build-env-abc/overlay/lib/python3.11/site-packages");
  host.on_run = [](const Command&) {
    return MemoryHost::exits(
        0,
        "tcs-python 1\nexecutable /usr/bin/python3\nversion 3.11.2\nprefix /usr\nbase /usr\n"
        "path /tmp/pip-build-env-abc/overlay/lib/python3.11/site-packages\nend\n");
  };
  Facts facts = gather(host);
  CHECK(facts.python.kind.is("isolated-build"));
  CHECK(facts.python.search_path.size() == 1);
}

TEST_CASE("an interpreter that is asked tells whether it is free-threaded") {
  for (const char* flags : {"", "t"}) {
    MemoryHost host;
    host.program("/shims/python3", "#!/bin/sh\n");
    host.variables = {{"PATH", "/shims"}};
    host.on_run = [&](const Command&) {
      return MemoryHost::exits(
          0, std::string("tcs-python 1\nexecutable /p/bin/python3\nversion 3.14.0\nprefix /p\n"
                         "base /p\nabiflags ") +
                 flags + "\nend\n");
    };
    Facts facts = gather(host);
    CHECK(facts.python.version.is("3.14.0"));
    CHECK(facts.python.free_threaded.is(flags[0] == 't'));
  }
}

TEST_CASE("other interpreters that hold a torch are named") {
  MemoryHost host;
  add_python(host, "/usr", "3.11");
  add_python(host, "/opt/conda", "3.12");
  host.files["/opt/conda/lib/python3.12/site-packages/torch/version.py"] = "";
  host.variables = {{"PATH", "/usr/bin:/opt/conda/bin"}};
  Facts facts = gather(host);
  CHECK(facts.python.prefix.is("/usr"));
  CHECK(facts.python.elsewhere == List<std::string>{"/opt/conda/bin/python3.12"});
  CHECK(facts.python.elsewhere_known);

  // Packages that both share are no reason to change the interpreter.
  host.files["/shared/torch/version.py"] = "";
  host.variables["PYTHONPATH"] = "/shared";
  host.files.erase("/opt/conda/lib/python3.12/site-packages/torch/version.py");
  CHECK(gather(host).python.elsewhere.empty());
}

TEST_CASE("no interpreter at all is an answer with its reason") {
  MemoryHost host;
  host.variables = {{"PATH", "/usr/bin"}};
  Facts facts = gather(host);
  CHECK(facts.python.state.is("absent"));
  CHECK(facts.python.reason == "no python3 or python in VIRTUAL_ENV, CONDA_PREFIX or PATH");
}
