// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

void torch_absent(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const std::string label =
      cat(python.executable.or_else("Python"), " ", or_unknown(python.version),
          python.kind.known() ? cat(" (", python.kind.value(), ")") : "");
  if (!python.elsewhere.empty()) {
    Finding& f = report(
        out, 701, {python.executable.or_else("the Python of this build"), python.elsewhere[0]});
    add(f, "python", label, "torch", python.executable.from);
    for (const auto& other : python.elsewhere) add(f, "python", other, "", "holds a torch");
    return;
  }
  const bool isolated = python.kind.is("isolated-build");
  Finding& f = report(out, 602,
                      {isolated ? "the isolated environment that pip builds in has no PyTorch"
                                : "there is no PyTorch here",
                       isolated ? "y" : ""});
  const std::string& reason = in.facts.torch.reason;
  add(f, "torch", reason.empty() ? "absent" : "absent: " + reason, "found",
      in.facts.torch.state.from);
  if (python.state.is("found"))
    add(f, "python", label, "", python.executable.from);
  else if (!python.reason.empty())
    add(f, "python", tail(python.reason, 200), "", python.state.from);
}

// A Python that a setting names and that does not answer; perhaps another was taken in its place.
void python_in_vain(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const bool instead = python.state.is("found");
  if (python.reason.empty() || !python.state.known()) return;
  const std::string who =
      instead ? python.reason.substr(0, python.reason.find_first_of(" :")) : python.state.from;
  if (who.empty() || who == "PATH") return;
  Finding& f = report(
      out, 702,
      {who, instead ? ": " + python.executable.value() + " is used" : "", tail(python.reason, 400),
       python.elsewhere.empty() || instead ? "" : python.elsewhere[0]});
  const bool environment = who == "VIRTUAL_ENV" || who == "CONDA_PREFIX";
  const bool harmless = in.facts.torch.state.is("found") || in.request.purpose == "pytorch-source";
  if (harmless && (instead || environment)) f.severity = Severity::Warning;
  add(f, "python", instead ? "another one" : "none", "a Python that answers", who);
  if (instead) add(f, "python", python.executable.value(), "", python.executable.from);
}

// One CUDA build of PyTorch's own index for each CUDA major: any minor of it goes with the toolkit.
std::string wheel_index(const Facts& facts) {
  const Toolkit* toolkit = facts.toolkit();
  const int major = toolkit ? Version::parse(toolkit->version.value()).major() : 0;
  return major == 11   ? "cu118"
         : major == 12 ? "cu128"
         : major == 13 ? "cu130"
                       : "<the CUDA you build with: cu130>";
}

void torch_without_cuda(const RuleInput& in, List<Finding>& out) {
  const Text& flavour = in.facts.torch.flavour;
  Finding& f = report(out, 603,
                      {torch_label(in.facts),
                       flavour.is("cpu")    ? "the CPU alone"
                       : flavour.is("rocm") ? "ROCm"
                                            : "XPU",
                       flavour.is("cpu") ? "y" : "", wheel_index(in.facts)});
  add(f, "torch", cat(torch_label(in.facts), ", ", flavour.value()), "a CUDA build", flavour.from);
  add_devices(f, visible_devices(in.facts));
}

void extensions(const RuleInput& in, List<Finding>& out) {
  const Flag& abi = in.facts.torch.cxx11_abi;
  auto words = [](bool on) { return cat("_GLIBCXX_USE_CXX11_ABI=", on ? 1 : 0); };
  for (const auto& extension : in.facts.extensions) {
    if (!abi.known() || !extension.cxx11_abi.known() || extension.cxx11_abi.is(abi.value()))
      continue;
    Finding& f =
        report(out, 606, {extension.name.or_else("without a name"), torch_label(in.facts)});
    add(f, "extension", words(extension.cxx11_abi.value()), words(abi.value()),
        extension.cxx11_abi.from);
    add(f, "torch", words(abi.value()), "", abi.from);
  }
}

}  // namespace

void rule_torch(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  python_in_vain(in, out);
  if (in.request.purpose == "pytorch-source") return;
  if (torch.state.is("absent")) return torch_absent(in, out);
  if (torch.state.is("broken"))
    return add(report(out, 604, {torch_label(in.facts), torch.reason}), "torch",
               torch.root.or_else("torch"), "a whole installation", torch.state.from);
  if (torch.state.is("found") && torch.flavour.known() && !torch.flavour.is("cuda"))
    return torch_without_cuda(in, out);
  extensions(in, out);
  const bool found = torch.state.is("found") && torch.flavour.known();
  if (found && torch.version.known() && torch.cuda.known()) return;
  report(out, 690,
         {!torch.state.known()     ? "nothing is known of PyTorch"
          : !torch.flavour.known() ? "it is unknown whether this PyTorch is a CUDA build"
          : !torch.cuda.known()
              ? "it is unknown which CUDA " + torch_label(in.facts) + " was built with"
              : "the release of the installed PyTorch is unknown",
          torch.reason, found ? "" : "y", found ? "y" : ""});
}

}  // namespace tcs
