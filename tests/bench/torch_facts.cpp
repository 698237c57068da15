// SPDX-License-Identifier: Apache-2.0
// Torch facts and nothing else, as a process: what bench.py times against `import torch`.
#include <cstdio>

#include "facts/gather.h"

int main(int argc, char** argv) {
  auto host = tcs::make_real_host();
  tcs::Inputs in;
  if (argc > 1) in.set["Python_EXECUTABLE"] = argv[1];
  tcs::Facts facts;
  tcs::gather_host(*host, facts);
  tcs::gather_python(*host, in, facts);
  tcs::gather_torch(*host, in, facts);
  std::puts(facts.torch.version.value().c_str());
  return facts.torch.version.known() ? 0 : 1;
}
