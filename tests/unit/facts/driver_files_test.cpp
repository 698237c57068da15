// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/driver_files.h"
#include "memory_host.h"

using namespace tcs;

namespace {

std::string nodes(const MemoryHost& host) {
  DriverFacts driver;
  learn_nodes(host, driver);
  CHECK(driver.nodes_known);
  List<std::string> words;
  for (const DeviceNode& node : driver.nodes)
    words.push_back(node.path.value() + " " + node.state.value());
  return join(words, ", ");
}

Flag mps(const MemoryHost& host) {
  DriverFacts driver;
  learn_nodes(host, driver);
  return driver.mps;
}

}  // namespace

TEST_CASE("device nodes are open, denied or missing, and a board's number is none of a MIG file") {
  MemoryHost host;
  CHECK(nodes(host) == "/dev/nvidia0 missing, /dev/nvidiactl missing, /dev/nvidia-uvm missing");
  for (const char* name : {"nvidia1", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                           "nvidia-modeset", "nvidia-caps/nvidia-cap1", "nvidia"})
    host.files[std::string("/dev/") + name] = "";
  CHECK(nodes(host) == "/dev/nvidia0 ok, /dev/nvidia1 ok, /dev/nvidiactl ok, /dev/nvidia-uvm ok");
  host.unreadable = {"/dev/nvidia1"};
  host.files.erase("/dev/nvidia-uvm");
  CHECK(nodes(host) ==
        "/dev/nvidia0 ok, /dev/nvidia1 denied, /dev/nvidiactl ok, /dev/nvidia-uvm missing");
}

TEST_CASE("WSL and Tegra have nodes of their own, and do not miss the usual ones") {
  MemoryHost wsl;
  wsl.files["/dev/dxg"] = "";
  CHECK(nodes(wsl) == "/dev/dxg ok");
  CHECK(kernel_part_present(wsl));
  MemoryHost tegra;
  for (const char* path : {"/dev/nvmap", "/dev/nvhost-gpu", "/dev/nvidia0"}) tegra.files[path] = "";
  tegra.unreadable = {"/dev/nvmap"};
  CHECK(nodes(tegra) == "/dev/nvmap denied, /dev/nvhost-gpu ok, /dev/nvidia0 ok");
}

TEST_CASE("the Multi-Process Service is where its control pipe is") {
  MemoryHost host;
  CHECK(mps(host).is(false));
  host.files["/tmp/nvidia-mps/control"] = "";
  CHECK(mps(host).is(true));
  host.variables["CUDA_MPS_PIPE_DIRECTORY"] = "/run/mps";
  CHECK(mps(host).is(false));
  host.files["/run/mps/control"] = "";
  CHECK(mps(host).is(true));
}

TEST_CASE("the kernel module is open or proprietary as its text says, and unknown without it") {
  MemoryHost host;
  auto learn = [&](const std::string& text) {
    host.files["/proc/driver/nvidia/version"] = text;
    DriverFacts driver;
    learn_kernel_module(host, driver);
    return driver;
  };
  DriverFacts driver = learn(
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
      "GCC version:  gcc version 13.3.0\n");
  CHECK(driver.module_kind.is("open"));
  CHECK(driver.kernel_module.is("580.95.05"));
  driver = learn("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Tue Jul  1\n");
  CHECK(driver.module_kind.is("proprietary"));
  CHECK(driver.kernel_module.is("535.261.03"));
  host.files["/sys/module/nvidia/version"] = "550.54\n";
  driver = learn("garbage\n");
  CHECK_FALSE(driver.module_kind.known());
  CHECK(driver.kernel_module.is("550.54"));
}
