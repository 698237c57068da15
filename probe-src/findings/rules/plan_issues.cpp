// SPDX-License-Identifier: Apache-2.0
// What the planner has to say, as findings: one row a kind.
#include "findings/rules/plan_issues.h"
#include "findings/nearest_torch.h"

#include <algorithm>

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

// An nvcc whose release is unknown: then its finding names what it builds as well.
bool release_unknown(const RuleInput& in) {
  const Toolkit* t = in.facts.toolkit();
  return t && !t->version.known() && !t->works.is(false);
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
    {IssueKind::FamilyTwice, 923},
};

// The targets that nobody named came to nothing: the empty plan says so.
bool default_without_member(const RuleInput& in, const PlanIssue& i) {
  return i.kind == IssueKind::NoMember && !i.by_user && in.plan.gencodes.empty();
}

std::string unknown_names(const std::string& where, const std::string& words,
                          const Issues& issues) {
  const bool one = issues.size() == 1;
  size_t gpus = 0, several = 0;
  for (const PlanIssue* i : issues) {
    const size_t named = gpus_named(i->token).size();
    gpus += named == 1 ? 1 : 0;
    several += named > 1 ? 1 : 0;
  }
  if (gpus == issues.size())
    return where + words +
           (one ? ", a GPU; a list takes its capability" : ", GPUs; a list takes capabilities");
  if (several == issues.size())
    return words + (one ? " names" : " name") + " GPUs of more than one capability";
  if (gpus + several != 0) return words + " are no architectures";
  return words + (one ? " is neither an architecture nor a GPU that is known"
                      : " are neither architectures nor GPUs that are known");
}

// Nothing of the plan but PTX runs on it.
bool only_ptx_serves(const RuleInput& in, const PlanIssue& i) {
  Sm sm;
  return parse_sm_dotted(i.token, sm) && best_fit(plan_images(in.plan), sm) != Fit::Native;
}

// Code of its own family, 12.0 for 12.1: the chips of one differ in little, and nothing is lost. Of
// another generation of its major (8.6 for 8.9) it runs, and does not use what is new.
bool family_serves(const RuleInput& in, const PlanIssue& i) {
  Sm sm;
  if (!parse_sm_dotted(i.token, sm)) return false;
  for (const Image& image : plan_images(in.plan)) {
    const Image family = {{image.sm.major, image.sm.minor, 'f'}, false};
    if (!image.ptx && find_arch(family.sm) && fits(image, sm) == Fit::Native &&
        fits(family, sm) == Fit::Native)
      return true;
  }
  return false;
}

std::string nearest_words(const RuleInput& in, const Issues& issues) {
  size_t ptx = 0;
  for (const PlanIssue* i : issues) ptx += only_ptx_serves(in, *i) ? 1 : 0;
  if (ptx == issues.size())
    return issues.size() == 1 ? "only PTX serves it" : "only PTX serves them";
  return issues.size() == 1 ? "the nearest that it builds serves it"
                            : "the nearest that it builds serves them";
}

// Where one id has several.
std::string headline(const RuleInput& in, const std::string& words, const Issues& issues) {
  const PlanIssue& i = *issues[0];
  const std::string where = of_targets(in, i) ? "the targets hold " : "the arch list holds ";
  if (i.kind == IssueKind::UnknownName) return unknown_names(where, words, issues);
  if (i.kind == IssueKind::Malformed && i.position < 0) return i.detail;  // too long, as a whole
  if (i.kind == IssueKind::Malformed)
    return where + words +
           (issues.size() == 1 ? ", which is not an architecture"
                               : ", which are not architectures");
  return i.kind == IssueKind::NearestArch ? nearest_words(in, issues) : "";
}

// The first ones of many.
std::string few_words(List<std::string> words, const char* last = "and") {
  constexpr size_t kMost = 6;
  if (words.size() <= kMost) return in_words(words, last);
  List<std::string> few;
  for (size_t i = 0; i + 1 < kMost; ++i) few.push_back(words[i]);
  few.push_back(cat(words.size() - few.size(), " more"));
  return in_words(few, last);
}

