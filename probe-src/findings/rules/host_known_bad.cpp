// SPDX-License-Identifier: Apache-2.0
// Pairs of toolkit and host compiler or C library that nvcc takes and that are known to fail.
#include "findings/nearest_toolkit.h"
#include "findings/rules/host_compilers.h"

namespace tcs {
namespace {

constexpr BadRow kBad[] = {
#define TCS_KNOWN_BAD(cuda_from, cuda_to, compiler, from, to, machine, symptom, way) \
  {cuda_from, cuda_to, compiler, from, to, machine, symptom, way},
#include "tables/host_compilers.def"
};

struct IdRow {
  const char* id;  // CMake's, as order_facts() settles it
  HostKind kind;
};
constexpr IdRow kIds[] = {
    {"GNU", HostKind::Gnu},     {"Clang", HostKind::Clang},         {"MSVC", HostKind::Msvc},
    {"Intel", HostKind::Intel}, {"IntelLLVM", HostKind::IntelLlvm},
};

// Both ends included; an end counts with all that begins so: 11 with 11.4, 2.26 with 2.26.1.
bool within(const Version& v, const char* from, const char* to) {
  const Version last = Version::parse(to);
  Version cut = v;
  while (cut.numbers.size() > last.numbers.size()) cut.numbers.pop_back();
  return v.known() && v >= Version::parse(from) && last >= cut;
}

bool is_libc(const BadRow& row) {
  return std::string_view(row.compiler) == "glibc";
}

bool of_toolkit(const BadRow& row, const Toolkit& t) {
  return within(Version::parse(t.version.value()), row.cuda_from, row.cuda_to);
}

bool of_machine(const BadRow& row, const RuleInput& in) {
  return *row.machine == 0 || in.facts.host.arch.is(row.machine);
}

bool of_compiler(const BadRow& row, const Version& release, HostKind kind) {
  if (std::string_view(row.compiler) == "*") return true;
  return !is_libc(row) && host_kind(row.compiler) == kind && within(release, row.from, row.to);
}

bool of_library(const BadRow& row, const RuleInput& in) {
  return is_libc(row) && within(Version::parse(in.facts.host.glibc.value()), row.from, row.to);
}

bool on_windows(const RuleInput& in) {
  return in.facts.host.os.is("windows") ||
         host_kind(in.facts.host_compiler.id.value()) == HostKind::Msvc;
}

void say(const RuleInput& in, const Toolkit& t, const BadRow& row, List<Finding>& out) {
  const bool libc = is_libc(row), any = std::string_view(row.compiler) == "*";
  const Text& release = libc ? in.facts.host.glibc : in.facts.host_compiler.version;
  const std::string label = libc  ? cat("glibc ", release.value())
                            : any ? "any host compiler"
                                  : host_label(in.facts.host_compiler);
  Finding& f = report_toolkit(out, 403,
                              {label, nvcc_label(t), row.symptom, row.way,
                               libc || any ? "" : host_compiler_for(in, t), libc ? "y" : ""},
                              nearest_toolkit(in, {}, true));
  // Seen to fail, and in a way that this is the reason of.
  if (t.works.is(false) && failed_as(t, {"host-compiler", "headers", "output", "crash", "link"}))
    f.severity = Severity::Error;
  if (f.severity == Severity::Error) add_once(f.consequences, std::string("TCS305"));
  add(f, libc ? "host" : "host-compiler", label, "", release.from);
  add(f, "toolkit", nvcc_label(t), "", t.version.from);
}

}  // namespace

HostKind host_kind(const std::string& id) {
  if (id.empty()) return HostKind::Unknown;
  for (const IdRow& row : kIds)
    if (id == row.id) return row.kind;
  return HostKind::Other;
}

int host_level(const HostCompiler& compiler) {
  const Version v = Version::parse(compiler.version.value());
  if (host_kind(compiler.id.value()) != HostKind::Msvc || !v.known()) return v.major();
  if (v.major() >= 1900 && v.major() < 2000) return v.major();
  struct Row {
    int major, base;
  };
  // The toolset's number, cl's, and those of Visual Studio 2017 to 2026.
  for (const Row& row :
       {Row{14, 1900}, Row{19, 1900}, Row{15, 1910}, Row{16, 1920}, Row{17, 1930}, Row{18, 1950}})
    if (row.major == v.major() && v.numbers.size() > 1) return row.base + v.minor();
  return 0;
}

std::string host_label(const HostCompiler& c) {
  const HostKind kind = host_kind(c.id.value());
  const std::string name = kind == HostKind::Gnu         ? "GCC"
                           : kind == HostKind::Intel     ? "Intel's icc"
                           : kind == HostKind::IntelLlvm ? "Intel's icx"
                                                         : c.id.or_else("the host compiler");
  // cl's number (19.41, 1941) is told in the unit of the limits, the toolset's.
  if (const int level = kind == HostKind::Msvc ? host_level(c) : 0) {
    const int major = Version::parse(c.version.value()).major();
    if (major > 14 && major < 19) return cat("Visual Studio ", c.version.value());
    return cat("MSVC toolset 14.", level < 1910 ? "0" : "", level - 1900);
  }
  return c.version.known() ? cat(name, " ", c.version.value()) : name;
}

const BadRow* known_bad_row(const RuleInput& in, const Toolkit& toolkit, HostKind kind,
                            const Version* release) {
  const Version own = Version::parse(in.facts.host_compiler.version.value());
  for (const BadRow& row : kBad)
    if (of_toolkit(row, toolkit) && of_compiler(row, release ? *release : own, kind) &&
        of_machine(row, in))
      return &row;
  return nullptr;
}

const BadRow* bad_pair(const RuleInput& in, const Toolkit& toolkit, bool library_alone) {
  const BadRow* row = known_bad_row(in, toolkit, host_kind(in.facts.host_compiler.id.value()));
  if (row && !library_alone) return row;
  for (const BadRow& other : kBad)
    if (of_toolkit(other, toolkit) && !on_windows(in) && of_library(other, in)) return &other;
  return nullptr;
}

void known_bad(const RuleInput& in, const Toolkit& toolkit, bool refused, List<Finding>& out) {
  if (toolkit.works.is(true)) return;
  if (const BadRow* row = bad_pair(in, toolkit)) return say(in, toolkit, *row, out);
  const HostKind kind = host_kind(in.facts.host_compiler.id.value());
  const Version own = Version::parse(in.facts.host_compiler.version.value());
  bool libc_matters = false, machine_matters = false;
  for (const BadRow& row : kBad) {
    if (!of_toolkit(row, toolkit)) continue;
    libc_matters = libc_matters || is_libc(row);
    machine_matters =
        machine_matters || (of_compiler(row, own, kind) && !in.facts.host.arch.known());
  }
  if (refused || never_started(toolkit)) return;
  const char* const what = "whether this pair is known to fail";
  if (libc_matters && !in.facts.host.glibc.known() && !on_windows(in))
    missing(out, 490, "host.glibc", what);
  if (machine_matters) missing(out, 490, "host.arch", what);
}

}  // namespace tcs
