// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

#include <algorithm>

namespace tcs {

bool native_asked(const RuleInput& in) {
  if (in.request.purpose == "run") return true;
  for (const auto& target : in.request.targets)
    if (lower(target) == "native") return true;
  for (const auto& token : split(in.request.arch_list.value(), "; \t"))
    if (lower(token) == "native") return true;
  return false;
}

bool other_machines(const RuleInput& in) {
  return !native_asked(in) && (in.request.targets_known || in.request.arch_list.known());
}

bool builds(const RuleInput& in) {
  return in.request.purpose != "run";
}

Severity here_or_elsewhere(const RuleInput& in) {
  return other_machines(in) ? Severity::Warning : Severity::Error;
}

std::vector<const Device*> visible_devices(const Facts& facts) {
  std::vector<const Device*> out;
  for (const auto& device : facts.devices.list)
    if (device.visible.or_else(true)) out.push_back(&device);
  return out;
}

bool capability(const Device& device, Sm& out) {
  return device.cc.known() && parse_sm_dotted(device.cc.value(), out);
}

std::string device_label(const Device& device) {
  return cat(device.name.or_else("a device without a name"), ", compute ", or_unknown(device.cc));
}

void device_rows(const std::vector<const Device*>& devices, std::vector<Evidence>& out) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const Device* device : devices) {
    std::string label = device_label(*device);
    auto same = [&](const auto& kind) { return kind.first == label; };
    auto it = std::find_if(kinds.begin(), kinds.end(), same);
    if (it == kinds.end())
      kinds.emplace_back(label, 1);
    else
      ++it->second;
  }
  for (const auto& [label, count] : kinds)
    out.push_back(row("device", count == 1 ? label : cat(count, " x ", label), "",
                      devices[0]->cc.from, "devices"));
}

std::vector<Image> images_in(const std::vector<std::string>& names) {
  std::vector<Image> out;
  Image image;
  for (const auto& name : names)
    if (parse_image(name, image)) out.push_back(image);
  return out;
}

std::string image_words(std::vector<Image> images) {
  std::sort(images.begin(), images.end());
  std::vector<std::string> words;
  for (const auto& image : images) words.push_back(image.str());
  return words.empty() ? "none" : join(words, " ");
}

std::vector<Image> plan_images(const Plan& plan) {
  std::vector<Image> out;
  for (const auto& gencode : plan.gencodes) out.push_back(gencode.image());
  return out;
}

Fit serves(const std::vector<Image>& images, const Sm& sm, const Device* device) {
  Fit best = best_fit(images, sm);
  if (best != Fit::CrossTegra || !device) return best;
  for (const auto& probe : device->image_probe) {
    Image image;
    if (!parse_image(probe.image.value(), image) || fits(image, sm) != Fit::CrossTegra) continue;
    if (std::find(images.begin(), images.end(), image) == images.end()) continue;
    return probe.result.is("runs") ? Fit::Native : Fit::None;
  }
  return best;
}

std::string torch_label(const Facts& facts) {
  return facts.torch.version.known() ? cat("PyTorch ", facts.torch.version.value())
                                     : "the installed PyTorch";
}

std::string nvcc_label(const Toolkit& toolkit) {
  return toolkit.version.known() ? cat("nvcc ", toolkit.version.value())
                                 : "nvcc of unknown release";
}

std::string or_unknown(const Text& text) {
  return text.or_else("unknown");
}

Evidence row(std::string layer, std::string has, std::string needs, const std::string& from,
             const char* from_default) {
  return Evidence{std::move(layer), std::move(has), std::move(needs),
                  from.empty() ? from_default : from};
}

std::string with_reason(std::string message, const std::string& reason) {
  return reason.empty() ? message : cat(message, ": ", reason);
}

bool same_release(const Version& a, const Version& b) {
  return a.major() == b.major() && a.minor() == b.minor();
}

Version ptx_release(const Version& toolkit) {
  int reads = cuda_that_reads(ptx_isa_written_by(release_of(toolkit)));
  return reads ? Version::parse(release_text(reads)) : toolkit;
}

std::string driver_branch_for(const Version& cuda) {
#define TCS_DRIVER_BRANCH(branch, release) \
  if (release_of(cuda) <= (release)) return cat(branch);
#include "tables/cuda_releases.def"
  return "";
}

Finding& report(std::vector<Finding>& out, int id, std::string message) {
  out.push_back(make_finding(id, std::move(message)));
  return out.back();
}

}  // namespace tcs
