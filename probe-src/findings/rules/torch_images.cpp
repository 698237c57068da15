// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "findings/nearest_torch.h"
#include "findings/rules/torch.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

struct Wanted {
  Sm sm;
  const Device* device = nullptr;  // null: a declared target
  std::string label;
};

// Devices first: what is here is always looked at, even when the list is for other machines.
// Default targets are PyTorch's own.
List<Wanted> wanted(const RuleInput& in) {
  List<Wanted> out;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) out.push_back({sm, device, device_label(*device)});
  for (const auto& target : in.plan.targets)
    if (target.device < 0 && in.request.targets_known)
      out.push_back({target.sm, nullptr, target.label});
  return out;
}

bool one_arch(const List<Image>& images) {
  for (const auto& image : images)
    if (image.sm.base() != images[0].sm.base()) return false;
  return true;
}

// Fat binaries that hold several architectures, and those of them with an image for `sm`: one with
// a single architecture is specialised and served on purpose only there.
void count_sets(const TorchLibrary& library, const Sm& sm, Coverage& out) {
  for (const auto& set : library.sets) {
    const List<Image> images = images_in(set.images);
    if (one_arch(images)) continue;
    out.all += set.count;
    if (best_fit(images, sm) != Fit::None) out.served += set.count;
  }
}

// A recording without sets: the fullest architecture stands for the whole.
void count_rows(const TorchLibrary& library, const Sm& sm, Coverage& out) {
  for (const auto& row : library.coverage) {
    Image image;
    out.all = std::max<int64_t>(out.all, row.fat_binaries);
    if (parse_image(row.arch, image) && fits(image, sm) != Fit::None)
      out.served = std::max<int64_t>(out.served, row.fat_binaries);
  }
}

// The fact without which a list cannot be counted; null where it is whole.
const char* lack_of_sets(const TorchLibrary& library) {
  if (library.sets.empty()) return "torch.libraries[].sets";
  for (const auto& set : library.sets) {
    if (images_in(set.images).empty()) return "torch.libraries[].sets[].images";
    if (set.count == 0) return "torch.libraries[].sets[].count";
  }
  return nullptr;
}
const char* lack_of_rows(const TorchLibrary& library) {
  Image image;
  if (library.coverage.empty()) return "torch.libraries[].coverage";
  for (const auto& row : library.coverage) {
    if (!parse_image(row.arch, image)) return "torch.libraries[].coverage[].arch";
    if (row.fat_binaries == 0) return "torch.libraries[].coverage[].fat_binaries";
  }
  return nullptr;
}

// What there is and is not whole: also which library speaks for PyTorch, and what the targets
// 'torch' are, hang on it. Counts of images alone do not tell which fat binaries are specialised.
bool are_counted(const RuleInput& in, List<Finding>& out) {
  const char* const what =
      "whether all of PyTorch's kernels run there: a list of images was taken as full";
  const TorchFacts& torch = in.facts.torch;
  if (torch.libraries.empty() && !torch.libraries_known)
    missing(out, 691, "torch.libraries[].sets", what, torch.reason);
  bool all = true;
  for (const auto& library : torch.libraries) {
    if (library.fat_binaries.is(0)) continue;
    const char *sets = lack_of_sets(library), *rows = lack_of_rows(library);
    if (sets) missing(out, 691, sets, what);
    if (sets && rows && !library.coverage.empty()) missing(out, 691, rows, what);
    all = all && (!sets || !rows);
  }
  return all;
}

Severity weight(const RuleInput& in, const Wanted& w) {
  return torch_weight(in, w.sm, w.device);
}

void add_target(const RuleInput& in, const Wanted& w, Finding& f) {
  if (w.device)
    add_devices(f, {w.device});
  else
    add(f, "target", w.label, "", in.request.targets_from);
  add(f, "torch", image_words(images_in(in.facts.torch.images.value())), "",
      in.facts.torch.images.from);
}

struct Ways {
  std::string one, apart, elsewhere;
};

// A PyTorch that serves all, those that were served before too; else one for each kind of GPU, or
// one for what this build is for. A GPU that it is not for does not decide.
Ways ways_of(const RuleInput& in, Severity severity) {
  Ways ways;
  const List<Sm> all = to_serve(in);
  List<Sm> sms;
  bool here = true;  // devices alone
  for (const Wanted& w : wanted(in)) {
    here = here && w.device;
    if (weight(in, w) == Severity::Error && contains(all, w.sm)) add_once(sms, w.sm);
  }
  ways.one = torch_way(in, all);
  if (!ways.one.empty()) return ways;
  if (here && all.size() > 1) ways.apart = torch_for_each(in, all);
  if (!ways.apart.empty() || severity != Severity::Error) return ways;
  ways.one = torch_way(in, sms);
  if (ways.one.empty()) ways.elsewhere = torch_elsewhere(in, sms);
  return ways;
}

