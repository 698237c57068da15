// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace at {
class Tensor;
}

// How many elements of a float32 tensor are infinite or NaN: has a step of the training overflowed?
int64_t count_nonfinite(const at::Tensor& x);
