// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "add_rms_norm.h"

namespace fused_norm {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int64_t kScratchRows = 512;

// Sums are kept in float, for double in double.
template <typename T>
struct Sum {
  using type = float;
};
template <>
struct Sum<double> {
  using type = double;
};

__device__ double load(double value) {
  return value;
}
__device__ float load(float value) {
  return value;
}
__device__ float load(__half value) {
  return __half2float(value);
}
__device__ float load(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

__device__ void store(double* place, double value) {
  *place = value;
}
__device__ void store(float* place, float value) {
  *place = value;
}
__device__ void store(__half* place, float value) {
  *place = __float2half(value);
}
__device__ void store(__nv_bfloat16* place, float value) {
  *place = __float2bfloat16(value);
}

__device__ double inverse_root(double value) {
  return rsqrt(value);
}
__device__ float inverse_root(float value) {
  return rsqrtf(value);
}

// The sum over a block, for every thread of it.
template <typename S>
__device__ S block_sum(S value) {
  __shared__ S warp_sums[kWarps];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  S total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += warp_sums[warp];
  __syncthreads();
  return total;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(const T* x, const T* residual, const T* weight, T* y, T* sum, int64_t rows,
                   int64_t cols, typename Sum<T>::type eps) {
  using S = typename Sum<T>::type;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t start = row * cols;
    S squares = 0;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
      store(sum + start + col, load(x[start + col]) + load(residual[start + col]));
      const S value = load(sum[start + col]);  // as rounded: the backward pass sees no other
      squares += value * value;
    }
    const S scale = inverse_root(block_sum(squares) / static_cast<S>(cols) + eps);
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
      store(y + start + col, load(sum[start + col]) * scale * load(weight[col]));
    }
  }
}

// Each block takes every gridDim.x-th row and keeps its share of the weight's gradient in its own
// row of scratch; a thread always meets the same columns, so nothing has to be atomic and the
// result does not depend on the order in which blocks run.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const T* grad_y, const T* grad_sum, const T* sum, const T* weight, T* grad_in,
                    typename Sum<T>::type* scratch, int64_t rows, int64_t cols,
                    typename Sum<T>::type eps) {
  using S = typename Sum<T>::type;
  S* share = scratch + blockIdx.x * cols;
  for (int64_t col = threadIdx.x; col < cols; col += kThreads) share[col] = 0;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t start = row * cols;
    S squares = 0;
    S dot = 0;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
      const S value = load(sum[start + col]);
      squares += value * value;
      dot += value * load(grad_y[start + col]) * load(weight[col]);
    }
    const S count = static_cast<S>(cols);
    const S scale = inverse_root(block_sum(squares) / count + eps);
    const S pull = block_sum(dot) * scale * scale * scale / count;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
      const S value = load(sum[start + col]);
      const S grad = load(grad_y[start + col]);
      store(grad_in + start + col,
            scale * grad * load(weight[col]) - value * pull + load(grad_sum[start + col]));
      share[col] += grad * value * scale;
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    add_up_kernel(const typename Sum<T>::type* scratch, T* grad_weight, int64_t rows,
                  int64_t cols) {
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (col >= cols) return;
  typename Sum<T>::type total = 0;
  for (int64_t row = 0; row < rows; ++row) total += scratch[row * cols + col];
  store(grad_weight + col, total);
}

template <typename T>
cudaError_t launch_forward(const void* x, const void* residual, const void* weight, void* y,
                           void* sum, int64_t rows, int64_t cols, double eps, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(rows < 65535 ? rows : 65535);
  forward_kernel<T><<<blocks, kThreads, 0, stream>>>(
      static_cast<const T*>(x), static_cast<const T*>(residual), static_cast<const T*>(weight),
      static_cast<T*>(y), static_cast<T*>(sum), rows, cols,
      static_cast<typename Sum<T>::type>(eps));
  return cudaGetLastError();
}

template <typename T>
cudaError_t launch_backward(const void* grad_y, const void* grad_sum, const void* sum,
                            const void* weight, void* grad_in, void* grad_weight, void* scratch,
                            int64_t rows, int64_t cols, double eps, cudaStream_t stream) {
  using S = typename Sum<T>::type;
  const unsigned blocks = static_cast<unsigned>(scratch_rows(rows));
  backward_kernel<T><<<blocks, kThreads, 0, stream>>>(
      static_cast<const T*>(grad_y), static_cast<const T*>(grad_sum), static_cast<const T*>(sum),
      static_cast<const T*>(weight), static_cast<T*>(grad_in), static_cast<S*>(scratch), rows, cols,
      static_cast<S>(eps));
  const unsigned column_blocks = static_cast<unsigned>((cols + kThreads - 1) / kThreads);
  add_up_kernel<T><<<column_blocks, kThreads, 0, stream>>>(
      static_cast<const S*>(scratch), static_cast<T*>(grad_weight), scratch_rows(rows), cols);
  return cudaGetLastError();
}

}  // namespace

int64_t scratch_rows(int64_t rows) {
  return rows < kScratchRows ? rows : kScratchRows;
}

cudaError_t forward_cuda(Type type, const void* x, const void* residual, const void* weight,
                         void* y, void* sum, int64_t rows, int64_t cols, double eps,
                         cudaStream_t stream) {
  auto launch = type == Type::f64   ? launch_forward<double>
                : type == Type::f32 ? launch_forward<float>
                : type == Type::f16 ? launch_forward<__half>
                                    : launch_forward<__nv_bfloat16>;
  return launch(x, residual, weight, y, sum, rows, cols, eps, stream);
}

cudaError_t backward_cuda(Type type, const void* grad_y, const void* grad_sum, const void* sum,
                          const void* weight, void* grad_in, void* grad_weight, void* scratch,
                          int64_t rows, int64_t cols, double eps, cudaStream_t stream) {
  auto launch = type == Type::f64   ? launch_backward<double>
                : type == Type::f32 ? launch_backward<float>
                : type == Type::f16 ? launch_backward<__half>
                                    : launch_backward<__nv_bfloat16>;
  return launch(grad_y, grad_sum, sum, weight, grad_in, grad_weight, scratch, rows, cols, eps,
                stream);
}

}  // namespace fused_norm
