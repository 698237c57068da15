// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {

void rule_toolkit_torch(const RuleInput& in, std::vector<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  // A PyTorch that is itself to be built has no CUDA yet.
  if (!toolkit || in.request.purpose != "extension" || !in.facts.torch.state.is("found")) return;
  Version nvcc = Version::parse(toolkit->version.value());
  Version torch = Version::parse(in.facts.torch.cuda.value());
  if (!nvcc.known() || !torch.known() || same_release(nvcc, torch)) return;

  const Toolkit* better = nullptr;  // a toolkit of torch's own release, else of its major
  for (const auto& other : in.facts.toolkits.list) {
    Version v = Version::parse(other.version.value());
    if (&other == toolkit || !v.known()) continue;
    if (same_release(v, torch) ||
        (!better && v.major() == torch.major() && nvcc.major() != torch.major()))
      better = &other;
  }
  const bool major = nvcc.major() != torch.major();
  const bool tree = contains(toolkit->origin.value(), "build tree");
  std::string text =
      cat(nvcc_label(*toolkit), " compiles for a PyTorch of CUDA ", in.facts.torch.cuda.value());
  const int id = tree && better ? 306 : major ? 302 : 303;
  Finding& f = report(out, id,
                      tree && better ? cat("this build tree keeps ", nvcc_label(*toolkit),
                                           ", while ", nvcc_label(*better), " fits PyTorch's CUDA ",
                                           in.facts.torch.cuda.value(), " better")
                                     : text);
  if (id == 306 && major) f.severity = Severity::Error;
  f.evidence.push_back(row(
      "toolkit",
      cat(nvcc_label(*toolkit), toolkit->root.known() ? cat(" in ", toolkit->root.value()) : ""),
      major ? cat(torch.major(), ".x") : torch.major_minor(),
      toolkit->origin.or_else(toolkit->version.from), "toolkit"));
  f.evidence.push_back(row("torch",
                           cat(torch_label(in.facts), ", CUDA ", in.facts.torch.cuda.value()), "",
                           in.facts.torch.cuda.from, "torch"));
  f.notes.push_back(major ? "two CUDA majors are two runtimes in one process; PyTorch's own build "
                            "script stops here too"
                          : "within one CUDA major this works as a rule; PTX and newer API calls "
                            "may ask for a newer driver");
  if (id == 306)
    f.help.push_back(
        "CMake keeps the first compiler of a build tree: configure it anew with cmake --fresh");
  else if (better)
    f.help.push_back(cat("use the one that is here: -DTorchCudaStack_TOOLKIT=",
                         better->root.or_else(better->version.value())));
  f.help.push_back(cat("or install CUDA toolkit ", torch.major_minor(),
                       ", or a PyTorch made for CUDA ", nvcc.major_minor()));
}

}  // namespace tcs
