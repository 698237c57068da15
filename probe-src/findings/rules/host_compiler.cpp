// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

struct LimitRow {
  const char* cuda;
  int gcc, clang, msvc;
};
struct BadRow {
  const char *cuda_from, *cuda_to, *compiler, *from, *to, *symptom;
};
constexpr LimitRow kLimits[] = {
#define TCS_HOST_LIMIT(cuda, gcc, clang, msvc) {cuda, gcc, clang, msvc},
#include "tables/host_compilers.def"
};
constexpr BadRow kBad[] = {
#define TCS_KNOWN_BAD(cuda_from, cuda_to, compiler, from, to, symptom) \
  {cuda_from, cuda_to, compiler, from, to, symptom},
#include "tables/host_compilers.def"
};

struct Limit {
  int newest = 0;  // 0 = not known
  std::string from;
};

Limit limit_of(const Toolkit& toolkit, const std::string& id) {
  const bool clang = contains(id, "Clang");
  const Fact<int>& own = clang ? toolkit.clang_max : toolkit.gcc_max;
  if (own.known() && id != "MSVC")
    return {own.value(), own.from.empty() ? "crt/host_config.h" : own.from};
  Limit limit;
  Version cuda = Version::parse(toolkit.version.value());
  for (const auto& r : kLimits) {
    // A toolkit whose patch level is unknown is read as the newest of its release.
    Version row = Version::parse(r.cuda);
    if (cuda.numbers.size() > 1 && (cuda >= row || same_release(cuda, row)))
      limit = {id == "MSVC" ? r.msvc : clang ? r.clang : r.gcc, cat("table, CUDA ", r.cuda)};
  }
  return limit;
}

// In the unit of its limit: a major, or _MSC_VER (toolset 14.40 is 1940).
int level_of(const HostCompiler& compiler) {
  Version v = Version::parse(compiler.version.value());
  if (!v.known()) return 0;
  return compiler.id.is("MSVC")
             ? 1900 + (v.major() == 14 ? v.minor() : v.minor() + 100 * (v.major() - 14))
             : v.major();
}

std::string compiler_label(const HostCompiler& c) {
  const std::string name = c.id.is("GNU") ? "GCC" : c.id.or_else("the host compiler");
  return c.version.known() ? cat(name, " ", c.version.value()) : name;
}

std::string limit_label(const std::string& id, int newest) {
  return id == "MSVC" ? cat("toolset 14.", newest - 1900)
                      : cat(id == "GNU" ? "GCC" : id, " ", newest);
}

void refused(const Toolkit& t, const HostCompiler& compiler, const Limit& limit,
             List<Finding>& out) {
  const std::string newest = limit_label(compiler.id.value(), limit.newest);
  const std::string gcc = cat("g++-", limit.newest);
  const std::string help =
      compiler.id.is("GNU")
          ? cat("install it and name it: -DCMAKE_CUDA_HOST_COMPILER=", gcc,
                " (outside CMake: NVCC_PREPEND_FLAGS='-ccbin ", gcc, "')")
          : cat("install ", newest, " and name it: -DCMAKE_CUDA_HOST_COMPILER=<path>");
  Finding& f =
      report(out, 401,
             {nvcc_label(t), compiler_label(compiler), "the newest it takes is " + newest, help});
  add(f, "host-compiler", with_path(compiler_label(compiler), compiler.path), "<= " + newest,
      compiler.version.from);
  add(f, "toolkit", nvcc_label(t), "", limit.from);
}

bool known_bad(const RuleInput& in, const Toolkit& toolkit, List<Finding>& out) {
  const HostCompiler& compiler = in.facts.host_compiler;
  Version cuda = Version::parse(toolkit.version.value());
  if (!cuda.known() || toolkit.works.is(true)) return false;
  for (const auto& bad : kBad) {
    const bool libc = std::string_view(bad.compiler) == "glibc";
    if (!libc && !compiler.id.is(bad.compiler)) continue;
    Version found = Version::parse((libc ? in.facts.host.glibc : compiler.version).value());
    Version last = Version::parse(bad.cuda_to);
    if (!found.known() || found < Version::parse(bad.from) ||
        found.major() > Version::parse(bad.to).major())
      continue;
    if (cuda < Version::parse(bad.cuda_from) ||
        !(last >= cuda || (last.numbers.size() == 2 && same_release(cuda, last))))
      continue;
    const std::string label = libc ? cat("glibc ", found.dotted()) : compiler_label(compiler);
    Finding& f = report(out, 403,
                        {label, nvcc_label(toolkit), bad.symptom,
                         libc ? "use CUDA 13.0 or newer, or your distribution's own (patched) "
                                "toolkit; another compiler does not help"
                              : "use an older host compiler: -DCMAKE_CUDA_HOST_COMPILER=<path>, or "
                                "a newer toolkit"});
    if (toolkit.works.is(false)) f.severity = Severity::Error;
    add(f, libc ? "host" : "host-compiler", label, "",
        (libc ? in.facts.host.glibc : compiler.version).from);
    add(f, "toolkit", nvcc_label(toolkit), "", toolkit.version.from);
    return true;
  }
  return false;
}

}  // namespace

void rule_host_compiler(const RuleInput& in, List<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  const HostCompiler& compiler = in.facts.host_compiler;
  if (!toolkit || !builds(in) || toolkit->works.is(true) || is_clang(*toolkit)) return;
  if (const Text& other = toolkit->fitting_host_compiler; other.known()) {
    Finding& f = report(
        out, 401,
        {nvcc_label(*toolkit), compiler_label(compiler), other.value() + " is used in its place"});
    f.severity = Severity::Note;
    return add(f, "host-compiler", other.value(), "", other.from);
  }
  const Limit limit = limit_of(*toolkit, compiler.id.value());
  if (limit.newest && compiler.id.known() && level_of(compiler) > limit.newest)
    return refused(*toolkit, compiler, limit, out);
  if (known_bad(in, *toolkit, out) && !toolkit->works.is(false)) return;
  if (toolkit->works.is(false) && starts_with(toolkit->failure.kind.value(), "host-compiler")) {
    // "host-compiler-run": it hangs, crashes or does not answer as a compiler, asked without nvcc.
    const bool runs = toolkit->failure.kind.is("host-compiler");
    const std::string said = tail(toolkit->failure.text.value(), 400);
    Finding& f = report(out, 402,
                        {nvcc_label(*toolkit), with_path(compiler_label(compiler), compiler.path),
                         runs && !said.empty() ? "it said: " + said : said});
    add(f, "host-compiler", with_path(compiler_label(compiler), compiler.path), "",
        compiler.path.from.empty() ? compiler.version.from : compiler.path.from);
    add_nvcc_variables(in, f);
    return add(f, "toolkit", nvcc_label(*toolkit), "", toolkit->nvcc.or_else("a test compile"));
  }
  if (!compiler.id.known() || !compiler.version.known())
    missing(out, 490, compiler.id.known() ? "host_compiler.version" : "host_compiler.id",
            "whether nvcc takes it", compiler.reason);
}

}  // namespace tcs
