// SPDX-License-Identifier: Apache-2.0
// PyTorch's headers stop with #error below their C++ level: said before anything is compiled. The
// finding is of the compiler's layer, which is what has to change.
#include "findings/nearest_toolkit.h"
#include "findings/nearest_torch.h"
#include "findings/rules/host_compilers.h"

namespace tcs {
namespace {

struct TorchLevel {
  const char* torch;
  int standard, gcc;
};
constexpr TorchLevel kTorchLevels[] = {
#define TCS_TORCH_CXX(torch, standard, gcc) {torch, standard, gcc},
#include "tables/cxx_levels.def"
};

struct CompilerLevel {
  const char* compiler;
  int standard;
  const char* first;
};
constexpr CompilerLevel kCompilerLevels[] = {
#define TCS_CXX_LEVEL(compiler, standard, first) {compiler, standard, first},
#include "tables/cxx_levels.def"
};

struct Level {
  int standard = 0, gcc = 0;
  std::string from;
};

Level table_level(const Version& torch) {
  Level out;
  for (const TorchLevel& row : kTorchLevels)
    if (torch.known() && torch >= Version::parse(row.torch))
      out = {row.standard, row.gcc, "the table of PyTorch's releases"};
  return out;
}

// What the headers say, and at least what the table says of the release.
Level level_of(const TorchFacts& torch) {
  Level out = table_level(Version::parse(torch.version.value()));
  if (torch.cxx_standard.known() && torch.cxx_standard.value() >= out.standard) {
    out.standard = torch.cxx_standard.value();
    out.from = torch.cxx_standard.from;
  }
  return out;
}

// The oldest release that will do; not known for a compiler or a level that the table lacks.
Version oldest(std::string_view compiler, const Level& level) {
  Version out;
  for (const CompilerLevel& row : kCompilerLevels)
    if (row.compiler == compiler && row.standard == level.standard) out = Version::parse(row.first);
  const Version gcc = Version::parse(std::to_string(level.gcc));
  return compiler == "GNU" && out.known() && out < gcc ? gcc : out;
}

std::string standard_text(const Level& level) {
  return cat("C++", level.standard);
}

// MSVC goes by its compiler's release, 19.38, or by its toolset's, 14.38.
Version compiler_release(const HostCompiler& compiler) {
  const Version v = Version::parse(compiler.version.value());
  return compiler.id.is("MSVC") && v.major() == 14 ? Version::parse(cat("19.", v.minor())) : v;
}

// "9" of GCC, "toolset 14.29" of MSVC.
std::string least_words(const HostCompiler& compiler, const Version& needs) {
  return compiler.id.is("GNU")    ? needs.dotted()
         : compiler.id.is("MSVC") ? cat("toolset 14.", needs.minor())
                                  : "release " + needs.dotted();
}

void judge_host_compiler(const RuleInput& in, const Level& level, List<Finding>& out) {
  const HostCompiler& compiler = in.facts.host_compiler;
  const Version has = compiler_release(compiler), needs = oldest(compiler.id.value(), level);
  if (!compiler.id.known() || !has.known())
    return missing(out, 490, compiler.id.known() ? "host_compiler.version" : "host_compiler.id",
                   "whether it has the C++ level of PyTorch's headers", compiler.reason);
  if (!needs.known() || has >= needs) return;
  const bool gnu = compiler.id.is("GNU"), guard = gnu && needs.major() == level.gcc;
  const std::string label = host_label(compiler);
  const std::string least = least_words(compiler, needs);
  const Toolkit* t = in.facts.toolkit();
  std::string newer = t ? host_compiler_for(in, *t) : "";
  NearestToolkit other;
  if (t && !takes_headers(in, *t)) {
    newer.clear();  // it takes none that is new enough
    other = nearest_toolkit(in);
    other.here = nullptr;
    Toolkit release;
    release.version = Text(release_text(other.release));
    other.compiler = host_compiler_for(in, release);
    if (!takes_headers(in, release)) other.release = 0;
  }
  const bool any = newer.empty() && !other.release;
  Finding& f =
      report_toolkit(out, 410,
                     {label, torch_label(in.facts), standard_text(level), least,
                      gnu && any ? "y" : "", guard ? "y" : "", !gnu && any ? "y" : "", newer},
                     other);
  add(f, "host-compiler", with_path(label, compiler.path), ">= " + least, compiler.version.from);
  add(f, "torch", cat(torch_label(in.facts), ", headers in ", standard_text(level)), "",
      level.from);
}

void judge_nvcc(const RuleInput& in, const Level& level, List<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  if (!toolkit || is_clang(*toolkit)) return;
  const Version has = Version::parse(toolkit->version.value()), needs = oldest("nvcc", level);
  if (!has.known())
    return missing(out, 390, "toolkits.list[].version",
                   "whether nvcc has the C++ level of PyTorch's headers", toolkit->reason);
  if (!needs.known() || has >= needs) return;
  const NearestToolkit nearest = nearest_toolkit(in);
  const bool none = !nearest.here && !nearest.release;
  Finding& f = report_toolkit(
      out, 340,
      {nvcc_label(*toolkit), torch_label(in.facts), standard_text(level), none ? "y" : ""},
      nearest);
  add(f, "toolkit", nvcc_and_root(*toolkit), ">= " + needs.dotted(), toolkit->version.from);
  add(f, "torch", cat(torch_label(in.facts), ", headers in ", standard_text(level)), "",
      level.from);
}

}  // namespace

std::string compiler_for(const RuleInput& in, const Version& torch) {
  const HostCompiler& compiler = in.facts.host_compiler;
  const Version has = compiler_release(compiler),
                needs = oldest(compiler.id.value(), table_level(torch));
  if (in.request.purpose != "extension" || !has.known() || !needs.known() || has >= needs)
    return "";
  return cat(compiler.id.is("GNU") ? "GCC" : compiler.id.value(), " ", least_words(compiler, needs),
             " or newer");
}

bool takes_headers(const RuleInput& in, const Toolkit& toolkit) {
  const std::string program = host_compiler_for(in, toolkit);
  const Version offered = Version::parse(program.substr(program.rfind('-') + 1));
  const Version needs =
      oldest(contains(program, "clang") ? "Clang" : "GNU", level_of(in.facts.torch));
  return in.request.purpose != "extension" || !in.facts.torch.state.is("found") ||
         !offered.known() || !needs.known() || offered >= needs;
}

int nvcc_of_headers(const RuleInput& in) {
  return in.facts.torch.state.is("found") && in.request.purpose == "extension"
             ? release_of(oldest("nvcc", level_of(in.facts.torch)))
             : 0;
}

void rule_torch_cxx(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (in.request.purpose != "extension" || !torch.state.is("found") || !torch.flavour.is("cuda"))
    return;
  const Level level = level_of(torch);
  if (level.standard == 0)
    return missing(out, 690, "torch.cxx_standard",
                   "whether the compilers have the C++ level of its headers", torch.reason);
  judge_host_compiler(in, level, out);
  judge_nvcc(in, level, out);
}

}  // namespace tcs
