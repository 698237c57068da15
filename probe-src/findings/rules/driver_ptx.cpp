// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// What is compiled when only PTX fits: it must be of an ISA that the driver reads (else error 222).
void judge(const RuleInput& in, const std::vector<Image>& images, const Version& maker,
           Evidence source, std::vector<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  Version speaks = Version::parse(driver.cuda.value());
  Version wanted = ptx_release(maker);
  if (!speaks.known() || !maker.known() || speaks >= wanted) return;
  std::vector<const Device*> bad;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm) && serves(images, sm, device) == Fit::Jit) bad.push_back(device);
  if (bad.empty()) return;
  Finding& f =
      report(out, 205,
             cat("PTX of CUDA ", maker.major_minor(), " is all that fits ",
                 bad[0]->name.or_else(bad[0]->cc.value()), ", and driver ",
                 or_unknown(driver.version), " reads PTX only up to CUDA ", speaks.major_minor()));
  f.severity = here_or_elsewhere(in);
  device_rows(bad, f.evidence);
  std::string branch = driver_branch_for(wanted);
  f.evidence.push_back(row("driver",
                           cat(or_unknown(driver.version), ", CUDA ", speaks.major_minor()),
                           cat("CUDA >= ", wanted.major_minor()), driver.cuda.from, "driver"));
  f.evidence.push_back(std::move(source));
  f.notes.push_back(
      "cubins of one CUDA major run on every driver of it, PTX does not (error 222 at the first "
      "launch)");
  capability(*bad[0], sm);
  if (f.evidence.back().layer == "plan")
    f.help.push_back(cat("build a cubin for it: add ", sm.dotted(), " to the list"));
  f.help.push_back(cat(f.help.empty() ? "" : "or ", "update the driver to one that speaks CUDA ",
                       wanted.major_minor(),
                       branch.empty() ? "" : cat(" (", branch, " or newer)")));
  f.help.push_back(cat("or use a toolkit not newer than CUDA ", speaks.major_minor()));
}

}  // namespace

void rule_driver_ptx(const RuleInput& in, std::vector<Finding>& out) {
  if (!in.facts.driver.state.is("ok")) return;
  const Toolkit* toolkit = in.facts.toolkit();
  if (toolkit && builds(in)) {
    std::vector<Image> images = plan_images(in.plan);
    judge(in, images, Version::parse(toolkit->version.value()),
          row("plan", cat(image_words(images), " by ", nvcc_label(*toolkit)), "", in.plan.list_from,
              "plan"),
          out);
  }
  if (!out.empty() && out.back().id == 205) return;
  const TorchFacts& torch = in.facts.torch;
  if (torch.state.is("found") && torch.images.known())
    judge(
        in, images_in(torch.images.value()), Version::parse(torch.cuda.value()),
        row("torch", cat(torch_label(in.facts), ": ", image_words(images_in(torch.images.value()))),
            "", torch.images.from, "torch"),
        out);
}

}  // namespace tcs
