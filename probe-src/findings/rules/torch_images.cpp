// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "findings/rules/common.h"

namespace tcs {
namespace {

struct Wanted {
  Sm sm;
  const Device* device = nullptr;  // null: a declared target
  std::string label;
};

// Devices first: what is here is always looked at, even when the list is for other machines.
std::vector<Wanted> wanted(const RuleInput& in) {
  std::vector<Wanted> out;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) out.push_back({sm, device, device_label(*device)});
  for (const auto& target : in.plan.targets)
    if (target.device < 0) out.push_back({target.sm, nullptr, target.label});
  return out;
}

bool one_arch(const std::vector<Image>& images) {
  for (const auto& image : images)
    if (image.sm.base() != images[0].sm.base()) return false;
  return true;
}

struct Coverage {
  int served = 0, all = 0;
};

// Fat binaries that hold several architectures, and those of them with an image for `sm`: one with
// a single architecture is specialised and served on purpose only there.
Coverage coverage(const TorchFacts& torch, const Sm& sm) {
  Coverage out;
  for (const auto& library : torch.libraries) {
    for (const auto& set : library.sets) {
      std::vector<Image> images = images_in(set.images);
      if (images.empty() || one_arch(images)) continue;
      out.all += set.count;
      if (best_fit(images, sm) != Fit::None) out.served += set.count;
    }
    if (!library.sets.empty()) continue;
    int most = 0, fitting = 0;  // no sets: the fullest architecture stands for the whole
    for (const auto& r : library.coverage) {
      Image image;
      most = std::max(most, r.fat_binaries);
      if (parse_image(r.arch, image) && fits(image, sm) != Fit::None)
        fitting = std::max(fitting, r.fat_binaries);
    }
    out.all += most;
    out.served += fitting;
  }
  return out;
}

bool plan_serves(const RuleInput& in, const Wanted& w) {
  return serves(plan_images(in.plan), w.sm, w.device) != Fit::None;
}

// A list that leaves this device out is for other machines.
Severity weight(const RuleInput& in, const Wanted& w) {
  if (!w.device || !other_machines(in) || (in.request.arch_list.known() && plan_serves(in, w)))
    return Severity::Error;
  return Severity::Warning;
}

void rows(const RuleInput& in, const Wanted& w, const std::vector<Image>& images, Finding& f) {
  if (w.device)
    device_rows({w.device}, f.evidence);
  else
    f.evidence.push_back(row("target", w.label, "", in.request.targets_from, "request"));
  f.evidence.push_back(
      row("torch", image_words(images), "", in.facts.torch.images.from, "torch images"));
}

void lacks(const RuleInput& in, const Wanted& w, const std::vector<Image>& images,
           std::vector<Finding>& out) {
  Finding& f = report(
      out, 601, cat(torch_label(in.facts), " has no kernel image that runs on ", w.sm.real()));
  f.severity = weight(in, w);
  rows(in, w, images, f);
  bool ptx = false, newer = true;
  for (const auto& image : images) {
    ptx = ptx || image.ptx;
    newer = newer && image.sm.base() < w.sm;
  }
  f.notes.push_back(
      ptx ? "a cubin runs only within its own major version, and the PTX here is for newer devices"
          : "a cubin runs only within its own major version, and there is no PTX to translate");
  const ArchRow* arch = find_arch(w.sm);
  if (newer && arch)
    f.help.push_back(cat("install a PyTorch whose images cover ", w.sm.dotted(), ": one for CUDA ",
                         release_text(arch->first), " or newer"));
  else if (arch && arch->last)
    f.help.push_back(cat("install a PyTorch whose images cover ", w.sm.dotted(),
                         ": an older one, for CUDA ", release_text(arch->last), " or before"));
  else
    f.help.push_back(
        cat("install a PyTorch whose images cover ", w.sm.dotted(), ", or build one from source"));
  std::vector<Sm> reals;
  for (const auto& image : images)
    if (!image.ptx) reals.push_back(image.sm);
  if (w.device && !reals.empty())
    f.help.push_back(cat("building for other machines? -DTorchCudaStack_TARGETS=\"",
                         std::max_element(reals.begin(), reals.end())->dotted(), "\""));
}

void judge_target(const RuleInput& in, const Wanted& w, const std::vector<Image>& images,
                  std::vector<Finding>& out) {
  Fit fit = serves(images, w.sm, w.device);
  if (fit == Fit::None) return lacks(in, w, images, out);
  if (fit == Fit::CrossTegra) {
    Finding& f = report(out, 911,
                        cat("only images from across the desktop/Tegra border would serve ",
                            w.sm.dotted(), " in ", torch_label(in.facts)));
    rows(in, w, images, f);
    f.notes.push_back(
        "before CUDA 13.2 nvlink refuses such pairs, and users saw them fail on Orin; others saw "
        "them run");
    f.help.push_back(
        "try one kernel on the device, or use the PyTorch made for it (NVIDIA's Jetson builds)");
    return;
  }
  Coverage c = coverage(in.facts.torch, w.sm);
  if (c.served >= c.all) return;
  Finding& f = report(out, c.served ? 605 : 601,
                      c.served ? cat(torch_label(in.facts), " has images for ", w.sm.dotted(),
                                     " in only ", c.served, " of ", c.all, " fat binaries")
                               : cat(torch_label(in.facts), " has images for ", w.sm.dotted(),
                                     " only in specialised kernels"));
  if (!c.served) f.severity = weight(in, w);
  rows(in, w, images, f);
  f.notes.push_back("kernels from the others fail at their first launch (error 209)");
  f.help.push_back(cat("use a PyTorch that is built for ", w.sm.dotted(),
                       " throughout, if you meet that error"));
}

}  // namespace

void rule_torch_images(const RuleInput& in, std::vector<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (!torch.state.is("found") || !torch.flavour.is("cuda") ||
      in.request.purpose == "pytorch-source")
    return;
  const std::vector<Wanted> all = wanted(in);
  if (!torch.images.known()) {
    if (all.empty()) return;
    Finding& f = report(out, 691,
                        with_reason(cat("it is unknown which devices ", torch_label(in.facts),
                                        " has kernel images for"),
                                    torch.reason));
    f.help.push_back("read them: tcstack images <torch>/lib/libtorch_cuda.so");
    return;
  }
  const std::vector<Image> images = images_in(torch.images.value());
  std::vector<Sm> done;
  for (const auto& w : all) {
    if (std::find(done.begin(), done.end(), w.sm) != done.end()) continue;
    done.push_back(w.sm);
    judge_target(in, w, images, out);
  }
}

}  // namespace tcs
