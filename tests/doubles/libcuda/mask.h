// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../script.h"

namespace tcs_double {

// What CUDA_VISIBLE_DEVICES leaves of the machine's boards, in its order.
std::vector<Device> visible_devices(const std::vector<Device>& boards);

}  // namespace tcs_double
