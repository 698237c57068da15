// SPDX-License-Identifier: Apache-2.0
// Which of the devices that are listed a CUDA program meets.
#pragma once
#include "facts/facts.h"

namespace tcs {

// Another maker's GPU, "AMD Radeon RX 580": by its name, where it has no compute capability.
bool is_foreign(const Device& device);
List<std::string> foreign_names(const DeviceFacts& devices);
bool is_in_use(const Device& device);      // visible, and NVIDIA's
bool may_be_in_use(const Device& device);  // its visibility is unknown

}  // namespace tcs
