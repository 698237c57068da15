// SPDX-License-Identifier: Apache-2.0
#include "facts/pip_toolkit.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "tables/tables.h"

using namespace tcs;

namespace {

HostFacts linux_host(const char* arch, const char* glibc) {
  HostFacts host;
  host.os = Text("linux");
  host.arch = Text(arch);
  if (glibc) host.glibc = Text(glibc);
  return host;
}

// Of a folder that is being filled: by which machine and process.
std::string by(const std::string& process, const char* boot_id = "here") {
  return cat(".tmp-", fnv1a(boot_id), "-", process);
}

// Word after `name`.
std::string option(const Command& command, const std::string& name) {
  for (size_t i = 0; i + 1 < command.argv.size(); ++i)
    if (command.argv[i] == name) return command.argv[i + 1];
  return {};
}

void lay_wheels(MemoryHost& host, const std::string& folder) {
  for (const WheelRow& row : wheel_rows())
    if (std::string(row.update) == "13.2.2")
      host.files[cat(folder, "/", replace_all(row.package, "-", "_"), "-", row.version,
                     ".dist-info/METADATA")] = "";
  host.program(folder + "/nvidia/cu13/bin/nvcc");
}

// A pip that does what it is told.
MemoryHost machine() {
  MemoryHost host;
  host.directories.insert("/proc/self");
  host.files["/proc/sys/kernel/random/boot_id"] = "here";
  host.variables["PATH"] = "/bin";
  host.program("/bin/python3");
  return host;
}
Outcome works(MemoryHost& host, const Command& command) {
  if (ends_with(command.argv[0], "/nvcc"))
    return MemoryHost::exits(0, "Cuda compilation tools, release 13.2, V13.2.86");
  lay_wheels(host, option(command, "--target"));
  return MemoryHost::exits(0);
}

Result<Done> bring(MemoryHost& host, const char* arch = "x86_64") {
  Facts facts;
  facts.host = linux_host(arch, "2.36");
  return bring_pip_toolkit(host, facts, "13.2.2", "/bin/python3", "/into");
}

bool leaves_nothing(const MemoryHost& host) {
  for (const auto& file : host.files)
    if (starts_with(file.first, "/into")) return false;
  return true;
}

}  // namespace

TEST_CASE("PyPI has the newest update of a release, for Linux with glibc 2.17") {
  CHECK(pip_update(linux_host("x86_64", "2.17"), 1302) == "13.2.2");
  CHECK(pip_update(linux_host("aarch64", "2.39"), 1300) == "13.0.3");
  CHECK(pip_update(linux_host("x86_64", "2.16"), 1302).empty());
  CHECK(pip_update(linux_host("x86_64", nullptr), 1302).empty());
  CHECK(pip_update(linux_host("riscv64", "2.39"), 1302).empty());
  CHECK(pip_update(linux_host("x86_64", "2.36"), 1209).empty());
  HostFacts unsaid = linux_host("x86_64", "2.36");
  unsaid.os = Text();
  CHECK(pip_update(unsaid, 1302) == "13.2.2");
  HostFacts windows = linux_host("x86_64", "2.36");
  windows.os = Text("windows");
  CHECK(pip_update(windows, 1302).empty());
}

TEST_CASE("what a user named is told from what was come across") {
  Toolkit t;
  for (const char* origin : {"PATH", "/usr/local/cuda, distribution", "conda prefix",
                             "pip package nvidia/cu13", "TorchCudaStack_PROVISION", ""}) {
    t.origin = Text(origin);
    CHECK(user_named(t).empty());
  }
  for (const char* origin : {"CUDA_HOME", "CUDACXX", "TorchCudaStack_TOOLKIT", "TREE_CUDA_COMPILER",
                             "CUDAToolkit_ROOT (variable)"}) {
    t.origin = Text(cat("PATH, ", origin));
    CHECK(user_named(t) == origin);
  }
}

TEST_CASE(
    "pip is told each wheel of the release with its digest for this machine, and nothing else") {
  for (const char* arch : {"x86_64", "aarch64"}) {
    MemoryHost host = machine();
    host.on_run = [&](const Command& command) { return works(host, command); };
    REQUIRE(bring(host, arch));
    const Command& pip = host.ran[0];
    for (const char* word : {"--require-hashes", "--no-deps", "--only-binary=:all:"})
      CHECK(contains(pip.argv, word));
    size_t lines = 0;
    for (const WheelRow& row : wheel_rows()) {
      const std::string line =
          cat(row.package, "==", row.version,
              " --hash=sha256:", std::string(arch) == "x86_64" ? row.x86_64 : row.aarch64, "\n");
      const bool wanted = std::string(row.update) == "13.2.2";
      lines += wanted;
      CHECK(contains(pip.input, line) == wanted);
    }
    CHECK(lines == 5);
    CHECK(lines_of(pip.input).size() == 5);
    CHECK(host.files.count("/into/nvidia/cu13/bin/nvcc") == 1);
    CHECK(*has_pip_toolkit(host, "13.2.2", "/into"));
    CHECK_FALSE(host.stat("/into" + by("self")).exists());
  }
}

