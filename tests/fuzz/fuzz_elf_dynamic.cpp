// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes are: names that lie in the file, or an error with a text and a place.
#include <cstdint>
#include <cstdlib>

#include "memory_host.h"
#include "readers/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tcs::MemoryHost host;
  std::string& bytes = host.files["/f"];
  bytes.assign(reinterpret_cast<const char*>(data), size);
  tcs::Result<tcs::ElfDynamic> dynamic = tcs::read_dynamic(host, "/f");
  if (dynamic) {
    for (const std::string& name : dynamic->needed) {
      if (!tcs::contains(bytes, name)) std::abort();
    }
  } else if (!tcs::starts_with(dynamic.error().place, "/f:0x")) {
    std::abort();
  }
  tcs::Result<bool> found = tcs::defines_symbol(host, "/f", "cuInit");
  if (!found && found.error().text.empty()) std::abort();
  return 0;
}
