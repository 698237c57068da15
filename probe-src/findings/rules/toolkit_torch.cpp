// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

constexpr const char* kTree = "TREE_CUDA_COMPILER";  // docs/internals.md

std::string origin_words(const Toolkit& toolkit) {
  return replace_all(toolkit.origin.value(), kTree, "this build tree");
}

std::string place(const Toolkit& toolkit) {
  return toolkit.root.known() ? cat(nvcc_label(toolkit), " in ", toolkit.root.value())
                              : nvcc_label(toolkit);
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

// The compiler of a build tree never changes; the user may mean another one by now.
void stale_tree(const RuleInput& in, const Toolkit& own, const Toolkit* better,
                std::vector<Finding>& out) {
  const std::string& origin = own.origin.value();
  if (!contains(origin, kTree) || contains(origin, "CMAKE_CUDA_COMPILER")) return;
  const Toolkit* wanted = nullptr;
  for (const auto& other : in.facts.toolkits.list)
    if (&other != &own && contains(other.origin.value(), "CMAKE_CUDA_COMPILER")) wanted = &other;
  if (!wanted && !better) return;
  Finding& f = report(out, 306,
                      cat("this build tree keeps ", nvcc_label(own), ", while ",
                          wanted ? cat("CMAKE_CUDA_COMPILER now names ", place(*wanted))
                                 : cat(nvcc_label(*better), " fits PyTorch better")));
  if (wanted || Version::parse(own.version.value()).major() !=
                    Version::parse(better->version.value()).major())
    f.severity = Severity::Error;
  f.evidence.push_back(row("toolkit", place(own), "", origin_words(own), ""));
  f.evidence.push_back(row("toolkit", place(wanted ? *wanted : *better), "",
                           origin_words(wanted ? *wanted : *better), ""));
  f.help.push_back(
      "CMake keeps the first CUDA compiler of a build tree: configure it anew with cmake --fresh");
}

}  // namespace

void rule_toolkit_torch(const RuleInput& in, std::vector<Finding>& out) {
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
  Finding& f = report(out, major ? 302 : 303,
                      cat(nvcc_label(*toolkit), " compiles for a PyTorch of CUDA ", cuda.value()));
  f.evidence.push_back(
      row("toolkit", place(*toolkit), major ? cat(torch.major(), ".x") : torch.major_minor(),
          toolkit->origin.known() ? origin_words(*toolkit) : toolkit->version.from, "toolkit"));
  f.evidence.push_back(
      row("torch", cat(torch_label(in.facts), ", CUDA ", cuda.value()), "", cuda.from, "torch"));
  f.notes.push_back(major ? "two CUDA majors are two runtimes in one process; PyTorch's own build "
                            "script stops here too"
                          : "within one CUDA major this works as a rule; PTX and newer API calls "
                            "may ask for a newer driver");
  if (better)
    f.help.push_back(cat("use the one that is here: -DTorchCudaStack_TOOLKIT=",
                         better->root.or_else(better->version.value())));
  f.help.push_back(cat(better ? "or install" : "install", " CUDA toolkit ", torch.major_minor(),
                       ", or a PyTorch made for CUDA ", nvcc.major_minor()));
}

}  // namespace tcs
