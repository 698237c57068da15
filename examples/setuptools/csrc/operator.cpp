// SPDX-License-Identifier: Apache-2.0
// The operator squared_relu::squared_relu, forward only (examples/find-package has gradients).
// Single headers and no torch/extension.h: seconds to compile instead of a minute.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <Python.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "squared_relu.h"

namespace {

using at::Tensor;

void check(const Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "squared_relu: x is ", x.scalar_type(),
              ", it has to be float32");
}

Tensor on_cpu(const Tensor& x) {
  check(x);
  const Tensor in = x.contiguous();
  Tensor out = at::empty_like(in);
  const float* from = in.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < in.numel(); ++i) to[i] = from[i] <= 0.0f ? 0.0f : from[i] * from[i];
  return out;
}

Tensor on_cuda(const Tensor& x) {
  check(x);
  const c10::cuda::CUDAGuard guard(x.device());
  const Tensor in = x.contiguous();
  Tensor out = at::empty_like(in);
  C10_CUDA_CHECK(squared_relu_cuda(in.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
                                   in.numel(), c10::cuda::getCurrentCUDAStream()));
  return out;
}

}  // namespace

TORCH_LIBRARY(squared_relu, m) {
  m.def("squared_relu(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(squared_relu, CPU, m) {
  m.impl("squared_relu", on_cpu);
}
TORCH_LIBRARY_IMPL(squared_relu, CUDA, m) {
  m.impl("squared_relu", on_cuda);
}

// `import squared_relu._C` loads the library, and that registers the operator.
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  return PyModule_Create(&definition);
}
