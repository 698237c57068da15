// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "findings/rules/common.h"

namespace tcs {
namespace {

// What the link farm repairs: folders and names that point to files which are there.
bool repaired(const std::string& part) {
  return part == "lib64" || part == "nvToolsExt" || ends_with(part, ".so");
}

void missing_parts(const RuleInput& in, const Toolkit& toolkit, std::vector<Finding>& out) {
  std::vector<std::string> gone, completed;
  for (const auto& part : toolkit.missing.value())
    (repaired(part) ? completed : gone).push_back(part);
  // A link needs the file that it names.
  if (std::find(gone.begin(), gone.end(), "cudart") != gone.end())
    completed.erase(std::remove(completed.begin(), completed.end(), "libcudart.so"),
                    completed.end());
  const std::string& from = toolkit.missing.from;
  if (!completed.empty()) {
    Finding& f = report(
        out, 307,
        cat("the toolkit is completed in the build tree: it has no ", join(completed, ", no ")));
    f.evidence.push_back(row(
        "toolkit",
        cat(toolkit.root.or_else("toolkit"), " (", toolkit.layout.or_else("layout unknown"), ")"),
        "", from, "toolkit"));
  }
  if (gone.empty()) return;
  Finding& f = report(out, 308,
                      cat(nvcc_label(toolkit), " comes without ", join(gone, ", "),
                          ", which building against PyTorch needs"));
  if (!builds(in)) f.severity = Severity::Note;
  f.evidence.push_back(row("toolkit",
                           cat(toolkit.root.or_else("toolkit"), " without ", join(gone, ", ")),
                           join(gone, ", "), from, "toolkit"));
  if (toolkit.layout.is("conda"))
    f.help.push_back(cat("install the rest: conda install cuda-toolkit=",
                         Version::parse(toolkit.version.value()).major_minor(),
                         " (cuda-nvcc alone is the compiler only)"));
  else if (toolkit.layout.is("pip"))
    f.help.push_back(
        "install the rest with pip: nvidia-cuda-runtime, nvidia-cuda-nvrtc, nvidia-cuda-cccl, "
        "nvidia-nvvm of the same release");
  else
    f.help.push_back("install the toolkit's development packages of the same release");
  f.help.push_back("or name a complete one: -DTorchCudaStack_TOOLKIT=/path/to/cuda");
}

// cicc writes PTX that ptxas reads: a newer cicc is known to fail, other mixtures may.
void parts_differ(const Toolkit& toolkit, std::vector<Finding>& out) {
  const Version own = Version::parse(toolkit.version.value());
  const Version ptxas =
      Version::parse((toolkit.ptxas.known() ? toolkit.ptxas : toolkit.version).value());
  struct Part {
    const char* name;
    const Text& release;
  };
  std::vector<std::string> words;
  std::vector<Evidence> rows;
  bool fails = false;
  for (const auto& part : {Part{"headers", toolkit.headers}, Part{"ptxas", toolkit.ptxas},
                           Part{"cicc", toolkit.cicc}, Part{"cudart", toolkit.cudart}}) {
    Version v = Version::parse(part.release.value());
    if (!v.known() || !own.known() || same_release(v, own)) continue;
    words.push_back(cat(part.name, " ", v.major_minor()));
    rows.push_back(row("toolkit", cat(part.name, " ", part.release.value()), own.major_minor(),
                       part.release.from, "toolkit"));
    if (part.name == std::string_view("cicc") && v.major_minor() != ptxas.major_minor() &&
        v >= ptxas)
      fails = true;
  }
  if (words.empty()) return;
  Finding& f =
      report(out, 309,
             cat(nvcc_label(toolkit), " works with parts of other releases: ", join(words, ", ")));
  if (toolkit.works.known() ? !toolkit.works.value() : fails) f.severity = Severity::Error;
  f.evidence.push_back(row("toolkit", cat(nvcc_label(toolkit), " in ", or_unknown(toolkit.root)),
                           "", toolkit.version.from, "toolkit"));
  f.evidence.insert(f.evidence.end(), rows.begin(), rows.end());
  if (fails) f.notes.push_back("cicc writes PTX of its own release, which an older ptxas refuses");
  if (toolkit.works.is(true)) f.notes.push_back("a test compile worked");
  f.help.push_back(toolkit.layout.is("pip")
                       ? cat("pin the parts to one release: nvidia-cuda-nvcc, nvidia-nvvm, "
                             "nvidia-cuda-runtime, nvidia-cuda-crt of ",
                             own.major_minor())
                       : std::string("install every part from one release, or name another "
                                     "toolkit: -DTorchCudaStack_TOOLKIT=/path/to/cuda"));
}

void broken(const RuleInput& in, const Toolkit& toolkit, std::vector<Finding>& out) {
  if (!toolkit.works.is(false) || toolkit.failure.kind.is("host-compiler")) return;
  const std::string kind = toolkit.failure.kind.value();
  const char* what = kind == "hang"     ? " did not answer in time"
                     : kind == "crash"  ? " crashed"
                     : kind == "start"  ? " cannot be started"
                     : kind == "output" ? " printed what no nvcc prints"
                                        : " cannot compile a small kernel";
  Finding& f = report(out, 305, cat(toolkit.nvcc.or_else(nvcc_label(toolkit)), what));
  if (!builds(in)) f.severity = Severity::Note;
  f.evidence.push_back(row("toolkit", nvcc_label(toolkit), "",
                           toolkit.nvcc.or_else(toolkit.version.from), "toolkit"));
  if (toolkit.failure.text.known())
    f.notes.push_back(cat("it said: ", tail(toolkit.failure.text.value(), 400)));
  f.help.push_back("try it by hand: echo '__global__ void k(){}' > t.cu && nvcc -c t.cu");
  f.help.push_back("or name another toolkit: -DTorchCudaStack_TOOLKIT=/path/to/cuda");
}

}  // namespace

void rule_toolkit(const RuleInput& in, std::vector<Finding>& out) {
  const ToolkitFacts& toolkits = in.facts.toolkits;
  const Toolkit* toolkit = in.facts.toolkit();
  if (toolkit) {
    missing_parts(in, *toolkit, out);
    parts_differ(*toolkit, out);
    broken(in, *toolkit, out);
  }
  if (!builds(in)) return;
  if (!toolkit && toolkits.list_known && toolkits.list.empty()) {
    std::string torch_cuda =
        in.facts.torch.cuda.known() ? cat(" ", in.facts.torch.cuda.value()) : "";
    Finding& f =
        report(out, 301, "there is no CUDA toolkit (nvcc) here, and something is to be compiled");
    f.evidence.push_back(row("toolkit", "none",
                             torch_cuda.empty() ? "nvcc" : cat("nvcc", torch_cuda), "",
                             "CUDA_HOME, PATH, usual folders"));
    if (!torch_cuda.empty())
      f.evidence.push_back(row("torch", cat(torch_label(in.facts), ", CUDA", torch_cuda), "",
                               in.facts.torch.cuda.from, "torch"));
    f.notes.push_back("PyTorch's packages bring the libraries to run, not the compiler");
    f.help.push_back(
        cat("install the CUDA toolkit", torch_cuda,
            ": from your distribution, NVIDIA, conda (cuda-toolkit) or pip (nvidia-cuda-nvcc)"));
    f.help.push_back("or name one: -DTorchCudaStack_TOOLKIT=/path/to/cuda");
    return;
  }
  if (toolkit && (toolkit->version.known() || toolkit->works.is(false))) return;
  Finding& f = report(out, 390,
                      with_reason("it is unknown which CUDA toolkit this build uses",
                                  toolkit ? toolkit->reason : toolkits.reason));
  f.help.push_back("name it: -DTorchCudaStack_TOOLKIT=/path/to/cuda");
}

}  // namespace tcs
