// SPDX-License-Identifier: Apache-2.0
// The command of `tcstack run`: it has this process's terminal and group, and cannot tell that it
// was not started directly.
#pragma once
#include "host/host.h"

namespace tcs {

// Host::foreground() of the real host.
Outcome run_foreground(const Command& command, bool wait);

// Ends this process as a command that died of `signal` ended.
[[noreturn]] void die_of(int signal);

}  // namespace tcs
