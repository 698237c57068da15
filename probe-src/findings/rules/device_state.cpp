// SPDX-License-Identifier: Apache-2.0
// Boards that are lost or closed, as NVML and the driver say.
#include "facts/devices.h"
#include "findings/rules/driver.h"
#include "findings/rules/environment.h"

namespace tcs {
namespace {

bool is_lost(const Device& device) {
  return device.state.known() && !device.state.is("ok");
}

// One that this build would meet, also a lost one that CUDA no more shows though nothing hides it.
bool counts(const RuleInput& in, const Device& device) {
  const bool gone = device.visible.is(false) && is_lost(device) && !is_foreign(device) &&
                    !variable(in, "CUDA_VISIBLE_DEVICES");
  return is_in_use(device) || gone;
}

}  // namespace

void rule_device_state(const RuleInput& in, List<Finding>& out) {
  if (in.facts.devices.state.is("none")) return;
  List<const Device*> lost, closed, fine;
  for (const Device& device : in.facts.devices.list) {
    if (!counts(in, device)) {
      if (may_be_in_use(device)) fine.push_back(&device);
      continue;
    }
    (is_lost(device)                        ? lost
     : device.compute_mode.is("prohibited") ? closed
                                            : fine)
        .push_back(&device);
  }
  const bool works = driver_is(in.facts.driver) <= DriverIs::Ok && !fine.empty();
  for (const int id : {105, 106}) {
    const List<const Device*>* devices = id == 105 ? &lost : &closed;
    if (devices->empty()) continue;
    List<std::string> names, states;
    for (const Device* device : *devices) {
      names.push_back(cat(device->name.or_else("GPU"),
                          device->index.known() ? cat(" (", device->index.value(), ")") : ""));
      add_once(states, device->state.or_else("prohibited"));
    }
    Finding& f = report(out, id,
                        {in_words(names), devices->size() == 1 ? "is" : "are", in_words(states),
                         contains(states, "reset-required") ? "y" : "", fine.empty() ? "" : "y",
                         builds(in) && native_asked(in) && fine.empty() ? name_targets(in) : ""});
    // What a closed GPU is, is known, and compiling needs none.
    f.severity = works || (id == 106 && builds(in)) ? Severity::Warning : here_or_elsewhere(in);
    for (const Device* device : *devices)
      add(f, "device", device_label(*device), "",
          id == 105 ? "NVML: " + device->state.value() : "compute mode prohibited");
  }
}

}  // namespace tcs
