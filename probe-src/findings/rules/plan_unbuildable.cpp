// SPDX-License-Identifier: Apache-2.0
// Architectures that this nvcc builds no more, or not yet.
#include <algorithm>

#include "findings/rules/plan_issues.h"

namespace tcs {
namespace {

using IssueKind = PlanIssue::Kind;

// The releases that build it: 1208 and 1209, 0 where that end does not keep this nvcc from it.
struct Span {
  int first = 0, last = 0;
};

int release_in(const std::string& text) {
  return release_of(Version::parse(text));
}

int own_release(const RuleInput& in) {
  const Toolkit* t = in.facts.toolkit();
  return t ? release_of(Version::parse(t->version.value())) : 0;
}

// When nvcc did build, or will build, it. The planner says it only of single entries of a list.
Span span_of(const RuleInput& in, const PlanIssue& i) {
  if (i.kind == IssueKind::Removed) return {0, release_in(i.range_end)};
  if (i.kind == IssueKind::NotYetKnown) return {release_in(i.range_begin), release_in(i.range_end)};
  const int nvcc = own_release(in);
  Sm sm;
  const ArchRow* row = parse_sm_dotted(i.token, sm) ? find_arch(sm) : nullptr;
  if (!row || nvcc == 0) return {};
  return {nvcc < row->first ? row->first : 0, row->last != 0 && nvcc > row->last ? row->last : 0};
}

std::string range_words(const Span& s) {
  return s.first == s.last ? release_text(s.first)
                           : cat(release_text(s.first), " to ", release_text(s.last));
}

std::string span_words(const Span& s) {
  if (s.first && s.last) return cat(" (in ", range_words(s), ")");
  if (s.first) return cat(" (first in ", release_text(s.first), ")");
  return s.last ? cat(" (last in ", release_text(s.last), ")") : "";
}

// "3.5 (last in 11.8), 6.0 and 7.0 (last in 12.9)"
std::string with_spans(const RuleInput& in, const Issues& issues) {
  List<std::string> spans, parts;
  for (const PlanIssue* i : issues) add_once(spans, span_words(span_of(in, *i)));
  for (const std::string& span : spans) {
    List<std::string> tokens;
    for (const PlanIssue* i : issues)
      if (span_words(span_of(in, *i)) == span) add_once(tokens, i->token);
    parts.push_back(in_words(tokens) + span);
  }
  return join(parts, ", ");
}

// What one toolkit that builds them all must be.
Span common_span(const RuleInput& in, const Issues& issues) {
  Span all;
  for (const PlanIssue* i : issues) {
    const Span s = span_of(in, *i);
    all.first = std::max(all.first, s.first);
    if (s.last && (!all.last || s.last < all.last)) all.last = s.last;
  }
  return all;
}

// A GPU that is visible is among them; where they need not be asked for: each is.
bool devices_are(const RuleInput& in, const List<std::string>& tokens) {
  size_t among = 0;
  const List<const Device*> devices = visible_devices(in.facts);
  Sm sm;
  for (const Device* device : devices)
    among += capability(*device, sm) && contains(tokens, sm.dotted()) ? 1 : 0;
  return among > 0 && (among == devices.size() || (in.plan.by_user && native_asked(in)));
}

bool other_code_runs(const RuleInput& in, const Issues& issues) {
  Sm sm;
  for (const PlanIssue* i : issues)
    if (!parse_sm_dotted(i->token, sm) || best_fit(plan_images(in.plan), sm) != Fit::Native)
      return false;
  return true;
}

// Some of what is asked for is given up.
std::string way_out(const RuleInput& in, const Issues& issues, bool only_way) {
  const List<std::string> tokens = tokens_of(issues);
  if (!issues[0]->corrected.empty()) return "";
  const bool in_list =
      !issues[0]->by_user && contains(lower(in.request.arch_list.value()), "native");
  if (!only_way && !in_list && devices_are(in, tokens)) return "";
  if (issues[0]->by_user && in.plan.by_user)
    return cat("drop ", in_words(tokens),
               other_code_runs(in, issues) ? " (code of the other entries runs there)" : "");
  List<std::string> rest;
  for (const Target& target : in.plan.targets)
    if (!target.cut && !contains(tokens, target.sm.dotted())) add_once(rest, target.sm.dotted());
  const std::string targets = rest.empty() ? example_targets(in) : join(rest, ";");
  if (targets.empty()) return "";
  return cat("leave ", in_words(tokens),
             " out: ", in_list ? "write \"" : "-DTorchCudaStack_TARGETS=\"", targets,
             in_list ? "\" for native in the list" : "\"");
}

std::string needed(const Span& s) {
  if (s.first && s.last) return s.first > s.last ? "" : range_words(s);
  if (s.first) return ">= " + release_text(s.first);
  return s.last ? "<= " + release_text(s.last) : "";
}

// nvidia-smi's "CUDA Version" is often taken for that of the toolkit.
bool driver_misleads(const RuleInput& in, const Span& s) {
  return s.first && !s.last && release_in(in.facts.driver.cuda.value()) >= s.first;
}

}  // namespace

int id_of_unbuildable(const PlanIssue& i) {
  if (i.kind != IssueKind::Removed && i.kind != IssueKind::NotYetKnown &&
      i.kind != IssueKind::NoArch)
    return 0;
  // An arch that the user wrote is the user's error; one that the planner met for a target is 916.
  return !i.by_user || i.kind == IssueKind::NoArch ? 916 : i.kind == IssueKind::Removed ? 901 : 902;
}

void unbuildable(const RuleInput& in, int id, const Issues& issues, List<Finding>& out) {
  const Span span = common_span(in, issues);
  List<std::string> details;
  if (id != 916)
    for (const PlanIssue* i : issues)
      if (!i->detail.empty()) add_once(details, i->detail);
  const NearestToolkit nearest = nearest_toolkit(in, archs_of(issues));
  Finding& f = report_toolkit(
      out, id,
      {chosen_nvcc(in),
       id == 916   ? "builds nothing that runs on"
       : id == 901 ? "no longer builds"
                   : "does not know",
       with_spans(in, issues), join(details, "; "),
       way_out(in, issues, !nearest.here && !nearest.release), issues[0]->corrected,
       driver_misleads(in, span) ? "y" : "", span.last && span.first > span.last ? "y" : ""},
      nearest);
  // Without its release an nvcc that lacks an architecture does not know it.
  if (id == 901) f.consequences.push_back("TCS902");
  add_sources(in, issues, f);
  add_chosen_toolkit(in, needed(span), f);
}

}  // namespace tcs