TEST_CASE("a download that fails leaves nothing, and says what pip said") {
  MemoryHost host = machine();
  host.on_run = [&](const Command& command) {
    host.files[option(command, "--target") + "/half"] = "";
    return MemoryHost::exits(1, "Collecting x\n",
                             "WARNING: old\nERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n    "
                             "Expected sha256 ab\n         Got        cd\n");
  };
  const Result<Done> done = bring(host);
  REQUIRE_FALSE(done);
  CHECK(
      done.error().str() ==
      "/bin/python3 -m pip install: THESE PACKAGES DO NOT MATCH THE HASHES Expected sha256 ab Got "
      "cd");
  CHECK(leaves_nothing(host));

  host.on_run = [](const Command&) {
    return MemoryHost::exits(1, "", "WARNING: Retrying (Retry(total=0 ...\nERROR: No matching x\n");
  };
  CHECK(contains(bring(host).error().str(), "pip did not reach its index: No matching x"));
  CHECK(contains(bring(host).error().str(), "PIP_FIND_LINKS=FOLDER"));
}

TEST_CASE("an nvcc of another release, or that does not start, is not taken") {
  for (const char* said : {"Cuda compilation tools, release 13.0, V13.0.88", ""}) {
    MemoryHost host = machine();
    host.on_run = [&](const Command& command) {
      if (ends_with(command.argv[0], "/nvcc")) return MemoryHost::exits(*said ? 0 : 126, said);
      return works(host, command);
    };
    const Result<Done> done = bring(host);
    REQUIRE_FALSE(done);
    CHECK(contains(done.error().str(), "expected release 13.2.86"));
    CHECK(leaves_nothing(host));
  }
}

TEST_CASE("who comes second takes what the first brought, and never what is something else") {
  for (const bool same : {true, false}) {
    MemoryHost host = machine();
    host.on_run = [&](const Command& command) {
      if (same)
        lay_wheels(host, "/into");
      else
        host.files["/into/theirs"] = "";
      return works(host, command);
    };
    CHECK(static_cast<bool>(bring(host)) == same);
    CHECK(host.files.count("/into/theirs") == (same ? 0 : 1));
    CHECK_FALSE(host.stat("/into" + by("self")).exists());
  }
}

TEST_CASE(
    "an empty folder is filled, not replaced, and two that fill it at once leave one toolkit") {
  for (const bool another : {false, true}) {
    MemoryHost host = machine();
    host.directories.insert("/into");
    host.directories.insert("/proc/7");
    for (const char* process : {"7", "8"}) host.files["/into/" + by(process) + "/into/x"] = "";
    host.on_run = [&](const Command& command) {
      if (another)  // is in the midst of it
        host.files["/into/nvidia_nvvm-13.2.86.dist-info/METADATA"] = "";
      return works(host, command);
    };
    REQUIRE(bring(host));
    CHECK(option(host.ran[0], "--target") == "/into/" + by("self") + "/into");
    CHECK(*has_pip_toolkit(host, "13.2.2", "/into"));
    CHECK(host.files.count("/into/" + by("7") + "/into/x") == 1);
    CHECK(host.files.count("/into/" + by("8") + "/into/x") == 0);
    CHECK_FALSE(host.stat("/into/" + by("self")).exists());
  }
}

TEST_CASE("what a user says of where and for what pip installs does not hold for the toolkit") {
  MemoryHost host = machine();
  host.on_run = [&](const Command& command) { return works(host, command); };
  REQUIRE(bring(host));
  for (const char* word : {"--prefix=", "--root=/"}) CHECK(contains(host.ran[0].argv, word));
  for (const char* name : {"PIP_CONSTRAINT", "PIP_DRY_RUN", "PIP_PLATFORM", "PIP_REQUIREMENT"})
    CHECK(contains(host.ran[0].unset_env, name));
  CHECK_FALSE(contains(host.ran[0].unset_env, "PIP_INDEX_URL"));
}