// What is written in the place of each: "8.6"; of several: "8.6" for '8.6+ptx', "Ada" for 'ada'.
std::string corrections(const Issues& issues) {
  List<std::string> out;
  for (const PlanIssue* i : issues)
    if (!i->corrected.empty())
      add_once(out, issues.size() == 1 ? cat("\"", i->corrected, "\"")
                                       : cat("\"", i->corrected, "\" for ", quoted(i->token)));
  return join(out, ", ");
}

bool all_corrected(const Issues& issues) {
  for (const PlanIssue* i : issues)
    if (i->corrected.empty()) return false;
  return true;
}

// What is said of each; once, where it is the same of several.
List<std::string> details_of(const Issues& issues) {
  List<std::string> pieces, out;
  for (const PlanIssue* i : issues) {
    // "...; 2 more entries are refused": the last one speaks for those that are not listed.
    const size_t more =
        ends_with(i->detail, " are refused") ? i->detail.rfind("; ") : std::string::npos;
    if (!i->detail.empty()) add_once(pieces, i->detail.substr(0, more));
    if (more != std::string::npos) add_once(pieces, i->detail.substr(more + 2));
  }
  for (const std::string& piece : pieces) {
    List<std::string> tokens;
    for (const PlanIssue* i : issues)
      if (contains(i->detail, piece)) add_once(tokens, i->token);
    const bool alone = pieces.size() == 1 || tokens.size() == tokens_of(issues).size() ||
                       contains(piece, tokens[0]) || ends_with(piece, " are refused");
    out.push_back(alone ? piece : cat(few_words(tokens), ": ", piece));
  }
  return out;
}

// Where in a list of several entries; of targets the position is that in one of them.
std::string place_of(const RuleInput& in, const Issues& issues) {
  List<std::string> at;
  for (const PlanIssue* i : issues)
    if (i->position >= 0 && i->by_user && !of_targets(in, *i)) add_once(at, cat(i->position + 1));
  if (at.empty() || split(in.request.arch_list.value(), "; \t").size() < 2) return "";
  const std::string& where = issues[0]->where;
  return cat(at.size() == 1 ? "at character " : "at characters ", few_words(at), " of ",
             where.empty() ? "the list" : where);
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

// One chip with two numbers: a device that is here takes code of the number that it reports.
bool reported_by_device(const RuleInput& in, const PlanIssue& i) {
  Sm own, written;
  if (i.kind != IssueKind::Renamed || !parse_sm_dotted(i.token, written)) return false;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, own) && own == written.base()) return true;
  return false;
}

// The numbers that devices here report, where the other ones were written.
List<Sm> reported_numbers(const RuleInput& in, const Issues& issues) {
  List<Sm> out;
  Sm sm;
  for (const PlanIssue* i : issues)
    if (reported_by_device(in, *i) && parse_sm_dotted(i->token, sm)) out.push_back(sm);
  return out;
}

// What is but noted is no reason for a toolkit of another release than PyTorch's.
NearestToolkit keeping_to_torch(const RuleInput& in, NearestToolkit nearest) {
  const Version cuda = Version::parse(in.facts.torch.cuda.value());
  if (!cuda.known()) return nearest;
  if (nearest.release != release_of(cuda)) nearest.release = 0;
  if (nearest.here && !same_release(Version::parse(nearest.here->version.value()), cuda))
    nearest.here = nullptr;
  return nearest;
}

