// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// `on_path` is a release; recordings by hand may hold the path of that nvcc instead.
Version release_on_path(const ToolkitFacts& toolkits, std::string& where) {
  where = toolkits.on_path.from;
  Version v = Version::parse(toolkits.on_path.value());
  if (v.known()) return v;
  for (const auto& toolkit : toolkits.list) {
    const bool in_root = toolkit.root.known() && !toolkit.root.value().empty() &&
                         starts_with(toolkits.on_path.value(), toolkit.root.value());
    if (!in_root && !toolkit.origin.is("PATH")) continue;
    where = toolkit.root.value();
    return Version::parse(toolkit.version.value());
  }
  return v;
}

}  // namespace

void rule_toolkits_disagree(const RuleInput& in, List<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  if (!toolkit || !builds(in)) return;
  std::string where;
  Version path = release_on_path(in.facts.toolkits, where);
  Version own = Version::parse(toolkit->version.value());
  if (!path.known() || !own.known() || same_release(path, own)) return;
  Finding& f = report(out, 304,
                      {nvcc_label(*toolkit), path.dotted(),
                       toolkit->root.known() ? toolkit->root.value() + "/bin"
                                             : "the bin folder of the toolkit you mean"});
  // One that we chose is named to every consumer; one from a variable is not seen by those that ask
  // PATH.
  const std::string& origin = toolkit->origin.value();
  const bool variable =
      origin.empty() || contains(origin, "CUDA_HOME") || contains(origin, "CUDA_PATH");
  if (!variable) f.severity = Severity::Note;
  add(f, "toolkit", nvcc_and_root(*toolkit), "", origin);
  add(f, "toolkit", cat("nvcc ", path.dotted(), where.empty() ? "" : " in ", where),
      own.major_minor(), "PATH");
}

}  // namespace tcs
