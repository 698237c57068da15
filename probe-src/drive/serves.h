// SPDX-License-Identifier: Apache-2.0
// What a PyTorch that is built from source will run on, before hours are spent: for `tcstack check`
// and `tcstack run`, where the purpose is pytorch-source.
#pragma once
#include <string>

#include "facts/facts.h"
#include "plan/plan.h"

namespace tcs {

// A table of the capabilities that the tables know, with examples of their GPUs, and of what in the
// plan runs there: at most 100 columns, ends with a line end; "" of an empty plan.
std::string serves_text(const Facts& facts, const Plan& plan);

}  // namespace tcs
