// SPDX-License-Identifier: Apache-2.0
// What the planner has to say, as findings: one row a kind.
#include "findings/rules/common.h"

namespace tcs {
namespace {

using IssueKind = PlanIssue::Kind;

std::string quoted(const std::string& text) {
  return cat("'", tail(text, 120), "'");
}

// Targets are written by the user too, beside a list or without one.
bool of_targets(const RuleInput& in, const PlanIssue& i) {
  return in.request.targets_known &&
         (!in.request.arch_list.known() ||
          (!in.request.targets_from.empty() && i.where == in.request.targets_from));
}
void add_list(const RuleInput& in, const PlanIssue& i, Finding& f) {
  if (i.by_user && of_targets(in, i))
    add(f, "target", tail(join(in.request.targets, ";"), 160), "", i.where);
  else if (i.by_user && in.request.arch_list.known())
    add(f, "arch", tail(in.request.arch_list.value(), 160), "", i.where);
}
void add_toolkit(const RuleInput& in, const std::string& needs, Finding& f) {
  if (const Toolkit* t = in.facts.toolkit())
    add(f, "toolkit", nvcc_label(*t), needs, t->archs.known() ? t->archs.from : t->version.from);
}
std::string this_nvcc(const RuleInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  return toolkit ? nvcc_label(*toolkit) : std::string("this nvcc");
}
// When nvcc did build, or will build, `token`; the planner says it only of single entries of a
// list.
struct History {
  std::string last, first;
};
History history_of(const RuleInput& in, const PlanIssue& i) {
  if (i.kind != IssueKind::NoArch) return {i.range_end, i.range_begin};
  const Toolkit* t = in.facts.toolkit();
  const int nvcc = t ? release_of(Version::parse(t->version.value())) : 0;
  Sm sm;
  const ArchRow* row = parse_sm_dotted(i.token, sm) ? find_arch(sm) : nullptr;
  if (!row || nvcc == 0) return {};
  return {row->last != 0 && nvcc > row->last ? release_text(row->last) : "",
          nvcc < row->first ? release_text(row->first) : ""};
}

// An arch that the user wrote is the user's error; one that the planner met for a target is 916.
void unbuildable(const RuleInput& in, const PlanIssue& i, List<Finding>& out) {
  const History history = history_of(in, i);
  const bool removed = i.kind == IssueKind::Removed, none = i.kind == IssueKind::NoArch;
  const bool early = i.kind == IssueKind::NotYetKnown && !history.first.empty();
  const std::string releases =
      history.last.empty() ? history.first : history.first + " to " + history.last;
  const std::string token =
      i.token + (early ? (history.last.empty() ? " (first in " : " (in ") + releases + ")"
                 : !history.last.empty()  ? " (last in " + history.last + ")"
                 : !history.first.empty() ? " (first in " + history.first + ")"
                                          : "");
  std::string way = "use another toolkit, or build for other targets: -DTorchCudaStack_TARGETS=...",
              needs;
  if (early && !history.last.empty()) {
    needs = releases;
    way = cat("use a toolkit of CUDA ", releases, ", or drop ", i.token);
  } else if (!early && !history.last.empty()) {
    needs = "<= " + history.last;
    way = cat("use a toolkit up to CUDA ", history.last,
              i.corrected.empty() ? ", or drop " + i.token : "");
  } else if (!history.first.empty()) {
    needs = ">= " + history.first;
    way = cat("use a toolkit of CUDA ", history.first, " or newer, or drop ", i.token);
  }
  Finding& f = report(out,
                      !i.by_user || none ? 916
                      : removed          ? 901
                                         : 902,
                      {this_nvcc(in),
                       none      ? "builds nothing that runs on"
                       : removed ? "no longer builds"
                                 : "does not know",
                       token, none ? "" : i.detail, way, i.corrected});
  // Without its release an nvcc that lacks an architecture does not know it.
  if (f.id == 901) f.consequences.push_back("TCS902");
  add_list(in, i, f);
  add_toolkit(in, needs, f);
}

struct IssueRow {
  IssueKind kind;
  int id;
};
constexpr IssueRow kIssues[] = {
    {IssueKind::Malformed, 906},      {IssueKind::Nonsense, 905},
    {IssueKind::NoSuchSuffix, 904},   {IssueKind::Renamed, 903},
    {IssueKind::UnknownName, 907},    {IssueKind::NoMember, 917},
    {IssueKind::NameCut, 918},        {IssueKind::BareNumber, 919},
    {IssueKind::NotWhatNvccHas, 921}, {IssueKind::NearestArch, 912},
    {IssueKind::SuffixPtx, 913},      {IssueKind::TorchPythonToken, 914},
    {IssueKind::ListsDiffer, 915},    {IssueKind::DefaultTargets, 910},
    {IssueKind::Empty, 908},          {IssueKind::UnknownToolkit, 391},
};

// The targets that nobody named came to nothing: the empty plan says so.
bool default_without_member(const RuleInput& in, const PlanIssue& i) {
  return i.kind == IssueKind::NoMember && !i.by_user && in.plan.gencodes.empty();
}

// Where one id has several.
std::string headline(const RuleInput& in, const PlanIssue& i) {
  const std::string where = of_targets(in, i) ? "the targets hold " : "the arch list holds ";
  if (i.kind == IssueKind::UnknownName && find_gpu(i.token))
    return where + quoted(i.token) + ", a GPU; a list takes its capability";
  if (i.kind == IssueKind::UnknownName)
    return quoted(i.token) + " is neither an architecture nor a GPU that is known";
  if (i.kind == IssueKind::Malformed && i.position < 0) return i.detail;  // too long, as a whole
  if (i.kind == IssueKind::Malformed)
    return where + quoted(i.token) + ", which is not an architecture";
  return "";
}

// The list that a build tree keeps, and the one that the shell or the command line now says.
void lists_differ(const PlanIssue& i, List<Finding>& out) {
  const std::string name = i.where.substr(0, i.where.find(' '));
  const std::string other = i.other_where.substr(0, i.other_where.find(' '));
  const bool kept = contains(i.where, "(CMake variable)");
  const bool shell = contains(i.other_where, "(environment)");
  Finding& f = report(out, 915,
                      {i.where, quoted(i.token), i.other_where, quoted(i.detail), kept ? name : "",
                       shell ? other : "", kept || shell ? "" : "y"});
  add(f, "arch", tail(i.token, 160), "", i.where);
  add(f, shell ? "environment" : "arch", tail(i.detail, 160), "", i.other_where);
}

void plain_issue(const RuleInput& in, const PlanIssue& i, int id, List<Finding>& out) {
  if (i.kind == IssueKind::ListsDiffer) return lists_differ(i, out);
  const bool renamed = i.kind == IssueKind::Renamed;
  std::string detail = i.detail;
  for (const auto& other : in.plan.issues)
    if (i.kind == IssueKind::Empty && default_without_member(in, other)) detail = other.detail;
  // Of targets the position is that in one of them.
  const std::string place =
      i.position >= 0 && i.by_user && !of_targets(in, i)
          ? cat("at character ", i.position + 1, " of ", i.where.empty() ? "the list" : i.where)
          : "";
  Finding& f = report(out, id,
                      {quoted(i.token), detail, place, i.corrected, i.corrected.empty() ? "y" : "",
                       quoted(i.detail), headline(in, i)});
  if (i.kind == IssueKind::UnknownToolkit) f.missing.push_back("toolkits.list[].archs");
  if (i.kind == IssueKind::TorchPythonToken && i.by_user) f.severity = Severity::Warning;
  if (renamed) f.consequences.push_back("TCS902");  // as with 901
  add_list(in, i, f);
  if (i.kind == IssueKind::NoMember || i.kind == IssueKind::NameCut ||
      i.kind == IssueKind::NearestArch || renamed)
    add_toolkit(in, "", f);
}

// Then its finding names what it builds as well.
bool release_unknown(const RuleInput& in) {
  const Toolkit* t = in.facts.toolkit();
  return t && !t->version.known() && !t->works.is(false);
}

}  // namespace

void rule_plan_issues(const RuleInput& in, List<Finding>& out) {
  if (!builds(in)) {  // nothing is compiled: the plan is not used
    for (const std::string& target : in.request.targets)
      if (starts_with(lower(target), "all") && in.plan.archs_from.empty())
        missing(out, 390,
                in.facts.toolkit()             ? "toolkits.list[].archs"
                : in.facts.toolkits.list_known ? "toolkits.selected"
                                               : "toolkits.list",
                "what the targets 'all' are");
    return;
  }
  for (const auto& issue : in.plan.issues) {
    // The device rules say these with more behind them.
    if (issue.kind == IssueKind::NoVisibleDevice || issue.kind == IssueKind::UnknownDevice)
      continue;
    if (issue.kind == IssueKind::Empty && !in.plan.complete) {  // unknown is not none
      if (!in.facts.driver.state.known())
        missing(out, 290, "driver.state", "whether there is a GPU to build for",
                in.facts.driver.reason);
      continue;
    }
    if (issue.kind == IssueKind::DefaultTargets && in.plan.gencodes.empty()) continue;
    if (default_without_member(in, issue)) continue;
    if (issue.kind == IssueKind::Removed || issue.kind == IssueKind::NotYetKnown ||
        issue.kind == IssueKind::NoArch) {
      unbuildable(in, issue, out);
      continue;
    }
    if (issue.kind == IssueKind::UnknownTorch) {
      missing(out, 691, "torch.images", "what the targets 'torch' are", issue.detail);
      if (!in.facts.torch.libraries.empty())  // and they do not tell
        missing(out, 691, "torch.libraries", "what the targets 'torch' are");
      continue;
    }
    if (issue.kind == IssueKind::UnknownToolkit && release_unknown(in)) {
      missing(out, 390, "toolkits.list[].archs", "what this nvcc builds");
      continue;
    }
    for (const auto& row : kIssues)
      if (row.kind == issue.kind) plain_issue(in, issue, row.id, out);
  }
}

}  // namespace tcs
