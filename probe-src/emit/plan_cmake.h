// SPDX-License-Identifier: Apache-2.0
// plan.cmake: what FindTorchCudaStack.cmake includes (docs/internals.md).
#pragma once
#include <string>

#include "findings/texts.h"

namespace tcs {

// find_package()'s components and the layers that they stand for.
struct Component {
  const char* name;
  Layer layer;
};
extern const Component kComponents[7];

struct PlanCmakeInput {
  const Facts& facts;
  const Request& request;
  const Plan& plan;
  const Report& report;
  const Policy& policy;
  const std::string& dir;                 // where the JSON files lie
  const std::string& toolkit_root;        // the real root or the link farm; "" without a toolkit
  Language language = Language::English;  // of what is printed
};

// Only set() lines; every value is a bracket argument.
std::string plan_cmake(const PlanCmakeInput& in);

}  // namespace tcs
