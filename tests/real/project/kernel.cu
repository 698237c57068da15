// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

__global__ void scale_kernel(float* x, long n, float by) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

int launch_scale(float* x, long n, float by, cudaStream_t stream) {
  if (n > 0) scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, n, by);
  return static_cast<int>(cudaGetLastError());
}
