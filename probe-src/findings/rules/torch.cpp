// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/driver.h"

namespace tcs {
namespace {

void torch_absent(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  Finding& f = report(out, 602, {});
  const std::string& reason = in.facts.torch.reason;
  add(f, "torch", reason.empty() ? "absent" : "absent: " + reason, "found",
      in.facts.torch.state.from);
  if (python.state.is("found"))
    add(f, "python", python_label(python), "", python.executable.from);
  else if (!python.reason.empty())
    add(f, "python", tail(python.reason, 200), "", python.state.from);
}

// One CUDA build of PyTorch's own index for each CUDA major: any minor of it goes with the toolkit.
// Of CUDA 12's the one of 12.6 kept what is older than 7.5, CUDA 13 dropped it (rules 7). Empty:
// there is none, or not one that is known.
std::string wheel_index(const RuleInput& in) {
  const Toolkit* toolkit = builds(in) ? in.facts.toolkit() : nullptr;
  const DriverSays says = driver_says(in.facts);
  int major = toolkit ? Version::parse(toolkit->version.value()).major() : 0;
  if (major == 0) major = Version::parse(speaks(says, in.facts.driver).value()).major();
  Sm sm;
  bool old = false, thor = false;
  for (const Device* device : visible_devices(in.facts)) {
    if (!capability(*device, sm)) continue;
    old = old || sm.base() < Sm{7, 5, 0};
    thor = thor || sm.major == 11;
  }
  if (says.jetson && !thor && says.jetpack_cuda.major() < 13) return "";
  if (major == 0) return old ? "cu126" : "cu130";
  return major < 11    ? ""
         : major == 11 ? "cu118"
         : major == 12 ? (old ? "cu126" : "cu128")
                       : "cu130";
}

void torch_without_cuda(const RuleInput& in, List<Finding>& out) {
  const Text& flavour = in.facts.torch.flavour;
  const std::string index = wheel_index(in);
  const char* other = !index.empty() ? ""
                      : driver_says(in.facts).jetson
                          ? "NVIDIA's PyTorch for Jetson, the build of your JetPack"
                          : "a CUDA build; those of this old CUDA: "
                            "https://pytorch.org/get-started/previous-versions";
  Finding& f = report(out, 603,
                      {torch_label(in.facts),
                       flavour.is("cpu")    ? "the CPU alone"
                       : flavour.is("rocm") ? "ROCm"
                                            : "XPU",
                       flavour.is("cpu") ? "y" : "", index, other});
  add(f, "torch", cat(torch_label(in.facts), ", ", flavour.value()), "a CUDA build", flavour.from);
  add_devices(f, visible_devices(in.facts));
}

}  // namespace

void rule_torch(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (in.request.purpose == "pytorch-source") return;
  if (torch.state.is("absent")) return torch_absent(in, out);
  if (torch.state.is("broken"))
    return add(report(out, 604, {torch_label(in.facts), torch.reason}), "torch",
               torch.root.or_else("torch"), "a whole installation", torch.state.from);
  if (torch.state.is("found") && torch.flavour.known() && !torch.flavour.is("cuda"))
    return torch_without_cuda(in, out);
  if (!torch.state.known())
    return missing(out, 690, "torch.state", "whether there is a PyTorch", torch.reason);
  if (!torch.flavour.known())
    missing(out, 690, "torch.flavour", "whether it is a CUDA build", torch.reason);
  if (!torch.cuda.known())
    missing(out, 690, "torch.cuda", "whether driver and toolkit fit it", torch.reason);
  // Its CMake code and its headers matter to what is built; its +cu121 tells what else is unknown.
  if (!torch.version.known() && (builds(in) || !torch.cuda.known() || !torch.flavour.known()))
    missing(out, 690, "torch.version", "what its own CMake code expects", torch.reason);
}

}  // namespace tcs
