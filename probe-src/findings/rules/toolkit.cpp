// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// What the module repairs: folders and names that point to files which are there; and NVRTC, which
// PyTorch's CMake code links and an extension does not need (measured on pip toolkits
// of 13.2, 13.5).
bool repaired(const std::string& part, const Toolkit& t) {
  if (part == "nvrtc") return t.layout.is("pip");
  return part == "lib64" || part == "nvToolsExt" || ends_with(part, ".so");
}

void missing_parts(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  List<std::string> gone, completed;
  for (const auto& part : t.missing.value()) (repaired(part, t) ? completed : gone).push_back(part);
  // A link needs the file that it names.
  if (contains(gone, "cudart")) remove_from(completed, "libcudart.so");
  const std::string root = t.root.or_else("toolkit");
  if (!completed.empty())
    add(report(out, 307, {join(completed, ", no ")}), "toolkit",
        cat(root, " (", t.layout.or_else("layout unknown"), ")"), "", t.missing.from);
  if (gone.empty()) return;
  const std::string names = join(gone, ", ");
  Finding& f = report(
      out, 308,
      {nvcc_label(t), names,
       t.layout.is("conda") ? "install the rest: conda install cuda-toolkit=" +
                                  Version::parse(t.version.value()).major_minor() +
                                  " (cuda-nvcc is the compiler only)"
       : t.layout.is("pip") ? "install the rest with pip: nvidia-cuda-runtime, nvidia-cuda-nvrtc, "
                              "nvidia-cuda-cccl, nvidia-nvvm of the same release"
                            : "install the toolkit's development packages of the same release"});
  if (!builds(in)) f.severity = Severity::Note;
  add(f, "toolkit", root + " without " + names, names, t.missing.from);
}

// What to install from PyPI for one release, quoted for a shell.
std::string pip_packages(const Version& release) {
  if (release.major() < 13) return {};  // before 13 PyPI has no nvcc
  const std::string pin = cat("==", release.major_minor(), ".*'");
  std::string out;
  for (const char* name :
       {"nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime"})
    out += cat(out.empty() ? "'" : " '", name, pin);
  return out;
}

// cicc writes PTX that ptxas reads: a newer cicc is known to fail, other mixtures may.
void parts_differ(const RuleInput& in, const Toolkit& toolkit, List<Finding>& out) {
  const Version own = Version::parse(toolkit.version.value());
  const Version ptxas =
      Version::parse((toolkit.ptxas.known() ? toolkit.ptxas : toolkit.version).value());
  struct Part {
    const char* name;
    const Text& release;
  };
  List<std::string> words;
  List<Evidence> rows;
  bool fails = false, headers = false;
  for (const auto& part : {Part{"headers", toolkit.headers}, Part{"ptxas", toolkit.ptxas},
                           Part{"cicc", toolkit.cicc}, Part{"cudart", toolkit.cudart}}) {
    Version v = Version::parse(part.release.value());
    if (!v.known() || !own.known() || same_release(v, own)) continue;
    words.push_back(cat(part.name, " ", v.major_minor()));
    rows.push_back(Evidence{"toolkit", cat(part.name, " ", part.release.value()), own.major_minor(),
                            part.release.from});
    if (part.name == std::string_view("cicc") && v.major_minor() != ptxas.major_minor() &&
        v >= ptxas)
      fails = true;
    // torch's cuda.cmake compares FindCUDA's release, which is nvcc's, with that of cuda.h.
    headers = headers || part.name == std::string_view("headers");
  }
  if (words.empty()) return;
  const Version torch = Version::parse(in.facts.torch.cuda.value());
  const std::string packages = pip_packages(torch.major() == own.major() ? torch : own);
  const std::string pins = packages.empty()
                               ? "install every part from one release"
                               : "pin the parts to one release: pip install " + packages;
  const std::string other =
      "install every part from one release, or name another toolkit: "
      "-DTorchCudaStack_TOOLKIT=/path/to/cuda";
  Finding& f = report(
      out, 309,
      {nvcc_label(toolkit), join(words, ", "), fails ? "y" : "", toolkit.works.is(true) ? "y" : "",
       toolkit.layout.is("pip") ? pins : other, headers ? "y" : ""});
  if (headers && builds(in)) f.severity = Severity::Error;
  if (toolkit.works.known() ? !toolkit.works.value() : fails) f.severity = Severity::Error;
  add(f, "toolkit", nvcc_and_root(toolkit), "", toolkit.version.from);
  f.evidence.append(rows);
}

