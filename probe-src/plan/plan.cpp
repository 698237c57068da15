// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>

#include "base/text.h"
#include "plan/planner.h"
#include "tables/tables.h"

namespace tcs {

TCS_DEFINE_VALUE(Plan);

namespace {

using Issue = PlanIssue::Kind;

bool gencode_before(const Gencode& a, const Gencode& b) {
  if (a.virt != b.virt) return a.virt < b.virt;
  if (a.real != b.real) return a.real < b.real;
  return a.ptx < b.ptx;
}

bool same(const Gencode& a, const Gencode& b) {
  return a.virt == b.virt && a.real == b.real && a.ptx == b.ptx;
}

bool is_list(const Text& list, const std::string& dialect) {
  return list.known() && !is_unset_list(list.value(), dialect);
}

// Two lists that were both set must mean the same architectures; whether PTX goes with them differs
// by dialect and is not compared.
void compare_lists(const Facts& facts, const Request& request, const Text& list,
                   const std::string& dialect, Planner& planner) {
  if (!is_list(list, dialect)) return;
  Planner counts(facts, request), other(facts, request);
  counts.follow_list(request.arch_list, request.arch_dialect);
  other.follow_list(list, dialect);
  if (counts.vague() || other.vague() || other.wanted() == counts.wanted()) return;
  PlanIssue& issue = planner.say(Issue::ListsDiffer, quotable(request.arch_list.value()));
  issue.detail = quotable(list.value());
  issue.where = request.arch_list.from.empty() ? "the arch list" : request.arch_list.from;
  issue.other_where = list.from.empty() ? "the other list" : list.from;
  issue.by_user = true;
}

struct ListVariable {
  const char* name;
  const char* dialect;
};
constexpr ListVariable kListVariables[] = {{"TORCH_CUDA_ARCH_LIST", "torch"},
                                           {"CUDAARCHS", "cmake"}};

// Those of the environment that a list set elsewhere overrules: a build tree keeps the first one.
// A list of the command line is a question of its own.
void compare_environment(const Facts& facts, const Request& request, Planner& planner) {
  if (starts_with(request.arch_list.from, "--")) return;
  for (const ListVariable& variable : kListVariables) {
    const std::string* set = facts.environment.find(variable.name);
    if (!set || *set == request.arch_list.value() || request.other_list.is(*set)) continue;
    compare_lists(facts, request, Text(*set, cat(variable.name, " (environment)")),
                  variable.dialect, planner);
  }
}

}  // namespace

Plan make_plan(const Facts& facts, const Request& request) {
  Planner planner(facts, request);
  if (is_list(request.arch_list, request.arch_dialect)) {
    planner.follow_list(request.arch_list, request.arch_dialect);
    compare_lists(facts, request, request.other_list, request.other_dialect, planner);
    compare_environment(facts, request, planner);
    planner.record_targets();
  } else {
    planner.follow_targets();
  }
  return planner.finish();
}

Planner::Planner(const Facts& facts, const Request& request)
    : facts_(facts), request_(request), build_(facts) {
  plan_.archs_from = build_.from();
  if (const Toolkit* toolkit = facts.toolkit()) {
    plan_.nvcc = toolkit->version.or_else("");
    plan_.nvcc_archs = toolkit->archs.value();
  }
  plan_.torch_version = facts.torch.version.or_else("");
}

void Planner::follow_list(const Text& list, const std::string& dialect) {
  plan_.by_user = by_user_ = true;
  plan_.list_from = where_ = list.from.empty() ? "the arch list" : list.from;
  ArchTokens parsed = parse_arch_list(list.value(), dialect);
  for (PlanIssue& issue : parsed.issues) {
    issue.where = where_;
    plan_.issues.push_back(issue);
  }
  for (const ArchToken& token : parsed.tokens) {
    const bool spelt = starts_with(token.text, "sm") || starts_with(token.text, "compute") ||
                       contains(token.text, "(");
    if (dialect == "torch" && spelt) unread_.push_back(token.text);
    follow(token);
  }
}

void Planner::follow(const ArchToken& token) {
  if (token.bare && Buildable::could_exist(token.real)) {
    PlanIssue& note =
        say(Issue::BareNumber, token.text, cat(token.text, " is taken as ", token.real.dotted()));
    note.position = token.position;
    note.corrected = cat(token.real.dotted(), token.ptx ? "+PTX" : "");
  }
  const bool plain = token.kind == ArchToken::Kind::Arch;
  vague_ = vague_ || (!plain && (!build_.known() || !devices_known()));
  const bool devices =
      token.kind == ArchToken::Kind::Native || token.kind == ArchToken::Kind::Defaults;
  plan_.open = plan_.open || (emit_ && devices && !devices_known());
  switch (token.kind) {
    case ArchToken::Kind::Arch:
      return arch(token);
    case ArchToken::Kind::Name:
      return name(token);
    case ArchToken::Kind::All:
      return all(token, false);
    case ArchToken::Kind::AllMajor:
      return all(token, true);
    case ArchToken::Kind::Native:
      return native(token.text);
    case ArchToken::Kind::Defaults:
      say(Issue::NotWhatNvccHas, token.text).position = token.position;
      return defaults(token.text);
  }
}

void Planner::refuse(PlanIssue issue, const ArchToken& token) {
  issue.token = token.text;
  issue.position = token.position;
  issue.where = where_;
  issue.by_user = by_user_;
  plan_.issues.push_back(std::move(issue));
}

void Planner::arch(const ArchToken& token) {
  if (by_user_ && Buildable::could_exist(token.real)) written_.push_back(token.real);
  if (by_user_ && Buildable::could_exist(token.virt)) {
    if (token.cubin) add_once(plan_.written, Image{token.real, false});
    if (token.ptx) add_once(plan_.written, Image{token.virt, true});
  }
  if (token.ptx && !token.virt.plain() && Buildable::could_exist(token.virt)) suffix_ptx(token);
  const bool cubin = !token.cubin || build_.real(token.real);
  const bool known = cubin && build_.virt(token.virt);
  if (!known || !build_.assembles(token.virt, token.real)) {
    PlanIssue issue = build_.refuse(cubin ? token.virt : token.real);
    if (known) issue.kind = Issue::Malformed;
    if (token.bare && issue.kind == Issue::Nonsense) guess_number(token, issue);
    if (cubin && token.virt != token.real && build_.virt(token.real)) {
      issue.corrected = token.real.dotted();
      issue.detail = cat("it goes by way of ", token.virt.virt());
    }
    return refuse(issue, token);
  }
  std::string reason = cat("\"", token.text, "\" in ", where_);
  if (token.cubin) add(token.virt, token.real, false, reason);
  if (token.ptx) add(token.virt, token.virt, true, reason);
}

void Planner::suffix_ptx(const ArchToken& token) {
  PlanIssue& issue =
      say(Issue::SuffixPtx, token.text,
          cat("PTX for ", token.virt.dotted(), " serves ",
              token.virt.suffix == 'f' ? "only GPUs of its own family" : "no later GPU"));
  issue.position = token.position;
  issue.corrected = token.virt.base().dotted() + "+PTX";
}

// 12 is read as 1.2, and may have been meant as 12.0; 4090 as 409.0, and is a GPU.
void Planner::guess_number(const ArchToken& token, PlanIssue& issue) const {
  Sm sm;
  if (const GpuRow* gpu = find_gpu(token.text)) {
    if (build_.real(gpu->sm)) issue.corrected = gpu->sm.dotted();
    issue.detail = cat(gpu->name, " is a GPU; its capability is ", gpu->sm.dotted());
  } else if (parse_sm_dotted(token.text + ".0", sm) && find_arch(sm) != nullptr) {
    if (build_.real(sm)) issue.corrected = sm.dotted();
    issue.detail = cat("a number without a point is read as ", token.real.dotted());
  }
}

void Planner::name(const ArchToken& token) {
  const TorchNameRow* row = find_torch_name(token.name, build_.release());
  if (row == nullptr) return;
  List<Sm> kept, members;
  List<std::string> cut;
  for (const std::string& member : split(row->members, " ")) {
    Sm sm;
    if (!parse_sm_dotted(member, sm)) continue;
    members.push_back(sm);
    if (build_.real(sm)) {
      kept.push_back(sm);
    } else {
      cut.push_back(member);
    }
  }
  if (kept.empty() && by_user_)
    for (const Sm& sm : members) add_once(plan_.written, Image{sm, false});
  std::string reason = cat("\"", token.text, "\" in ", where_);
  for (const Sm& sm : kept) add(sm, sm, false, reason);
  if (!kept.empty() && (token.ptx || row->ptx_on_last)) add(kept.back(), kept.back(), true, reason);
  if (cut.empty()) return;
  PlanIssue issue;
  issue.kind = kept.empty() ? Issue::NoMember : Issue::NameCut;
  issue.detail = cat(build_.nvcc(), " does not build ", join(cut, " "));
  refuse(issue, token);
}

// As nvcc -arch=all and -arch=all-major: the PTX is that of the newest major's first architecture.
void Planner::all(const ArchToken& token, bool majors_only) {
  if (!build_.known()) return;  // finish() says that what nvcc builds is unknown
  std::string reason = cat("\"", token.text, "\" in ", where_);
  int major = -1;
  Sm first;
  for (const Sm& sm : build_.reals()) {
    if (!sm.plain()) continue;
    if (sm.major != major || !majors_only) add(sm, sm, false, reason);
    if (sm.major != major) first = sm;
    major = sm.major;
  }
  add(first, first, true, reason);
}

List<Sm> Planner::archs() const {
  List<Sm> out;
  for (const Gencode& g : plan_.gencodes) out.push_back(g.image().sm);
  sort_unique(out);
  return out;
}

List<Sm> Planner::wanted() const {
  List<Sm> out = archs();
  out.append(written_);
  sort_unique(out);
  return out;
}

PlanIssue& Planner::say(Issue kind, const std::string& token, std::string detail) {
  PlanIssue issue;
  issue.kind = kind;
  issue.token = token;
  issue.detail = std::move(detail);
  issue.where = where_;
  issue.by_user = by_user_;
  plan_.issues.push_back(std::move(issue));
  return plan_.issues.back();
}

bool Planner::add(const Sm& virt, const Sm& real, bool ptx, const std::string& reason) {
  Gencode g;
  g.virt = virt;
  g.real = real;
  g.ptx = ptx;
  g.reason = reason;
  if (!build_.can(g)) return false;
  for (Gencode& old : plan_.gencodes) {
    if (!same(old, g)) continue;
    if (!contains(old.reason, reason)) old.reason += "; " + reason;
    return true;
  }
  plan_.gencodes.push_back(g);
  return true;
}

// Which tokens PyTorch's Python parser cannot read, those that the user wrote apart from those that
// a name, a target or the default stand for; the gencode flags carry those architectures. What nvcc
// builds does not matter here: the parser refuses before nvcc is called.
void Planner::check_torch_parser() {
  if (!facts_.torch.state.is("found") || request_.purpose != "extension") return;
  const int release = release_of(Version::parse(plan_.torch_version));
  List<std::string> written = unread_, chosen;
  for (const Sm& sm : wanted()) {
    const ArchRow* row = find_arch(sm);
    // Of an unknown release only what none reads.
    if (row != nullptr && (release == 0 ? row->torch_first != 0 : row->known_to_torch(release)))
      continue;
    (plan_.by_user && contains(written_, sm) ? written : chosen).push_back(sm.dotted());
  }
  by_user_ = true;
  if (!written.empty())
    say(Issue::TorchPythonToken, join(written, " "), "the gencode flags carry it");
  by_user_ = false;
  if (!chosen.empty())
    say(Issue::TorchPythonToken, join(chosen, " "), "the gencode flags carry it");
  by_user_ = plan_.by_user;
}

// nvcc takes sm_100 and sm_100f for one GPU code, and makes it in one call either by way of a
// family or not. ('a' is another code.)
void Planner::check_families() {
  if (!build_.known()) return;  // perhaps it builds neither, which is told then
  for (const Gencode& family : plan_.gencodes)
    for (const Gencode& g : plan_.gencodes) {
      const Sm &real = g.real, &same = family.real;
      if (family.ptx || g.ptx || family.virt.suffix != 'f' || g.virt.suffix == 'f') continue;
      if (real.base() != same.base() || (real.suffix == 'a') != (same.suffix == 'a')) continue;
      PlanIssue& issue = say(Issue::FamilyTwice, real.dotted(),
                             cat(real.real(), " and ", same.real(),
                                 " are one GPU code to nvcc, made for a family or not"));
      issue.corrected = family.virt.dotted();
    }
}

Plan Planner::finish() {
  sort_few(plan_.gencodes, gencode_before);
  List<Target> targets;
  for (const Target& t : plan_.targets) {
    auto equal = [&t](const Target& o) { return o.sm == t.sm && o.device == t.device; };
    if (std::none_of(targets.begin(), targets.end(), equal)) targets.push_back(t);
  }
  plan_.targets = targets;
  by_user_ = plan_.by_user;
  where_ = plan_.list_from;
  if (!build_.known() && request_.purpose != "run") {
    plan_.complete = false;
    say(Issue::UnknownToolkit, "",
        "what nvcc can build is unknown: nothing was checked against it");
  }
  check_torch_parser();
  check_families();
  if (plan_.gencodes.empty()) say(Issue::Empty, "", cat("no architecture is left of ", where_));
  return plan_;
}

}  // namespace tcs
