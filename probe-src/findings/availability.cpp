// SPDX-License-Identifier: Apache-2.0
#include "findings/availability.h"

#include <algorithm>

#include "findings/rules/torch.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

List<Image> rows_of(const Facts& facts, const Plan& plan) {
  List<Image> out = plan_images(plan);
  Image image;
  if (const Toolkit* t = facts.toolkit())
    for (const ImageBuild& build : t->builds)
      if (parse_image(build.image.value(), image)) out.push_back(image);
  Sm sm;
  for (const Device* device : visible_devices(facts)) {
    if (capability(*device, sm)) out.push_back({sm, false});
    for (const ImageProbe& probe : device->image_probe)
      if (parse_image(probe.image.value(), image)) out.push_back(image);
  }
  sort_unique(out);
  return out;
}

void ask_nvcc(const Facts& facts, const Buildable& build, Availability& row) {
  row.nvcc = !build.known()                                                          ? "unknown"
             : (row.image.ptx ? build.virt(row.image.sm) : build.real(row.image.sm)) ? "listed"
                                                                                     : "unlisted";
  Image image;
  if (const Toolkit* t = facts.toolkit())
    for (const ImageBuild& one : t->builds)
      if (one.result.known() && parse_image(one.image.value(), image) && image == row.image) {
        row.nvcc = one.result.value();
        row.nvcc_said = one.text.value();
      }
}

bool is_mixed(const List<Image>& images) {
  for (const Image& image : images)
    if (image.sm.base() != images[0].sm.base()) return true;
  return false;
}

// How many of the fat binaries with code for several architectures hold it.
int64_t held(const TorchLibrary* library, const Image& image) {
  int64_t count = 0;
  if (!library) return count;
  for (const ImageSet& set : library->sets) {
    const List<Image> images = images_in(set.images);
    if (is_mixed(images) && contains(images, image)) count += set.count;
  }
  if (library->sets.empty())
    for (const CoverageRow& one : library->coverage)
      if (one.arch == image.str()) count = one.fat_binaries;
  return count;
}

// Of those that fit as well, the nearest that half of the fat binaries hold, else what most do.
Image served_by(const List<Image>& images, const Sm& sm, Fit fit, const TorchLibrary* library,
                int64_t all) {
  Image best;
  int64_t most = -1;
  for (const Image& image : images) {
    const int64_t count = std::min(held(library, image) * 2, all);
    if (fits(image, sm) != fit || count < most || (count == most && image.sm < best.sm)) continue;
    best = image;
    most = count;
  }
  return best;
}

void ask_torch(const TorchFacts& torch, const List<Image>& images, Availability& row) {
  const bool none = torch.flavour.known() && !torch.flavour.is("cuda");
  row.torch = torch.state.is("absent") ? "absent" : none ? "none" : "unknown";
  if (none || !torch.state.is("found") || !torch.images.known()) return;
  // PTX is asked for by name: what serves a device is told beside its machine code.
  if (row.image.ptx) {
    row.torch = contains(images, row.image) ? "ptx" : "none";
    return;
  }
  const Sm sm = row.image.sm.base();
  const Fit fit = best_fit(images, sm);
  row.torch = name_of(fit);
  if (fit == Fit::None) return;
  const TorchLibrary* library = main_library(torch);
  const Coverage c = library ? coverage(*library, sm) : Coverage();
  // Specialised kernels alone (9.0a in a few fat binaries) are not what serves.
  const bool own = contains(images, row.image) && held(library, row.image) * 2 >= c.all;
  const Image by = own ? row.image : served_by(images, sm, fit, library, c.all);
  row.torch_served = c.served;
  row.torch_all = c.all;
  if (!own) row.torch_by = by.str();
  if (fit == Fit::Native)
    row.torch = !own ? "served" : c.all == 0 ? "listed" : c.served == c.all ? "full" : "part";
}

}  // namespace

const char* name_of(Fit fit) {
  static const char* const kNames[] = {"cubin", "ptx", "cross-tegra", "none"};
  return kNames[static_cast<int>(fit)];
}

List<Availability> availability(const Facts& facts, const Plan& plan) {
  List<Availability> out;
  const Buildable build(facts);
  const List<Image> torch = images_in(facts.torch.images.value());
  for (const Image& image : rows_of(facts, plan)) {
    Availability& row = out.add();
    row.image = image;
    ask_nvcc(facts, build, row);
    ask_torch(facts.torch, torch, row);
    Sm sm;
    for (const Device* device : visible_devices(facts))
      row.devices.push_back({device, answer_to(*device, image),
                             capability(*device, sm) ? name_of(fits(image, sm)) : "unknown"});
  }
  return out;
}

}  // namespace tcs
