// SPDX-License-Identifier: Apache-2.0
// The plan in the forms that consumers read: `tcstack plan --emit FORM`.
#pragma once
#include <string>

#include "plan/plan.h"

namespace tcs {

constexpr const char* kPlanForms =
    "cmake, env, json, gencode, cmake-architectures, torch-list, cpp-extension, preset, "
    "initial-cache";

// False when `form` is none of kPlanForms. `note`: what the form cannot say, "" when it says all.
bool plan_form(const Plan& plan, const std::string& form, std::string& out, std::string& note);

}  // namespace tcs
