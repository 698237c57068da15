// SPDX-License-Identifier: Apache-2.0
// Which Python a command of the user's uses, and where it builds: read off the command's words and
// the first lines of scripts; nothing is run.
#pragma once
#include <string>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

struct CommandPython {
  std::string path;  // "" = the command does not say: the default search
  std::string from;  // "the first line of /venv/bin/pip"; without a path: it names one in vain
};
CommandPython python_of_command(const Host& host, const List<std::string>& command);

// The option that has the build see the PyTorch of this Python, where the command builds in an
// environment of its own instead: "--no-build-isolation"; "" where it does not.
std::string missing_no_isolation(const Host& host, const List<std::string>& command);

// `cmake` where it configures, and so takes -D words and reads no CMAKE_ARGS.
bool configures_with_cmake(const List<std::string>& command);

}  // namespace tcs
