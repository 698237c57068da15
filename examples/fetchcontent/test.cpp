// SPDX-License-Identifier: Apache-2.0
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <cstdio>
#include <limits>
#include <vector>

#include "count_nonfinite.h"

int main() {
  std::vector<at::Device> devices{at::kCPU};
  if (at::hasCUDA()) devices.emplace_back(at::kCUDA);  // false without a GPU
  int failures = 0;
  for (const at::Device& device : devices) {
    at::Tensor x = at::ones({7, 1000}, at::kFloat).to(device);
    const int64_t none = count_nonfinite(x);
    x[0][1].fill_(std::numeric_limits<float>::infinity());
    x[6][999].fill_(std::numeric_limits<float>::quiet_NaN());
    const int64_t two = count_nonfinite(x.t());
    const bool passed = none == 0 && two == 2 && count_nonfinite(x.slice(0, 0, 0)) == 0;
    std::printf("%s: %s\n", device.str().c_str(), passed ? "passed" : "FAILED");
    failures += !passed;
  }
  return failures;
}