// All of one weight are one finding: one other PyTorch is the way out.
void lacks(const RuleInput& in, const List<Wanted>& group, const List<Image>& images,
           List<Finding>& out) {
  if (group.empty()) return;
  bool ptx = false, here = true;
  List<std::string> real;
  for (const auto& image : images) ptx = ptx || image.ptx;
  for (const Wanted& w : group) {
    here = here && w.device;
    add_once(real, w.sm.real());
  }
  std::string refused;
  for (const Wanted& w : group)
    if (w.device && refused.empty()) refused = refused_words(images, w.sm, *w.device);
  const Severity severity = weight(in, group[0]);
  const bool needed = severity == Severity::Error;
  const bool lost = in.request.arch_list.known() && in.plan.gencodes.empty();
  const Ways ways = ways_of(in, severity);
  Finding& f = report(
      out, 601,
      {torch_label(in.facts), "no kernel image that runs on", join(real, ", "),
       !refused.empty() ? refused
       : ptx
           ? "a cubin runs only within its own major version, and the PTX here is for newer devices"
           : "a cubin runs only within its own major version, and there is no PTX to translate",
       ways.one, ways.apart, here && builds(in) && needed && !lost ? name_targets(in) : "",
       ways.elsewhere, needed ? "" : "y"});
  f.severity = severity;
  for (const Wanted& w : group) {
    if (w.device)
      add_devices(f, {w.device});
    else
      add(f, "target", w.label, "", in.request.targets_from);
  }
  add(f, "torch", image_words(images), "", in.facts.torch.images.from);
}

// PyTorch is judged by its main library. Others have lists of their own:
// MAGMA's libtorch_cuda_linalg.so lacks 7.5 in every wheel of 2.11, whose users do not miss it as a
// rule.
void judge_library(const RuleInput& in, const Wanted& w, const TorchLibrary& library, bool main,
                   List<Finding>& out) {
  const Coverage c = coverage(library, w.sm);
  if (c.served >= c.all || (!main && !w.device)) return;
  const bool none = main && c.served == 0;
  const std::string name = library.name.or_else("libtorch_cuda.so");
  const Ways ways = main ? ways_of(in, weight(in, w)) : Ways();
  Finding& f = none ? report(out, 601,
                             {torch_label(in.facts), "only specialised kernels that run on",
                              w.sm.real(), "", ways.one, ways.apart, "", ways.elsewhere,
                              weight(in, w) == Severity::Error ? "" : "y"})
                    : report(out, 605,
                             {torch_label(in.facts), w.sm.dotted(), std::to_string(c.served),
                              std::to_string(c.all), name, ways.one, ways.one.empty() ? "y" : ""});
  if (none) f.severity = weight(in, w);
  if (!main) f.severity = Severity::Note;
  add_target(in, w, f);
}

void judge_coverage(const RuleInput& in, const Wanted& w, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  const TorchLibrary* main = main_library(torch);
  if (!main) return;
  // Which library speaks for PyTorch is told by the names of the others.
  if (!main->name.known() && torch.libraries.size() > 1)
    return missing(out, 691, "torch.libraries[].name", "which library holds PyTorch's kernels");
  for (const auto& library : torch.libraries) judge_library(in, w, library, &library == main, out);
}

}  // namespace

// A list that leaves this device out is for other machines. An empty plan, of which nvcc builds
// nothing, leaves none out.
Severity torch_weight(const RuleInput& in, const Sm& sm, const Device* device) {
  for (const auto& target : in.plan.targets)
    if (in.request.targets_known && target.device < 0 && target.sm == sm) return Severity::Error;
  if (!device || !other_machines(in)) return Severity::Error;
  const List<Image> images = plan_images(in.plan);
  const bool served =
      images.empty() ? !in.plan.archs_from.empty() : serves(images, sm, device) != Fit::None;
  return in.request.arch_list.known() && served ? Severity::Error : Severity::Warning;
}

Coverage coverage(const TorchLibrary& library, const Sm& sm) {
  Coverage out;
  if (!lack_of_sets(library))
    count_sets(library, sm, out);
  else if (!lack_of_rows(library))
    count_rows(library, sm, out);
  return out;
}

void rule_torch_images(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (!torch.state.is("found") || !torch.flavour.is("cuda") ||
      in.request.purpose == "pytorch-source")
    return;
  const List<Wanted> all = wanted(in);
  List<Image> images = images_in(torch.images.value());
  sort_few(images);
  // Where it serves none of them at all, its counts decide nothing.
  bool decides = all.empty() || !torch.images.known();
  for (const auto& w : all) decides = decides || serves(images, w.sm, w.device) != Fit::None;
  List<Finding> unused;
  const bool counted = are_counted(in, decides ? out : unused);
  if (!torch.images.known()) {
    if (!all.empty())
      missing(out, 691, "torch.images", "whether it has kernels for these devices", torch.reason);
    return;
  }
  List<Sm> done;
  List<Wanted> errors, warnings;
  const List<Image> own = own_images(torch);
  for (const auto& w : all) {
    const Fit fit = serves(images, w.sm, w.device);
    // What fits and was refused is the device's own trouble, finding 922: no other PyTorch has
    // more.
    if (fit == Fit::None && should_run(images, w.sm) && should_run(own, w.sm)) continue;
    const bool refuses = fit == Fit::None && best_fit(images, w.sm) != Fit::None;
    if (contains(done, w.sm) && !refuses) continue;
    if (!refuses) done.push_back(w.sm);
    if (fit == Fit::None)
      (weight(in, w) == Severity::Error ? errors : warnings).push_back(w);
    else if (fit == Fit::CrossTegra) {
      const std::string way = torch_way(in, to_serve(in));
      const bool none = way.empty(), board = is_tegra(w.sm);
      Finding& f = report(out, 611,
                          {w.sm.dotted(), torch_label(in.facts), "", way, none && board ? "y" : "",
                           none && !board ? "y" : ""});
      add_target(in, w, f);
      const std::string said = w.device ? refused_words(images, w.sm, *w.device) : "";
      if (!said.empty()) f.notes.push_back(said);
    } else if (counted)
      judge_coverage(in, w, out);
  }
  lacks(in, errors, images, out);
  lacks(in, warnings, images, out);
}

}  // namespace tcs
