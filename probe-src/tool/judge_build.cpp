// SPDX-License-Identifier: Apache-2.0
#include "tool/judge_build.h"

#include "base/text.h"
#include "tool/verbs.h"

namespace tcs {

JudgedBuild judge_build(Host& host, const Inputs& in, const Policy& policy, DriverChild& child,
                        Facts& facts) {
  JudgedBuild out;
  out.request = make_request(variables_of(host), in);
  probe_plan(host, in, out.request, child, facts);
  out.plan = make_plan(facts, out.request);
  out.report = judge(RuleInput{facts, out.request, out.plan}, policy);
  // Whatever is allowed: without a list of ours torch would make one up.
  if (out.plan.gencodes.empty()) out.report.outcome = "fail";
  return out;
}

std::string toolkit_root(Host& host, const Facts& facts, std::string farm,
                         const std::string& cache) {
  const Toolkit* toolkit = facts.toolkit();
  if (toolkit == nullptr || facts.origin == "replayed") return {};
  // CMake reads the link folders off nvcc's output and cuts them at blanks: the links of a build
  // tree with one in its name lie in the user's cache.
  if (contains(farm, " ") && !cache.empty() && !contains(cache, " "))
    farm = path_join(cache, cat("toolkits/", fnv1a(toolkit->root.value())));
  Result<std::string> root = lay_link_farm(host, *toolkit, farm);
  if (root) return *root;
  print_err(cat("tcstack: note: the toolkit could not be completed: ", root.error().str(), "\n"));
  return toolkit->root.value();
}

}  // namespace tcs
