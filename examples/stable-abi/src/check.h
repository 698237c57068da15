// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

inline void check(const torch::stable::Tensor& x, double cap) {
  STD_TORCH_CHECK(x.scalar_type() == torch::headeronly::ScalarType::Float,
                  "softcap: x has to be float32");
  STD_TORCH_CHECK(cap > 0, "softcap: cap is ", cap, ", it has to be above 0");
}
