// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// Where only PTX fits it must be of an ISA that the driver reads (else error 222). `layer`: plan or
// torch, whose `images` these are, made by CUDA `maker`.
void judge_ptx(const RuleInput& in, const char* layer, const std::string& label,
               const std::string& from, const List<Image>& images, const Version& maker,
               List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  Version speaks = Version::parse(driver.cuda.value());
  Version wanted = ptx_release(maker);
  if (!speaks.known() || !maker.known() || speaks >= wanted) return;
  List<const Device*> bad;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm) && serves(images, sm, device) == Fit::Jit) bad.push_back(device);
  if (bad.empty()) return;
  capability(*bad[0], sm);
  const bool planned = layer == std::string_view("plan");
  const std::string branch = driver_branch_for(wanted);
  Finding& f = report(out, 205,
                      {maker.major_minor(), bad[0]->name.or_else(bad[0]->cc.value()),
                       or_unknown(driver.version), speaks.major_minor(), planned ? sm.dotted() : "",
                       wanted.major_minor(), branch.empty() ? "" : " (" + branch + " or newer)"});
  f.severity = here_or_elsewhere(in);
  add_devices(f, bad);
  add(f, "driver", cat(or_unknown(driver.version), ", CUDA ", speaks.major_minor()),
      ">= CUDA " + wanted.major_minor(), driver.cuda.from);
  add(f, layer, label + ": " + image_words(images), "", from);
}

}  // namespace

void rule_driver_ptx(const RuleInput& in, List<Finding>& out) {
  if (!in.facts.driver.state.is("ok")) return;
  const TorchFacts& torch = in.facts.torch;
  const size_t before = out.size();
  if (const Toolkit* t = in.facts.toolkit(); t && builds(in))
    judge_ptx(in, "plan", nvcc_label(*t), in.plan.list_from, plan_images(in.plan),
              Version::parse(t->version.value()), out);
  if (out.size() == before && torch.state.is("found"))
    judge_ptx(in, "torch", torch_label(in.facts), torch.images.from,
              images_in(torch.images.value()), Version::parse(torch.cuda.value()), out);
}

}  // namespace tcs
