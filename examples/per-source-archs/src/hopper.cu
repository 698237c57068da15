// SPDX-License-Identifier: Apache-2.0
// For 9.0a alone. The fence does nothing for this job: it stands for the WGMMA instructions of a
// kernel of yours, which ptxas refuses for every other architecture, sm_90 included.
#include "rows.cuh"

namespace {

__global__ void row_absmax(const float* x, float* out, int64_t cols) {
  const int64_t row = blockIdx.x;
  const float mine = thread_max(x + row * cols, cols);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");  // all four warps of the block
  block_max(mine, out + row, shuffled_max);
}

}  // namespace

cudaError_t row_absmax_hopper(const float* x, float* out, int64_t rows, int64_t cols,
                              cudaStream_t stream) {
  row_absmax<<<static_cast<unsigned>(rows), threads, 0, stream>>>(x, out, cols);
  return cudaGetLastError();
}
