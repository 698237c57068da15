// SPDX-License-Identifier: Apache-2.0
// What the kernel and the operator agree on. No PyTorch header in here: nvcc would need a minute
// for each architecture to read it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

// out = |a - b|, over count floats.
cudaError_t abs_diff_cuda(const float* a, const float* b, float* out, int64_t count,
                          cudaStream_t stream);
