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

bool causes(const Finding& cause, const Finding& finding) {
  if (cause.severity < finding.severity) return false;
  for (const auto& pair : kSilences)
    if (pair.cause == cause.id && pair.consequence == finding.id) return true;
  return finding.caused_by != 0 && finding.caused_by == cause.id;
}

// Judged before any is taken out: a chain of causes leaves its first. And after the policy: what
// was allowed is a note and hides nothing that still counts.
bool silenced(const Finding& finding, const List<Finding>& all) {
  for (const auto& cause : all)
    if (causes(cause, finding)) return true;
  return false;
}

// A cause stands for all that follows from it, however long the chain is.
void collect_consequences(List<Finding>& all) {
  for (bool more = true; more;) {
    more = false;
    for (auto& cause : all)
      for (const auto& finding : all) {
        if (&cause == &finding || !causes(cause, finding)) continue;
        const size_t before = cause.consequences.size();
        add_once(cause.consequences, finding.code());
        for (const auto& code : finding.consequences) add_once(cause.consequences, code);
        more = more || cause.consequences.size() > before;
      }
  }
  for (auto& cause : all) {
    List<std::string> others;
    for (const auto& code : cause.consequences)
      if (code != cause.code()) others.push_back(code);
    sort_unique(others);
    cause.consequences = others;
  }
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
      if (finding.id == kPlanEmpty && !policy.may_be_empty)
        finding.notes.push_back("it cannot be allowed: there would be nothing to build");
      else
        make_note(finding, "allowed by the request, so it is a note here");
    }
    if (!asked_for(finding.layer, policy))
      make_note(finding, "a note here: COMPONENTS does not name its layer");
  }
  Report report;
  collect_consequences(all);
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
