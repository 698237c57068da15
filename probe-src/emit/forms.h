// SPDX-License-Identifier: Apache-2.0
// The plan in the forms that consumers read: `tcstack plan --emit FORM`.
#pragma once
#include <string>

#include "plan/plan.h"

namespace tcs {

constexpr const char* kPlanForms =
    "cmake, json, gencode, cmake-architectures, torch-list, cpp-extension";
// Those of drive/forms.h, which carry more than lists: the full tool's alone.
constexpr const char* kBuildForms = "env, github-env, preset, initial-cache, cmake-args";

// Of `tcstack check --format`, beside text and json: formats/formats.h, the full tool's alone.
constexpr const char* kReportForms = "junit, sarif, github, markdown";

// False when `form` is none of kPlanForms. `note`: what the form's lists cannot say, a line a list;
// "" when they say all. `out` is empty where the form can say nothing of the plan.
bool plan_form(const Plan& plan, const std::string& form, std::string& out, std::string& note);

}  // namespace tcs
