// SPDX-License-Identifier: Apache-2.0
// Which kernel images a file holds: ELF64 objects and libraries, ar archives, bare fat binaries and
// cubins. The format facts are in docs/fatbin.md.
#pragma once
#include <cstdint>
#include <string>

#include "base/list.h"
#include "base/result.h"
#include "base/sm.h"
#include "base/value.h"
#include "host/host.h"

namespace tcs {

struct ImageCount {
  Image image;
  uint32_t count = 0;         // images of this kind and arch
  uint32_t fat_binaries = 0;  // fat binaries that hold at least one
};

// `sets`: fat binaries grouped by the exact set of images they hold.
struct FatBinarySet {
  List<Image> images;
  uint32_t count = 0;
};

// Entries that are neither cubin nor PTX, by their number in the file (8: LTO intermediate code).
struct OtherKind {
  uint32_t kind = 0;
  uint32_t count = 0;
};

struct ImageList {
  TCS_COPIED(ImageList);
  std::string path;
  uint32_t fat_binaries = 0;
  uint32_t relocatable = 0;  // of these in __nv_relfatbin: input of the device link
  List<ImageCount> images;   // sorted by (arch, cubin before PTX)
  List<FatBinarySet> sets;
  // "8.5": `.version` of PTX as the headers of fat binaries have it, also where the text is
  // compressed; sorted, unique.
  List<std::string> ptx_isa;
  uint32_t ptx_unread = 0;  // PTX images whose header does not say it
  List<OtherKind> others;
};

// Where one image lies in a file. `entry`: what a fat binary of its own would hold after its
// header.
struct ImagePlace {
  Image image;
  uint64_t entry = 0;       // offset of its entry, from the beginning of the file
  uint64_t entry_size = 0;  // header and payload
  uint64_t header_size = 0;
  bool compressed = false;
};
// Cubins and PTX of fat binaries, in file order.
Result<List<ImagePlace>> locate_images(const Host& host, const std::string& path);

// The images of one file, or what is wrong with it (place = path, with an offset inside the file).
// A file without device code is an empty list, not an error.
Result<ImageList> read_images(const Host& host, const std::string& path);

}  // namespace tcs
