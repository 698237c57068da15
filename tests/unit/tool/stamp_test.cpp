// SPDX-License-Identifier: Apache-2.0
#include "tool/stamp.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"

using namespace tcs;

namespace {

MemoryHost machine() {
  MemoryHost host;
  host.program("/self/tcstack");
  host.program("/usr/local/cuda/bin/nvcc");
  host.files["/proc/sys/kernel/random/boot_id"] = "boot-1\n";
  host.files["/site/torch/version.py"] = "__version__ = '2.3.0'";
  host.variables["PATH"] = "/usr/bin";
  return host;
}

Facts facts() {
  Facts f;
  Toolkit toolkit;
  toolkit.nvcc = std::string("/usr/local/cuda/bin/nvcc");
  toolkit.root = std::string("/usr/local/cuda");
  f.toolkits.list.push_back(toolkit);
  f.torch.root = std::string("/site/torch");
  return f;
}

}  // namespace

TEST_CASE("a stamp holds while nothing changed") {
  MemoryHost host = machine();
  Inputs in;
  in.set["TARGETS"] = "native\nand a second line \\n";
  CHECK(stamp_holds(host, in, make_stamp(host, in, facts())));
  CHECK_FALSE(stamp_holds(host, in, ""));
  CHECK_FALSE(stamp_holds(host, in, "garbage"));
}

TEST_CASE("a stamp falls with the language of what is printed, and with no other locale") {
  MemoryHost host = machine();
  const Inputs in;
  const std::string english = make_stamp(host, in, facts());
  host.variables["LANG"] = "de_DE.UTF-8";
  CHECK(stamp_holds(host, in, english));
  host.variables["LANG"] = "zh_CN.UTF-8";
  CHECK_FALSE(stamp_holds(host, in, english));
  CHECK(stamp_holds(host, in, make_stamp(host, in, facts())));
}

TEST_CASE("a stamp does not fall with what a build writes into its own folders") {
  MemoryHost host = machine();
  host.files["/project/CMakeLists.txt"] = "project(p)";
  host.files["/project/build/CMakeCache.txt"] = "";
  Inputs in;
  in.set["SOURCE_DIR"] = "/project";
  in.set["BINARY_DIR"] = "/project/build";
  in.set["CUDA_TOOLKIT_ROOT_DIR"] = "/usr/local/cuda";
  const std::string stamp = make_stamp(host, in, facts());
  CHECK(stamp.find("watch /usr/local/cuda\n") != std::string::npos);
  CHECK(stamp.find("watch /project") == std::string::npos);
}

TEST_CASE("a stamp falls with anything that an answer came from") {
  Inputs in;
  in.set["TARGETS"] = "9.0";
  std::string stamp = make_stamp(machine(), in, facts());
  auto falls = [&](const MemoryHost& host, const Inputs& inputs) {
    return !stamp_holds(host, inputs, stamp);
  };

  SECTION("an input") {
    Inputs other = in;
    other.set["TARGETS"] = "8.0";
    CHECK(falls(machine(), other));
  }
  SECTION("which devices are visible") {
    MemoryHost host = machine();
    host.variables["CUDA_VISIBLE_DEVICES"] = "0";
    CHECK(falls(host, in));
  }
  SECTION("the loader's path") {
    MemoryHost host = machine();
    host.variables["LD_LIBRARY_PATH"] = "/stubs";
    CHECK(falls(host, in));
  }
  SECTION("a reboot") {
    MemoryHost host = machine();
    host.files["/proc/sys/kernel/random/boot_id"] = "boot-2\n";
    CHECK(falls(host, in));
  }
  SECTION("a driver that was loaded") {
    MemoryHost host = machine();
    host.files["/proc/driver/nvidia/version"] = "NVRM version: 580\n";
    CHECK(falls(host, in));
  }
  SECTION("a device node that may be opened now, and one that came") {
    Facts denied = facts();
    denied.driver.nodes = {{Text("/dev/nvidia3"), Text("denied")},
                           {Text("/dev/nvidia-uvm"), Text("missing")}};
    MemoryHost before = machine();
    before.files["/dev/nvidia3"] = "";
    before.unreadable = {"/dev/nvidia3"};
    const std::string closed = make_stamp(before, in, denied);
    CHECK(stamp_holds(before, in, closed));
    MemoryHost host = before;
    host.unreadable.clear();
    CHECK_FALSE(stamp_holds(host, in, closed));
    host = before;
    host.files["/dev/nvidia-uvm"] = "";
    CHECK_FALSE(stamp_holds(host, in, closed));
  }
  SECTION("another nvcc behind the same path") {
    MemoryHost host = machine();
    host.files.erase("/usr/local/cuda/bin/nvcc");
    host.links["/usr/local/cuda"] = "/usr/local/cuda-13";
    host.program("/usr/local/cuda-13/bin/nvcc");
    CHECK(falls(host, in));
  }
  SECTION("torch was upgraded") {
    MemoryHost host = machine();
    host.files["/site/torch/version.py"] = "__version__ = '2.15.0'";
    CHECK(falls(host, in));
  }
  SECTION("a torch that came into an environment without one") {
    MemoryHost host = machine();
    Facts none;
    none.python.search_path = {"/venv/lib/python3.11/site-packages"};
    std::string without = make_stamp(host, in, none);
    CHECK(stamp_holds(host, in, without));
    host.files["/venv/lib/python3.11/site-packages/torch/version.py"] = "";
    CHECK_FALSE(stamp_holds(host, in, without));
  }
  SECTION("a toolkit that came to where the user said it is") {
    Inputs named = in;
    named.set["TOOLKIT"] = "/opt/cuda-13.2";
    std::string without = make_stamp(machine(), named, facts());
    MemoryHost host = machine();
    host.program("/opt/cuda-13.2/bin/nvcc");
    CHECK_FALSE(stamp_holds(host, named, without));
  }
  SECTION("whether the user's own site folder counts") {
    MemoryHost host = machine();
    host.variables["PYTHONNOUSERSITE"] = "1";
    CHECK(falls(host, in));
  }
  SECTION("a variable that does not matter changes nothing") {
    MemoryHost host = machine();
    host.variables["LINES"] = "50";
    CHECK_FALSE(falls(host, in));
  }
}
