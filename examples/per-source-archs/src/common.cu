// SPDX-License-Identifier: Apache-2.0
// For the whole plan.
#include "rows.cuh"

namespace {

__global__ void row_absmax(const float* x, float* out, int64_t cols) {
  const int64_t row = blockIdx.x;
  block_max(thread_max(x + row * cols, cols), out + row, shuffled_max);
}

}  // namespace

cudaError_t row_absmax_common(const float* x, float* out, int64_t rows, int64_t cols,
                              cudaStream_t stream) {
  row_absmax<<<static_cast<unsigned>(rows), threads, 0, stream>>>(x, out, cols);
  return cudaGetLastError();
}
