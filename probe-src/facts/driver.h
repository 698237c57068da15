// SPDX-License-Identifier: Apache-2.0
// gather_driver in two halves, so that the child can run beside others.
#pragma once
#include "facts/gather.h"

namespace tcs {

Command driver_probe_command(const Host& host, const Inputs& in);
// Driver and devices from what that child answered, and from what the kernel's files say.
void learn_driver(Host& host, const Outcome& outcome, Facts& facts);

}  // namespace tcs
