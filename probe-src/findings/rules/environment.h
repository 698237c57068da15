// SPDX-License-Identifier: Apache-2.0
// What the rules on the environment share: the variables, and how CUDA_VISIBLE_DEVICES is read.
#pragma once
#include <string>

#include "findings/rules/common.h"

namespace tcs {

// Null when it is not set.
const std::string* variable(const RuleInput& in, const char* name);
void add_variable(Finding& f, const RuleInput& in, const char* name, const std::string& needs = {});
// Nothing is known of the GPUs: names them as what is missing, and says so.
bool devices_missing(const RuleInput& in, List<Finding>& out, const char* what);

// One GPU of the machine, as far as CUDA_VISIBLE_DEVICES is concerned.
struct MaskDevice {
  bool visible = true;
  Text uuid;
};

// The first entry of CUDA_VISIBLE_DEVICES that names no GPU: it and all after it are hidden.
struct MaskFault {
  int entry = -1;  // its position, -1 = none
  std::string text, why;
  bool hides = false;       // more than itself: entries after it, or GPUs that are here
  bool lacks_uuid = false;  // it cannot be told without the UUIDs of all GPUs
};
// By its form alone, as the driver and torch.cuda read it; `entries`: what it names up to there.
MaskFault fault_in_form(const std::string& mask, List<std::string>& entries);
bool hides_all(const Facts& facts);  // CUDA_VISIBLE_DEVICES is empty, or begins with -1
// And against the GPUs that are known.
MaskFault fault_in_mask(const std::string& mask, const List<MaskDevice>& devices);

}  // namespace tcs
