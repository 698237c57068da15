// SPDX-License-Identifier: Apache-2.0
// A source tree of PyTorch: what its CMake stops at after minutes, and what an existing build
// folder silently keeps.
#include "findings/nearest_toolkit.h"
#include "findings/rules/host_compilers.h"
#include "host/host.h"

namespace tcs {
namespace {

std::string tree_label(const TreeFacts& tree) {
  return tree.version.known() ? "PyTorch " + tree.version.value() : "PyTorch";
}

List<std::string> gencodes_of(const Plan& plan) {
  List<std::string> all;
  for (const Gencode& g : plan.gencodes) {
    const std::string flag = g.flag();
    all.push_back(flag.substr(flag.find("arch=")));
  }
  sort_unique(all);
  return all;
}

// "arch=compute_90,code=sm_90" -> sm_90
std::string code_words(const List<std::string>& gencodes) {
  List<std::string> codes;
  for (const std::string& flag : gencodes) codes.push_back(flag.substr(flag.find("code=") + 5));
  return image_words(images_in(codes));
}

Plan plan_for(const RuleInput& in, const Text& list) {
  Request request;
  request.purpose = in.request.purpose;
  request.arch_list = list;
  return make_plan(in.facts, request);
}

// What the tree's parser has no word for comes by NVCC_APPEND_FLAGS, and is in no list.
List<std::string> gencodes_of_list(const RuleInput& in) {
  Plan plan = in.plan;
  if (in.facts.tree.version.known()) plan.torch_version = in.facts.tree.version.value();
  const std::string list = torch_list(plan).text;
  return list.empty() ? List<std::string>() : gencodes_of(plan_for(in, Text(list)));
}

struct Asked924 {
  List<std::string> gencodes, listed;  // listed: as far as a list can say them
  std::string from;
};

// What is asked for beside what CMake's cache holds. In a configure its variable counts: one of
// another text was given just now, and one of the same text hides the environment's.
Asked924 asked_for(const RuleInput& in, const TreeBuild& build) {
  const Text& list = in.request.arch_list;
  if (!list.from.empty() && contains(list.from, "CMake variable")) {
    const char* const name = "TORCH_CUDA_ARCH_LIST";
    const std::string* other = in.facts.environment.find(name);
    if (!build.list.is(list.value()) || !other || trim(*other).empty()) return {};
    const Text hidden(*other, cat(name, " (environment)"));
    const List<std::string> all = gencodes_of(plan_for(in, hidden));
    return {all, all, hidden.from};
  }
  return {gencodes_of(in.plan), gencodes_of_list(in), in.plan.list_from};
}

// nvcc builds all of it, and there is code in it for each target.
bool would_do(const RuleInput& in, const Plan& kept) {
  const List<Image> images = plan_images(kept);
  for (const Target& target : in.plan.targets)
    if (best_fit(images, target.sm) == Fit::None) return false;
  return kept.issues.empty() && !images.empty();
}

void stale_list(const RuleInput& in, List<Finding>& out) {
  const TreeFacts& tree = in.facts.tree;
  const TreeBuild& build = tree.build;
  const char* const what = "whether its build folder was configured for another list";
  if (!build.path.known()) return missing(out, 925, "tree.build.path", what, build.reason);
  // Which entries are left of a list is nvcc's to say.
  const ToolkitFacts& toolkits = in.facts.toolkits;
  if (in.plan.archs_from.empty() && !(toolkits.list_known && toolkits.list.empty()))
    return missing(out, 925, in.facts.toolkit() ? "toolkits.list[].archs" : "toolkits.selected",
                   what, toolkits.reason);
  const Asked924 asked = asked_for(in, build);
  if (build.path.is("none") || asked.gencodes.empty()) return;
  if (!build.list.known()) return missing(out, 925, "tree.build.list", what, build.reason);
  const bool listed = !build.list.is("none");
  if (!listed && !build.gencodes.known())
    return missing(out, 925, "tree.build.gencodes", what, build.reason);
  List<std::string> has = build.gencodes.value();
  Plan kept;
  if (listed) {
    kept = plan_for(in, build.list);
    has = gencodes_of(kept);
  }
  sort_unique(has);
  if (has == asked.gencodes || has == asked.listed || (!listed && has.empty())) return;
  const std::string has_words = has.empty() ? "what nvcc refuses" : code_words(has);
  Finding& f = report(out, 924,
                      {has_words, code_words(asked.gencodes), tree.fresh.value(),
                       build.path.value(), listed ? build.list.value() : "", listed ? "" : "y",
                       tree.era.is("setup.py") ? "y" : "", would_do(in, kept) ? "y" : ""});
  add(f, "arch", listed ? "TORCH_CUDA_ARCH_LIST=" + build.list.value() : has_words, "",
      listed ? build.list.from : build.gencodes.from);
  add(f, "arch", code_words(asked.gencodes), "", asked.from);
}

void refused_nvcc(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const TreeFacts& tree = in.facts.tree;
  const Version has = Version::parse(t.version.value()),
                needs = Version::parse(tree.cuda_min.value());
  if (is_clang(t) || never_started(t)) return;
  if (!tree.cuda_min.known())
    return missing(out, 925, "tree.cuda_min", "whether it takes this nvcc", tree.reason);
  if (!has.known())
    return missing(out, 390, "toolkits.list[].version", "whether PyTorch's sources take this nvcc",
                   t.reason);
  if (has >= needs) return;
  Finding& f =
      report_toolkit(out, 323, {tree_label(tree), needs.dotted(), nvcc_label(t), has.major_minor()},
                     nearest_toolkit(in));
  add(f, "toolkit", nvcc_and_root(t), ">= " + needs.dotted(), t.origin.value());
  add(f, "torch", tree_label(tree) + ", sources", "", tree.cuda_min.from);
}

void refused_compiler(const RuleInput& in, List<Finding>& out) {
  const TreeFacts& tree = in.facts.tree;
  const HostCompiler& compiler = in.facts.host_compiler;
  const char* const what = "whether PyTorch's sources take it";
  if (!tree.gcc_min.known())
    return missing(out, 925, "tree.gcc_min", "whether it takes the host compiler", tree.reason);
  if (tree.gcc_min.is("none")) return;
  if (!compiler.id.known()) return missing(out, 490, "host_compiler.id", what, compiler.reason);
  if (!compiler.id.is("GNU")) return;
  const Version has = Version::parse(compiler.version.value()),
                needs = Version::parse(tree.gcc_min.value());
  if (!has.known()) return missing(out, 490, "host_compiler.version", what, compiler.reason);
  if (has >= needs) return;
  const Toolkit* t = in.facts.toolkit();
  std::string newer = t ? host_compiler_for(in, *t) : "";
  const Version offered = Version::parse(newer.substr(newer.rfind('-') + 1));
  if (contains(path_name(newer), "clang") || !offered.known() || offered < needs) newer.clear();
  Finding& f = report(
      out, 411,
      {tree_label(tree), needs.dotted(), host_label(compiler), newer, newer.empty() ? "y" : ""});
  add(f, "host-compiler", with_path(host_label(compiler), compiler.path), ">= " + needs.dotted(),
      compiler.version.from);
  add(f, "torch", tree_label(tree) + ", sources", "", tree.gcc_min.from);
}

}  // namespace

void rule_tree(const RuleInput& in, List<Finding>& out) {
  const TreeFacts& tree = in.facts.tree;
  if (in.request.purpose != "pytorch-source" || tree.state.is("absent")) return;
  if (!tree.state.known())
    return missing(out, 925, "tree.state", "what the sources of PyTorch ask for", tree.reason);
  judge_toolkit(in, refused_nvcc, out);
  refused_compiler(in, out);
  stale_list(in, out);
}

}  // namespace tcs
