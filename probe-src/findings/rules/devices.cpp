// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

void no_visible_device(const RuleInput& in, List<Finding>& out) {
  const size_t hidden = in.facts.devices.list.size();
  const bool asked = native_asked(in), run = in.request.purpose == "run";
  const auto mask = in.facts.environment.find("CUDA_VISIBLE_DEVICES");
  const bool masked = mask != in.facts.environment.end();
  const std::string what =
      hidden   ? cat("no GPU is visible here: ", hidden, " hidden")
      : masked ? cat("no GPU is visible here: CUDA_VISIBLE_DEVICES is '", mask->second, "'")
               : "there is no GPU here";
  Finding& f =
      report(out, asked ? 101 : 102, {what, masked ? "y" : "", run ? "y" : "", run ? "" : "y"});
  add(f, "device", hidden ? cat(hidden, " hidden") : "none", asked ? "a visible one" : "",
      in.facts.devices.state.from);
  if (masked) add(f, "environment", cat("CUDA_VISIBLE_DEVICES='", mask->second, "'"), "", "");
}

void mig_instances(const List<const Device*>& visible, List<Finding>& out) {
  List<const Device*> mig;
  for (const Device* device : visible)
    if (device->mig.is(true)) mig.push_back(device);
  if (mig.size() < 2) return;
  add_devices(report(out, 104, {std::to_string(mig.size())}), mig);
}

}  // namespace

void rule_devices(const RuleInput& in, List<Finding>& out) {
  const DeviceFacts& devices = in.facts.devices;
  const List<const Device*> visible = visible_devices(in.facts);
  if (visible.empty() && (devices.list_known || devices.state.is("none")))
    return no_visible_device(in, out);
  // Without a driver there is nothing to ask: the driver's finding says it all.
  const bool driverless = in.facts.driver.state.known() && !in.facts.driver.state.is("ok");
  if (visible.empty() && !other_machines(in) && !driverless)
    missing(out, 190, "devices.list", "which GPUs this build meets", devices.reason);
  Sm sm;
  for (const Device* device : visible)
    if (!capability(*device, sm))
      report(out, 103,
             {device->name.or_else(device->index.known() ? cat("device ", device->index.value())
                                                         : "a visible device"),
              device->reason})
          .missing.push_back("devices.list[].cc");
  mig_instances(visible, out);
}

}  // namespace tcs
