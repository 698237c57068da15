// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "findings/rules/common.h"

namespace tcs {

// How heavy it is that PyTorch's code does not run on a device (null: a declared target).
Severity torch_weight(const RuleInput& in, const Sm& sm, const Device* device);

// Fat binaries that hold code for several architectures, and those of them that serve the device;
// nothing of nothing where it is not known.
struct Coverage {
  int64_t served = 0, all = 0;
};
Coverage coverage(const TorchLibrary& library, const Sm& sm);

}  // namespace tcs
