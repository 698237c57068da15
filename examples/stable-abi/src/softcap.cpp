// SPDX-License-Identifier: Apache-2.0
// The operator softcap::softcap by PyTorch's stable ABI: nothing of ATen or c10 but what
// torch/csrc/stable and torch/headeronly offer, so that one binary serves PyTorch 2.10 and newer.
#include <Python.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cmath>

#include "check.h"

namespace {

using torch::stable::Tensor;

Tensor on_cpu(const Tensor& x, double cap) {
  check(x, cap);
  const Tensor in = torch::stable::contiguous(x);
  Tensor out = torch::stable::empty_like(in);
  const float* from = in.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  const auto limit = static_cast<float>(cap);
  for (int64_t i = 0; i < in.numel(); ++i) to[i] = limit * std::tanh(from[i] / limit);
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY(softcap, m) {
  m.def("softcap(Tensor x, float cap) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(softcap, CPU, m) {
  m.impl("softcap", TORCH_BOX(&on_cpu));
}

// `import softcap._C` loads the library, and that registers the operator.
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  return PyModule_Create(&definition);
}
