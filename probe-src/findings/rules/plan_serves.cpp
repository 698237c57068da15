// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"
#include "plan/buildable.h"

namespace tcs {

namespace {

constexpr const char* kWhat = "whether the list serves the GPUs here";

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

// PTX serves a device that nvcc does not know: right, and worth a word.
void only_ptx(const RuleInput& in, const Sm& sm, const std::string& label, List<Finding>& out) {
  Finding& f = report(
      out, 912, {label, "PTX of the list, which the driver translates at load time", "", "", "y"});
  add(f, "arch", image_words(plan_images(in.plan)), sm.real(), in.plan.list_from);
  if (const Toolkit* t = in.facts.toolkit())
    add(f, "toolkit", nvcc_label(*t), "", t->archs.known() ? t->archs.from : t->version.from);
}

}  // namespace

// A list says what is built; the devices here and the targets say what it should serve.
void rule_plan_serves(const RuleInput& in, List<Finding>& out) {
  const Plan& plan = in.plan;
  // What nvcc refuses of the list has a finding of its own, of which the rest is a consequence.
  List<Image> images = plan_images(plan);
  for (const Image& image : plan.written) add_once(images, image);
  if (!builds(in) || !plan.by_user || images.empty()) return;
  // A driver that does not answer is a finding of its own.
  const DeviceFacts& devices = in.facts.devices;
  const bool asleep = in.facts.driver.state.known() && !in.facts.driver.state.is("ok");
  if (!devices.list_known && !devices.state.is("none") && !asleep)
    missing(out, 190, "devices.list", kWhat, devices.reason);
  for (const Device& device : devices.list)
    if (!device.visible.known() && !devices.state.is("none"))
      missing(out, 190, "devices.list[].visible", kWhat, device.reason);
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

  List<Sm> done;
  for (const auto& served : all) {
    Fit fit = serves(images, served.sm, served.device);
    if (fit == Fit::Native || contains(done, served.sm)) continue;
    done.push_back(served.sm);
    if (fit == Fit::Jit) {
      if (!Buildable(in.facts).real(served.sm)) only_ptx(in, served.sm, served.label, out);
      continue;
    }
    if (plan.open) {  // it may be served by what is unknown
      missing(out, 190, "devices.list", kWhat, devices.reason);
      continue;
    }
    bool asked = served.asked;
    for (const Served& other : all) asked = asked || (other.asked && other.sm == served.sm);
    const bool cross = fit == Fit::CrossTegra;
    Finding& f = cross ? report(out, 911, {served.sm.dotted(), "the list", "y"})
                       : misses(in, served.label, served.sm, asked, out);
    if (!cross && asked) f.severity = Severity::Error;
    if (served.device)
      add_devices(f, {served.device});
    else
      add(f, "target", served.label, "", in.request.targets_from);
    add(f, "arch", image_words(images), served.sm.real(), plan.list_from);
  }
}

}  // namespace tcs