TEST_CASE("what a killed call left beside it goes; what a living one makes stays") {
  MemoryHost host = machine();
  host.directories.insert("/proc/7");
  for (const char* process : {"7", "8"}) host.files["/into" + by(process) + "/into/x"] = "";
  host.on_run = [&](const Command& command) { return works(host, command); };
  REQUIRE(bring(host));
  CHECK(host.files.count("/into" + by("7") + "/into/x") == 1);
  CHECK(host.files.count("/into" + by("8") + "/into/x") == 0);
}

TEST_CASE(
    "what another machine that shares the cache is fetching stays, until nobody wrote to it for a "
    "day") {
  MemoryHost host = machine();
  host.directories.insert("/proc/8");
  const std::string fresh = "/into" + by("7", "there"), old = "/into" + by("8", "there");
  for (const std::string& folder : {fresh, old}) host.files[folder + "/into/x"] = "";
  host.times[fresh] = (host.now() - 3600) * 1000000000;
  host.times[old] = (host.now() - 100000) * 1000000000;
  host.on_run = [&](const Command& command) { return works(host, command); };
  REQUIRE(bring(host));
  CHECK(host.stat(fresh).exists());
  CHECK_FALSE(host.stat(old).exists());
}

TEST_CASE("a folder is free, that release, or something else") {
  MemoryHost host = machine();
  const auto is_free = [&] {
    const Result<bool> has = has_pip_toolkit(host, "13.2.2", "/into");
    return has && !*has;
  };
  CHECK(is_free());
  host.directories.insert("/into");
  CHECK(is_free());
  lay_wheels(host, "/into");
  CHECK(*has_pip_toolkit(host, "13.2.2", "/into"));
  host.files.erase("/into/nvidia/cu13/bin/nvcc");
  CHECK(is_free());  // half of it, by another
  host.links["/into/bin"] = "/gone";
  host.files["/into/lib64/x"] = "";
  CHECK(contains(has_pip_toolkit(host, "13.2.2", "/into").error().text, "has lost its nvcc"));
  lay_wheels(host, "/into");
  CHECK_FALSE(has_pip_toolkit(host, "13.0.3", "/into"));
  host.files.erase("/into/nvidia_nvvm-13.2.86.dist-info/METADATA");
  CHECK_FALSE(has_pip_toolkit(host, "13.2.2", "/into"));
  host.files["/file"] = "";
  CHECK_FALSE(has_pip_toolkit(host, "13.2.2", "/file"));
}

TEST_CASE("the first Python with pip is the environment's, else the one of PATH") {
  MemoryHost host = machine();
  Facts facts;
  facts.python.executable = Text("/venv/bin/python");
  List<std::string> with_pip = {"/venv/bin/python", "/bin/python3"};
  host.on_run = [&](const Command& command) {
    return MemoryHost::exits(contains(with_pip, command.argv[0]) ? 0 : 1, "", "No module pip\n");
  };
  CHECK(*python_with_pip(host, facts) == "/venv/bin/python");
  with_pip = {"/bin/python3"};
  CHECK(*python_with_pip(host, facts) == "/bin/python3");
  with_pip = {"/usr/bin/python3"};
  CHECK(*python_with_pip(host, facts) == "/usr/bin/python3");
  with_pip = {};
  CHECK(starts_with(python_with_pip(host, facts).error().str(),
                    "/venv/bin/python -m pip: No module pip\n  help: "));
}

TEST_CASE("what pip says in the end is told, wherever it says it and however much it is") {
  const auto told = [](int status, const std::string& out, const std::string& err) {
    MemoryHost host = machine();
    host.on_run = [&](const Command&) { return MemoryHost::exits(status, out, err); };
    return bring(host).error().str();
  };
  const std::string who = "/bin/python3 -m pip install: ";
  CHECK(told(1, "ERROR: on the other one\n", "") == who + "on the other one");
  CHECK(told(1, "", "ERROR: first\nERROR: last\n") == who + "last");
  CHECK(told(1, "", "Traceback\nMemoryError\n") == who + "MemoryError");
  CHECK(told(1, "", "") == who + "exit status 1");
  CHECK(told(1, "", "ERROR: " + std::string(900, 'x')) == who + std::string(400, 'x'));
}

TEST_CASE("pip has an hour, needs no environment, and leaves its files beside the folder") {
  MemoryHost host = machine();
  host.on_run = [&](const Command& command) { return works(host, command); };
  REQUIRE(bring(host));
  const Command& pip = host.ran[0];
  CHECK(pip.timeout_ms == 3600 * 1000);
  CHECK(*pip.set_env.find("PIP_REQUIRE_VIRTUALENV") == "0");
  CHECK(*pip.set_env.find("TMPDIR") == "/into" + by("self"));
}
