// SPDX-License-Identifier: Apache-2.0
// What the planner has to say, as findings: one row a kind.
#include "findings/rules/common.h"

namespace tcs {
namespace {

using IssueKind = PlanIssue::Kind;

std::string quoted(const PlanIssue& i) {
  return cat("'", tail(i.token, 120), "'");
}

void list_row(const RuleInput& in, const PlanIssue& i, Finding& f) {
  if (i.by_user && in.request.arch_list.known())
    f.evidence.push_back(
        row("arch", tail(in.request.arch_list.value(), 160), "", i.where, "arch list"));
}
void toolkit_row(const RuleInput& in, const std::string& needs, Finding& f) {
  if (const Toolkit* toolkit = in.facts.toolkit())
    f.evidence.push_back(row("toolkit", nvcc_label(*toolkit), needs,
                             toolkit->archs.known() ? toolkit->archs.from : toolkit->version.from,
                             "toolkit"));
}
std::string this_nvcc(const RuleInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  return toolkit ? nvcc_label(*toolkit) : std::string("this nvcc");
}
void correct(const PlanIssue& i, Finding& f) {
  if (!i.corrected.empty()) f.help.push_back(cat("write ", i.corrected));
}

// An arch that the user wrote is the user's error; one that the planner met for a target is 916.
void unbuildable(const RuleInput& in, const PlanIssue& i, std::vector<Finding>& out) {
  const bool removed = i.kind == IssueKind::Removed, later = i.kind == IssueKind::NotYetKnown;
  std::string history = removed && !i.range_end.empty()   ? cat(" (last in ", i.range_end, ")")
                        : later && !i.range_begin.empty() ? cat(" (first in ", i.range_begin, ")")
                                                          : "";
  Finding& f = report(out,
                      !i.by_user || i.kind == IssueKind::NoArch ? 916
                      : removed                                 ? 901
                                                                : 902,
                      cat(this_nvcc(in),
                          i.kind == IssueKind::NoArch ? " builds nothing that runs on "
                          : removed                   ? " no longer builds "
                                                      : " does not know ",
                          i.token, history));
  list_row(in, i, f);
  toolkit_row(in,
              removed && !i.range_end.empty()   ? cat("<= ", i.range_end)
              : later && !i.range_begin.empty() ? cat(">= ", i.range_begin)
                                                : "",
              f);
  if (!i.detail.empty()) f.notes.push_back(i.detail);
  if (removed && !i.range_end.empty())
    f.help.push_back(cat("use a toolkit up to CUDA ", i.range_end, ", or drop ", i.token));
  else if (later && !i.range_begin.empty())
    f.help.push_back(cat("use a toolkit from CUDA ", i.range_begin, " on, or drop ", i.token));
  else
    f.help.push_back(
        "use another toolkit, or build for other targets: -DTorchCudaStack_TARGETS=...");
  if (!i.corrected.empty()) f.help.push_back(cat("nearest that this nvcc builds: ", i.corrected));
}

struct Row {
  IssueKind kind;
  int id;
  const char *before, *after;  // around the token
  const char* help;
};
constexpr Row kRows[] = {
    {IssueKind::Malformed, 906, "the arch list holds ", ", which is not an architecture",
     "separate architectures with ; or spaces, e.g. 8.0;8.6+PTX"},
    {IssueKind::Nonsense, 905, "there is no architecture ", "",
     "nvcc --list-gpu-arch prints what this nvcc builds"},
    {IssueKind::NoSuchSuffix, 904, "there is no architecture ", ": that one has no such suffix",
     "leave the suffix out, or use one that nvcc --help lists"},
    {IssueKind::Renamed, 903, "the architecture ", " has another number in this CUDA",
     "10.1 of CUDA 12 is 11.0 from CUDA 13 on"},
    {IssueKind::UnknownName, 907, "", " is neither an architecture nor a GPU that is known",
     "give the capability as a number, e.g. 8.6"},
    {IssueKind::NoMember, 917, "this nvcc builds none of the architectures that ", " stands for",
     "name architectures by number, or use another toolkit"},
    {IssueKind::NameCut, 918, "of ", " only what this nvcc builds is taken", ""},
    {IssueKind::BareNumber, 919, "", " is read as a capability", ""},
    {IssueKind::NotWhatNvccHas, 921, "",
     " is taken as the default targets: PyTorch's list of that name is not what nvcc builds", ""},
    {IssueKind::NearestArch, 912, "this nvcc does not know ",
     " itself; it is served by the nearest that it builds",
     "use a toolkit that knows the device, for its own code"},
    {IssueKind::SuffixPtx, 913, "the PTX of ", " does not run on later devices",
     "add PTX of a plain architecture, e.g. 9.0+PTX, for devices to come"},
    {IssueKind::TorchPythonToken, 914, "torch.utils.cpp_extension of this PyTorch does not know ",
     "", "hand nvcc the flags instead: tcstack plan --emit cpp-extension"},
    {IssueKind::ListsDiffer, 915, "two architecture lists differ: ", "",
     "set only one of them, or both alike"},
    {IssueKind::DefaultTargets, 910,
     "no GPU and no target: building for what PyTorch has images for", "", ""},
    {IssueKind::Empty, 908, "no architecture is left to build for", "",
     "say what to build for: -DTorchCudaStack_TARGETS=\"8.6;9.0\""},
    {IssueKind::UnknownTorch, 691,
     "the targets are PyTorch's own, and its kernel images are unknown", "",
     "read them: tcstack images <torch>/lib/libtorch_cuda.so"},
    {IssueKind::UnknownToolkit, 391,
     "the list was not checked: it is unknown what this nvcc builds", "",
     "ask it: nvcc --list-gpu-arch"},
};

// The targets that nobody named came to nothing: the empty plan says so.
bool default_without_member(const RuleInput& in, const PlanIssue& i) {
  return i.kind == IssueKind::NoMember && !i.by_user && in.plan.gencodes.empty();
}

void plain_issue(const RuleInput& in, const PlanIssue& i, const Row& r, std::vector<Finding>& out) {
  const bool wordless = i.kind == IssueKind::DefaultTargets || i.kind == IssueKind::Empty ||
                        i.kind == IssueKind::UnknownTorch || i.kind == IssueKind::UnknownToolkit;
  std::string token = wordless || i.token.empty() ? std::string()
                      : i.kind == IssueKind::ListsDiffer
                          ? cat(quoted(i), " and '", tail(i.detail, 120), "'")
                          : quoted(i);
  Finding& f = report(out, r.id, cat(r.before, token, r.after));
  if (i.kind == IssueKind::TorchPythonToken && i.by_user) f.severity = Severity::Warning;
  list_row(in, i, f);
  if (i.kind == IssueKind::NoMember || i.kind == IssueKind::NameCut ||
      i.kind == IssueKind::NearestArch || i.kind == IssueKind::Renamed)
    toolkit_row(in, "", f);
  const bool said = i.kind == IssueKind::ListsDiffer || i.kind == IssueKind::TorchPythonToken ||
                    i.kind == IssueKind::DefaultTargets;
  if (!i.detail.empty() && !said) f.notes.push_back(i.detail);
  for (const auto& other : in.plan.issues)
    if (i.kind == IssueKind::Empty && default_without_member(in, other))
      f.notes.push_back(other.detail);
  if (i.position >= 0 && i.by_user)
    f.notes.push_back(
        cat("at character ", i.position + 1, " of ", i.where.empty() ? "the list" : i.where));
  correct(i, f);
  if (*r.help && (i.corrected.empty() || i.kind == IssueKind::Renamed)) f.help.push_back(r.help);
}

}  // namespace

void rule_plan_issues(const RuleInput& in, std::vector<Finding>& out) {
  if (!builds(in)) return;  // nothing is compiled: the plan is not used
  for (const auto& issue : in.plan.issues) {
    // The device rules say these with more behind them.
    if (issue.kind == IssueKind::NoVisibleDevice || issue.kind == IssueKind::UnknownDevice)
      continue;
    if (issue.kind == IssueKind::Empty && !in.plan.complete) continue;  // unknown is not none
    if (default_without_member(in, issue)) continue;
    if (issue.kind == IssueKind::Removed || issue.kind == IssueKind::NotYetKnown ||
        issue.kind == IssueKind::NoArch) {
      unbuildable(in, issue, out);
      continue;
    }
    for (const auto& r : kRows)
      if (r.kind == issue.kind) plain_issue(in, issue, r, out);
  }
}

}  // namespace tcs
