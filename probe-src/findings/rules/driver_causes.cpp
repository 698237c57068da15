// SPDX-License-Identifier: Apache-2.0
// What the system around a driver tells of why it does not start or shows no GPU: device nodes,
// another kernel driver, a kernel module of the wrong kind, and what a container lacks.
#include "facts/devices.h"
#include "findings/rules/driver.h"
#include "findings/rules/environment.h"

namespace tcs {
namespace {

// Blackwell's first PCI device id (NVIDIA/gpu-admin-tools, gpu/devid_chips.py); from it on only the
// open kernel modules drive a GPU (README of driver 580, "Open Linux Kernel Modules").
constexpr uint64_t kFirstBlackwell = 0x2900;
constexpr Sm kBlackwell = {10, 0, 0};

// "0000:01:00.0 10de:2b85"
bool needs_open_modules(const std::string& board) {
  const size_t at = board.find("10de:");
  uint64_t id = 0;
  for (const char c : at == std::string::npos ? "" : lower(board.substr(at + 5)))
    id = id * 16 + static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return id >= kFirstBlackwell;
}

std::string needing_open_modules(const Facts& facts) {
  for (const std::string& board : facts.host.nvidia_pci.value())
    if (needs_open_modules(board)) return cat("the GPU ", board);
  Sm sm;
  for (const Device* device : visible_devices(facts))
    if (capability(*device, sm) && !(sm < kBlackwell)) return device_label(*device);
  return "";
}

bool names_board(const std::string& path) {
  return !path.empty() && path.back() >= '0' && path.back() <= '9';
}

// Nodes in `state` without which no GPU is used; that of one board is none where another is open.
List<std::string> bad_nodes(const DriverFacts& driver, const char* state) {
  bool board = false;
  for (const DeviceNode& node : driver.nodes)
    board = board || (node.state.is("ok") && names_board(node.path.value()));
  List<std::string> out;
  for (const DeviceNode& node : driver.nodes)
    if (node.state.is(state) && node.path.known() && !(board && names_board(node.path.value())))
      out.push_back(node.path.value());
  return out;
}

bool nodes_known(const DriverFacts& driver) {
  bool all = driver.nodes_known;
  for (const DeviceNode& node : driver.nodes) all = all && node.state.known() && node.path.known();
  return all;
}

// Half of what 223 takes is there.
void miss_module_kind(const Facts& facts, DriverIs state, const std::string& board,
                      List<Finding>& out) {
  const char* what = "whether the GPU needs the open kernel module";
  if (state != DriverIs::StartFails && state != DriverIs::NoDevice) return;
  if (!facts.driver.module_kind.known() && !board.empty())
    missing(out, 290, "driver.module_kind", what);
  if (facts.driver.module_kind.is("proprietary") && board.empty() && !facts.host.nvidia_pci.known())
    missing(out, 290, "host.nvidia_pci", what);
}

bool in_container(const HostFacts& host) {
  return host.container.known() && !host.container.is("none");
}

}  // namespace

bool shows_none(const Facts& facts) {
  const DriverIs state = driver_is(facts.driver);
  if (state != DriverIs::Ok && state != DriverIs::NoDevice) return false;
  if (facts.devices.state.is("none")) return true;
  if (facts.devices.list.empty() && hides_all(facts)) return true;
  for (const Device& device : facts.devices.list)
    if (is_in_use(device) || may_be_in_use(device)) return false;
  return facts.devices.list_known;
}

bool expects_gpu(const RuleInput& in) {
  for (const Device& device : in.facts.devices.list)
    if (!is_foreign(device)) return false;  // hidden, or not known to be
  return !in.facts.host.nvidia_pci.value().empty() && !variable(in, "CUDA_VISIBLE_DEVICES");
}

List<int> causes(const Facts& facts, DriverIs state, bool maybe) {
  const DriverFacts& driver = facts.driver;
  const bool fails = state == DriverIs::StartFails || state == DriverIs::NoDevice;
  List<int> ids;
  if (!fails && state != DriverIs::NotLoaded) return ids;
  auto cause = [&](int id, bool is, bool known) {
    if (maybe ? !known : is) ids.push_back(id);
  };
  const bool nodes = nodes_known(driver), missing = !bad_nodes(driver, "missing").empty();
  const bool boards = !facts.host.nvidia_pci.known() || !facts.host.nvidia_pci.value().empty();
  if (fails) {
    cause(211, false, driver.module_kind.known());  // rule_driver_device
    cause(220, !bad_nodes(driver, "denied").empty(), nodes);
    cause(221, missing && driver.kernel_module.known() && boards,
          nodes && (!missing || driver.kernel_module.known()));
    cause(223, driver.module_kind.is("proprietary") && !needing_open_modules(facts).empty(),
          driver.module_kind.known() &&
              (facts.host.nvidia_pci.known() || !needing_open_modules(facts).empty()));
  }
  cause(222, facts.host.nouveau.is(true) && !driver.kernel_module.known(),
        facts.host.nouveau.known());
  return ids;
}

std::string container_start(const Facts& facts) {
  struct Start {
    const char *container, *command;
  };
  for (const Start& row :
       {Start{"docker", "docker run --gpus all ..., with the NVIDIA Container Toolkit on the host"},
        Start{"podman",
              "podman run --device nvidia.com/gpu=all ..., with the NVIDIA Container "
              "Toolkit's CDI file on the host"},
        Start{"kubernetes",
              "give the pod a limit `nvidia.com/gpu: 1`; NVIDIA's device plugin must "
              "run on the node"},
        Start{"lxc", "lxc config device add NAME gpu gpu; lxc config set NAME nvidia.runtime true"},
        Start{"other", "start the container with GPU access (apptainer: --nv)"}})
    if (facts.host.container.is(row.container))
      return facts.host.container.is("docker") && driver_says(facts).jetson
                 ? "docker run --runtime nvidia ..., with the NVIDIA Container Toolkit on the host"
                 : row.command;
  return "";
}

void rule_driver_causes(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const HostFacts& host = in.facts.host;
  const bool none = shows_none(in.facts);
  const DriverIs state = none ? DriverIs::NoDevice : driver_is(driver);
  const bool jetson = driver_says(in.facts).jetson, plain = !host.wsl.is(true) && !jetson;
  const List<std::string> denied = bad_nodes(driver, "denied"), lost = bad_nodes(driver, "missing");
  const std::string board = needing_open_modules(in.facts), start = container_start(in.facts);
  const bool elsewhere = state == DriverIs::Ok && driver.module_kind.is("proprietary") &&
                         !board.empty() && starts_with(board, "the GPU ");
  List<int> ids = causes(in.facts, state, false);
  miss_module_kind(in.facts, state, board, out);
  Sm sm;
  bool driven = false;
  for (const Device* device : visible_devices(in.facts))
    driven = driven || (capability(*device, sm) && !(sm < kBlackwell));
  if (elsewhere && !driven) ids.push_back(223);
  for (int id : ids) {
    const List<std::string>& nodes = id == 220 ? denied : lost;
    Finding& f =
        report(out, id,
               {in_words(nodes), start, plain && !in_container(host) ? "y" : "", jetson ? "y" : "",
                board, builds(in) && native_asked(in) ? name_targets(in) : "",
                contains(join(nodes, " "), "uvm") && plain && !in_container(host) ? "y" : ""});
    f.severity = id == 223 ? (state == DriverIs::Ok ? Severity::Warning : here_or_elsewhere(in))
                           : driver_weight(in, state);
    for (const std::string& node : nodes)
      if (id < 222) add(f, "driver", node, "", id == 220 ? "denied" : "missing");
    if (id == 222) add(f, "driver", "nouveau is loaded", "nvidia", host.nouveau.from);
    if (id == 223)
      add(f, "driver", "proprietary kernel module " + driver.kernel_module.value(),
          "the open kernel module", driver.module_kind.from);
  }
}

}  // namespace tcs
