// SPDX-License-Identifier: Apache-2.0
// The verbs that only the full tool has. As those of tool/verbs.h; -N: the command died of signal
// N.
#pragma once
#include <string>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

int verb_run(Host& host, const List<std::string>& args);        // full/run.cpp
int verb_full_check(Host& host, const List<std::string>& args);
int verb_full_plan(Host& host, const List<std::string>& args);  // full/plan.cpp
int verb_toolkit(Host& host, const List<std::string>& args);    // full/toolkit.cpp

}  // namespace tcs
