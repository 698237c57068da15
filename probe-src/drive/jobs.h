// SPDX-License-Identifier: Apache-2.0
// How many compiles a build may run at a time: by cores and by memory.
#pragma once
#include <string>

#include "facts/facts.h"

namespace tcs {

// One nvcc of a source with PyTorch's headers. Measured with nvcc 13.2.78 and g++ 12.2: a .cu of
// one kernel that includes torch/extension.h of PyTorch 2.15.0, -O3, for sm_90. The largest of
// nvcc's children (getrusage, RUSAGE_CHILDREN) takes 3065 MiB, and no more for three architectures,
// which come one after the other. The rest is for nvcc itself and for larger kernels.
constexpr int kJobMib = 3584;

struct Jobs {
  int count = 0;       // 0 = nothing is known of the cores
  std::string why;     // "2 cores", "6000 MiB of memory, 3584 MiB for each compile"
  bool guess = false;  // the memory is unknown
};
Jobs jobs_for(const HostFacts& host, int job_mib);

}  // namespace tcs
