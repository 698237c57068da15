// SPDX-License-Identifier: Apache-2.0
#include "count_nonfinite.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cmath>

#include "kernel.h"

int64_t count_nonfinite(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "count_nonfinite: x is ", x.scalar_type(),
              ", it has to be float32");
  const at::Tensor in = x.contiguous();
  const float* values = in.const_data_ptr<float>();
  if (in.is_cpu()) {
    int64_t count = 0;
    for (int64_t i = 0; i < in.numel(); ++i) count += !std::isfinite(values[i]);
    return count;
  }
  TORCH_CHECK(in.is_cuda(), "count_nonfinite: x is on ", in.device(), ", not on CUDA or the CPU");
  const c10::cuda::CUDAGuard guard(in.device());
  at::Tensor count = at::zeros({}, in.options().dtype(at::kLong));
  C10_CUDA_CHECK(count_nonfinite_cuda(
      values, in.numel(), reinterpret_cast<unsigned long long*>(count.mutable_data_ptr<int64_t>()),
      c10::cuda::getCurrentCUDAStream()));
  return count.item<int64_t>();
}
