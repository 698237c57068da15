// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tcs_double {
namespace {

using Byte = unsigned char;

template <class T>
T at(const Byte* data, uint64_t offset) {
  T out;
  memcpy(&out, data + offset, sizeof out);
  return out;
}

bool begins(const Byte* data, const char* magic) {
  return strncmp(reinterpret_cast<const char*>(data), magic, strlen(magic)) == 0;
}

struct Section {
  std::string name;
  uint64_t offset = 0, size = 0;
  unsigned type = 0, link = 0;
};

// ELF64 as in elf.h; EM_CUDA is 190.
class Elf {
 public:
  explicit Elf(const Byte* data) : data_(data) {
    const uint64_t table = at<uint64_t>(data, 40);
    const unsigned size = at<uint16_t>(data, 58), count = at<uint16_t>(data, 60);
    const uint64_t names = at<uint64_t>(data, table + uint64_t{at<uint16_t>(data, 62)} * size + 24);
    for (unsigned i = 0; i < count; ++i) {
      const uint64_t row = table + uint64_t{i} * size;
      Section one;
      one.name = text(names + at<uint32_t>(data, row));
      one.type = at<uint32_t>(data, row + 4);
      one.offset = at<uint64_t>(data, row + 24);
      one.size = at<uint64_t>(data, row + 32);
      one.link = at<uint32_t>(data, row + 40);
      sections_.push_back(one);
    }
  }
  std::string text(uint64_t offset) const { return reinterpret_cast<const char*>(data_) + offset; }
  const Section* find(const char* name) const {
    for (const Section& one : sections_)
      if (one.name == name) return &one;
    return nullptr;
  }
  const Section* number(unsigned index) const {
    return index < sections_.size() ? &sections_[index] : nullptr;
  }

