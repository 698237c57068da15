// SPDX-License-Identifier: Apache-2.0
// The options that check, plan and run have in common, and what they ask for. (check.cpp)
#pragma once
#include <string>

#include "base/list.h"
#include "emit/emit.h"
#include "findings/finding.h"
#include "plan/plan.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {

struct Asked {
  Options options;
  Inputs inputs;
  Policy policy;
  Language language = Language::English;
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

// What the full tool adds: to a report in text, and a writer of kReportForms (emit/forms.h).
struct CheckMore {
  std::string (*text)(const Facts& facts, const Request& request, const Plan& plan) = nullptr;
  Result<std::string> (*form)(const Host& host, const Asked& asked, const std::string& form,
                              const List<Checked>& judged) = nullptr;
};
int answer_check(Host& host, const List<std::string>& args, CheckMore more);

// A writer of kBuildForms (emit/forms.h): what the settings of `form` are, and notes, a line each.
struct PlanAnswer {
  const Asked& asked;
  const Facts& facts;
  const Request& request;
  const Plan& plan;
  const std::string& form;
};
using BuildForms = std::string (*)(Host& host, const PlanAnswer& answer, std::string& note);
// `plan`; without a writer, those forms are refused.
int answer_plan(Host& host, const List<std::string>& args, BuildForms build_forms);

}  // namespace tcs