// What named it: a variable or a setting. Where it was only come across, the path says it.
std::string setting_of(const Toolkit& t) {
  List<std::string> names;
  for (const std::string& name : split(t.origin.value(), ","))
    if (!starts_with(trim(name), "/") && trim(name) != "PATH")
      names.push_back(std::string(trim(name)));
  return join(names, ", ");
}

// Build scripts of others obey these variables, whatever is used here in their place.
void named_in_vain(const Toolkit& own, const Toolkit& other, List<Finding>& out) {
  List<std::string> names;
  for (const std::string& name : split(other.origin.value(), ","))
    for (const char* variable : {"CUDACXX", "CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"})
      if (trim(name) == variable) names.push_back(variable);
  if (names.empty() || !other.works.is(false)) return;
  Finding& f =
      report(out, 310,
             {join(names, ", "), nvcc_and_root(own), own.root.or_else("the one that works"),
              tail(other.failure.text.value(), 400)});
  add(f, "toolkit", other.nvcc.or_else("none") + ", of no use", "a working nvcc",
      join(names, ", "));
  add(f, "toolkit", nvcc_and_root(own), "", own.origin.value());
}

void clang_for_nvcc(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const HostCompiler& clang = in.facts.host_compiler;
  Finding& f = report(out, 404, {clang.path.or_else("clang++")});
  add(f, "host-compiler", with_path(cat("clang ", clang.version.value()), clang.path), "nvcc",
      setting_of(t));
  if (t.root.known()) add(f, "toolkit", t.root.value(), "", t.root.from);
}

void broken_toolkit(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  if (!t.works.is(false) || starts_with(t.failure.kind.value(), "host-compiler")) return;
  const std::string kind = t.failure.kind.value(), said = tail(t.failure.text.value(), 400);
  const bool start = kind == "start";
  const std::string setting = setting_of(t);
  Finding& f = report(
      out, 305,
      {t.nvcc.or_else(nvcc_label(t)) + (setting.empty() ? "" : " (" + setting + ")"),
       kind == "hang"                            ? "did not answer in time"
       : kind == "crash"                         ? "crashed"
       : start && contains(said, "No such file") ? "is not there"
       : start                                   ? "cannot be started"
       : kind == "output" && !t.version.known()  ? "printed what no nvcc prints"
                                                 : "cannot compile a small kernel",
       start || said.empty() ? said : "it said: " + said, start ? "" : t.nvcc.or_else("nvcc")});
  if (!builds(in)) f.severity = Severity::Note;
  add(f, "toolkit", start ? "none" : nvcc_label(t), start ? "nvcc" : "",
      setting.empty() ? t.nvcc.or_else(t.version.from) : setting);
  add_nvcc_variables(in, f);
}

void no_toolkit(const RuleInput& in, List<Finding>& out) {
  const Text& cuda = in.facts.torch.cuda;
  const std::string release = cuda.known() ? " " + cuda.value() : "";
  Finding& f = report(out, 301, {release, pip_packages(Version::parse(cuda.value()))});
  add(f, "toolkit", "none", "nvcc" + release, "CUDA_HOME, PATH, usual folders");
  if (cuda.known()) add(f, "torch", cat(torch_label(in.facts), ", CUDA", release), "", cuda.from);
}

}  // namespace

void rule_toolkit(const RuleInput& in, List<Finding>& out) {
  const ToolkitFacts& toolkits = in.facts.toolkits;
  const Toolkit* toolkit = in.facts.toolkit();
  if (toolkit) {
    missing_parts(in, *toolkit, out);
    parts_differ(in, *toolkit, out);
    broken_toolkit(in, *toolkit, out);
  }
  if (!builds(in)) return;
  if (toolkit && is_clang(*toolkit)) clang_for_nvcc(in, *toolkit, out);
  for (const auto& other : toolkits.list)
    if (toolkit && &other != toolkit) named_in_vain(*toolkit, other, out);
  if (!toolkit && toolkits.list_known && toolkits.list.empty()) return no_toolkit(in, out);
  if (!toolkit || (!toolkit->version.known() && !toolkit->works.is(false)))
    missing(out, 390,
            toolkit               ? "toolkits.list[].version"
            : toolkits.list_known ? "toolkits.selected"
                                  : "toolkits.list",
            "what this build compiles with", toolkit ? toolkit->reason : toolkits.reason);
}

}  // namespace tcs
