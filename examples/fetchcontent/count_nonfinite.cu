// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernel.h"

namespace {

__global__ void count_nonfinite(const float* x, int64_t size, unsigned long long* count) {
  unsigned mine = 0;
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    mine += !isfinite(x[i]);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(count, mine);
}

}  // namespace

cudaError_t count_nonfinite_cuda(const float* x, int64_t size, unsigned long long* count,
                                 cudaStream_t stream) {
  if (size == 0) return cudaSuccess;  // a grid of no blocks is refused
  const int threads = 256;
  const auto blocks = std::min<int64_t>((size + threads - 1) / threads, 4096);
  count_nonfinite<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(x, size, count);
  return cudaGetLastError();
}
