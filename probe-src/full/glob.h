// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

// One name against `*`, `?`, `[a-z]`, `[!a-z]`.
bool name_matches(std::string_view name, std::string_view pattern);

// The files below `folder` that a pattern names, sorted; `**` is any number of folders, at the end
// all that is in them. Names that begin with a dot only where the pattern has the dot, or `hidden`.
// Links to folders are not followed by `**`. `unread`: folders that could not be looked into, each
// with the reason.
List<std::string> files_matching(const Host& host, const std::string& folder,
                                 const std::string& pattern, bool hidden = false,
                                 List<std::string>* unread = nullptr);

}  // namespace tcs
