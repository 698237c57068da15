// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes are: a list that adds up, or an error with a text and a place.
#include <cstdint>
#include <cstdlib>

#include "memory_host.h"
#include "readers/images.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const tcs::ImageList& list) {
  uint64_t grouped = 0;
  for (const tcs::FatBinarySet& set : list.sets) {
    require(set.count != 0);
    grouped += set.count;
  }
  require(grouped == list.fat_binaries);
  require(list.relocatable <= list.fat_binaries);
  for (size_t i = 0; i < list.images.size(); ++i) {
    const tcs::ImageCount& row = list.images[i];
    require(row.count >= row.fat_binaries && row.fat_binaries <= list.fat_binaries);
    require(i == 0 || list.images[i - 1].image < row.image);
    tcs::Image again;
    require(tcs::parse_image(row.image.str(), again) && again == row.image);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tcs::MemoryHost host;
  host.files["/f"].assign(reinterpret_cast<const char*>(data), size);
  tcs::Result<tcs::ImageList> list = tcs::read_images(host, "/f");
  if (list) check(*list);
  if (!list) require(!list.error().text.empty() && tcs::starts_with(list.error().place, "/f:0x"));
  return 0;
}
