// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "findings/rules/common.h"

namespace tcs {

// A list says what is built; the devices here and the targets say what it should serve.
void rule_plan_serves(const RuleInput& in, std::vector<Finding>& out) {
  const Plan& plan = in.plan;
  if (!builds(in) || !plan.by_user || plan.gencodes.empty()) return;
  struct Served {
    Sm sm;
    const Device* device;
    std::string label;
    bool asked;
  };
  std::vector<Served> all;
  Sm sm;
  const bool native = native_asked(in);
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) all.push_back({sm, device, device_label(*device), native});
  for (const auto& target : plan.targets)
    if (target.device < 0) all.push_back({target.sm, nullptr, target.label, true});

  const std::vector<Image> images = plan_images(plan);
  std::vector<Sm> done;
  for (const auto& served : all) {
    Fit fit = serves(images, served.sm, served.device);
    if ((fit != Fit::None && fit != Fit::CrossTegra) ||
        std::find(done.begin(), done.end(), served.sm) != done.end())
      continue;
    done.push_back(served.sm);
    const bool cross = fit == Fit::CrossTegra;
    Finding& f = report(
        out, cross ? 911 : 909,
        cross ? cat("the list serves ", served.sm.dotted(), " only across the desktop/Tegra border")
              : cat("the list builds nothing that runs on ", served.label));
    if (!cross && served.asked) f.severity = Severity::Error;
    if (served.device)
      device_rows({served.device}, f.evidence);
    else
      f.evidence.push_back(row("target", served.label, "", in.request.targets_from, "request"));
    f.evidence.push_back(
        row("arch", image_words(images), served.sm.real(), plan.list_from, "arch list"));
    if (cross)
      f.notes.push_back(
          "before CUDA 13.2 nvlink refuses such pairs, and users saw them fail on Orin; others saw "
          "them run");
    else if (!served.asked)
      f.notes.push_back("right when the result is for other machines only");
    f.help.push_back(cat("add ", served.sm.dotted(), " to the list",
                         cross ? ", or PTX of what is there" : ", or +PTX to an older entry"));
  }
}

}  // namespace tcs
