// SPDX-License-Identifier: Apache-2.0
// One job, three files. No PyTorch header in here: nvcc would need a minute for each architecture.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

// out[row] = the largest magnitude of x[row][0..cols), rows >= 1.
using Launch = cudaError_t(const float* x, float* out, int64_t rows, int64_t cols,
                           cudaStream_t stream);

Launch row_absmax_common;     // src/common.cu, every architecture
Launch row_absmax_hopper;     // src/hopper.cu, 9.0a
Launch row_absmax_blackwell;  // src/blackwell.cu, 10.0f
