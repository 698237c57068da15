// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.h"
#include "findings/rules/driver.h"
#include "findings/rules/environment.h"

namespace tcs {
namespace {

void no_visible_device(const RuleInput& in, List<Finding>& out) {
  const List<std::string> foreign = foreign_names(in.facts.devices);
  const std::string* mask = in.facts.environment.find("CUDA_VISIBLE_DEVICES");
  size_t hidden = 0;
  for (const Device& device : in.facts.devices.list) hidden += is_foreign(device) ? 0 : 1;
  const bool devices_known = in.facts.devices.list_known || in.facts.devices.state.is("none");
  const bool asked = native_asked(in), run = in.request.purpose == "run";
  const std::string what =
      hidden && mask     ? cat("CUDA_VISIBLE_DEVICES='", tail(*mask, 60), "' hides ",
                           hidden == 1 ? "the only GPU" : cat("all ", hidden, " GPUs"))
          : hidden ? (hidden == 1 ? std::string("CUDA does not show the GPU that is here")
                                  : cat("CUDA shows none of the ", hidden, " GPUs here"))
      : !foreign.empty() ? cat("no NVIDIA GPU is here, only ", join(foreign, ", "))
      : mask             ? cat("no GPU is visible here: CUDA_VISIBLE_DEVICES is '", *mask, "'")
                         : "there is no GPU here";
  const std::string other = foreign.empty()
                                ? mig_advice(in.facts) + wsl_advice(in.facts)
                                : "a PyTorch for that maker's GPUs uses it, CUDA does not";
  Finding& f = report(out, asked ? 101 : 102,
                      {what, mask && foreign.empty() ? "y" : "", run ? "y" : "",
                       run ? "" : name_targets(in), other});
  add(f, "device",
      hidden            ? cat(hidden, " hidden")
      : foreign.empty() ? (devices_known ? "none" : "none visible")
                        : join(foreign, ", "),
      asked ? "a visible NVIDIA GPU" : "", in.facts.devices.state.from);
  if (mask) add(f, "environment", cat("CUDA_VISIBLE_DEVICES='", *mask, "'"), "", "");
  // Were it not known that there is none, or what the system shows, this would be told of the
  // driver.
  const DriverIs state = driver_is(in.facts.driver);
  if (state == DriverIs::NoDevice)
    for (int id : {208, 219, 920}) stands_for(f, id);
  if (!in.facts.host.nvidia_pci.known()) stands_for(f, 219);
  if (!in.facts.host.container.is("none")) stands_for(f, 813);
  if (shows_none(in.facts))
    for (int id : causes(in.facts, DriverIs::NoDevice, true)) stands_for(f, id);
}

bool is_mig(const Device& device) {
  return device.mig.known() ? device.mig.value() : contains(device.name.value(), " MIG ");
}

void mig_instances(const RuleInput& in, const List<const Device*>& visible, List<Finding>& out) {
  // One that is named is the one that the process gets.
  const std::string* mask = in.facts.environment.find("CUDA_VISIBLE_DEVICES");
  if (mask && starts_with(*mask, "MIG-") && !contains(*mask, ",")) return;
  List<const Device*> mig;
  for (const Device* device : visible)
    if (is_mig(*device)) mig.push_back(device);
  if (mig.size() > 1) {
    add_devices(report(out, 104, {std::to_string(mig.size())}), mig);
    return;
  }
  if (mig.empty()) return;
  for (const Device* device : visible) {
    if (device->mig.known() || is_mig(*device)) continue;
    const char* what = "whether several MIG instances are visible";
    missing(out, 190, "devices.list[].mig", what, device->reason);
    if (!device->name.known()) missing(out, 190, "devices.list[].name", what, device->reason);
  }
}

std::string words_for(const Device& device) {
  if (device.name.known()) return device.name.value();
  return device.index.known() ? cat("device ", device.index.value()) : "a visible device";
}

}  // namespace

// What CUDA needs of boards in MIG mode, all of which it does not show.
std::string mig_advice(const Facts& facts) {
  bool all = !facts.devices.list.empty() && !facts.environment.find("CUDA_VISIBLE_DEVICES");
  for (const Device& device : facts.devices.list) all = all && device.mig.is(true);
  return all ? "MIG mode is on: make an instance (sudo nvidia-smi mig -cgi <kind> -C; mig -lgip "
               "lists the kinds), or switch it off"
             : "";
}

void rule_devices(const RuleInput& in, List<Finding>& out) {
  const DeviceFacts& devices = in.facts.devices;
  const DriverIs state = driver_is(in.facts.driver);
  const bool none = devices.state.is("none");
  const bool all_hidden = answers(state) && hides_all(in.facts);
  bool unsure = false;
  for (const Device& device : devices.list)
    unsure = unsure || (!none && !all_hidden && may_be_in_use(device));
  if (unsure)
    missing(out, 190, "devices.list[].visible", "which GPUs this build meets", devices.reason);
  const List<const Device*> visible = visible_devices(in.facts);
  if (visible.empty() && !unsure && (devices.list_known || none || all_hidden))
    return no_visible_device(in, out);
  // Without a driver there is nothing to ask: the driver's finding says it all.
  const bool told = state == DriverIs::Absent || (!answers(state) && !devices.reason.empty());
  if (!devices.list_known && !told)
    missing(out, 190, "devices.list", "which GPUs this build meets", devices.reason);
  if (!devices.state.known() && devices.list_known)
    missing(out, 190, "devices.state", "whether the GPUs that are listed are here", devices.reason);
  Sm sm;
  for (const Device* device : visible) {
    if (capability(*device, sm)) continue;
    Finding& f = report(out, 103, {words_for(*device), device->reason});
    f.missing.push_back("devices.list[].cc");
    if (!device->name.known()) f.missing.push_back("devices.list[].name");
    if (device->state.known() && !device->state.is("ok")) f.caused_by = 105;
  }
  mig_instances(in, visible, out);
}

}  // namespace tcs
