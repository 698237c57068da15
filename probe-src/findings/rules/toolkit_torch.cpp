// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_toolkit.h"
#include "findings/nearest_torch.h"
#include "findings/rules/toolkit_candidates.h"

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

const char* named_by(const RuleInput& in, const Toolkit& toolkit) {
  for (const char* name : kNamed)
    if (contains(toolkit.origin.value(), name)) return name;
  // PyTorch's own build takes that for its first configure.
  const bool source = in.request.purpose == "pytorch-source";
  return source && comes_from(toolkit, "CUDACXX") ? "CUDACXX" : nullptr;
}

// The compiler of a build tree never changes; the user may mean another one by now.
void stale_tree(const RuleInput& in, const Toolkit& own, const Toolkit* better,
                List<Finding>& out) {
  const Toolkit* wanted = nullptr;
  bool origins = own.origin.known(), releases = true;
  for (const auto& other : in.facts.toolkits.list) {
    if (&other == &own) continue;
    if (!wanted && named_by(in, other)) wanted = &other;
    origins = origins && other.origin.known();
    releases = releases && (other.version.known() || other.works.is(false));
  }
  const bool tree = contains(own.origin.value(), kTree) && !named_by(in, own);
  const bool others = in.facts.toolkits.list.size() > 1;
  if (!tree || (!wanted && !better)) {
    // Of one that is listed alone there is nothing to keep instead of another.
    if (others && !origins && (tree || !own.origin.known()))
      missing(out, 392, "toolkits.list[].origin", "whether a build tree keeps its old compiler");
    if (tree && !releases)
      missing(out, 392, "toolkits.list[].version", "whether another toolkit fits PyTorch better");
    return;
  }
  const Toolkit& other = wanted ? *wanted : *better;
  Finding& f = report(
      out, 306,
      {nvcc_label(own), wanted ? cat(named_by(in, other), " now names ", nvcc_and_root(other))
                               : nvcc_label(other) + " fits PyTorch better"});
  if (wanted ||
      Version::parse(own.version.value()).major() != Version::parse(other.version.value()).major())
    f.severity = Severity::Error;
  add(f, "toolkit", nvcc_and_root(own), "", origin_words(own));
  add(f, "toolkit", nvcc_and_root(other), "", origin_words(other));
}

void releases(const RuleInput& in, const Toolkit& own, List<Finding>& out) {
  const Text none, &cuda = in.facts.torch.state.is("found") ? in.facts.torch.cuda : none;
  const Version nvcc = Version::parse(own.version.value()), torch = Version::parse(cuda.value());
  const Toolkit* better =
      nvcc.known() && !same_release(nvcc, torch) ? better_one(in, own, torch) : nullptr;
  if (&own == in.facts.toolkit()) stale_tree(in, own, better, out);
  if (!nvcc.known() || !torch.known() || same_release(nvcc, torch)) return;

  const bool major = nvcc.major() != torch.major();
  NearestToolkit nearest = nearest_toolkit(in);
  // Of another minor release than PyTorch's there is one already.
  if (!major && nearest.here && !same_release(Version::parse(nearest.here->version.value()), torch))
    nearest.here = nullptr;
  if (!major && nearest.release != release_of(torch)) nearest.release = 0;
  const TorchRow* made = nearest_torch(in, {to_serve(in), nvcc.major(), 0});
  if (made && !major && made->cuda != release_of(nvcc)) made = nullptr;
  Finding& f =
      report_toolkit(out, major ? 302 : 303,
                     {nvcc_label(own), torch.major_minor(),
                      made ? cat(torch_named(*made), ": ", install_line(*made, in.facts)) : "",
                      made || nearest.here || nearest.release ? "" : "y"},
                     nearest);
  add(f, "toolkit", nvcc_and_root(own), major ? cat(torch.major(), ".x") : torch.major_minor(),
      own.origin.known() ? origin_words(own) : own.version.from);
  add(f, "torch", cat(torch_label(in.facts), ", CUDA ", cuda.value()), "", cuda.from);
}

}  // namespace

void rule_toolkit_torch(const RuleInput& in, List<Finding>& out) {
  // A PyTorch that is itself to be built has no CUDA yet.
  if (in.request.purpose == "pytorch-source" && in.facts.toolkit())
    stale_tree(in, *in.facts.toolkit(), nullptr, out);
  if (in.request.purpose != "extension") return;
  judge_toolkit(in, releases, out);
  const TorchFacts& torch = in.facts.torch;
  // Without a toolkit there is nothing to hold it against, and a PyTorch without CUDA has none.
  const bool has_list = in.facts.toolkits.list_known && !in.facts.toolkits.list.empty();
  if (has_list && torch.state.is("found") && !torch.cuda.known() &&
      (!torch.flavour.known() || torch.flavour.is("cuda")))
    missing(out, 690, "torch.cuda", "whether the toolkit is of PyTorch's CUDA", torch.reason);
}

}  // namespace tcs
