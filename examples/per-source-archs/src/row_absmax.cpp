// SPDX-License-Identifier: Apache-2.0
// The operator row_absmax::row_absmax, and which kernel serves which GPU.
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <Python.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"

namespace {

using at::Tensor;

// By the GPU that is there, and only among the kernels that were built. common.cu is always there.
Launch* kernel_for([[maybe_unused]] int major, [[maybe_unused]] int minor) {
#ifdef HAVE_HOPPER
  if (major == 9 && minor == 0) return row_absmax_hopper;
#endif
#ifdef HAVE_BLACKWELL
  if (major == 10 && (minor == 0 || minor == 3)) return row_absmax_blackwell;
#endif
  return row_absmax_common;
}

void check(const Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && x.dim() == 2, "row_absmax: x is ", x.scalar_type(),
              " ", x.sizes(), ", it has to be a float32 matrix");
  TORCH_CHECK(x.size(0) <= std::numeric_limits<int>::max(), "row_absmax: x has ", x.size(0),
              " rows, more than a grid has blocks");
}

Tensor on_cpu(const Tensor& x) {
  check(x);
  const Tensor in = x.contiguous();
  const int64_t rows = in.size(0), cols = in.size(1);
  Tensor out = at::empty({rows}, in.options());
  const float* values = in.const_data_ptr<float>();
  float* largest = out.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row) {
    largest[row] = 0;
    for (int64_t i = row * cols; i < (row + 1) * cols; ++i) {
      largest[row] = std::max(largest[row], std::abs(values[i]));
    }
  }
  return out;
}

Tensor on_cuda(const Tensor& x) {
  check(x);
  const c10::cuda::CUDAGuard guard(x.device());
  const Tensor in = x.contiguous();
  Tensor out = at::empty({in.size(0)}, in.options());
  if (in.size(0) == 0) return out;
  const cudaDeviceProp* gpu = at::cuda::getCurrentDeviceProperties();
  C10_CUDA_CHECK(kernel_for(gpu->major, gpu->minor)(in.const_data_ptr<float>(),
                                                    out.mutable_data_ptr<float>(), in.size(0),
                                                    in.size(1), c10::cuda::getCurrentCUDAStream()));
  return out;
}

}  // namespace

TORCH_LIBRARY(row_absmax, m) {
  m.def("row_absmax(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(row_absmax, CPU, m) {
  m.impl("row_absmax", on_cpu);
}
TORCH_LIBRARY_IMPL(row_absmax, CUDA, m) {
  m.impl("row_absmax", on_cuda);
}

// `import row_absmax._C` loads the library, and that registers the operator.
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  return PyModule_Create(&definition);
}
