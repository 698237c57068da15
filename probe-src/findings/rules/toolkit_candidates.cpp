// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/toolkit_candidates.h"

namespace tcs {
namespace {

// Of two findings of one id, what is true of both.
void join_finding(Finding& into, const Finding& other) {
  if (other.severity < into.severity) into.severity = other.severity;
  for (const Evidence& row : other.evidence) {
    bool known = false;
    for (const Evidence& have : into.evidence) known = known || have.has == row.has;
    if (!known) into.evidence.push_back(row);
  }
}

const Finding* find_id(const List<Finding>& all, int id) {
  for (const Finding& f : all)
    if (f.id == id) return &f;
  return nullptr;
}

}  // namespace

bool comes_from(const Toolkit& toolkit, std::string_view what) {
  for (const std::string& name : split(toolkit.origin.value(), ","))
    if (trim(name) == what) return true;
  return false;
}

bool failed_as(const Toolkit& toolkit, std::initializer_list<const char*> kinds) {
  for (const char* kind : kinds)
    if (toolkit.failure.kind.is(kind)) return true;
  return false;
}

bool never_started(const Toolkit& toolkit) {
  return toolkit.works.is(false) && toolkit.failure.kind.is("start") && !toolkit.version.known();
}

void judge_toolkit(const RuleInput& in, ToolkitRule rule, List<Finding>& out) {
  if (const Toolkit* selected = in.facts.toolkit()) return rule(in, *selected, out);
  const List<Toolkit>& list = in.facts.toolkits.list;
  List<Finding> common;
  for (size_t i = 0; i < list.size(); ++i) {
    List<Finding> own, both;
    rule(in, list[i], own);
    for (const Finding& f : own)
      if (f.severity == Severity::Unknown) out.push_back(f);
    for (Finding& f : i == 0 ? own : common) {
      const Finding* same = find_id(own, f.id);
      if (!same || f.severity < Severity::Warning || same->severity < Severity::Warning) continue;
      if (same != &f) join_finding(f, *same);
      if (!find_id(both, f.id)) both.push_back(f);
    }
    common = both;
  }
  for (Finding& f : common) {
    f.notes.push_back(list.size() == 1
                          ? std::string("there is no other toolkit here that this build could use")
                          : cat("which of the ", list.size(),
                                " toolkits here this build uses is not known: it is so with each"));
    out.push_back(f);
  }
}

}  // namespace tcs
