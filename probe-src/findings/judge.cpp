// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "findings/finding.h"

namespace tcs {

#define TCS_RULE(function) void function(const RuleInput& in, std::vector<Finding>& out);
#include "findings/rules.def"
#undef TCS_RULE

namespace {

constexpr Rule kRules[] = {
#define TCS_RULE(function) function,
#include "findings/rules.def"
#undef TCS_RULE
};

struct Silence {
  int cause, consequence;
};
constexpr Silence kSilences[] = {
#define TCS_SILENCES(cause, consequence) {cause, consequence},
#include "findings/registry.def"
};

// Judged on what was found, before any is taken out: a chain of causes leaves its first.
bool silenced(const Finding& finding, const std::vector<Finding>& all) {
  for (const auto& pair : kSilences) {
    if (pair.consequence != finding.id) continue;
    for (const auto& cause : all)
      if (cause.id == pair.cause && cause.severity >= finding.severity) return true;
  }
  return false;
}

bool allowed(const Finding& finding, const std::vector<std::string>& allow) {
  for (const auto& name : allow)
    if (const RuleRow* row = find_row(name); row && row->id == finding.id) return true;
  return false;
}

bool sorts_before(const Finding& a, const Finding& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  if (a.id != b.id) return a.id < b.id;
  return a.message < b.message;
}

}  // namespace

Report judge(const RuleInput& in, const Policy& policy) {
  std::vector<Finding> all;
  for (Rule rule : kRules) rule(in, all);

  Report report;
  for (const auto& finding : all)
    if (!silenced(finding, all)) report.findings.push_back(finding);
  for (auto& finding : report.findings)
    if (allowed(finding, policy.allow) && finding.severity != Severity::Note) {
      finding.notes.push_back("allowed by the request, so it is a note here");
      finding.severity = Severity::Note;
    }
  std::sort(report.findings.begin(), report.findings.end(), sorts_before);

  report.outcome = "ok";
  for (const auto& finding : report.findings) {
    if (finding.severity == Severity::Unknown) report.complete = false;
    if (finding.severity == Severity::Warning && report.outcome == "ok") report.outcome = "warn";
    // A note never fails: what was allowed is a note.
    if (!policy.never && finding.severity != Severity::Note && finding.severity >= policy.fail_on)
      report.outcome = "fail";
  }
  return report;
}

}  // namespace tcs
