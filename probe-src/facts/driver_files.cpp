// SPDX-License-Identifier: Apache-2.0
#include "facts/driver_files.h"

#include "base/text.h"

namespace tcs {
namespace {

// The release number in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Mon ..." or
// "... Open Kernel Module for x86_64  570.86.10  Release Build ...": the first word of the first
// line that is nothing but dotted numbers.
std::string kernel_module_release(const std::string& line) {
  for (const std::string& word : split(line, " \t")) {
    Version version = Version::parse(word);
    if (version.numbers.size() >= 2 && version.rest.empty()) return word;
  }
  return {};
}

bool is_there(const Host& host, const std::string& path) {
  return host.stat(path).type != FileStat::Type::Missing;
}

// "nvidia0", and none of nvidiactl, nvidia-uvm.
bool names_a_board(const std::string& name) {
  uint64_t number = 0;
  return starts_with(name, "nvidia") && parse_number(name.substr(6), 1000000, number);
}

}  // namespace

// /dev/nvidiactl is no sign: libcuda itself makes that node when it runs as root, with no module.
bool kernel_part_present(const Host& host) {
  for (const char* path : {"/proc/driver/nvidia/version", "/sys/module/nvidia", "/dev/dxg",
                           "/dev/nvhost-ctrl", "/dev/nvmap"})
    if (is_there(host, path)) return true;
  return false;
}

void learn_kernel_module(const Host& host, DriverFacts& driver) {
  const char* const proc = "/proc/driver/nvidia/version";
  const char* const sys = "/sys/module/nvidia/version";
  std::string release;
  if (Result<std::string> text = host.read(proc, 4096)) {
    const std::string line = text->substr(0, text->find('\n'));
    release = kernel_module_release(line);
    if (!release.empty() && contains(line, "Kernel Module"))
      driver.module_kind =
          Text(contains(line, "Open Kernel Module") ? "open" : "proprietary", proc);
  }
  if (!release.empty()) {
    driver.kernel_module = Text(release, proc);
    return;
  }
  if (Result<std::string> text = host.read(sys, 4096)) release = trim(*text);
  if (Version::parse(release).known()) driver.kernel_module = Text(release, sys);
}

// WSL and Tegra have nodes of their own, and NVIDIA's usual ones only where they are there.
void learn_nodes(const Host& host, DriverFacts& driver) {
  bool usual = true, board = false;
  auto add = [&](const std::string& path) {
    const bool missing = !is_there(host, path);
    driver.nodes.push_back({Text(path), Text(missing               ? "missing"
                                             : host.may_open(path) ? "ok"
                                                                   : "denied",
                                             "access")});
  };
  for (const char* path : {"/dev/dxg", "/dev/nvmap", "/dev/nvhost-ctrl", "/dev/nvhost-gpu"}) {
    if (!is_there(host, path)) continue;
    usual = false;
    add(path);
  }
  if (Result<List<std::string>> names = host.list("/dev"))
    for (const std::string& name : *names) {
      if (!names_a_board(name)) continue;
      board = true;
      add("/dev/" + name);
    }
  if (usual && !board) add("/dev/nvidia0");
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia-uvm"})
    if (usual || is_there(host, path)) add(path);
  driver.nodes_known = true;

  std::string folder = host.env_or("CUDA_MPS_PIPE_DIRECTORY", "");
  if (folder.empty()) folder = "/tmp/nvidia-mps";
  const std::string control = path_join(folder, "control");
  const FileStat::Type type = host.stat(control).type;
  if (type != FileStat::Type::Unreadable)
    driver.mps = Flag(type != FileStat::Type::Missing, control);
}

}  // namespace tcs
