// SPDX-License-Identifier: Apache-2.0
// Collects what fat binaries and cubins hold. The format: docs/fatbin.md.
#pragma once
#include "base/list.h"
#include "readers/elf.h"
#include "readers/images.h"
#include "readers/window.h"

namespace tcs {

constexpr uint32_t kFatMagic = 0xba55ed50;
constexpr size_t kFatStep = 256;  // step of the window for walk(): headers lie far apart

class Inventory {
 public:
  // The fat binaries that fill [begin, end) of the window, with zero padding between them.
  Result<Done> walk(Window& window, uint64_t begin, uint64_t end);
  uint32_t fat_binaries() const { return fat_binaries_; }
  void count_relocatable(uint32_t n) { relocatable_ += n; }
  void add_cubin(const Sm& sm);
  ImageList list() const;
  const List<ImagePlace>& places() const { return places_; }

 private:
  Result<uint64_t> skip_padding(Window& window, uint64_t at, uint64_t end);
  Result<uint64_t> fat_binary(Window& window, uint64_t at, uint64_t end);
  Result<uint64_t> entry(Window& window, uint64_t at, uint64_t end, List<Image>& held);

  List<ImageCount> images_;
  List<FatBinarySet> sets_;
  List<ImagePlace> places_;  // of the first few hundred
  List<Sm> ptx_isa_;         // PTX versions
  List<OtherKind> others_;
  uint32_t fat_binaries_ = 0;
  uint32_t relocatable_ = 0;
  uint32_t entries_ = 0;
  uint32_t ptx_unread_ = 0;
  uint64_t padding_ = 0;
};

// The architecture of the CUDA ELF file in `window`.
Result<Sm> cubin_arch(Window& window, const ElfFile& elf);

}  // namespace tcs
