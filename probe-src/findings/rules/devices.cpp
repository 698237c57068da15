// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

void no_visible_device(const RuleInput& in, std::vector<Finding>& out) {
  const DeviceFacts& devices = in.facts.devices;
  const size_t hidden = devices.list.size();
  if (!native_asked(in)) {
    Finding& f = report(out, 102,
                        hidden ? cat("no GPU is visible here: ", hidden, " hidden")
                               : std::string("there is no GPU here"));
    f.evidence.push_back(
        row("device", hidden ? cat(hidden, " hidden") : "none", "", devices.state.from, "devices"));
    return;
  }
  Finding& f =
      report(out, 101,
             hidden ? cat("none of the ", hidden, " GPUs here is visible, and one was asked for")
                    : std::string("there is no GPU here, and one was asked for"));
  f.evidence.push_back(row("device", hidden ? cat(hidden, " hidden") : "none", "a visible one",
                           devices.state.from, "devices"));
  auto mask = in.facts.environment.find("CUDA_VISIBLE_DEVICES");
  if (mask != in.facts.environment.end()) {
    f.evidence.push_back(row("environment", cat("CUDA_VISIBLE_DEVICES='", mask->second, "'"), "",
                             "", "environment"));
    f.help.push_back("unset CUDA_VISIBLE_DEVICES, or name a device that exists");
  }
  if (in.request.purpose == "run")
    f.help.push_back(
        "run on a machine with an NVIDIA GPU; in a container, start it with GPU access");
  else
    f.help.push_back("say what to build for: -DTorchCudaStack_TARGETS=\"8.6;9.0\" (or torch)");
}

void mig_instances(const std::vector<const Device*>& visible, std::vector<Finding>& out) {
  std::vector<const Device*> mig;
  for (const Device* device : visible)
    if (device->mig.is(true)) mig.push_back(device);
  if (mig.size() < 2) return;
  Finding& f = report(out, 104, cat("of ", mig.size(), " MIG instances a process sees only one"));
  device_rows(mig, f.evidence);
  f.notes.push_back(
      "CUDA enumerates one MIG instance a process; NVML and nvidia-smi list them all");
  f.help.push_back("name one: CUDA_VISIBLE_DEVICES=MIG-<uuid> (nvidia-smi -L prints them)");
}

}  // namespace

void rule_devices(const RuleInput& in, std::vector<Finding>& out) {
  const DeviceFacts& devices = in.facts.devices;
  const std::vector<const Device*> visible = visible_devices(in.facts);
  if (visible.empty() && (devices.list_known || devices.state.is("none")))
    return no_visible_device(in, out);
  // Without a driver there is nothing to ask: the driver's finding says it all.
  const bool driverless = in.facts.driver.state.known() && !in.facts.driver.state.is("ok");
  if (visible.empty() && !other_machines(in) && !driverless) {
    Finding& f = report(out, 190, with_reason("it is unknown which GPUs are here", devices.reason));
    if (native_asked(in)) f.notes.push_back("the request names this machine's GPU");
    f.help.push_back(
        "run `tcstack probe` on the machine, or say -DTorchCudaStack_TARGETS=\"8.6;9.0\"");
  }
  Sm sm;
  for (const Device* device : visible)
    if (!capability(*device, sm)) {
      Finding& f = report(out, 103,
                          with_reason(cat("the compute capability of ",
                                          device->name.or_else("a visible device"), " is unknown"),
                                      device->reason));
      f.help.push_back("ask it: nvidia-smi --query-gpu=name,compute_cap --format=csv");
    }
  mig_instances(visible, out);
}

}  // namespace tcs
