// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {

#define TCS_RULE(function) void function(const RuleInput& in, List<Finding>& out);
#include "findings/table.def"

namespace {

constexpr Rule kRules[] = {
#define TCS_RULE(function) function,
#include "findings/table.def"
};

struct Silence {
  int cause, consequence;
};
constexpr Silence kSilences[] = {
#define TCS_SILENCES(cause, consequence) {cause, consequence},
#include "findings/table.def"
};

// Judged before any is taken out: a chain of causes leaves its first. And after the policy: what
// was allowed is a note and hides nothing that still counts.
bool silenced(const Finding& finding, List<Finding>& all) {
  bool found = false;
  for (const auto& pair : kSilences) {
    if (pair.consequence != finding.id) continue;
    for (auto& cause : all) {
      if (cause.id != pair.cause || cause.severity < finding.severity) continue;
      found = true;
      add_once(cause.consequences, finding.code());
      for (const auto& code : finding.consequences) add_once(cause.consequences, code);
    }
  }
  return found;
}

// What the rules miss in one layer, told once.
void merge_missing(List<Finding>& all) {
  List<Finding> out;
  for (auto& finding : all) {
    Finding* same = nullptr;
    for (auto& other : out)
      if (finding.message.empty() && other.id == finding.id && other.message.empty()) same = &other;
    if (!same) {
      out.push_back(finding);
      continue;
    }
    for (const auto& fact : finding.missing) add_once(same->missing, fact);
    for (const auto& note : finding.notes) add_once(same->notes, note);
  }
  for (auto& finding : out)
    if (finding.message.empty()) word_missing(finding);
  all = out;
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
  merge_missing(all);

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
  // First all, then those that are left: a cause learns of its consequences on the way.
  List<int> kept;
  for (auto& finding : all) silenced(finding, all);
  for (size_t i = 0; i < all.size(); ++i)
    if (!silenced(all[i], all)) kept.push_back(static_cast<int>(i));
  for (int i : kept) report.findings.push_back(all[static_cast<size_t>(i)]);
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
