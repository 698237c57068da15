// SPDX-License-Identifier: Apache-2.0
// No PyTorch header in here: nvcc would need a minute for each architecture to read it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

// Adds to *count how many of the size floats are infinite or NaN.
cudaError_t count_nonfinite_cuda(const float* x, int64_t size, unsigned long long* count,
                                 cudaStream_t stream);
