// SPDX-License-Identifier: Apache-2.0
// What the rules on toolkits and host compilers share.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "findings/rules/common.h"

namespace tcs {

// True when the toolkit's origin names `what` among others: "CUDA_HOME, PATH".
bool comes_from(const Toolkit& toolkit, std::string_view what);
// An unknown failure kind is none of these.
bool failed_as(const Toolkit& toolkit, std::initializer_list<const char*> kinds);
// nvcc is not there at all or cannot be started: nothing else can be known of it.
bool never_started(const Toolkit& toolkit);

// A part that building against PyTorch needs is not there.
bool lacks_parts(const Toolkit& toolkit);
// What to install from PyPI for one release, quoted for a shell; "" where it has no nvcc.
std::string pip_packages(const Version& release);

// Judges the selected toolkit. Where it is not known which one that is, what holds for each of
// those listed holds for it, and no more is said.
using ToolkitRule = void (*)(const RuleInput& in, const Toolkit& toolkit, List<Finding>& out);
void judge_toolkit(const RuleInput& in, ToolkitRule rule, List<Finding>& out);

}  // namespace tcs
