// SPDX-License-Identifier: Apache-2.0
// Whatever ld.so.cache holds: names and paths that lie in it, and a search that ends.
#include "facts/loader.h"
#include "fuzz.h"
#include "memory_host.h"
#include "readers/make_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string library = make::library({"libroot.so", {"libcudart.so.13", "liba.so"}});
  tcs::MemoryHost host;
  std::string& bytes = host.files["/etc/ld.so.cache"];
  bytes.assign(reinterpret_cast<const char*>(data), size);
  host.files["/lib/libroot.so"] = host.files["/opt/libcudart.so.13"] = library;
  const tcs::LoaderSetting setting = tcs::read_loader_setting(host, "");
  for (const auto& row : setting.cache)
    for (const std::string& text : {row.first, row.second})
      fuzz::require(bytes.find(text + '\0') != std::string::npos, "a text of the cache", text);
  const auto loaded = tcs::load_closure(host, {"/lib/libroot.so"}, setting);
  fuzz::require(loaded.size() == 3, "the closure's three names");
  return 0;
}
