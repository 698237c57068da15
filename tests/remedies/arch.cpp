// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/arch.def does.
#include "base/text.h"
#include "facts/devices.h"
#include "plan/plan.h"
#include "remedy.h"

namespace tcs::remedies {
namespace {

using W = const Words&;
using Kind = PlanIssue::Kind;

std::string quoted(const std::string& text) {
  const size_t from = text.find('"') + 1;
  return text.substr(from, text.find('"', from) - from);
}

void set_list(Machine& m, const List<std::string>& tokens) {
  m.request.arch_list = tokens.empty() ? Text() : Text(join(tokens, ";"), m.request.arch_list.from);
}

// `text` stands where `token` was written, in the list or among the targets; "": nothing does.
void replace(Machine& m, const std::string& token, const std::string& text) {
  List<std::string> tokens, targets;
  for (const std::string& word : split(m.request.arch_list.value(), "; \t"))
    if (word != token)
      tokens.push_back(word);
    else if (!text.empty())
      tokens.push_back(text);
  for (const std::string& target : m.request.targets)
    if (target != token)
      targets.push_back(target);
    else if (!text.empty())
      targets.push_back(text);
  if (m.request.arch_list.known()) set_list(m, tokens);
  m.request.targets = targets;
}

// "write "8.6" for '86', ...": each where the planner found the other.
void write_3(Machine& m, W w) {
  for (const PlanIssue& issue : make_plan(m.facts, m.request).issues)
    if (!issue.corrected.empty() && contains(w[3], cat("\"", issue.corrected, "\"")))
      replace(m, issue.token, issue.corrected);
}

void write_5(Machine& m, W w) {
  for (const PlanIssue& issue : make_plan(m.facts, m.request).issues)
    if (issue.corrected == w[5]) replace(m, issue.token, issue.corrected);
}

// A capability that is here, else any, in the place of what none is.
void write_number(Machine& m, W) {
  std::string cc = "8.6";
  for (const Device& device : m.facts.devices.list)
    if (is_in_use(device) && device.cc.known()) cc = device.cc.value();
  for (const PlanIssue& issue : make_plan(m.facts, m.request).issues)
    if (issue.kind == Kind::Malformed || issue.kind == Kind::Nonsense ||
        issue.kind == Kind::UnknownName) {
      if (m.request.arch_list.is(issue.token) || issue.position < 0) set_list(m, {cc});
      replace(m, issue.token, cc);
    }
}

void write_whole_3(Machine& m, W w) {
  if (m.request.arch_list.known())
    write_list(m, quoted(w[3]));
  else
    for_targets(m, quoted(w[3]));
}

// "drop 5.0 and 6.0 ...", "leave 6.1 out: -DTorchCudaStack_TARGETS="8.6"".
void give_up_4(Machine& m, W w) {
  if (ends_with(w[4], " for native in the list"))
    return write_list(m, replace_all(m.request.arch_list.value(), "native", quoted(w[4])));
  if (starts_with(w[4], "leave ")) return for_targets(m, quoted(w[4]));
  for (const PlanIssue& issue : make_plan(m.facts, m.request).issues)
    if (issue.kind == Kind::Removed || issue.kind == Kind::NotYetKnown) replace(m, issue.token, "");
}

void targets_5(Machine& m, W w) {
  m.request.arch_list = Text();
  for_targets(m, w[5]);
}

// Of a plan that was not the user's: a list that says the same and more.
void add_to_list(Machine& m, const std::string& more) {
  const std::string list = m.request.arch_list.known()
                               ? m.request.arch_list.value()
                               : torch_list(make_plan(m.facts, m.request)).text;
  write_list(m, cat(list, ";", replace_all(more, "\"", "")));
}

void add_6_with_toolkit(Machine& m, W w) {
  take_toolkit(m, w);
  add_to_list(m, w[6]);
}

// To the oldest plain entry that has none.
void ptx_to_older(Machine& m, W) {
  List<std::string> tokens = split(m.request.arch_list.value(), "; \t");
  for (std::string& token : tokens) {
    if (contains(token, "+") || ends_with(token, "a") || ends_with(token, "f")) continue;
    token += m.request.arch_dialect == "cmake" ? "-virtual" : "+PTX";
    break;
  }
  set_list(m, tokens);
}

void forget_kept(Machine& m, W) {
  m.request.arch_list = m.request.other_list;
  m.request.arch_dialect = m.request.other_dialect;
  m.request.other_list = Text();
}

void one_list(Machine& m, W w) {
  if (!w[5].empty()) unset(m, w[5]);
  m.request.other_list = Text();
}

void numbers_5(Machine& m, W w) {
  for (const PlanIssue& issue : make_plan(m.facts, m.request).issues)
    if (issue.kind == Kind::NoMember) replace(m, issue.token, w[5]);
}

// Then that parser reads no list. A note says it for those who would.
void hand_flags(Machine& m, W) {
  m.looked = true;
  for (const PlanIssue& issue : make_plan(m.facts, m.request).issues)
    if (issue.kind == Kind::TorchPythonToken && issue.by_user) m.looked = false;
  allow(m, "TCS914");
}

// What the driver's error number asks for: some of it is for the board, not for a recording.
void mend_driver(Machine& m, W) {
  m.looked = true;
}

// What is configured anew is configured for what is asked for now.
void configure_anew(Machine& m, W) {
  m.facts.tree.build.path = "none";
}

void build_what_it_has(Machine& m, W w) {
  write_list(m, w[4]);
}

void learn_tree(Machine& m, W) {
  m.forgot = true;
  TreeFacts& tree = m.facts.tree;
  tree.state = "found";
  if (!tree.cuda_min.known()) tree.cuda_min = "11.0";
  if (!tree.gcc_min.known()) tree.gcc_min = "none";
  tree.build.path = "none";
}

}  // namespace

Effects arch_effects() {
  Effects all = {
      {924, "have it configured anew: {2}", Way::Mends, configure_anew},
      {924, "have it configured anew: --cmake", Way::Mends, configure_anew},
      {924, "have it configured anew: rm", Way::Mends, configure_anew},
      {924, "build what it has", Way::Mends, build_what_it_has},
      {925, "name the tree", Way::Mends, learn_tree},
      {901, "write {5}", Way::Mends, write_5},
      {901, "{4}", Way::Mends, give_up_4},
      {902, "write {5}", Way::Mends, write_5},
      {902, "{4}", Way::Mends, give_up_4},
      {903, "use the toolkit", Way::Mends, take_toolkit},
      {903, "install CUDA", Way::Mends, take_toolkit},
      {903, "write {3}", Way::Mends, write_3},
      {904, "write {3}", Way::Mends, write_3},
      {905, "write {3}", Way::Mends, write_3},
      {905, "write the GPU's", Way::Mends, write_number},
      {905, "nvcc --list-gpu-arch", Way::Looks, nullptr},
      {906, "write {3}", Way::Mends, write_3},
      {906, "separate", Way::Mends, write_number},
      {907, "write {3}", Way::Mends, write_3},
      {907, "give the capability", Way::Mends, write_number},
      {908, "say what", Way::Mends, targets_5},
      {908, "install {3}", Way::Mends, [](Machine& m, W w) { take_torch(m, w[3]); }},
      {909, "add {1}", Way::Mends, [](Machine& m, W w) { add_to_list(m, w[1]); }},
      {909, "add {6} to the list, and use", Way::Mends, add_6_with_toolkit},
      {909, "add {6} to the list, and install", Way::Mends, add_6_with_toolkit},
      {909, "add +PTX", Way::Mends, ptx_to_older},
      {909, "leave it", Way::Eases, [](Machine& m, W) { allow(m, "TCS909"); }},
      {910, "say what", Way::Mends, targets_5},
      {911, "add {3}", Way::Mends, [](Machine& m, W w) { add_to_list(m, w[3]); }},
      {911, "add +PTX", Way::Mends, ptx_to_older},
      {911, "try one kernel", Way::Looks, nullptr},
      {912, "for its own code use", Way::Mends, take_toolkit},
      {912, "for its own code install", Way::Mends, take_toolkit},
      {912, "leave it", Way::Eases, [](Machine& m, W) { allow(m, "TCS912"); }},
      {913, "add PTX", Way::Mends, [](Machine& m, W w) { add_to_list(m, w[3]); }},
      {914, "hand nvcc", Way::Eases, hand_flags},
      {915, "to forget", Way::Mends, forget_kept},
      {915, "unset {5}", Way::Mends, one_list},
      {915, "set only", Way::Mends, one_list},
      {916, "{4}", Way::Mends, give_up_4},
      {917, "name architectures", Way::Mends, numbers_5},
      {917, "nvcc --list-gpu-arch", Way::Looks, nullptr},
      {919, "write {3}", Way::Mends, write_3},
      {920, "see whether", Way::Looks, nullptr},
      {921, "write {3}", Way::Mends, write_whole_3},
      {923, "write {3}", Way::Mends, write_3},
      {922, "add {6}", Way::Eases,
       [](Machine& m, W w) {
         m.forgot = true;  // it was not tried
         add_to_list(m, w[6]);
       }},
      {922, "{7}", Way::Mends, mend_driver},
      {922, "code that fits", Way::Looks, nullptr},
      {922, "building for other", Way::Eases,
       [](Machine& m, W w) {
         m.request.arch_list = Text();
         m.forgot = true;  // whether other images run was not tried
         for_targets(m, w[9]);
       }},
  };
  for (const int id : {901, 902, 916, 917, 918}) {
    all.push_back({id, "use the toolkit", Way::Mends, take_toolkit});
    all.push_back({id, "install CUDA", Way::Mends, take_toolkit});
  }
  return all;
}

}  // namespace tcs::remedies
