// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer: runs the target on each file named, once.
#include <cstdint>
#include <cstdio>
#include <string>

#include "host/host.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  std::unique_ptr<tcs::Host> host = tcs::make_real_host();
  for (int i = 1; i < argc; ++i) {
    tcs::Result<std::string> bytes = host->read(argv[i]);
    if (!bytes) {
      std::fprintf(stderr, "%s\n", bytes.error().str().c_str());
      return 1;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
  }
  if (argc < 2) std::fprintf(stderr, "no corpus was given\n");
  return argc < 2 ? 1 : 0;
}
