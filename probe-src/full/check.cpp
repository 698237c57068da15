// SPDX-License-Identifier: Apache-2.0
// `tcstack check` of the full tool.
#include "drive/serves.h"
#include "full/verbs.h"
#include "tool/asked.h"

namespace tcs {

namespace {

std::string more_of_source(const Facts& facts, const Request& request, const Plan& plan) {
  const std::string text =
      request.purpose == "pytorch-source" ? serves_text(facts, plan) : std::string();
  return text.empty() ? text : "\n" + text;
}

}  // namespace

int verb_full_check(Host& host, const List<std::string>& args) {
  return answer_check(host, args, more_of_source);
}

}  // namespace tcs
