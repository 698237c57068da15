// SPDX-License-Identifier: Apache-2.0
// An arch list in either dialect, on some toolkits: what a dialect says completely means the same
// plan when it is read again, and what is offered as the right spelling is taken.
#include "fuzz.h"
#include "plan/grammar.h"

using namespace tcs;
using fuzz::require;

// Blanks cost nothing in a list, so that its length can choose.
static Facts toolkit_for(size_t size) {
  const char* const releases[] = {"11.8", "12.4.131", "12.9", "13.0.88", "13.2", ""};
  const std::string release = releases[size % 6];
  Facts facts;
  if (release.empty()) return facts;
  facts.toolkits.list.add().version = Text(release);
  facts.toolkits.selected = 0;
  return facts;
}

static Plan plan_of(const Facts& facts, const std::string& list, const std::string& dialect) {
  Request request;
  request.arch_list = Text(list, "fuzz");
  request.arch_dialect = dialect;
  return make_plan(facts, request);
}

static void reread(const Facts& facts, const Plan& plan, const Dialect& said, const char* dialect) {
  if (!said.complete || plan.gencodes.empty()) return;
  const List<std::string> flags = gencode_flags(plan);
  require(gencode_flags(plan_of(facts, said.text, dialect)) == flags, "the plan again",
          cat(dialect, " ", said.text, " for ", join(flags, " ")));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string list(reinterpret_cast<const char*>(data), size);
  for (const char* dialect : {"torch", "cmake"}) {
    for (const PlanIssue& issue : parse_arch_list(list, dialect).issues)
      require(issue.corrected.empty() || parse_arch_list(issue.corrected, "torch").issues.empty(),
              "a correction is taken", issue.corrected);
    const Facts facts = toolkit_for(size);
    const Plan plan = plan_of(facts, list, dialect);
    require(plan.by_user || is_unset_list(list, dialect), "whose list it is", list);
    reread(facts, plan, torch_list(plan), "torch");
    reread(facts, plan, torch_python_list(plan), "torch");
    reread(facts, plan, cmake_architectures(plan), "cmake");
  }
  return 0;
}
