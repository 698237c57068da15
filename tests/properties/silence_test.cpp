// SPDX-License-Identifier: Apache-2.0
// A cause silences what follows from it, and is told itself: causes that silence each other in a
// circle would leave nothing.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "generate.h"

using namespace tcs;
using namespace props;

namespace tcs {
#define TCS_RULE(function) void function(const RuleInput& in, List<Finding>& out);
#include "findings/table.def"
}  // namespace tcs

namespace {

// The heaviest that the rules have to say, before any is silenced.
Severity heaviest_found(const RuleInput& in) {
  List<Finding> all;
#define TCS_RULE(function) function(in, all);
#include "findings/table.def"
  Severity out = Severity::Note;
  for (const Finding& f : all) out = f.severity > out ? f.severity : out;
  return out;
}

bool is_hushed(const Machine& machine) {
  const Judged whole = judged(machine);
  if (!whole.refused.empty()) return false;
  Severity told = Severity::Note;
  for (const Finding& f : whole.report.findings) told = f.severity > told ? f.severity : told;
  return told < heaviest_found({whole.facts, whole.request, whole.plan});
}

}  // namespace

TEST_CASE("what silences a finding is told in its place: an error found is an error told") {
  Failures failures;
  const unsigned seed = first_seed(), count = machines_wanted(1200);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    const Machine machine = odd_machine(dice);
    if (is_hushed(machine)) failures.add("HUSHED", machine, is_hushed, cat("TCS_SEED=", seed + i));
  }
  for (const auto& [name, machine] : recorded_machines())
    if (is_hushed(machine)) failures.add("HUSHED", machine, is_hushed, name);
  CHECK(failures.none());
}
