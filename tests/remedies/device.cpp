// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/device.def does.
#include "base/text.h"
#include "remedy.h"

namespace tcs::remedies {
namespace {

void show_all(Machine& m, const Words&) {
  unset(m, "CUDA_VISIBLE_DEVICES");
  driver_works(m);
}

// MIG and WSL have a way out; that another maker's GPU needs another PyTorch is only said.
void make_visible(Machine& m, const Words& w) {
  if (starts_with(w[4], "a PyTorch for that maker's")) {
    m.looked = true;
    return;
  }
  driver_works(m);
}

void targets_in_3(Machine& m, const Words& w) {
  name_targets(m, w[3]);
}

void targets_in_5(Machine& m, const Words& w) {
  name_targets(m, w[5]);
}

// Of the GPUs that `stays` tells, all others are hidden by number.
void show_only(Machine& m, bool (*stays)(const Device&)) {
  List<std::string> numbers;
  int next = 0;
  for (Device& device : m.facts.devices.list) {
    device.visible = stays(device);
    const int index = device.index.or_else(next++);
    if (device.visible.value()) numbers.push_back(cat(index));
  }
  m.facts.environment["CUDA_VISIBLE_DEVICES"] = join(numbers, ",");
}

void name_one_instance(Machine& m, const Words&) {
  const char* const uuid = "MIG-b7a4a2ad-6c52-5a5e-9d8b-1f2a3c4d5e6f";
  bool first = true;
  for (Device& device : m.facts.devices.list) {
    if (first && !device.uuid.known()) device.uuid = uuid;
    if (first) m.facts.environment["CUDA_VISIBLE_DEVICES"] = device.uuid.value();
    device.visible = first;
    first = false;
  }
}

void use_healthy(Machine& m, const Words&) {
  show_only(m, [](const Device& d) { return !d.state.known() || d.state.is("ok"); });
  driver_works(m);
}

void use_open(Machine& m, const Words&) {
  show_only(m, [](const Device& d) { return !d.compute_mode.is("prohibited"); });
}

void reset(Machine& m, const Words&) {
  for (Device& device : m.facts.devices.list) device.state = "ok";
  driver_works(m);
}

void open_all(Machine& m, const Words&) {
  for (Device& device : m.facts.devices.list) device.compute_mode = "default";
  driver_works(m);
}

}  // namespace

Effects device_effects() {
  return {
      {101, "unset CUDA_VISIBLE_DEVICES", Way::Mends, show_all},
      {101, "run on a machine with an NVIDIA GPU", Way::Mends, show_all},
      {101, "{4}", Way::Mends, make_visible},
      {101, "say what to build for", Way::Mends, targets_in_3},
      {102, "{4}", Way::Mends, make_visible},
      {103, "ask it", Way::Looks, nullptr},
      {104, "name one", Way::Mends, name_one_instance},
      {105, "take it out of use", Way::Mends, use_healthy},
      {105, "reset it", Way::Mends, reset},
      {105, "see `sudo dmesg", Way::Mends, reset},
      {105, "building for other machines", Way::Eases, targets_in_5},
      {106, "use the others", Way::Mends, use_open},
      {106, "open it", Way::Mends, open_all},
      {190, "run `tcstack probe`", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
