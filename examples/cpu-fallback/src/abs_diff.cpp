// SPDX-License-Identifier: Apache-2.0
// The operator abs_diff::abs_diff, forward only. Without WITH_CUDA nothing of CUDA is included, not
// even through PyTorch: there may be no such header.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <Python.h>
#include <torch/library.h>

#include <cmath>

#ifdef WITH_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "abs_diff.h"
#endif

namespace {

using at::Tensor;

void check(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat,
              "abs_diff: a and b are ", a.scalar_type(), " and ", b.scalar_type(),
              ", they have to be float32");
  TORCH_CHECK(a.sizes() == b.sizes(), "abs_diff: a is ", a.sizes(), " and b is ", b.sizes(),
              ", they have to be of one shape");
  TORCH_CHECK(a.device() == b.device(), "abs_diff: a is on ", a.device(), " and b is on ",
              b.device());
}

Tensor on_cpu(const Tensor& a, const Tensor& b) {
  check(a, b);
  const Tensor first = a.contiguous(), second = b.contiguous();
  Tensor out = at::empty_like(first);
  const float *x = first.const_data_ptr<float>(), *y = second.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < first.numel(); ++i) to[i] = std::abs(x[i] - y[i]);
  return out;
}

#ifdef WITH_CUDA
Tensor on_cuda(const Tensor& a, const Tensor& b) {
  check(a, b);
  const c10::cuda::CUDAGuard guard(a.device());
  const Tensor first = a.contiguous(), second = b.contiguous();
  Tensor out = at::empty_like(first);
  C10_CUDA_CHECK(abs_diff_cuda(first.const_data_ptr<float>(), second.const_data_ptr<float>(),
                               out.mutable_data_ptr<float>(), first.numel(),
                               c10::cuda::getCurrentCUDAStream()));
  return out;
}
#endif

bool has_cuda() {
#ifdef WITH_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace

TORCH_LIBRARY(abs_diff, m) {
  m.def("abs_diff(Tensor a, Tensor b) -> Tensor");
  m.def("has_cuda() -> bool", has_cuda);
}
TORCH_LIBRARY_IMPL(abs_diff, CPU, m) {
  m.impl("abs_diff", on_cpu);
}
#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(abs_diff, CUDA, m) {
  m.impl("abs_diff", on_cuda);
}
#endif

// `import abs_diff._C` loads the library, and that registers the operator.
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  return PyModule_Create(&definition);
}
