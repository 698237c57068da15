// SPDX-License-Identifier: Apache-2.0
// What the kernels and the operator agree on: plain pointers, sizes and a stream. No PyTorch header
// is included here, nor in the .cu file: nvcc needs about a minute an architecture for one that
// does.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace fused_norm {

enum class Type { f64, f32, f16, bf16 };

// sum = x + residual; y = sum * rsqrt(mean(sum^2) + eps) * weight. x, residual, y and sum are
// rows * cols contiguous elements, weight has cols.
cudaError_t forward_cuda(Type type, const void* x, const void* residual, const void* weight,
                         void* y, void* sum, int64_t rows, int64_t cols, double eps,
                         cudaStream_t stream);

// How many rows of cols accumulators the backward pass takes as scratch space (double for f64, else
// float).
int64_t scratch_rows(int64_t rows);

// grad_in is the gradient of x and of residual, which are the same.
cudaError_t backward_cuda(Type type, const void* grad_y, const void* grad_sum, const void* sum,
                          const void* weight, void* grad_in, void* grad_weight, void* scratch,
                          int64_t rows, int64_t cols, double eps, cudaStream_t stream);

}  // namespace fused_norm
