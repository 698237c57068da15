// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_torch.h"
#include "findings/rules/driver.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

constexpr int kUnsupportedPtx = 222;

// Images of the plan or of torch, made by CUDA `maker`.
struct Made {
  const char* layer;
  std::string label, from;
  List<Image> images;
  Version maker;
};

// A device that took it is believed, whatever the releases say.
bool ran(const List<Image>& images, const Device& device) {
  for (const Image& image : images) {
    const ImageProbe* answer = image.ptx ? answer_to(device, image) : nullptr;
    if (answer && answer->result.is("runs")) return true;
  }
  return false;
}

List<const Device*> served_by_ptx(const RuleInput& in, const Made& made) {
  List<const Device*> out;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm) && !ran(made.images, *device) &&
        (serves(made.images, sm, device) == Fit::Jit ||
         answered(made.images, sm, *device, kUnsupportedPtx)))
      out.push_back(device);
  return out;
}

// What the device itself said of the PTX; "" where it was not asked.
std::string measured(const Device& device, const Made& made) {
  Sm sm;
  capability(device, sm);
  return answered(made.images, sm, device, kUnsupportedPtx)
             ? "measured: " + refused_words(made.images, sm, device)
             : "";
}

// Where only PTX fits it must be of an ISA that the driver reads (else error 222).
bool judge_ptx(const RuleInput& in, const Made& made, List<Finding>& out) {
  const List<const Device*> only_ptx = served_by_ptx(in, made);
  if (only_ptx.empty() || !made.maker.known()) return false;
  const Need need = {ptx_release(made.maker), true};
  const DriverSays says = driver_says(in.facts);
  if (!too_old(says, need)) {
    if (!answers(driver_is(in.facts.driver))) return false;
    miss_what_it_speaks(in, says, need, "whether it reads the PTX", out);
    if (hangs_on_one_fact(says, need))
      works_although(in,
                     cat("its release alone would not read PTX of CUDA ", need.cuda.major_minor()),
                     205, out);
    return false;
  }
  const bool planned = made.layer == std::string_view("plan");
  const std::string branch = says.jetson ? "" : driver_branch_for(need.cuda);
  const Text reads = speaks(says, in.facts.driver);
  Finding& f =
      report(out, 205,
             {made.maker.major_minor(), only_ptx[0]->name.or_else(only_ptx[0]->cc.value()),
              in.facts.driver.version.known() ? cat("driver ", in.facts.driver.version.value())
                                              : "the driver here",
              reads.value(), planned ? list_entries(in, only_ptx) : "", need.cuda.major_minor(),
              in.facts.host.wsl.is(true) ? " (in WSL that is the Windows driver)"
              : says.jetson              ? " (on Jetson it comes with JetPack)"
              : branch.empty()           ? ""
                                         : cat(" (", branch, " or newer)"),
              planned ? "y" : "", planned ? "" : torch_way(in, to_serve(in), 1)});
  f.severity = beside_failure(in);
  add_devices(f, only_ptx);
  for (const Device* device : only_ptx)
    if (const std::string said = measured(*device, made); !said.empty()) add_once(f.notes, said);
  add(f, "driver", driver_words(in.facts.driver, reads), cat(">= CUDA ", need.cuda.major_minor()),
      reads.from);
  add(f, made.layer, cat(made.label, ": ", image_words(made.images)), "", made.from);
  if (in.facts.driver.error_code.known()) stands_for(f, 208);
  return true;
}

}  // namespace

std::string list_entries(const RuleInput& in, const List<const Device*>& devices) {
  const Buildable build(in.facts);
  List<Sm> sms;
  List<std::string> words;
  Sm sm;
  for (const Device* device : devices) {
    if (!capability(*device, sm) || !build.real(sm)) return "";
    sms.push_back(sm);
  }
  sort_unique(sms);
  for (const Sm& one : sms) words.push_back(one.dotted());
  return join(words, ";");
}

void rule_driver_ptx(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (const Toolkit* t = in.facts.toolkit(); t && builds(in)) {
    const Made plan = {"plan", nvcc_label(*t), in.plan.list_from, plan_images(in.plan),
                       Version::parse(t->version.value())};
    if (judge_ptx(in, plan, out)) return;
  }
  if (uses_torch(in))
    judge_ptx(in,
              {"torch", torch_label(in.facts), torch.images.from, images_in(torch.images.value()),
               Version::parse(torch.cuda.value())},
              out);
}

}  // namespace tcs
