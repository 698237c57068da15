// SPDX-License-Identifier: Apache-2.0
// Child processes with a deadline, for the real host.
#pragma once
#include <memory>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

// Runs all commands, at most `jobs` at a time; outcomes in the order of the commands.
List<Outcome> run_children(const List<Command>& commands, int jobs);

// NAME=VALUE lines for exec: the inherited environment with the command's changes.
List<std::string> child_environment(const Command& command);

// See Talk in host.h.
std::unique_ptr<Talk> talk_to(const Command& command);

}  // namespace tcs
