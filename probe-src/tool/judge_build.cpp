// SPDX-License-Identifier: Apache-2.0
#include "tool/judge_build.h"

#include "base/text.h"
#include "tool/verbs.h"

namespace tcs {

Result<Facts> obtain_facts(Host& host, const Inputs& in, DriverChild& child) {
  Setting replay = own_input(host, in, "FACTS");
  if (!replay.set || replay.value.empty()) return gather_all(host, in, child);
  List<std::string> unknown;
  Result<Facts> facts = read_facts_file(host, replay.value, unknown);
  if (!facts) return Error{facts.error().str(), replay.from};
  for (const std::string& name : unknown) {
    print_err(cat("tcstack: note: ", replay.value, ": unknown member ", name, "\n"));
  }
  facts->origin = "replayed";
  return *facts;
}

namespace {

// The gate comes before the project has said whether it wants PyTorch, or where that is.
Policy policy_for(const Inputs& in, const Facts& facts, const Request& request, Policy policy) {
  if (in.find("TORCH_OPTIONAL") == nullptr || !facts.torch.state.is("absent") ||
      request.purpose == "pytorch-source")
    return policy;
  policy.allow.push_back("TCS602");
  policy.may_be_empty = !request.arch_list.known() && !request.targets_known;
  if (policy.may_be_empty) policy.allow.push_back("TCS908");
  return policy;
}

}  // namespace

JudgedBuild judge_build(Host& host, const Inputs& in, const Request& request, const Policy& policy,
                        DriverChild& child, Facts& facts) {
  JudgedBuild out;
  out.request = request;
  probe_plan(host, in, out.request, child, facts);
  out.plan = make_plan(facts, out.request);
  const Policy here = policy_for(in, facts, out.request, policy);
  out.report = judge(RuleInput{facts, out.request, out.plan}, here);
  // Whatever is allowed: without a list of ours torch would make one up.
  if (out.plan.gencodes.empty() && !here.may_be_empty) out.report.outcome = "fail";
  return out;
}

// ATen's CUDA headers include those of cuBLAS, cuSPARSE and cuSOLVER, which no package of nvcc has.
static std::string torchs_libraries(const Facts& facts, const Toolkit& toolkit) {
  const Version torch = Version::parse(facts.torch.cuda.value());
  if (!toolkit.layout.is("pip") || !facts.torch.root.known() || !torch.known() ||
      torch.major() != Version::parse(toolkit.version.value()).major())
    return {};
  const std::string folder =
      cat(path_parent(facts.torch.root.value()), "/nvidia/cu", torch.major());
  return folder == toolkit.root.value() ? std::string() : folder;
}

std::string farm_folder(const std::string& cache, const Facts& facts) {
  const Toolkit* toolkit = facts.toolkit();
  if (toolkit == nullptr) return {};
  return path_join(
      cache,
      cat("toolkits/", fnv1a(cat(toolkit->root.value(), torchs_libraries(facts, *toolkit)))));
}

std::string toolkit_root(Host& host, const Facts& facts, std::string farm,
                         const std::string& cache) {
  const Toolkit* toolkit = facts.toolkit();
  if (toolkit == nullptr || facts.origin == "replayed") return {};
  // CMake reads the link folders off nvcc's output and cuts them at blanks: the links of a build
  // tree with one in its name lie in the user's cache.
  if (contains(farm, " ") && !cache.empty() && !contains(cache, " "))
    farm = farm_folder(cache, facts);
  Result<std::string> root = lay_link_farm(host, *toolkit, farm, torchs_libraries(facts, *toolkit));
  if (root) return *root;
  print_err(cat("tcstack: note: the toolkit could not be completed: ", root.error().str(), "\n"));
  return toolkit->root.value();
}

}  // namespace tcs
