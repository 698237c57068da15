// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"

namespace tcs {
namespace {

std::string counted(uint64_t n, const char* one, const char* many) {
  return cat(n, ' ', n == 1 ? one : many);
}

// `text` in a column of this width; numbers stand right.
std::string column(const std::string& text, size_t width, bool right = false) {
  std::string space(text.size() < width ? width - text.size() : 1, ' ');
  return right ? space + text : text + space;
}

std::string table(const ImageList& list) {
  if (list.images.empty() && list.fat_binaries == 0) return ascii(list.path) + ": no device code\n";
  std::string out =
      cat(ascii(list.path), ": ", counted(list.fat_binaries, "fat binary", "fat binaries"));
  if (list.relocatable != 0) out += cat(", of these ", list.relocatable, " for the device link");
  out += "\n  arch          kind    images  fat binaries\n";
  bool ptx = false;
  for (const ImageCount& i : list.images) {
    ptx = ptx || i.image.ptx;
    out += cat("  ", column(i.image.str(), 14), column(i.image.ptx ? "PTX" : "cubin", 6),
               column(cat(i.count), 8, true), column(cat(i.fat_binaries), 14, true), "\n");
  }
  if (!ptx) out += "  no PTX\n";
  if (!list.ptx_isa.empty()) out += cat("  PTX .version ", join(list.ptx_isa, ", "), "\n");
  if (list.ptx_unread != 0) {
    out += cat("  PTX .version unknown: ", counted(list.ptx_unread, "image", "images"), "\n");
  }
  for (const OtherKind& o : list.others) {
    out += cat("  ", counted(o.count, "entry", "entries"), " of kind ", o.kind,
               o.kind == 8 ? " (LTO code)" : "", ", neither cubin nor PTX\n");
  }
  return out;
}

Json file_json(const ImageList& list) {
  Json images = Json::array(), sets = Json::array(), isa = Json::array(), others = Json::array();
  for (const ImageCount& i : list.images) {
    Json row = Json::object().add("kind", i.image.ptx ? "ptx" : "cubin").add("arch", i.image.str());
    images.push(row.add("count", uint64_t{i.count}).add("fat_binaries", uint64_t{i.fat_binaries}));
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
  Json file = Json::object().add("path", list.path);
  file.add("fat_binaries", uint64_t{list.fat_binaries})
      .add("relocatable", uint64_t{list.relocatable});
  file.add("images", images).add("sets", sets).add("ptx_isa", isa);
  return file.add("ptx_isa_unknown", uint64_t{list.ptx_unread}).add("other", others);
}

}  // namespace

std::string images_table(const List<ImageList>& lists) {
  std::string out;
  for (const ImageList& list : lists) out += cat(out.empty() ? "" : "\n", table(list));
  return out;
}

Json images_json(const List<ImageResult>& files) {
  Json array = Json::array();
  for (const ImageResult& f : files) {
    array.push(f.list ? file_json(*f.list)
                      : Json::object().add("path", f.path).add("error", f.list.error().str()));
  }
  return Json::object().add("schema", "torch-cuda-stack/images/1").add("files", array);
}

}  // namespace tcs
