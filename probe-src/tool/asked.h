// SPDX-License-Identifier: Apache-2.0
// The options that check, plan and run have in common, and what they ask for. (check.cpp)
#pragma once
#include <string>

#include "base/list.h"
#include "findings/finding.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {

struct Asked {
  Options options;
  Inputs inputs;
  Policy policy;
  Request request;
  std::string verb;
};

List<OptionSpec> asking_options();
// False: `status` says why; what is wrong was printed.
bool learn_asked(Host& host, const List<std::string>& args, const List<OptionSpec>& specs,
                 const char* synopsis, Asked& asked, int& status);
// Without a file the lists and targets are those of the environment: that of the recorded machine,
// never of the one that replays it.
Request request_for(const Asked& asked, const Facts& facts);

}  // namespace tcs