 private:
  const Byte* data_;
  std::vector<Section> sections_;
};

// .nv.compat is a list of (format, attribute, value): format 4 has its length and that many bytes
// behind it, the others two bytes. Attribute 9 is 1 in a cubin for one architecture only (seen in
// those of nvcc 13.0 to 13.5: 90a 100a 103a 120a have 1, their plain and `f` forms 0).
bool for_one_architecture(const Byte* data, const Section& compat) {
  for (uint64_t p = 0; p + 4 <= compat.size;) {
    const Byte* entry = data + compat.offset + p;
    if (entry[0] == 2 && entry[1] == 9) return entry[2] == 1;
    p += 4u + (entry[0] == 4 ? at<uint16_t>(entry, 2) : 0u);
  }
  return false;
}

// A family cubin's name stands only in the command line that ptxas leaves; on which devices it runs
// is the plain one's rule.
bool for_a_family(const Byte* data, const Section& note, int sm) {
  const std::string text(reinterpret_cast<const char*>(data) + note.offset,
                         static_cast<size_t>(note.size));
  return text.find("sm_" + std::to_string(sm) + "f") != std::string::npos;
}

void read_architecture(const Byte* data, const Elf& elf, Image& image) {
  const unsigned flags = at<uint32_t>(data, 48);
  const bool older = data[7] == 0x33;  // CUDA 12 and before; 0x41 since 13
  image.sm = static_cast<int>((older ? flags : flags >> 8) & 0xff);
  if (older && (flags & 0x800) != 0) image.suffix = 'a';
  const Section* compat = elf.find(".nv.compat");
  const Section* note = elf.find(".note.nv.tkinfo");
  if (compat != nullptr && for_one_architecture(data, *compat))
    image.suffix = 'a';
  else if (note != nullptr && for_a_family(data, *note, image.sm))
    image.suffix = 'f';
}

Image read_cubin(const Byte* data) {
  Image image;
  if (data[4] != 2 || data[5] != 1 || at<uint16_t>(data, 18) != 190) return image;
  if (data[7] != 0x33 && data[7] != 0x41) return image;
  image.kind = Image::Kind::Cubin;
  const Elf elf(data);
  read_architecture(data, elf, image);
  const Section* symbols = elf.find(".symtab");
  const Section* names = symbols != nullptr ? elf.number(symbols->link) : nullptr;
  if (names == nullptr) return image;
  for (uint64_t row = symbols->offset; row + 24 <= symbols->offset + symbols->size; row += 24) {
    const std::string name = elf.text(names->offset + at<uint32_t>(data, row));
    const Section* home = elf.number(at<uint16_t>(data, row + 6));
    const unsigned kind = data[row + 4] & 15u;  // 2 = function, 1 = object
    if (home == nullptr) continue;
    if (kind == 2 && home->name == ".text." + name) image.kernels.push_back(name);
    if (kind == 1 && name == "tcs_image_code" && home->name == ".nv.global.init") {
      image.has_code = true;
      image.code = at<uint32_t>(data, home->offset + at<uint64_t>(data, row + 8));
    }
  }
  return image;
}

// The text behind the first `word` at the start of a statement; "" where there is none.
const char* behind(const char* text, const char* word) {
  const char* found = strstr(text, word);
  return found != nullptr ? found + strlen(word) : "";
}

void read_entries(const char* text, Image& image) {
  for (const char* p = strstr(text, ".entry "); p != nullptr; p = strstr(p, ".entry ")) {
    p += 7;
    std::string name;
    while (isalnum(static_cast<Byte>(*p)) || *p == '_' || *p == '$') name += *p++;
    image.kernels.push_back(name);
  }
}

Image read_ptx(const char* text) {
  Image image;
  int major = 0, minor = 0;
  if (sscanf(behind(text, ".version "), "%d.%d", &major, &minor) != 2) return image;
  if (sscanf(behind(text, ".target sm_"), "%d%c", &image.sm, &image.suffix) < 1) return image;
  if (image.suffix != 'a' && image.suffix != 'f') image.suffix = 0;
  image.kind = Image::Kind::Ptx;
  image.isa = major * 10 + minor;
  read_entries(text, image);
  image.has_code = sscanf(behind(text, " tcs_image_code = "), "%u", &image.code) == 1;
  return image;
}

bool looks_like_ptx(const char* text) {
  while (isspace(static_cast<Byte>(*text))) ++text;
  return strncmp(text, "//", 2) == 0 || strncmp(text, ".version ", 9) == 0;
}

Image read_bare(const Byte* data) {
  const char* text = reinterpret_cast<const char*>(data);
  if (begins(data, "\177ELF")) return read_cubin(data);
  return looks_like_ptx(text) ? read_ptx(text) : Image();
}

// LZ4's block format; what does not fit ends it.
std::string unpack_lz4(const Byte* in, size_t size, size_t wanted) {
  std::string out;
  const Byte* const end = in + size;
  auto more = [&](size_t length) {
    if (length != 15) return length;
    while (in < end && *in == 255) length += *in++;
    return in < end ? length + *in++ : length;
  };
  while (in < end && out.size() < wanted) {
    const Byte token = *in++;
    const size_t plain = more(token >> 4);
    if (plain > static_cast<size_t>(end - in)) break;
    out.append(reinterpret_cast<const char*>(in), plain);
    in += plain;
    if (end - in < 2) break;
    const size_t back = at<uint16_t>(in, 0);
    in += 2;
    const size_t length = more(token & 15u) + 4;
    if (back == 0 || back > out.size()) break;
    for (size_t i = 0; i < length; ++i) out += out[out.size() - back];
  }
  return out;
}

// Zstandard by the machine's own library, where it has one.
std::string unpack_zstd(const Byte* in, size_t size, size_t wanted) {
  void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  void* address = library != nullptr ? dlsym(library, "ZSTD_decompress") : nullptr;
  if (address == nullptr) return "";
  size_t (*decompress)(void*, size_t, const void*, size_t) = nullptr;
  memcpy(&decompress, &address, sizeof address);
  std::string out(wanted, '\0');
  return decompress(&out[0], wanted, in, size) == wanted ? out : "";
}

// An entry of a fat binary: kind (1 PTX, 2 cubin), length of its head and of its bytes, length when
// compressed, flags (0x2000 LZ4, 0x8000 Zstandard), length before it was compressed.
Image read_entry(const Byte* entry) {
  const Byte* body = entry + at<uint32_t>(entry, 4);
  const uint64_t flags = at<uint64_t>(entry, 40);
  if ((flags & 0xa000) == 0) return read_bare(body);
  const size_t size = at<uint32_t>(entry, 16);
  const size_t wanted = static_cast<size_t>(at<uint64_t>(entry, 56));
  std::string text =
      (flags & 0x8000) != 0 ? unpack_zstd(body, size, wanted) : unpack_lz4(body, size, wanted);
  text += '\0';
  return read_bare(reinterpret_cast<const Byte*>(text.data()));
}

}  // namespace

std::string Image::name() const {
  std::string out = kind == Kind::Ptx ? "compute_" : "sm_";
  if (kind == Kind::Garbage) return "garbage";
  out += std::to_string(sm);
  if (suffix != 0) out += suffix;
  return out;
}

bool Image::has_kernel(const std::string& kernel) const {
  for (const std::string& one : kernels)
    if (one == kernel) return true;
  return false;
}

std::vector<Image> read_images(const void* data, bool& fat) {
  const Byte* bytes = static_cast<const Byte*>(data);
  fat = begins(bytes, "\x50\xed\x55\xba");
  if (!fat) return {read_bare(bytes)};
  std::vector<Image> out;
  uint64_t place = at<uint16_t>(bytes, 6);
  const uint64_t end = place + at<uint64_t>(bytes, 8);
  while (place < end) {
    out.push_back(read_entry(bytes + place));
    place += at<uint32_t>(bytes, place + 4) + at<uint64_t>(bytes, place + 8);
  }
  return out;
}

}  // namespace tcs_double