void plain_issue(const RuleInput& in, const Issues& issues, int id, List<Finding>& out) {
  const PlanIssue& i = *issues[0];
  List<std::string> words, details = details_of(issues);
  for (const std::string& tokens : tokens_of(issues))
    if (i.kind == IssueKind::TorchPythonToken)  // several in one
      for (const std::string& token : split(tokens, " ")) words.push_back(quoted(token));
    else
      words.push_back(quoted(tokens));
  const bool any = i.kind == IssueKind::NoSuchSuffix || i.kind == IssueKind::Nonsense ||
                   i.kind == IssueKind::NoMember;
  const std::string all = few_words(words, any ? "or" : "and");
  for (const auto& other : in.plan.issues)
    if (i.kind == IssueKind::Empty && default_without_member(in, other)) details = {other.detail};
  // Of a device: the toolkit that has its number, or that knows it.
  const List<Sm> number = reported_numbers(in, issues);
  NearestToolkit nearest;
  if (i.kind == IssueKind::NearestArch)
    nearest = nearest_toolkit(in, archs_of(issues));
  else if (!number.empty() || i.kind == IssueKind::NoMember)
    nearest = nearest_toolkit(in, number);
  else if (i.kind == IssueKind::NameCut && lower(i.token) != "torch")
    nearest = keeping_to_torch(in, nearest_toolkit(in));
  std::string instead = number.empty() ? corrections(issues) : "";
  if (i.kind == IssueKind::NotWhatNvccHas && !in.plan.gencodes.empty())
    instead = cat("\"", torch_list(in.plan).text, "\"");
  const std::string example = example_targets(in);
  if (const Toolkit* t = in.facts.toolkit(); t && i.kind == IssueKind::Empty && example.empty())
    if (const TorchRow* row =
            nearest_torch(in, {{}, Version::parse(t->version.value()).major(), 0}))
      instead = cat(torch_named(*row), ": ", install_line(*row, in.facts));
  Finding& f = report_toolkit(out, id,
                              {all, details.empty() ? "" : details[0], place_of(in, issues),
                               instead, all_corrected(issues) || !number.empty() ? "" : "y",
                               i.kind == IssueKind::Renamed ? (number.empty() ? "" : "y") : example,
                               headline(in, all, issues), chosen_nvcc(in)},
                              nearest);
  if (details.size() > 1 && !f.notes.empty() && f.notes[0] == details[0]) {
    for (size_t n = 1; n < f.notes.size(); ++n) details.push_back(f.notes[n]);
    f.notes = details;
  }
  if (i.kind == IssueKind::UnknownToolkit) f.missing.push_back("toolkits.list[].archs");
  bool sound = i.kind == IssueKind::NearestArch;
  for (const PlanIssue* issue : issues) sound = sound && family_serves(in, *issue);
  if (sound) f.severity = Severity::Note;
  if (i.kind == IssueKind::TorchPythonToken && i.by_user) f.severity = Severity::Warning;
  if (i.kind == IssueKind::Renamed) f.consequences.push_back("TCS902");  // as with 901
  add_sources(in, issues, f);
  if (i.kind == IssueKind::NoMember || i.kind == IssueKind::NameCut ||
      i.kind == IssueKind::NearestArch || i.kind == IssueKind::Renamed)
    add_chosen_toolkit(in, "", f);
}

void unknown_torch(const RuleInput& in, const PlanIssue& i, List<Finding>& out) {
  missing(out, 691, "torch.images", "what the targets 'torch' are", i.detail);
  if (!in.facts.torch.libraries.empty())  // and they do not tell
    missing(out, 691, "torch.libraries", "what the targets 'torch' are");
}

// Nobody named anything: what other tools read of it is nobody's question.
bool by_default(const Plan& plan) {
  for (const auto& issue : plan.issues)
    if (issue.kind == IssueKind::DefaultTargets) return true;
  return false;
}

// It serves the devices to come.
bool has_plain_ptx(const Plan& plan) {
  for (const Gencode& gencode : plan.gencodes)
    if (gencode.ptx && gencode.virt.plain()) return true;
  return false;
}

// True when it is told in another way, or not at all.
bool told_otherwise(const RuleInput& in, const PlanIssue& i, List<Finding>& out) {
  // The device rules say these with more behind them.
  if (i.kind == IssueKind::NoVisibleDevice || i.kind == IssueKind::UnknownDevice) return true;
  if (i.kind == IssueKind::Empty && !in.plan.complete) {  // unknown is not none
    if (!in.facts.driver.state.known())
      missing(out, 290, "driver.state", "whether there is a GPU to build for",
              in.facts.driver.reason);
    return true;
  }
  if (i.kind == IssueKind::DefaultTargets && in.plan.gencodes.empty()) return true;
  if (i.kind == IssueKind::SuffixPtx && has_plain_ptx(in.plan)) return true;
  if (i.kind == IssueKind::TorchPythonToken && !i.by_user && by_default(in.plan)) return true;
  if (i.kind == IssueKind::UnknownTorch) return unknown_torch(in, i, out), true;
  if (i.kind == IssueKind::UnknownToolkit && release_unknown(in))
    return missing(out, 390, "toolkits.list[].archs", "what this nvcc builds"), true;
  if (i.kind == IssueKind::ListsDiffer) return lists_differ(i, out), true;
  return default_without_member(in, i);
}

