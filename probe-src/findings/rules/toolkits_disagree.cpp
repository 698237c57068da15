// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/toolkit_candidates.h"

namespace tcs {
namespace {

struct OnPath {
  Version release;
  std::string where;
  const char* lacks = nullptr;  // the fact that would have told
};

bool gives(const Toolkit& toolkit, const std::string& program) {
  if (toolkit.nvcc.is(program)) return true;
  const std::string& root = toolkit.root.value();
  return !root.empty() && starts_with(program, root == "/" ? root : root + "/");
}

// toolkits.on_path is a release, the path of that nvcc (one whose release is not told, and
// recordings by hand), or "none".
OnPath nvcc_on_path(const ToolkitFacts& toolkits) {
  OnPath out;
  out.where = toolkits.on_path.from;
  out.release = Version::parse(toolkits.on_path.value());
  if (out.release.known() || toolkits.on_path.is("none")) return out;
  const Toolkit* nvcc = nullptr;
  bool roots = true, origins = true;
  for (const auto& toolkit : toolkits.list) {
    const bool this_one = toolkits.on_path.known() ? gives(toolkit, toolkits.on_path.value())
                                                   : comes_from(toolkit, "PATH");
    if (this_one && !nvcc) nvcc = &toolkit;
    roots = roots && (toolkit.root.known() || toolkit.nvcc.known());
    origins = origins && toolkit.origin.known();
  }
  if (nvcc) {
    out.where = nvcc->root.value();
    out.release = Version::parse(nvcc->version.value());
    if (!out.release.known() && !nvcc->works.is(false)) out.lacks = "toolkits.list[].version";
    return out;
  }
  out.lacks = toolkits.on_path.known() ? (roots ? "toolkits.on_path" : "toolkits.list[].root")
              : origins                ? "toolkits.on_path"
                                       : "toolkits.list[].origin";
  return out;
}

}  // namespace

void rule_toolkits_disagree(const RuleInput& in, List<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  if (!toolkit || !builds(in) || is_clang(*toolkit) || never_started(*toolkit)) return;
  // One that we chose is named to every consumer; one from a variable is not seen by those that ask
  // PATH.
  const std::string& origin = toolkit->origin.value();
  const bool variable =
      origin.empty() || contains(origin, "CUDA_HOME") || contains(origin, "CUDA_PATH");
  const OnPath path = nvcc_on_path(in.facts.toolkits);
  const Version own = Version::parse(toolkit->version.value());
  if (!own.known()) return;
  if (!path.release.known() || same_release(path.release, own)) {
    const char* const what = "whether PATH gives another nvcc";
    if (variable && path.lacks) missing(out, 392, path.lacks, what);
    if (variable && !in.facts.toolkits.on_path.known())
      missing(out, 392, "toolkits.on_path", what, in.facts.toolkits.reason);
    return;
  }
  Finding& f = report(out, 304,
                      {nvcc_label(*toolkit), path.release.dotted(),
                       toolkit->root.known() ? toolkit->root.value() + "/bin"
                                             : "the bin folder of the toolkit you mean"});
  if (!variable) f.severity = Severity::Note;
  add(f, "toolkit", nvcc_and_root(*toolkit), "", origin);
  add(f, "toolkit",
      cat("nvcc ", path.release.dotted(), path.where.empty() ? "" : " in ", path.where),
      own.major_minor(), "PATH");
}

}  // namespace tcs
