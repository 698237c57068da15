// SPDX-License-Identifier: Apache-2.0
// Child processes with a deadline, for the real host.
#pragma once
#include <vector>

#include "host/host.h"

namespace tcs {

// Runs all commands, at most `jobs` at a time; outcomes in the order of the commands.
std::vector<Outcome> run_children(const std::vector<Command>& commands, int jobs);

}  // namespace tcs
