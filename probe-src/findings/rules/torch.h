// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "findings/rules/common.h"

namespace tcs {

// One of the indices of PyTorch's own builds serves all of these; tables/torch_wheels.def.
bool in_one_index(const Facts& facts, const List<Sm>& all);

}  // namespace tcs
