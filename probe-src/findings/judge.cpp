// SPDX-License-Identifier: Apache-2.0
#include "findings/finding.h"

namespace tcs {

#define TCS_RULE(function) void function(const RuleInput& in, List<Finding>& out);
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

// Judged before any is taken out: a chain of causes leaves its first. And after the policy: what
// was allowed is a note and hides nothing that still counts.
bool silenced(const Finding& finding, const List<Finding>& all) {
  for (const auto& pair : kSilences) {
    if (pair.consequence != finding.id) continue;
    for (const auto& cause : all)
      if (cause.id == pair.cause && cause.severity >= finding.severity) return true;
  }
  return false;
}

bool allowed(const Finding& finding, const List<std::string>& allow) {
  for (const auto& name : allow)
    if (const RuleRow* row = find_row(name); row && row->id == finding.id) return true;
  return false;
}

// Plan, request, environment and probe are nobody's component: they always count.
bool asked_for(Layer layer, const Policy& policy) {
  if (policy.components.empty() || layer >= Layer::Environment) return true;
  for (Layer component : policy.components)
    if (component == layer) return true;
  return false;
}

// Allowed or not, nothing can be built by a plan that is empty.
constexpr int kPlanEmpty = 908;

void make_note(Finding& finding, const char* why) {
  if (finding.severity == Severity::Note) return;
  finding.notes.push_back(why);
  finding.severity = Severity::Note;
}

bool sorts_before(const Finding& a, const Finding& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  if (a.id != b.id) return a.id < b.id;
  return a.message < b.message;
}

}  // namespace

bool reaches(const Finding& finding, const Policy& policy) {
  return !policy.never && finding.severity != Severity::Note && finding.severity >= policy.fail_on;
}

Report judge(const RuleInput& in, const Policy& policy) {
  List<Finding> all;
  for (Rule rule : kRules) rule(in, all);

  for (auto& finding : all) {
    if (allowed(finding, policy.allow)) {
      if (finding.id == kPlanEmpty)
        finding.notes.push_back("it cannot be allowed: there would be nothing to build");
      else
        make_note(finding, "allowed by the request, so it is a note here");
    }
    if (!asked_for(finding.layer, policy))
      make_note(finding, "a note here: COMPONENTS does not name its layer");
  }
  Report report;
  for (const auto& finding : all)
    if (!silenced(finding, all)) report.findings.push_back(finding);
  sort_few(report.findings, sorts_before);

  report.outcome = "ok";
  for (const auto& finding : report.findings) {
    if (finding.severity == Severity::Unknown) report.complete = false;
    if (finding.severity == Severity::Warning && report.outcome == "ok") report.outcome = "warn";
    if (reaches(finding, policy)) report.outcome = "fail";
  }
  return report;
}

}  // namespace tcs
