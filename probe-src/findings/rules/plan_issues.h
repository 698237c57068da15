// SPDX-License-Identifier: Apache-2.0
// What the rules on the planner's issues share.
#pragma once
#include "findings/nearest_toolkit.h"

namespace tcs {

// Entries of a list, targets or devices that run into the same thing: one cause, so one finding.
using Issues = List<const PlanIssue*>;

// Each different text once, in the order of the issues.
List<std::string> tokens_of(const Issues& issues);
// Of "8.6(7.0)" both.
List<Sm> archs_of(const Issues& issues);
// Where they were written, once, and the devices that they are about.
void add_sources(const RuleInput& in, const Issues& issues, Finding& f);
void add_chosen_toolkit(const RuleInput& in, const std::string& needs, Finding& f);
std::string chosen_nvcc(const RuleInput& in);

// What this nvcc does not build: 901, 902 and 916.
int id_of_unbuildable(const PlanIssue& issue);
void unbuildable(const RuleInput& in, int id, const Issues& issues, List<Finding>& out);

}  // namespace tcs
