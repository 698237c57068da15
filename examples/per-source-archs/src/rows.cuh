// SPDX-License-Identifier: Apache-2.0
// What the kernels share: one block of 128 threads for each row, one maximum for each thread.
#pragma once
#include <algorithm>

#include "kernels.h"

constexpr int threads = 128;

__device__ inline float thread_max(const float* row, int64_t cols) {
  float largest = 0;
  for (int64_t col = threadIdx.x; col < cols; col += threads) {
    largest = fmaxf(largest, fabsf(row[col]));
  }
  return largest;
}

// The maximum of a warp's threads, then of the block's warps.
template <typename WarpMax>
__device__ void block_max(float mine, float* out, WarpMax warp_max) {
  __shared__ float of_warp[threads / 32];
  const float largest = warp_max(mine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x < 32) {
    const float all = warp_max(threadIdx.x < threads / 32 ? of_warp[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) *out = all;
  }
}

__device__ inline float shuffled_max(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0u, value, lanes));
  }
  return value;
}
