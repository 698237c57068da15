// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "emit/emit.h"

namespace tcs {
namespace {

std::string plural(uint64_t n, const char* one, const char* many) {
  return cat(n, ' ', n == 1 ? one : many);
}

void pad(std::string& line, size_t width) {
  if (line.size() < width) line.append(width - line.size(), ' ');
}

std::string row(const ImageCount& image) {
  std::string line = cat("  ", image.image.str());
  pad(line, 16);
  line += image.image.ptx ? "PTX" : "cubin";
  pad(line, 23);
  std::string count = cat(image.count), holders = cat(image.fat_binaries);
  line += std::string(count.size() < 7 ? 7 - count.size() : 0, ' ') + count;
  line += std::string(holders.size() < 14 ? 14 - holders.size() : 1, ' ') + holders;
  return line + "\n";
}

// One line about PTX, one about what is neither cubin nor PTX.
std::string remarks(const ImageList& list) {
  bool ptx = false;
  for (const ImageCount& image : list.images) ptx = ptx || image.image.ptx;
  std::string out;
  if (!ptx) out += "  no PTX\n";
  if (!list.ptx_isa.empty()) out += cat("  PTX .version ", join(list.ptx_isa, ", "), "\n");
  if (list.ptx_unread != 0) {
    out += cat("  PTX .version unknown for ", plural(list.ptx_unread, "image", "images"), "\n");
  }
  for (const OtherKind& other : list.others) {
    out += cat("  ", plural(other.count, "entry", "entries"), " of kind ", other.kind,
               other.kind == 8 ? " (LTO intermediate code)" : "", ", neither cubin nor PTX\n");
  }
  return out;
}

std::string table(const ImageList& list) {
  std::string out = list.path;
  if (list.images.empty() && list.fat_binaries == 0) return out + ": no device code\n";
  out += list.fat_binaries == 0
             ? ": a cubin"
             : cat(": ", plural(list.fat_binaries, "fat binary", "fat binaries"));
  out += "\n  arch          kind    images  fat binaries\n";
  for (const ImageCount& image : list.images) out += row(image);
  return out + remarks(list);
}

Json file_json(const ImageList& list) {
  Json file = Json::object();
  Json images = Json::array(), sets = Json::array(), isa = Json::array(), others = Json::array();
  for (const ImageCount& i : list.images) {
    images.push(Json::object()
                    .add("kind", i.image.ptx ? "ptx" : "cubin")
                    .add("arch", i.image.str())
                    .add("count", uint64_t{i.count})
                    .add("fat_binaries", uint64_t{i.fat_binaries}));
  }
  for (const FatBinarySet& s : list.sets) {
    Json names = Json::array();
    for (const Image& image : s.images) names.push(image.str());
    sets.push(Json::object().add("images", names).add("count", uint64_t{s.count}));
  }
  for (const std::string& version : list.ptx_isa) isa.push(version);
  for (const OtherKind& o : list.others) {
    others.push(Json::object().add("kind", uint64_t{o.kind}).add("count", uint64_t{o.count}));
  }
  file.add("path", list.path)
      .add("fat_binaries", uint64_t{list.fat_binaries})
      .add("images", images);
  file.add("sets", sets).add("ptx_isa", isa).add("ptx_isa_unknown", uint64_t{list.ptx_unread});
  return file.add("other", others);
}

}  // namespace

std::string images_table(const std::vector<ImageList>& lists) {
  std::string out;
  for (const ImageList& list : lists) out += cat(out.empty() ? "" : "\n", table(list));
  return out;
}

Json images_json(const std::vector<ImageResult>& files) {
  Json array = Json::array();
  for (const ImageResult& file : files) {
    array.push(file.list
                   ? file_json(*file.list)
                   : Json::object().add("path", file.path).add("error", file.list.error().str()));
  }
  return Json::object().add("schema", "torch-cuda-stack/images/1").add("files", array);
}

}  // namespace tcs
