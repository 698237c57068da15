// SPDX-License-Identifier: Apache-2.0
// The operator swiglu::swiglu, forward only (examples/find-package has gradients). Single headers
// and no torch/extension.h: seconds to compile instead of a minute.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <Python.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <cmath>

#include "swiglu.h"

namespace {

using at::Tensor;

void check(const Tensor& gate, const Tensor& up) {
  TORCH_CHECK(gate.scalar_type() == at::kFloat && up.scalar_type() == at::kFloat,
              "swiglu: gate and up are ", gate.scalar_type(), " and ", up.scalar_type(),
              ", they have to be float32");
  TORCH_CHECK(gate.sizes() == up.sizes(), "swiglu: gate is ", gate.sizes(), " and up is ",
              up.sizes(), ", they have to be of one shape");
  TORCH_CHECK(gate.device() == up.device(), "swiglu: gate is on ", gate.device(), " and up is on ",
              up.device());
}

Tensor on_cpu(const Tensor& gate, const Tensor& up) {
  check(gate, up);
  const Tensor g = gate.contiguous(), u = up.contiguous();
  Tensor out = at::empty_like(g);
  const float *from = g.const_data_ptr<float>(), *factor = u.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < g.numel(); ++i) {
    to[i] = from[i] / (1.0f + std::exp(-from[i])) * factor[i];
  }
  return out;
}

Tensor on_cuda(const Tensor& gate, const Tensor& up) {
  check(gate, up);
  const c10::cuda::CUDAGuard guard(gate.device());
  const Tensor g = gate.contiguous(), u = up.contiguous();
  Tensor out = at::empty_like(g);
  C10_CUDA_CHECK(swiglu_cuda(g.const_data_ptr<float>(), u.const_data_ptr<float>(),
                             out.mutable_data_ptr<float>(), g.numel(),
                             c10::cuda::getCurrentCUDAStream()));
  return out;
}

}  // namespace

TORCH_LIBRARY(swiglu, m) {
  m.def("swiglu(Tensor gate, Tensor up) -> Tensor");
}
TORCH_LIBRARY_IMPL(swiglu, CPU, m) {
  m.impl("swiglu", on_cpu);
}
TORCH_LIBRARY_IMPL(swiglu, CUDA, m) {
  m.impl("swiglu", on_cuda);
}

// `import swiglu._C` loads the library, and that registers the operator. No pybind11 is needed.
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  return PyModule_Create(&definition);
}
