// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/torch.h"
#include "findings/nearest_torch.h"

namespace tcs {
namespace {

void torch_absent(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const List<Sm> sms = to_serve(in);
  const std::string way = torch_way(in, sms);
  Finding& f = report(out, 602, {way, way.empty() ? torch_elsewhere(in, sms) : ""});
  const std::string& reason = in.facts.torch.reason;
  add(f, "torch", reason.empty() ? "absent" : "absent: " + reason, "found",
      in.facts.torch.state.from);
  if (python.state.is("found"))
    add(f, "python", python_label(python), "", python.executable.from);
  else if (!python.reason.empty())
    add(f, "python", tail(python.reason, 200), "", python.state.from);
}

void torch_without_cuda(const RuleInput& in, List<Finding>& out) {
  const Text& flavour = in.facts.torch.flavour;
  const List<Sm> sms = to_serve(in);
  const std::string way = torch_way(in, sms);
  Finding& f =
      report(out, 603,
             {torch_label(in.facts),
              flavour.is("cpu")    ? "the CPU alone"
              : flavour.is("rocm") ? "ROCm"
                                   : "XPU",
              flavour.is("cpu") ? "y" : "", way, way.empty() ? torch_elsewhere(in, sms) : ""});
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
