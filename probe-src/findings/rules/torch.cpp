// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

void absent(const RuleInput& in, std::vector<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const std::string where =
      python.executable.known() ? python.executable.value() : "the Python of this build";
  if (!python.elsewhere.empty()) {
    Finding& f = report(out, 701, cat(where, " has no PyTorch, another environment has"));
    f.evidence.push_back(
        row("python", cat(python.executable.or_else("Python"), " ", or_unknown(python.version)),
            "torch", python.executable.from, "python"));
    for (const auto& other : python.elsewhere)
      f.evidence.push_back(row("python", other, "", "", "holds a torch"));
    f.help.push_back(cat("name the interpreter: -DPython_EXECUTABLE=", python.elsewhere[0]));
    f.help.push_back("or activate that environment before you configure");
    return;
  }
  const bool isolated = python.kind.is("isolated-build");
  Finding& f = report(out, 602,
                      isolated ? "the isolated environment that pip builds in has no PyTorch"
                               : "there is no PyTorch here");
  f.evidence.push_back(row("torch", with_reason("absent", in.facts.torch.reason), "found",
                           in.facts.torch.state.from, "torch"));
  if (python.state.is("found"))
    f.evidence.push_back(
        row("python",
            cat(python.executable.or_else("Python"), " ", or_unknown(python.version),
                python.kind.known() ? cat(" (", python.kind.value(), ")") : ""),
            "", python.executable.from, "python"));
  if (isolated)
    f.help.push_back(
        "build in the environment that holds PyTorch: pip install --no-build-isolation ...");
  f.help.push_back("install one: pip install torch");
  f.help.push_back(
      "or name where it is: -DPython_EXECUTABLE=<python> or -DTorch_DIR=<folder of "
      "TorchConfig.cmake>");
}

void without_cuda(const RuleInput& in, std::vector<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  const std::string flavour = torch.flavour.value();
  Finding& f = report(out, 603,
                      cat(torch_label(in.facts), " is a ",
                          flavour == "cpu"    ? "CPU"
                          : flavour == "rocm" ? "ROCm"
                                              : "XPU",
                          " build: it has no CUDA"));
  f.evidence.push_back(row("torch", cat(torch_label(in.facts), ", ", flavour), "a CUDA build",
                           torch.flavour.from, "torch"));
  device_rows(visible_devices(in.facts), f.evidence);
  f.notes.push_back(
      "a package index may serve the CPU build where it has no CUDA build for this platform");
  f.help.push_back(
      "install a CUDA build: pip install --force-reinstall torch --index-url "
      "https://download.pytorch.org/whl/cu128");
}

void broken(const RuleInput& in, std::vector<Finding>& out) {
  Finding& f = report(out, 604,
                      with_reason(cat(torch_label(in.facts), " is damaged or only in part there"),
                                  in.facts.torch.reason));
  f.evidence.push_back(row("torch", in.facts.torch.root.or_else("torch"), "a whole installation",
                           in.facts.torch.state.from, "torch"));
  f.help.push_back("install it again: pip install --force-reinstall torch");
}

void extensions(const RuleInput& in, std::vector<Finding>& out) {
  const Flag& abi = in.facts.torch.cxx11_abi;
  for (const auto& extension : in.facts.extensions) {
    if (!abi.known() || !extension.cxx11_abi.known() || extension.cxx11_abi.value() == abi.value())
      continue;
    auto words = [](bool on) { return cat("_GLIBCXX_USE_CXX11_ABI=", on ? 1 : 0); };
    Finding& f =
        report(out, 606,
               cat("the extension ", extension.name.or_else("without a name"),
                   " was built with the other C++ string ABI than ", torch_label(in.facts)));
    f.evidence.push_back(row("extension", words(extension.cxx11_abi.value()), words(abi.value()),
                             extension.cxx11_abi.from, "extension"));
    f.evidence.push_back(row("torch", words(abi.value()), "", abi.from, "torch"));
    f.notes.push_back("it shows as an undefined symbol when the extension is imported");
    f.help.push_back(
        "install the build of the extension that was made for this PyTorch, or build it from "
        "source");
  }
}

}  // namespace

void rule_torch(const RuleInput& in, std::vector<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (in.request.purpose == "pytorch-source") return;
  if (torch.state.is("absent")) return absent(in, out);
  if (torch.state.is("broken")) return broken(in, out);
  if (torch.state.is("found") && torch.flavour.known() && !torch.flavour.is("cuda"))
    return without_cuda(in, out);
  extensions(in, out);
  if (torch.state.is("found") && torch.flavour.known()) return;
  Finding& f =
      report(out, 690,
             with_reason(torch.state.known() ? "it is unknown whether this PyTorch is a CUDA build"
                                             : "nothing is known of PyTorch",
                         torch.reason));
  f.help.push_back("name the interpreter that has it: -DPython_EXECUTABLE=<python>");
}

}  // namespace tcs
