// SPDX-License-Identifier: Apache-2.0
// For the family 10.0f: 10.0 and 10.3. Here a warp's maximum of floats is one instruction, which
// ptxas refuses for sm_100 without the suffix.
#include "rows.cuh"

namespace {

__global__ void row_absmax(const float* x, float* out, int64_t cols) {
  const int64_t row = blockIdx.x;
  block_max(thread_max(x + row * cols, cols), out + row, [](float value) {
    float largest;
    asm volatile("redux.sync.max.abs.f32 %0, %1, 0xffffffff;" : "=f"(largest) : "f"(value));
    return largest;
  });
}

}  // namespace

cudaError_t row_absmax_blackwell(const float* x, float* out, int64_t rows, int64_t cols,
                                 cudaStream_t stream) {
  row_absmax<<<static_cast<unsigned>(rows), threads, 0, stream>>>(x, out, cols);
  return cudaGetLastError();
}
