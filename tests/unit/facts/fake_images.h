// SPDX-License-Identifier: Apache-2.0
// A toolkit in memory whose nvcc makes images: its object is a fat binary of what -gencode asked
// for.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "facts/fake_toolkit.h"
#include "facts/image_probe.h"

namespace tcs {

inline std::string le(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// One entry as in docs/fatbin.md; what a cubin holds is not looked at.
inline std::string fat_entry(const Image& image, const std::string& payload, bool packed = false) {
  const uint64_t flags = (image.sm.suffix == 'a' ? 0x100000u : 0u) |
                         (image.sm.suffix == 'f' ? 0x200000u : 0u) | (packed ? 0x8000u : 0u);
  const unsigned arch = static_cast<unsigned>(image.sm.major * 10 + image.sm.minor);
  return le(image.ptx ? 1 : 2, 2) + le(0x101, 2) + le(64, 4) + le(payload.size(), 8) + le(0, 8) +
         le(5, 2) + le(8, 2) + le(arch, 4) + le(0, 8) + le(flags, 8) + std::string(16, '\0') +
         payload;
}
inline std::string fat_binary(const std::string& entries) {
  return le(0xba55ed50, 4) + le(1, 2) + le(16, 2) + le(entries.size(), 8) + entries;
}

inline WantedImage wanted(const std::string& name, const std::string& by = {}) {
  WantedImage out;
  Image image, via;
  if (parse_image(name, image)) out.virt = out.real = image.sm;
  if (parse_image(by, via)) out.virt = via.sm;
  out.ptx = image.ptx;
  return out;
}

class ImageHost : public ToolkitHost {
 public:
  // What this nvcc does: refuses to begin ("compute_90f"), stops in the middle ("sm_100"), leaves
  // out, packs.
  std::set<std::string> unknown, broken, left_out;
  bool packed = false;
  List<Command> compiled;  // every compile, the test of the default architecture too

  ImageHost() {
    toolkit("/usr/local/cuda", "13.2.78");
    auto nvcc = on_run;
    on_run = [this, nvcc](const Command& c) {
      if (!contains(c.argv, "-c") || contains(c.argv, "--dryrun")) return nvcc(c);
      compiled.push_back(c);
      const Outcome said = nvcc(c);
      return said.ok() ? images(c) : said;
    };
  }

  // The images that one compile was asked for, "sm_80 compute_80".
  static std::string asked_of(const Command& c) {
    List<std::string> names;
    for (const std::string& word : c.argv)
      if (starts_with(word, "-gencode=")) names.push_back(word.substr(word.find(",code=") + 6));
    return join(names, " ");
  }

 private:
  Outcome images(const Command& c) {
    std::string entries;
    for (const std::string& word : c.argv) {
      if (!starts_with(word, "-gencode=arch=")) continue;
      const std::string virt = word.substr(14, word.find(',') - 14);
      const std::string name = word.substr(word.find(",code=") + 6);
      if (unknown.count(virt))
        return fails(c, cat("nvcc fatal   : Unsupported gpu architecture '", virt, "'"));
      if (broken.count(name)) return fails(c, "ptxas fatal   : Internal error for " + name);
      Image image;
      if (!parse_image(name, image) || left_out.count(name)) continue;
      const std::string text =
          image.ptx ? cat(".version 8.5\n.target ", image.sm.real(), "\n") + std::string(3, '\0')
                    : "cubin of " + name;
      entries += fat_entry(image, text, packed);
    }
    if (!entries.empty()) files[c.cwd + "/try.o"] = fat_binary(entries);
    return exits(0);
  }
  Outcome fails(const Command& c, const std::string& text) {
    files.erase(c.cwd + "/try.o");
    return exits(1, "", text + "\n");
  }
};

}  // namespace tcs