int id_of(const PlanIssue& issue) {
  for (const auto& row : kIssues)
    if (row.kind == issue.kind) return row.id;
  return id_of_unbuildable(issue);
}

// One finding: those of one id. What PyTorch's parser lacks is a warning or a note.
bool together(const PlanIssue& a, const PlanIssue& b) {
  return id_of(a) == id_of(b) &&
         (a.kind != IssueKind::TorchPythonToken || a.by_user == b.by_user) &&
         (a.kind != IssueKind::Malformed || (a.position < 0) == (b.position < 0));
}

}  // namespace

List<std::string> tokens_of(const Issues& issues) {
  List<std::string> out;
  for (const PlanIssue* i : issues) add_once(out, i->token);
  return out;
}

List<Sm> archs_of(const Issues& issues) {
  List<Sm> out;
  Sm sm;
  for (const PlanIssue* i : issues)
    for (const std::string& part : split(i->token, "()+"))
      if (parse_sm_dotted(part, sm)) out.push_back(sm);
  return out;
}

std::string chosen_nvcc(const RuleInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  return toolkit ? nvcc_label(*toolkit) : std::string("this nvcc");
}

void add_chosen_toolkit(const RuleInput& in, const std::string& needs, Finding& f) {
  if (const Toolkit* t = in.facts.toolkit())
    add(f, "toolkit", nvcc_label(*t), needs, t->archs.known() ? t->archs.from : t->version.from);
}

void add_sources(const RuleInput& in, const Issues& issues, Finding& f) {
  List<std::string> done;
  List<const Device*> devices;
  for (const PlanIssue* i : issues) {
    const bool targets = of_targets(in, *i);
    const std::string key = cat(targets, " ", i->where);
    Sm sm;
    for (const Device* device : visible_devices(in.facts))
      if (!i->by_user && capability(*device, sm) && sm.dotted() == i->token)
        add_once(devices, device);
    if (!i->by_user || contains(done, key)) continue;
    done.push_back(key);
    if (targets)
      add(f, "target", tail(join(in.request.targets, ";"), 160), "", i->where);
    else if (in.request.arch_list.known())
      add(f, "arch", tail(in.request.arch_list.value(), 160), "", i->where);
  }
  if (!devices.empty()) add_devices(f, devices);
}

void rule_plan_issues(const RuleInput& in, List<Finding>& out) {
  if (!builds(in)) {  // nothing is compiled: of the plan only its targets are used
    Issues names;
    for (const auto& issue : in.plan.issues)
      if (issue.kind == IssueKind::UnknownName && of_targets(in, issue)) names.push_back(&issue);
    if (!names.empty()) plain_issue(in, names, id_of(*names[0]), out);
    for (const std::string& target : in.request.targets)
      if (starts_with(lower(target), "all") && in.plan.archs_from.empty())
        missing(out, 390,
                in.facts.toolkit()             ? "toolkits.list[].archs"
                : in.facts.toolkits.list_known ? "toolkits.selected"
                                               : "toolkits.list",
                "what the targets 'all' are");
    return;
  }
  List<Issues> groups;
  for (const auto& issue : in.plan.issues) {
    if (told_otherwise(in, issue, out)) continue;
    Issues* group = nullptr;
    for (Issues& other : groups)
      if (together(*other[0], issue)) group = &other;
    if (!group) {
      groups.push_back({});
      group = &groups.back();
    }
    group->push_back(&issue);
  }
  for (const Issues& group : groups) {
    const int id = id_of(*group[0]);
    if (id_of_unbuildable(*group[0]))
      unbuildable(in, id, group, out);
    else
      plain_issue(in, group, id, out);
  }
}

}  // namespace tcs
