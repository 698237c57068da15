// SPDX-License-Identifier: Apache-2.0
#include "drive/serves.h"

#include "base/text.h"
#include "findings/rules/common.h"
#include "tables/tables.h"

namespace tcs {

namespace {

constexpr size_t kColumns = 100, kNames = 44;

// By capability, also of what is planned and has no GPU in the tables.
List<Sm> capabilities(const List<Image>& images) {
  List<Sm> all;
  for (const GpuRow& row : gpu_rows()) add_once(all, row.sm);
  for (const Image& image : images) add_once(all, image.sm.base());
  sort_unique(all);
  return all;
}

// "GeForce RTX 3090": the last one of a series is its largest. Not "GeForce GTX 980M".
bool is_plain_geforce(const std::string& name) {
  const List<std::string> words = split(name, " ");
  return words.size() == 3 && words[0] == "GeForce" &&
         words[2].find_first_not_of("0123456789") == std::string::npos;
}

// As many as find room: the shortest names, which are those that people use, and a GeForce.
std::string examples(const Sm& sm) {
  List<std::string> others, out;
  std::string geforce;
  for (const GpuRow& row : gpu_rows()) {
    if (!(row.sm == sm) || contains(row.name, "(")) continue;
    if (is_plain_geforce(row.name))
      geforce = row.name;
    else if (!starts_with(row.name, "GeForce "))
      others.push_back(row.name);
  }
  sort_few(others, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (const std::string& name : others) {
    List<std::string> more = out;
    more.push_back(name);
    if (!geforce.empty()) more.push_back(geforce);
    if (out.size() < 2 && join(more, ", ").size() <= kNames) out.push_back(name);
  }
  if (!geforce.empty()) out.push_back(geforce);
  return join(out, ", ");
}

// The one nearest to the device of those that fit best.
Image serving(const List<Image>& images, const Sm& sm, Fit fit) {
  Image best;
  for (const Image& image : images)
    if (fits(image, sm) == fit && (best.sm.major == 0 || best.sm < image.sm)) best = image;
  return best;
}

std::string ptx_words(const Facts& facts) {
  const Toolkit* toolkit = facts.toolkit();
  const Version cuda = Version::parse(toolkit ? toolkit->version.value() : std::string());
  return cat("PTX is translated at the first start, which is slow then, by ",
             cuda.known() ? cat("a driver of CUDA ", ptx_release(cuda).major_minor(), " or newer")
                          : "a driver as new as the toolkit");
}

std::string how(const List<Image>& images, const Sm& sm, Fit fit) {
  const std::string image = serving(images, sm, fit).str();
  if (fit == Fit::Native) return image;
  if (fit == Fit::Jit) return cat(image, " (PTX)");
  return cat("perhaps ", image, ", across the desktop/Tegra border");
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string wrapped(const List<std::string>& parts, const std::string& lead) {
  std::string out, line = lead;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = cat(parts[i], i + 1 < parts.size() ? "," : "");
    if (line.size() + 1 + part.size() > kColumns) {
      out += line + "\n";
      line = std::string(lead.size(), ' ');
    }
    line += " " + part;
  }
  return out + line + "\n";
}

// What GPUs that are to come are served by.
std::string newer_ones(const List<Image>& images, const Sm& newest) {
  Image ptx;
  for (const Image& image : images)
    if (image.ptx && image.sm.plain()) ptx = image;
  return ptx.sm.major ? cat(ptx.str(), " (PTX)")
                      : cat("nothing: ", newest.dotted(), "+PTX in the list would serve them");
}

}  // namespace

std::string serves_text(const Facts& facts, const Plan& plan) {
  const List<Image> images = plan_images(plan);
  if (images.empty()) return {};
  List<List<std::string>> rows;
  List<std::string> never;
  Sm newest;
  bool ptx = false;
  for (const Image& image : images) {
    ptx = ptx || image.ptx;
    if (newest < image.sm.base()) newest = image.sm.base();
  }
  for (const Sm& sm : capabilities(images)) {
    const Fit fit = best_fit(images, sm);
    const std::string names = examples(sm);
    const size_t comma = names.rfind(',');
    if (fit == Fit::None)
      never.push_back(cat(sm.dotted(), names.empty() ? "" : " ",
                          names.substr(comma == std::string::npos ? 0 : comma + 2)));
    else
      rows.push_back({sm.dotted(), names, how(images, sm, fit)});
  }
  rows.push_back({"newer", "GPUs to come", newer_ones(images, newest)});
  std::string out =
      wrapped(split(image_words(images), " "), "This PyTorch will be of") + "and run on\n\n";
  for (const List<std::string>& row : rows)
    out += cat("  ", padded(row[0], 7), padded(row[1], kNames + 2), row[2], "\n");
  if (ptx) out += cat("  ", ptx_words(facts), "\n");
  if (!never.empty()) out += wrapped(never, "  not on");
  return out;
}

}  // namespace tcs
