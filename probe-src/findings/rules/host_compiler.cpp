// SPDX-License-Identifier: Apache-2.0
// Which host compilers a toolkit takes, and what became of those that it was tried with.
#include "findings/nearest_toolkit.h"
#include "findings/rules/host_compilers.h"

namespace tcs {
namespace {

struct LimitRow {
  const char* cuda;
  int gcc_min, gcc, clang, msvc_min, msvc;
};
struct NeverRow {
  const char *cuda, *compiler;
};
constexpr LimitRow kLimits[] = {
#define TCS_HOST_LIMIT(cuda, gcc_min, gcc, clang, msvc_min, msvc) \
  {cuda, gcc_min, gcc, clang, msvc_min, msvc},
#include "tables/host_compilers.def"
};
constexpr NeverRow kNever[] = {
#define TCS_HOST_NEVER(cuda, compiler) {cuda, compiler},
#include "tables/host_compilers.def"
};

struct Limit {
  int newest = 0, oldest = 0, documented = 0;  // 0 = not known
  bool never = false;
  std::string from, oldest_from;
};

Limit limit_of(const Toolkit& toolkit, HostKind kind) {
  Limit limit;
  const Version cuda = Version::parse(toolkit.version.value());
  for (const auto& r : kLimits) {
    // A toolkit whose patch level is unknown is read as the newest of its release.
    const Version row = Version::parse(r.cuda);
    if (cuda.numbers.size() < 2 ||
        !(cuda >= row || (cuda.numbers.size() == 2 && same_release(cuda, row))))
      continue;
    limit.from = limit.oldest_from = "table, CUDA " + cuda.major_minor();
    limit.documented = kind == HostKind::Gnu ? r.gcc_min : 0;
    limit.oldest = kind == HostKind::Msvc ? r.msvc_min : 0;
    limit.newest = kind == HostKind::Gnu     ? r.gcc
                   : kind == HostKind::Clang ? r.clang
                   : kind == HostKind::Msvc  ? r.msvc
                                             : 0;
  }
  for (const auto& r : kNever)
    limit.never = limit.never || (host_kind(r.compiler) == kind && cuda >= Version::parse(r.cuda));
  const Fact<int> none, &own = kind == HostKind::Gnu     ? toolkit.gcc_max
                               : kind == HostKind::Clang ? toolkit.clang_max
                                                         : none;
  if (own.known()) {
    limit.newest = own.value();
    limit.from = own.from.empty() ? "crt/host_config.h" : own.from;
  }
  return limit;
}

// A limit of 1949 is that of all 14.4x, of which 14.44 is the last.
std::string limit_label(HostKind kind, int level) {
  if (kind == HostKind::Msvc)
    return cat("toolset 14.",
               level % 100 > 39 && level % 10 == 9 ? cat(level % 100 / 10, "x") : cat(level % 100));
  return cat(kind == HostKind::Gnu ? "GCC " : "Clang ", level);
}

bool is_newer(const Limit& limit, int level) {
  return limit.newest && level > limit.newest;
}

bool is_older(const Limit& limit, int level) {
  return limit.oldest && level && level < limit.oldest;
}

// `program`: host_compiler_for().
std::string how_to_name(HostKind kind, const std::string& program, int newest) {
  const std::string toolset = cat("14.", newest > 1939 ? 44 : 39);
  if (kind == HostKind::Msvc)
    return cat("install toolset ", toolset,
               " of Visual Studio 2022 and choose it: cmake -T v143,version=", toolset,
               " (or vcvarsall.bat x64 -vcvars_ver=", toolset, ")");
  if (program.empty()) return "";
  return cat(contains(program, "/") ? "name one that is here" : "install it and name it",
             ": -DCMAKE_CUDA_HOST_COMPILER=", program,
             " (outside CMake: NVCC_PREPEND_FLAGS='-ccbin ", program, "')");
}

// Removes the check of host_config.h, not its reason.
std::string check_removed_by(const RuleInput& in) {
  for (const char* name :
       {"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "CUDAFLAGS", "TORCH_NVCC_FLAGS"}) {
    const std::string* set = in.facts.environment.find(name);
    for (const char* flag : {"-allow-unsupported-compiler", "__NV_NO_HOST_COMPILER_CHECK"})
      if (set && contains(*set, flag)) return name;
  }
  return {};
}

void say_tried(const Toolkit& t, Finding& f) {
  if (!t.tried_host_compilers.value().empty() && !t.fitting_host_compiler.known())
    f.notes.push_back("tried in its place, and failed too: " +
                      join(t.tried_host_compilers.value(), ", "));
}

// 401: beyond the limits; false when within them or when they are not known.
bool refused(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const HostCompiler& compiler = in.facts.host_compiler;
  const HostKind kind = host_kind(compiler.id.value());
  const Limit limit = limit_of(t, kind);
  const int level = host_level(compiler);
  const bool newer = is_newer(limit, level), older = is_older(limit, level);
  if (!newer && !older && !limit.never) return false;
  const std::string fitting =
      limit.never ? "GCC or Clang" : limit_label(kind, newer ? limit.newest : limit.oldest);
  const std::string bound = limit.never ? "it takes no release of it"
                            : newer     ? "the newest it takes is " + fitting
                                        : "the oldest it takes is " + fitting;
  const std::string variable = check_removed_by(in);
  // Before a compile nobody knows whether it gets by; after one that failed it is an error.
  const bool unchecked = !variable.empty() && !t.works.known();
  NearestToolkit nearest = nearest_toolkit(in);
  if (nearest.refused && (kind == HostKind::Msvc || takes_headers(in, t))) nearest.release = 0;
  Finding& f = report_toolkit(
      out, 401,
      {nvcc_label(t), host_label(compiler), bound,
       how_to_name(kind, takes_headers(in, t) ? host_compiler_for(in, t) : "", limit.newest), "",
       kind == HostKind::Msvc ? "" : "y"},
      nearest);
  say_tried(t, f);
  if (unchecked) {
    f.severity = Severity::Warning;
    f.message = cat(variable, " keeps ", nvcc_label(t), " from refusing ", host_label(compiler),
                    "; ", bound);
    f.notes = {"that removes the check and not what it is for: compiling may still fail"};
    if (const BadRow* bad = known_bad_row(in, t, kind))
      f.notes.push_back(cat("seen with such a pair: ", bad->symptom));
  }
  add(f, "host-compiler", with_path(host_label(compiler), compiler.path),
      limit.never ? fitting : cat(newer ? "<= " : ">= ", fitting), compiler.version.from);
  add(f, "toolkit", nvcc_label(t), "", newer ? limit.from : limit.oldest_from);
  if (t.works.is(false)) add_once(f.consequences, std::string("TCS305"));
  return true;
}

// 405: nvcc takes it, and CUDA's documents ask for a newer one.
void older_than_documented(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const HostCompiler& compiler = in.facts.host_compiler;
  const HostKind kind = host_kind(compiler.id.value());
  const int oldest = limit_of(t, kind).documented, level = host_level(compiler);
  if (!oldest || !level || level >= oldest) return;
  const std::string needs = limit_label(kind, oldest);
  Finding& f = report(out, 405,
                      {host_label(compiler), Version::parse(t.version.value()).major_minor(), needs,
                       host_compiler_for(in, t)});
  add(f, "host-compiler", with_path(host_label(compiler), compiler.path), ">= " + needs,
      compiler.version.from);
  add(f, "toolkit", nvcc_label(t), "", t.version.from);
}

// 402: nvcc was tried with it. "host-compiler-run": it hangs, crashes or does not answer as a
// compiler, asked without nvcc.
void failed(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  if (!t.works.is(false) || !starts_with(t.failure.kind.value(), "host-compiler")) return;
  const HostCompiler& compiler = in.facts.host_compiler;
  const std::string said = tail(t.failure.text.value(), 400);
  const std::string other = host_compiler_for(in, t);
  const bool by_nvcc = t.failure.kind.is("host-compiler") && !said.empty();
  Finding& f = report(out, 402,
                      {nvcc_label(t), with_path(host_label(compiler), compiler.path),
                       by_nvcc ? "it said: " + said : said, how_to_name(HostKind::Gnu, other, 0),
                       other.empty() ? "y" : ""});
  say_tried(t, f);
  add(f, "host-compiler", with_path(host_label(compiler), compiler.path), "",
      compiler.path.from.empty() ? compiler.version.from : compiler.path.from);
  add_nvcc_variables(in, f);
  add(f, "toolkit", nvcc_label(t), "", t.nvcc.or_else("a test compile"));
  add_once(f.consequences, std::string("TCS305"));  // so it would be where the kind is not told
  if (t.failure.kind.is("host-compiler")) return;
  for (const char* code : {"TCS401", "TCS403", "TCS405"}) f.consequences.push_back(code);
}

// What keeps the limits from being judged.
void unknown_compiler(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const HostCompiler& compiler = in.facts.host_compiler;
  const HostKind kind = host_kind(compiler.id.value());
  const char* const what = "whether nvcc takes it";
  if (!compiler.id.known())
    missing(out, 490, "host_compiler.id", what, compiler.reason);
  else if (!compiler.version.known() && !limit_of(t, kind).never)
    missing(out, 490, "host_compiler.version", what, compiler.reason);
  else if (kind == HostKind::Gnu && !limit_of(t, kind).newest)
    missing(out, 490, "toolkits.list[].gcc_max", what, t.reason);
  else if (kind == HostKind::Clang && !limit_of(t, kind).newest)
    missing(out, 490, "toolkits.list[].clang_max", what, t.reason);
  else if (kind == HostKind::Msvc && !host_level(compiler))
    missing(out, 490, "host_compiler.version", what,
            cat("'", tail(compiler.version.value(), 60), "' is no release of MSVC"));
  else if (kind == HostKind::Other)
    missing(out, 490, "toolkits.list[].works", what,
            cat("no table has ", tail(compiler.id.value(), 60), ": only a compile tells"));
}

void judge_compiler(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  if (t.works.is(true)) return;
  List<Finding> said;
  // One that does not run is not judged by its release.
  if (!t.failure.kind.is("host-compiler-run")) {
    // What a refusal hides is its consequence; what is not known behind it does not matter.
    const bool beyond = refused(in, t, said);
    older_than_documented(in, t, said);
    known_bad(in, t, beyond, said);
    if (!beyond && !never_started(t)) unknown_compiler(in, t, said);
  }
  failed(in, t, said);
  if (!t.fitting_host_compiler.known()) return out.append(said);
  // Another one is used in its place: what would be said of the first is no trouble.
  List<std::string> spared{"TCS305"};
  for (const Finding& f : said) add_once(spared, f.code());
  const Text& other = t.fitting_host_compiler;
  Finding& f = report(
      out, 401,
      {nvcc_label(t), host_label(in.facts.host_compiler), other.value() + " is used in its place"});
  f.severity = Severity::Note;
  if (t.failure.kind.is("host-compiler-run"))
    f.message = cat(in.facts.host_compiler.path.or_else("nvcc's host compiler"), " does not run; ",
                    other.value(), " is used in its place");
  f.consequences = spared;
  add(f, "host-compiler", other.value(), "", other.from);
}

}  // namespace

int host_trouble(const RuleInput& in, const Toolkit& toolkit) {
  if (toolkit.works.is(true) || toolkit.fitting_host_compiler.known()) return 0;
  const HostCompiler& compiler = in.facts.host_compiler;
  const Limit limit = limit_of(toolkit, host_kind(compiler.id.value()));
  const int level = host_level(compiler);
  const bool refused = limit.never || is_newer(limit, level) || is_older(limit, level);
  return (refused ? kRefused : 0) + (bad_pair(in, toolkit, refused) ? kKnownBad : 0);
}

std::string host_compiler_for(const RuleInput& in, const Toolkit& toolkit) {
  const HostKind own = host_kind(in.facts.host_compiler.id.value());
  if (own == HostKind::Msvc) return "";
  const HostKind kind = own == HostKind::Clang ? own : HostKind::Gnu;
  if (toolkit.spare_host_compiler.known()) return toolkit.spare_host_compiler.value();
  const Limit limit = limit_of(toolkit, kind);
  std::string newest;
  for (int level = limit.newest; level > 0 && level >= limit.documented; --level) {
    const Version release = Version::parse(cat(level));
    if ((kind == own && level == host_level(in.facts.host_compiler)) ||
        known_bad_row(in, toolkit, kind, &release))
      continue;
    const std::string program = cat(kind == HostKind::Clang ? "clang++-" : "g++-", level);
    bool failed = false;
    for (const std::string& tried : toolkit.tried_host_compilers.value())
      failed = failed || ends_with("/" + tried, "/" + program);
    if (failed) continue;
    if (newest.empty()) newest = program;
    for (const Toolkit& other : in.facts.toolkits.list)
      if (ends_with(other.fitting_host_compiler.value(), "/" + program))
        return other.fitting_host_compiler.value();
  }
  return newest;
}

void rule_host_compiler(const RuleInput& in, List<Finding>& out) {
  if (builds(in)) judge_toolkit(in, judge_compiler, out);
}

}  // namespace tcs
