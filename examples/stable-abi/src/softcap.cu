// SPDX-License-Identifier: Apache-2.0
// The stable ABI's headers are few: nvcc reads them in seconds, where torch/extension.h takes it a
// minute for each architecture. So the CUDA side may register itself in here.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>

#include "check.h"

namespace {

using torch::stable::Tensor;

__global__ void softcap(const float* x, float* out, float cap, int64_t count) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    out[i] = cap * tanhf(x[i] / cap);
  }
}

Tensor on_cuda(const Tensor& x, double cap) {
  check(x, cap);
  const torch::stable::accelerator::DeviceGuard guard(x.get_device_index());
  const Tensor in = torch::stable::contiguous(x);
  Tensor out = torch::stable::empty_like(in);
  const int64_t count = in.numel();
  if (count == 0) return out;  // a grid of no blocks is refused
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(x.get_device_index(), &stream));
  const int threads = 256;
  const auto blocks = std::min<int64_t>((count + threads - 1) / threads, 65535);
  softcap<<<static_cast<unsigned>(blocks), threads, 0, static_cast<cudaStream_t>(stream)>>>(
      in.const_data_ptr<float>(), out.mutable_data_ptr<float>(), static_cast<float>(cap), count);
  STD_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(softcap, CUDA, m) {
  m.impl("softcap", TORCH_BOX(&on_cuda));
}
