// SPDX-License-Identifier: Apache-2.0
// NVML sees all boards whatever CUDA_VISIBLE_DEVICES says, and where CUDA does not start. Nothing
// hangs on it: where it is absent or fails, the facts are those of the driver.
#include <algorithm>

#include "base/text.h"
#include "facts/driver.h"
#include "facts/probe_answer.h"

namespace tcs {
namespace {

// nvmlReturn_t, from nvml.h.
constexpr int nvml_gpu_is_lost = 15;
constexpr int nvml_reset_required = 16;

constexpr int after_driver_ms = 3000;  // most that is waited for it when the driver has answered

// One board as a device, and the MIG instances that it is cut into.
struct Board {
  Device device;
  List<std::string> instances;
  bool matched = false;
};

Board read_board(const Json& row) {
  Board board;
  Device& d = board.device;
  d.name = text_of(row, "name", "nvmlDeviceGetName");
  d.uuid = text_of(row, "uuid", "nvmlDeviceGetUUID");
  d.cc = capability_of(row, "nvmlDeviceGetCudaComputeCapability");
  d.compute_mode = compute_mode_of(row, "nvmlDeviceGetComputeMode");
  d.mig = flag_of(row, "mig", "nvmlDeviceGetMigMode");
  int error = 0;
  int_of(row, "error", error);
  d.state = Text(error == nvml_gpu_is_lost      ? "lost"
                 : error == nvml_reset_required ? "reset-required"
                 : error != 0                   ? "error"
                                                : "ok",
                 "NVML");
  if (error != 0) d.reason = cat("NVML answered ", error, " when asked for it");
  if (const Json* list = row.find("instances"); list && list->is(Json::Kind::Array))
    for (const Json& uuid : list->items) board.instances.push_back(lower(uuid.text));
  return board;
}

bool is_of(const Device& device, const Board& board) {
  const std::string uuid = lower(device.uuid.value());
  return !uuid.empty() &&
         (uuid == lower(board.device.uuid.value()) || contains(board.instances, uuid));
}

// What the driver does not tell of a device that it shows.
void complete(Device& device, const Device& board) {
  if (!device.state.known()) device.state = board.state;
  if (board.state.known() && !board.state.is("ok")) device.state = board.state;
  if (!device.compute_mode.known()) device.compute_mode = board.compute_mode;
  if (!device.mig.known() || board.mig.is(true)) device.mig = board.mig;
}

// Whether CUDA would show the boards that it does not list; unknown where a driver that does not
// start leaves open which of them the mask hides.
Flag shown(const Facts& facts) {
  const bool masked = facts.environment.find("CUDA_VISIBLE_DEVICES") != nullptr;
  const bool counted = facts.driver.error_code.is(0);  // and none is shown
  if (facts.devices.state.is("measured") || (facts.driver.state.is("ok") && (masked || counted)))
    return Flag(false, "cuDeviceGetCount");
  return masked ? Flag() : Flag(true, "NVML; CUDA_VISIBLE_DEVICES is not set");
}

void merge(List<Board>& boards, DeviceFacts& devices, const Flag& visible) {
  size_t shows = 0;  // boards
  List<Device*> unmatched;
  for (Device& device : devices.list) {
    Board* of = nullptr;
    for (Board& board : boards)
      if (is_of(device, board)) of = &board;
    shows += of != nullptr && of->matched ? 0 : 1;
    if (of == nullptr) unmatched.push_back(&device);
    if (of == nullptr) continue;
    of->matched = true;
    complete(device, of->device);
  }
  if (unmatched.size() == 1 && boards.size() == shows)  // one that is lost tells no UUID
    for (Board& board : boards)
      if (!board.matched && !board.device.uuid.known()) complete(*unmatched[0], board.device);
  // Those without a UUID (Tegra, a lost one) may be among the devices: the numbers tell.
  size_t more = boards.size() - std::min(boards.size(), shows);
  if (!visible.known() || more == 0) return;
  for (Board& board : boards) {
    if (board.matched || more == 0) continue;
    --more;
    board.device.visible = visible;
    devices.list.push_back(board.device);
  }
  devices.list_known = true;
  devices.state = Text("measured", devices.state.is("measured") ? devices.state.from : "NVML");
}

// It starts on nothing but a loaded kernel module, whatever files say: a sandbox may hide them.
void module_is_loaded(Facts& facts) {
  DriverFacts& driver = facts.driver;
  if (!driver.state.is("no-kernel-module")) return;
  const bool none = driver.error_code.is(100);
  driver.state = Text(none ? "ok" : "error", "cuInit, and nvmlInit_v2 which succeeds");
  const std::string said = cat("cuInit answered ", driver.error_code.value(),
                               ", and NVML finds the kernel module loaded");
  driver.reason = none ? "" : said;
  facts.devices.reason = said;
  if (!none) return;
  facts.devices.state = Text("none", "cuInit");
  facts.devices.list_known = true;
}

void no_library(const std::string& why, Nvml& nvml) {
  const bool absent =
      starts_with(why, "libnvidia-ml.so.1: cannot open shared object file: No such");
  nvml.state = Text(absent ? "absent" : "error", "dlopen(\"libnvidia-ml.so.1\")");
  if (!absent) nvml.reason = "libnvidia-ml.so.1 does not load: " + tail(why, 400);
}

}  // namespace

void learn_nvml(const Outcome& outcome, Facts& facts) {
  Nvml& nvml = facts.driver.nvml;
  Json answer;
  int code = 0;
  if (!read_answer(outcome, "tcs-nvml/1", answer)) {
    nvml.state = Text("error", "NVML probe");
    nvml.reason = "the NVML probe ended without an answer: " + outcome.describe();
    return;
  }
  nvml.path = text_of(answer, "nvml", "dladdr");
  nvml.version = text_of(answer, "version", "nvmlSystemGetDriverVersion");
  if (!int_of(answer, "error", code))
    return no_library(text_of(answer, "load_error", "").or_else("no reason given"), nvml);
  nvml.error_code = Fact<int>(code, "nvmlInit_v2");
  nvml.state = Text(code == 0 ? "ok" : "error", "nvmlInit_v2");
  if (code != 0)
    nvml.reason = cat("NVML answered ", code);
  else
    module_is_loaded(facts);
  if (!facts.driver.version.known()) facts.driver.version = nvml.version;
  const Json* list = answer.find("devices");
  if (list == nullptr || !list->is(Json::Kind::Array)) return;
  List<Board> boards;
  for (const Json& row : list->items) boards.push_back(read_board(row));
  merge(boards, facts.devices, shown(facts));
}

void gather_nvml(const Inputs& in, DriverChild& child, Facts& facts) {
  if (!child.nvml) return;
  int left_ms = std::min(in.timeout_ms, in.timeout_ms - child.left_ms + after_driver_ms);
  const Outcome outcome = first_answer(*child.nvml, left_ms);
  child.nvml.reset();
  learn_nvml(outcome, facts);
}

}  // namespace tcs
