// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "readers/inventory.h"

namespace tcs {
namespace {

constexpr size_t kMaxNote = 4096;

// ptxas writes its command line into .note.nv.tkinfo: "-arch sm_100f". In the newer ABI the suffix
// is nowhere else.
bool arch_in_note(std::string_view note, uint32_t arch, Sm& out) {
  for (size_t at = note.find("sm_"); at != std::string_view::npos; at = note.find("sm_", at + 1)) {
    std::string_view digits = note.substr(at + 3);
    size_t length = digits.find_first_not_of("0123456789");
    if (length == std::string_view::npos) continue;
    if (digits[length] == 'a' || digits[length] == 'f') ++length;
    if (!parse_sm_digits(digits.substr(0, length), out)) continue;
    if (static_cast<uint32_t>(out.major * 10 + out.minor) == arch) return true;
  }
  return false;
}

}  // namespace

Result<Sm> cubin_arch(Window& window, const ElfFile& elf) {
  bool old_abi = elf.os_abi == 0x33 && elf.abi_version <= 7;
  bool new_abi = elf.os_abi == 0x41 && elf.abi_version == 8;
  if (!old_abi && !new_abi) {
    return window.wrong(
        7, cat("CUDA ELF with OS ABI ", hex(elf.os_abi), " version ", int{elf.abi_version},
               "; expected 0x33 up to version 7, or 0x41 version 8"));
  }
  uint32_t arch = (old_abi ? elf.e_flags : elf.e_flags >> 8) & 0xff;
  Sm sm;
  sm.major = static_cast<int>(arch / 10);
  sm.minor = static_cast<int>(arch % 10);
  if (arch < 10)
    return window.wrong(48, cat("e_flags ", hex(elf.e_flags), " name no architecture"));
  if (elf.e_flags & (old_abi ? 0x800u : 0x8u)) sm.suffix = 'a';
  if (old_abi || sm.suffix != 0) return sm;
  const ElfSection* note = elf.section(".note.nv.tkinfo");
  Bytes bytes;
  if (note == nullptr || note->size > kMaxNote ||
      !window.get(note->offset, static_cast<size_t>(note->size), bytes) ||
      !arch_in_note(bytes.view(), arch, sm)) {
    return window.wrong(48, cat("a cubin for sm_", arch, ", but whether sm_", arch, "a, sm_", arch,
                                "f or neither is only in .note.nv.tkinfo, which does not say it"));
  }
  return sm;
}

}  // namespace tcs
