// SPDX-License-Identifier: Apache-2.0
// CUDA_FORCE_PTX_JIT, CUDA_DISABLE_PTX_JIT and their newer names without PTX (CUDA Programming
// Guide 5.2.2: 1 is on, the names with PTX count before those without).
#include "findings/rules/environment.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

struct Switch {
  int id;
  const char* first;
  const char* second;
};
constexpr Switch kForced = {803, "CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"};
constexpr Switch kDisabled = {804, "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"};

// The variable that turns it on, null when it is off.
const char* turned_on(const RuleInput& in, const Switch& by) {
  const char* name = variable(in, by.first) ? by.first : by.second;
  const std::string* value = variable(in, name);
  return value && trim(*value) == "1" ? name : nullptr;
}

// Where both names turn it on, one alone is of no use.
std::string both_names(const RuleInput& in, const Switch& by) {
  const std::string *first = variable(in, by.first), *second = variable(in, by.second);
  const bool both = first && second && trim(*first) == "1" && trim(*second) == "1";
  return both ? cat(by.first, " and ", by.second) : turned_on(in, by);
}

// Code that this nvcc builds, and PTX that this driver reads.
bool helps(const RuleInput& in, const Sm& sm, const Switch& by) {
  const Buildable build(in.facts);
  if (by.id == kDisabled.id) return build.real(sm);
  const Toolkit* toolkit = in.facts.toolkit();
  const Version speaks = Version::parse(in.facts.driver.cuda.value());
  const bool reads = !toolkit || !speaks.known() ||
                     speaks >= ptx_release(Version::parse(toolkit->version.value()));
  return build.virt(sm) && reads;
}

// Does `images` serve the device, and no more so under the switch?
bool stopped(const List<Image>& images, const Sm& sm, const Device* device, const Switch& by) {
  const Fit best = serves(images, sm, device);
  if (by.id == kDisabled.id && answered(images, sm, *device, 223)) return true;
  if (best == Fit::None) return false;  // has a finding of its own
  if (by.id == kDisabled.id) return best == Fit::Jit;
  for (const Image& image : images)
    if (image.ptx && fits(image, sm) == Fit::Jit) return false;
  return true;
}

List<const Device*> stopped_devices(const RuleInput& in, const List<Image>& images,
                                    const Switch& by) {
  List<const Device*> bad;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm) && stopped(images, sm, device, by)) bad.push_back(device);
  return bad;
}

struct Code {
  const char* layer;
  std::string label, from;
  List<Image> images;
};

// PyTorch's own kernels and those that are to be built, as far as they are known.
void code_of(const RuleInput& in, const char* what, List<Code>& out, List<Finding>& findings) {
  const TorchFacts& torch = in.facts.torch;
  const bool other = torch.flavour.known() && !torch.flavour.is("cuda");
  if (!torch.state.known()) missing(findings, 890, "torch.state", what, torch.reason);
  if (torch.state.is("found") && !other) {
    if (torch.images.known())
      out.push_back(
          {"torch", torch_label(in.facts), torch.images.from, images_in(torch.images.value())});
    else
      missing(findings, 890, "torch.images", what, torch.reason);
  }
  if (builds(in) && !in.plan.gencodes.empty() && !in.plan.archs_from.empty())
    out.push_back({"arch", "the plan", in.plan.list_from, plan_images(in.plan)});
}

void judge(const RuleInput& in, const Switch& by, const char* what, List<Finding>& out) {
  const char* name = turned_on(in, by);
  if (!name || devices_missing(in, out, what)) return;
  if (!in.facts.devices.state.is("none"))
    for (const Device& device : in.facts.devices.list)
      if (!device.visible.known()) missing(out, 190, "devices.list[].visible", what);
  if (visible_devices(in.facts).empty()) return;
  List<Code> codes;
  code_of(in, what, codes, out);
  List<std::string> who;
  List<const Device*> bad;
  for (const Code& code : codes) {
    const List<const Device*> these = stopped_devices(in, code.images, by);
    if (these.empty()) continue;
    who.push_back(code.label);
    if (bad.empty()) bad = these;
  }
  if (bad.empty()) return;
  Sm sm;
  capability(*bad[0], sm);
  List<std::string> names;
  for (const Device* device : bad) add_once(names, device->name.or_else(device->cc.value()));
  const bool planned = who.size() == 1 && who[0] == "the plan";
  Finding& f = report(
      out, by.id,
      {name, join(who, " and "), in_words(names), planned && helps(in, sm, by) ? sm.dotted() : "",
       who.size() > 1 ? "have" : "has", who.size() > 1 ? "their" : "its", both_names(in, by)});
  f.severity = here_or_elsewhere(in);
  add_devices(f, bad);
  add_variable(f, in, name, "unset");
  for (const Code& code : codes)
    add(f, code.layer, code.label + ": " + image_words(code.images), "", code.from);
}

}  // namespace

void rule_environment_jit(const RuleInput& in, List<Finding>& out) {
  judge(in, kForced, "whether there is PTX for the GPUs here, which the environment asks for", out);
  judge(in, kDisabled, "whether there is machine code for the GPUs here, as PTX is switched off",
        out);
}

}  // namespace tcs
