// SPDX-License-Identifier: Apache-2.0
#include "readers/images.h"

#include <algorithm>

#include "base/text.h"
#include "readers/archive.h"
#include "readers/inventory.h"

namespace tcs {
namespace {

constexpr uint16_t kMachineCuda = 190;
constexpr uint64_t kFlagCompressed = 0x800;  // SHF_COMPRESSED
constexpr uint32_t kNoBits = 8;  // SHT_NOBITS: the bytes were split off, as for debug files

bool is_elf(std::string_view head) {
  return starts_with(head,
                     "\x7f"
                     "ELF");
}
bool is_fat(std::string_view head) {
  return starts_with(head, "\x50\xed\x55\xba");
}

std::string first_bytes(std::string_view head) {
  std::string out;
  for (char c : head) out += cat(' ', hex(0x100u + static_cast<unsigned char>(c)).substr(3));
  return out;
}

// The sections of `elf` that hold fat binaries, in file order.
Result<List<ElfSection>> fat_sections(const Window& window, const ElfFile& elf) {
  List<ElfSection> out;
  bool registered = false, found = false;
  for (const ElfSection& s : elf.sections) {
    if (s.name == ".nvFatBinSegment" && s.type != kNoBits && s.size != 0) registered = true;
    if (s.name != ".nv_fatbin" && s.name != "__nv_relfatbin") continue;
    found = true;
    if (s.type == kNoBits || s.size == 0) continue;
    if (s.flags & kFlagCompressed)
      return window.wrong(s.offset, cat("section ", s.name, " is compressed"));
    if (s.offset > window.size() || s.size > window.size() - s.offset) {
      return window.wrong(s.offset, cat("section ", s.name, " takes ", s.size,
                                        " bytes, but the file ends before that"));
    }
    out.push_back(s);
  }
  if (registered && !found) {
    return window.wrong(
        0,
        ".nvFatBinSegment registers fat binaries, but there is neither .nv_fatbin nor "
        "__nv_relfatbin that would hold them");
  }
  sort_few(out, [](const ElfSection& a, const ElfSection& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i - 1].offset + out[i - 1].size > out[i].offset) {
      return window.wrong(out[i].offset,
                          cat("section ", out[i].name, " overlaps section ", out[i - 1].name));
    }
  }
  return out;
}

Result<Done> scan_elf(File& file, uint64_t base, uint64_t size, Inventory& inventory) {
  Result<ElfFile> elf = read_elf(file, base, size);
  if (!elf) return elf.error();
  Window window(file, base, size, elf->machine == kMachineCuda ? 4096 : kFatStep);
  if (elf->machine == kMachineCuda) {
    Result<Sm> sm = cubin_arch(window, *elf);
    if (!sm) return sm.error();
    inventory.add_cubin(*sm);
    return Done{};
  }
  if (elf->sections.empty()) {
    return window.wrong(40, "no section headers (stripped?), so fat binaries cannot be found");
  }
  Result<List<ElfSection>> sections = fat_sections(window, *elf);
  if (!sections) return sections.error();
  for (const ElfSection& s : *sections) {
    uint32_t before = inventory.fat_binaries();
    Result<Done> done = inventory.walk(window, s.offset, s.offset + s.size);
    if (!done) return done;
    if (s.name == "__nv_relfatbin") inventory.count_relocatable(inventory.fat_binaries() - before);
  }
  return Done{};
}

Result<Done> scan_archive(File& file, Inventory& inventory) {
  Archive archive(file);
  for (;;) {
    ArMember member;
    Result<bool> more = archive.next(member);
    if (!more) return more.error();
    if (!*more) return Done{};
    Window window(file, member.offset, member.size, 16);
    Bytes head;
    if (!window.get(0, 4, head)) continue;  // an empty member
    Result<Done> done = Done{};
    if (is_elf(head.view())) done = scan_elf(file, member.offset, member.size, inventory);
    if (is_fat(head.view())) {
      Window fat(file, member.offset, member.size, kFatStep);
      done = inventory.walk(fat, 0, fat.size());
    }
    if (head.view() == "BC\xc0\xde") {
      done = window.wrong(0, "LLVM bitcode, whose device code is not visible before the link");
    }
    if (!done) {
      return Error{cat(done.error().text, " (in archive member ", tail(member.name, 80), ")"),
                   done.error().place};
    }
  }
}

Result<Done> scan(File& file, Inventory& inventory) {
  Window window(file, 0, file.size(), kFatStep);
  Bytes head;
  if (file.size() == 0) {
    return window.wrong(0, "the file is empty; expected ELF, ar archive, fat binary or cubin");
  }
  size_t length = static_cast<size_t>(std::min<uint64_t>(8, file.size()));
  if (!window.get(0, length, head)) return window.truncated(0, length, "the beginning of the file");
  if (is_elf(head.view())) return scan_elf(file, 0, file.size(), inventory);
  if (is_fat(head.view())) return inventory.walk(window, 0, window.size());
  if (head.view() == "!<arch>\n") return scan_archive(file, inventory);
  if (head.view() == "!<thin>\n") {
    return window.wrong(0,
                        "a thin archive, which only names its members; give the members instead");
  }
  return window.wrong(0, cat("begins with bytes", first_bytes(head.view()),
                             "; expected ELF, ar archive, fat binary or cubin"));
}

}  // namespace

Result<List<ImagePlace>> locate_images(const Host& host, const std::string& path) {
  Result<std::unique_ptr<File>> file = host.open(path);
  if (!file) return file.error();
  Inventory inventory;
  Result<Done> done = scan(**file, inventory);
  if (!done) return Error{done.error().text, cat(path, ":", done.error().place)};
  return inventory.places();
}

Result<ImageList> read_images(const Host& host, const std::string& path) {
  Result<std::unique_ptr<File>> file = host.open(path);
  if (!file) return file.error();
  Inventory inventory;
  Result<Done> done = scan(**file, inventory);
  if (!done) return Error{done.error().text, cat(path, ":", done.error().place)};
  ImageList out = inventory.list();
  out.path = path;
  return out;
}

}  // namespace tcs
