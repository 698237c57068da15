// SPDX-License-Identifier: Apache-2.0
#include "readers/inventory.h"

#include <algorithm>

#include "base/text.h"

namespace tcs {
namespace {

struct FatHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t payload_size;
};
struct FatEntry {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t payload_size;  // as stored: compressed, with padding
  uint32_t compressed_size;
  uint32_t options_offset;
  uint16_t code_minor;  // of PTX: its .version
  uint16_t code_major;
  uint32_t arch;  // 90
  uint32_t name_offset;
  uint32_t name_size;
  uint64_t flags;
};
static_assert(sizeof(FatHeader) == 16 && sizeof(FatEntry) == 48, "as in the file");

constexpr uint16_t kPtx = 1;
constexpr uint16_t kCubin = 2;
constexpr uint64_t kFlagA = 0x100000;
constexpr uint64_t kFlagF = 0x200000;
constexpr uint64_t kFlagsCompressed = 0xa000;
constexpr size_t kMaxPlaces = 500;
constexpr uint32_t kMaxArch = 9999;
constexpr uint32_t kMaxEntries = 1u << 20;   // of one file; cublasLt has some ten thousand
constexpr size_t kMaxKinds = 500;            // different images, and sets of them, of one file
constexpr uint64_t kMaxPadding = 64u << 20;  // of one file

Result<Image> image_of(const Window& window, uint64_t at, const FatEntry& e) {
  if (e.arch < 10 || e.arch > kMaxArch) {
    return window.wrong(at + 28, cat("the architecture of a fat binary entry is ", e.arch,
                                     "; expected 10 to ", kMaxArch));
  }
  if ((e.flags & kFlagA) && (e.flags & kFlagF)) {
    return window.wrong(at + 40, cat("the flags of a fat binary entry are ", hex(e.flags),
                                     ", both 'a' (0x100000) and 'f' (0x200000); expected one"));
  }
  Image image;
  image.sm.major = static_cast<int>(e.arch / 10);
  image.sm.minor = static_cast<int>(e.arch % 10);
  image.sm.suffix = (e.flags & kFlagA) ? 'a' : (e.flags & kFlagF) ? 'f' : '\0';
  image.ptx = e.kind == kPtx;
  return image;
}

bool by_image(const ImageCount& a, const ImageCount& b) {
  return a.image < b.image;
}
bool by_images(const FatBinarySet& a, const FatBinarySet& b) {
  for (size_t i = 0; i < a.images.size() && i < b.images.size(); ++i)
    if (!(a.images[i] == b.images[i])) return a.images[i] < b.images[i];
  return a.images.size() < b.images.size();
}
bool by_kind(const OtherKind& a, const OtherKind& b) {
  return a.kind < b.kind;
}
// The row whose key is `key`: there already, or a new one.
template <class Row, class Key>
Row& row_of(List<Row>& rows, Key Row::*member, const Key& key) {
  for (Row& row : rows)
    if (row.*member == key) return row;
  rows.add().*member = key;
  return rows.back();
}

}  // namespace

Result<Done> Inventory::walk(Window& window, uint64_t begin, uint64_t end) {
  if (begin > end || end > window.size()) {
    return window.truncated(begin, end - begin, "a section with fat binaries");
  }
  for (uint64_t at = begin;;) {
    Result<uint64_t> next = skip_padding(window, at, end);
    if (next && *next < end) next = fat_binary(window, *next, end);
    if (!next) return next.error();
    if (*next == end) return Done{};
    at = *next;
  }
}

// The offset of the first byte that is not zero, or `end`.
Result<uint64_t> Inventory::skip_padding(Window& window, uint64_t at, uint64_t end) {
  for (uint64_t next = at; next < end;) {
    Bytes bytes;
    size_t length = static_cast<size_t>(std::min<uint64_t>(kFatStep, end - next));
    if (!window.get(next, length, bytes)) return window.truncated(next, length, "padding");
    size_t found = std::min(bytes.view().find_first_not_of('\0'), length);
    padding_ += found;
    next += found;
    if (found < length) return next;
    if (padding_ > kMaxPadding) {
      return window.wrong(at, cat("more than ", kMaxPadding, " zero bytes between fat binaries"));
    }
  }
  return end;
}

