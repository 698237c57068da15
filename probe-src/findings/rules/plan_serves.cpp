// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"
#include "plan/buildable.h"

namespace tcs {

namespace {

// What is offered must be buildable here, and PTX has to be of an older plain entry.
Finding& misses(const RuleInput& in, const std::string& label, const Sm& sm, bool asked,
                List<Finding>& out) {
  bool older = false;
  for (const auto& gencode : in.plan.gencodes)
    older = older || fits(Image{gencode.virt, true}, sm) == Fit::Jit;
  const Buildable build(in.facts);
  if (build.real(sm))
    return report(
        out, 909,
        {label, sm.dotted(), asked ? "" : "y", older ? ", or +PTX to an older entry" : ""});
  const std::string lacks = cat(build.nvcc(), " does not build ", sm.dotted(), ": ");
  return report(out, 909,
                {label, "", asked ? "" : "y", "",
                 lacks + (older ? "add +PTX to an older entry, or use a toolkit that does"
                                : "use a toolkit that does, or leave that device out")});
}

}  // namespace

// A list says what is built; the devices here and the targets say what it should serve.
void rule_plan_serves(const RuleInput& in, List<Finding>& out) {
  const Plan& plan = in.plan;
  if (!builds(in) || !plan.by_user || plan.gencodes.empty()) return;
  // A driver that does not answer is a finding of its own.
  const DeviceFacts& devices = in.facts.devices;
  const bool asleep = in.facts.driver.state.known() && !in.facts.driver.state.is("ok");
  if (!devices.list_known && !devices.state.is("none") && !asleep)
    missing(out, 190, "devices.list", "whether the list serves the GPUs here", devices.reason);
  struct Served {
    Sm sm;
    const Device* device;
    std::string label;
    bool asked;
  };
  List<Served> all;
  Sm sm;
  const bool native = native_asked(in);
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) all.push_back({sm, device, device_label(*device), native});
  for (const auto& target : plan.targets)
    if (target.device < 0) all.push_back({target.sm, nullptr, target.label, true});

  const List<Image> images = plan_images(plan);
  List<Sm> done;
  for (const auto& served : all) {
    Fit fit = serves(images, served.sm, served.device);
    if ((fit != Fit::None && fit != Fit::CrossTegra) || contains(done, served.sm)) continue;
    done.push_back(served.sm);
    const bool cross = fit == Fit::CrossTegra;
    Finding& f = cross ? report(out, 911, {served.sm.dotted(), "the list", "y"})
                       : misses(in, served.label, served.sm, served.asked, out);
    if (!cross && served.asked) f.severity = Severity::Error;
    if (served.device)
      add_devices(f, {served.device});
    else
      add(f, "target", served.label, "", in.request.targets_from);
    add(f, "arch", image_words(images), served.sm.real(), plan.list_from);
  }
}

}  // namespace tcs
