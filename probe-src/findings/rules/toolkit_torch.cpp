// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

constexpr const char* kTree = "TREE_CUDA_COMPILER";  // docs/internals.md

std::string origin_words(const Toolkit& toolkit) {
  return replace_all(toolkit.origin.value(), kTree, "this build tree");
}

// One of torch's own release, else of its major.
const Toolkit* better_one(const RuleInput& in, const Toolkit& own, const Version& torch) {
  const bool same_major = Version::parse(own.version.value()).major() == torch.major();
  const Toolkit* better = nullptr;
  for (const auto& other : in.facts.toolkits.list) {
    Version v = Version::parse(other.version.value());
    if (&other == &own || !v.known() || !torch.known()) continue;
    if (same_release(v, torch)) return &other;
    if (!better && !same_major && v.major() == torch.major()) better = &other;
  }
  return better;
}

// Settings that name the toolkit of this very build; facts/toolkit_search.cpp puts them into
// origins.
constexpr const char* kNamed[] = {"CMAKE_CUDA_COMPILER", "TorchCudaStack_TOOLKIT",
                                  "TORCH_CUDA_STACK_TOOLKIT", "CUDAToolkit_ROOT (variable)",
                                  "CUDA_TOOLKIT_ROOT_DIR (variable)"};

const char* named_by(const Toolkit& toolkit) {
  for (const char* name : kNamed)
    if (contains(toolkit.origin.value(), name)) return name;
  return nullptr;
}

// The compiler of a build tree never changes; the user may mean another one by now.
void stale_tree(const RuleInput& in, const Toolkit& own, const Toolkit* better,
                List<Finding>& out) {
  const std::string& origin = own.origin.value();
  if (!contains(origin, kTree) || named_by(own)) return;
  const Toolkit* wanted = nullptr;
  for (const auto& other : in.facts.toolkits.list)
    if (&other != &own && !wanted && named_by(other)) wanted = &other;
  if (!wanted && !better) return;
  const Toolkit& other = wanted ? *wanted : *better;
  Finding& f =
      report(out, 306,
             {nvcc_label(own), wanted ? cat(named_by(other), " now names ", nvcc_and_root(other))
                                      : nvcc_label(other) + " fits PyTorch better"});
  if (wanted ||
      Version::parse(own.version.value()).major() != Version::parse(other.version.value()).major())
    f.severity = Severity::Error;
  add(f, "toolkit", nvcc_and_root(own), "", origin_words(own));
  add(f, "toolkit", nvcc_and_root(other), "", origin_words(other));
}

}  // namespace

void rule_toolkit_torch(const RuleInput& in, List<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  // A PyTorch that is itself to be built has no CUDA yet.
  if (!toolkit || in.request.purpose != "extension") return;
  const Text none, &cuda = in.facts.torch.state.is("found") ? in.facts.torch.cuda : none;
  Version nvcc = Version::parse(toolkit->version.value());
  Version torch = Version::parse(cuda.value());
  const Toolkit* better =
      nvcc.known() && !same_release(nvcc, torch) ? better_one(in, *toolkit, torch) : nullptr;
  stale_tree(in, *toolkit, better, out);
  if (!nvcc.known() || !torch.known() || same_release(nvcc, torch)) return;

  const bool major = nvcc.major() != torch.major();
  Finding& f =
      report(out, major ? 302 : 303,
             {nvcc_label(*toolkit), torch.major_minor(),
              better ? better->root.or_else(better->version.value()) : "", nvcc.major_minor()});
  add(f, "toolkit", nvcc_and_root(*toolkit), major ? cat(torch.major(), ".x") : torch.major_minor(),
      toolkit->origin.known() ? origin_words(*toolkit) : toolkit->version.from);
  add(f, "torch", cat(torch_label(in.facts), ", CUDA ", cuda.value()), "", cuda.from);
}

}  // namespace tcs