Result<uint64_t> Inventory::fat_binary(Window& window, uint64_t at, uint64_t end) {
  FatHeader h;
  if (end - at < sizeof h || !window.read(at, h)) {
    return window.wrong(at, cat("a fat binary header takes 16 bytes, but ", end - at, " are left"));
  }
  if (h.magic != kFatMagic) {
    return window.wrong(at, cat("read ", hex(h.magic), "; expected the fat binary magic ",
                                hex(kFatMagic), " or zero padding"));
  }
  if (h.version != 1 || h.header_size < sizeof h) {
    return window.wrong(at, cat("fat binary version ", h.version, " with a header of ",
                                h.header_size, " bytes; expected version 1 and at least 16"));
  }
  if (h.header_size > end - at || h.payload_size > end - at - h.header_size) {
    return window.wrong(at, cat("a fat binary of ", h.header_size, " + ", h.payload_size,
                                " bytes, but ", end - at, " are left"));
  }
  List<Image> held;
  uint64_t next = at + h.header_size, stop = next + h.payload_size;
  while (next < stop) {
    Result<uint64_t> after = entry(window, next, stop, held);
    if (!after) return after;
    next = *after;
  }
  ++fat_binaries_;
  for (const Image& image : held) ++row_of(images_, &ImageCount::image, image).fat_binaries;
  sort_few(held);
  ++row_of(sets_, &FatBinarySet::images, held).count;
  if (images_.size() > kMaxKinds || sets_.size() > kMaxKinds) {
    return window.wrong(at, cat("more than ", kMaxKinds, " kinds of images in fat binaries"));
  }
  return stop;
}

Result<uint64_t> Inventory::entry(Window& window, uint64_t at, uint64_t end, List<Image>& held) {
  FatEntry e;
  if (end - at < sizeof e || !window.read(at, e)) {
    return window.wrong(at, cat("a fat binary entry takes at least 48 bytes, but ", end - at,
                                " are left in its fat binary"));
  }
  if (++entries_ > kMaxEntries) {
    return window.wrong(at, cat("more than ", kMaxEntries, " entries in fat binaries"));
  }
  if (e.version != 0x101 || e.header_size < sizeof e) {
    return window.wrong(at, cat("fat binary entry version ", hex(e.version), " with a header of ",
                                e.header_size, " bytes; expected version 0x101 and at least 48"));
  }
  if (e.header_size > end - at || e.payload_size > end - at - e.header_size) {
    return window.wrong(at, cat("a fat binary entry of ", e.header_size, " + ", e.payload_size,
                                " bytes, but ", end - at, " are left in its fat binary"));
  }
  uint64_t after = at + e.header_size + e.payload_size;
  if (e.kind != kPtx && e.kind != kCubin) {
    ++row_of(others_, &OtherKind::kind, uint32_t{e.kind}).count;
    return after;
  }
  Result<Image> image = image_of(window, at, e);
  if (!image) return image.error();
  if (e.payload_size == 0)
    return window.wrong(at + 8, cat("the payload of ", image->str(), " is empty"));
  ++row_of(images_, &ImageCount::image, *image).count;
  add_once(held, *image);
  if (places_.size() < kMaxPlaces)
    places_.push_back({*image, window.place(at), e.header_size + e.payload_size, e.header_size,
                       (e.flags & kFlagsCompressed) != 0});
  if (image->ptx && e.code_major != 0) add_once(ptx_isa_, {e.code_major, e.code_minor});
  if (image->ptx && e.code_major == 0) ++ptx_unread_;
  return after;
}

void Inventory::add_cubin(const Sm& sm) {
  ++row_of(images_, &ImageCount::image, Image{sm, false}).count;
}

ImageList Inventory::list() const {
  ImageList out;
  out.fat_binaries = fat_binaries_;
  out.relocatable = relocatable_;
  out.ptx_unread = ptx_unread_;
  out.images = images_;
  sort_few(out.images, by_image);
  out.sets = sets_;
  sort_few(out.sets, by_images);
  List<Sm> isa = ptx_isa_;
  sort_few(isa);
  for (const Sm& version : isa) out.ptx_isa.push_back(version.dotted());
  out.others = others_;
  sort_few(out.others, by_kind);
  return out;
}

}  // namespace tcs
