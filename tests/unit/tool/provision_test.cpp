// SPDX-License-Identifier: Apache-2.0
#include "tool/provision.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "tables/tables.h"

using namespace tcs;

namespace {

// PyTorch of CUDA 13.2 for Linux, PyPI in reach, and a user who asks.
struct Case {
  MemoryHost host;
  Inputs in;
  Facts facts;
  bool pip_fails = false;
  int downloads = 0;

  Case() {
    host.directories.insert("/proc/self");
    host.variables["PATH"] = "/bin";
    host.program("/bin/python3");
    in.set["PROVISION"] = "ON";
    facts.host.os = Text("linux");
    facts.host.arch = Text("x86_64");
    facts.host.glibc = Text("2.36");
    facts.torch.state = Text("found");
    facts.torch.cuda = Text("13.2");
    facts.toolkits.list_known = true;
    host.on_run = [this](const Command& command) { return answer(command); };
  }
  void has_toolkit(const char* version, const char* origin) {
    Toolkit t;
    t.version = Text(version);
    t.origin = Text(origin);
    t.root = Text("/own");
    facts.toolkits.list.push_back(t);
    facts.toolkits.selected = Fact<int>(0);
  }
  Outcome answer(const Command& command) {
    if (ends_with(command.argv[0], "/nvcc"))
      return MemoryHost::exits(0, "Cuda compilation tools, release 13.2, V13.2.86");
    if (!contains(command.argv, "install")) return MemoryHost::exits(0);
    ++downloads;
    if (pip_fails) return MemoryHost::exits(1, "", "ERROR: no network\n");
    for (size_t i = 0; i + 1 < command.argv.size(); ++i)
      if (command.argv[i] == "--target") lay(command.argv[i + 1]);
    return MemoryHost::exits(0);
  }
  void lay(const std::string& folder) {
    for (const WheelRow& row : wheel_rows())
      if (std::string(row.update) == "13.2.2")
        host.files[cat(folder, "/", replace_all(row.package, "-", "_"), "-", row.version,
                       ".dist-info/METADATA")] = "";
    host.program(folder + "/nvidia/cu13/bin/nvcc");
    host.files[folder + "/nvidia/cu13/bin/nvcc.profile"] = "";
  }
  bool provision() { return provision_toolkit(host, in, "/cache", facts); }
  std::string root() const {
    return facts.toolkit() == nullptr ? "" : facts.toolkit()->root.value();
  }
};

constexpr const char* kBrought = "/cache/toolkits-pypi/13.2.2-x86_64/nvidia/cu13";

}  // namespace

TEST_CASE("PROVISION brings PyTorch's release once, and it is what is used") {
  for (const char* origin : {"", "PATH", "/usr/local/cuda, distribution"}) {
    Case c;
    if (*origin) c.has_toolkit("13.0.88", origin);
    CHECK(c.provision());
    CHECK(c.downloads == 1);
    CHECK(c.root() == kBrought);
    CHECK(c.facts.toolkit()->origin.is("TorchCudaStack_PROVISION"));
    c.facts.toolkits = ToolkitFacts();
    c.has_toolkit("12.8.93", "PATH");
    CHECK(c.provision());
    CHECK(c.downloads == 1);
    CHECK(c.root() == kBrought);
  }
}

TEST_CASE("nothing is brought that was not asked for, or is there") {
  for (const char* value : {"OFF", "0", "", "no"}) {
    Case c;
    c.in.set["PROVISION"] = value;
    CHECK(c.provision());
    CHECK(c.host.ran.empty());
  }
  Case unasked;
  unasked.in.set = StringMap();
  CHECK(unasked.provision());
  CHECK(unasked.host.ran.empty());
  unasked.host.variables["TORCH_CUDA_STACK_PROVISION"] = "ON";
  CHECK(unasked.provision());
  CHECK(unasked.downloads == 1);

  Case there;
  there.has_toolkit("13.2.51", "PATH");
  CHECK(there.provision());
  CHECK(there.host.ran.empty());

  Case replayed;
  replayed.facts.origin = "replayed";
  CHECK(replayed.provision());
  CHECK(replayed.host.ran.empty());
}

TEST_CASE("nothing comes in the place of what the user named, nor where PyPI has none") {
  for (const char* origin : {"CUDA_HOME", "CUDACXX", "TorchCudaStack_TOOLKIT",
                             "CMAKE_CUDA_COMPILER", "TREE_CUDA_COMPILER", "PATH, CUDA_HOME"}) {
    Case c;
    c.has_toolkit("13.0.88", origin);
    CHECK(c.provision());
    CHECK(c.host.ran.empty());
    CHECK(c.root() == "/own");
  }
  const auto quiet = [](void (*change)(Case&)) {
    Case c;
    c.has_toolkit("11.8.89", "PATH");
    change(c);
    return c.provision() && c.host.ran.empty() && c.root() == "/own";
  };
  CHECK(quiet([](Case& c) { c.facts.torch.cuda = Text("12.6"); }));
  CHECK(quiet([](Case& c) { c.facts.torch.cuda = Text(); }));
  CHECK(quiet([](Case& c) { c.facts.torch.state = Text("absent"); }));
  CHECK(quiet([](Case& c) { c.facts.host.glibc = Text(); }));
  CHECK(quiet([](Case& c) { c.facts.tree.state = Text("found"); }));
  CHECK(quiet([](Case& c) { c.in.cross_compiling = true; }));
  CHECK_FALSE(quiet([](Case&) {}));
}

TEST_CASE("what could not be had is told, and leaves what is there") {
  Case c;
  c.has_toolkit("13.0.88", "PATH");
  c.pip_fails = true;
  CHECK_FALSE(c.provision());
  CHECK(c.root() == "/own");
  c.pip_fails = false;
  CHECK(c.provision());
  CHECK(c.root() == kBrought);

  Case taken;
  taken.host.files["/cache/toolkits-pypi/13.2.2-x86_64/theirs"] = "";
  CHECK_FALSE(taken.provision());
  CHECK(taken.host.files.count("/cache/toolkits-pypi/13.2.2-x86_64/theirs") == 1);

  Case without;
  without.host.on_run = [](const Command&) { return MemoryHost::exits(1); };
  CHECK_FALSE(without.provision());
}
