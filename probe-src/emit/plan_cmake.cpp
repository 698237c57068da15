// SPDX-License-Identifier: Apache-2.0
#include "emit/plan_cmake.h"

#include "base/text.h"
#include "emit/emit.h"

namespace tcs {

const Component kComponents[7] = {
    {"Device", Layer::Device},   {"Driver", Layer::Driver},
    {"Toolkit", Layer::Toolkit}, {"HostCompiler", Layer::HostCompiler},
    {"Runtime", Layer::Runtime}, {"Torch", Layer::Torch},
    {"Python", Layer::Python},
};

namespace {

// The layer's own state where no finding speaks of it.
const char* quiet_status(const Facts& facts, Layer layer) {
  auto of = [](const Text& state, const char* absent) {
    return !state.known() ? "unknown" : state.value() == absent ? "absent" : "ok";
  };
  switch (layer) {
    case Layer::Device:
      return of(facts.devices.state, "none");
    case Layer::Driver:
      return of(facts.driver.state, "absent");
    case Layer::Torch:
      return of(facts.torch.state, "absent");
    case Layer::Python:
      return of(facts.python.state, "absent");
    case Layer::Toolkit:
      if (facts.toolkit() != nullptr) return "ok";
      return facts.toolkits.list_known && facts.toolkits.list.empty() ? "absent" : "unknown";
    case Layer::HostCompiler:
      return facts.host_compiler.version.known() ? "ok" : "unknown";
    default:
      return facts.libraries_known ? "ok" : "unknown";
  }
}

void set(std::string& out, const std::string& name, const std::string& value) {
  out += cat("set(", name, " ", cmake_quote(value), ")\n");
}

void set_components(const PlanCmakeInput& in, std::string& out) {
  for (const Component& component : kComponents) {
    bool found = true;
    const char* status = quiet_status(in.facts, component.layer);
    Severity worst = Severity::Note;
    for (const Finding& finding : in.report.findings) {
      if (finding.layer != component.layer) continue;
      if (reaches(finding, in.policy)) found = false;
      if (finding.severity > worst) worst = finding.severity;
    }
    if (worst == Severity::Unknown) status = "unknown";
    if (worst == Severity::Warning) status = "warn";
    if (worst == Severity::Error || !found) status = "fail";
    std::string prefix = cat("TorchCudaStack_", component.name);
    set(out, prefix + "_FOUND", found ? "TRUE" : "FALSE");
    set(out, prefix + "_STATUS", status);
  }
}

// CMake re-wraps text that is not indented, and drops the indent of blank lines' neighbours: every
// line, blank ones too, begins with two spaces.
std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    if (!starts_with(line, "  ")) out += "  ";
    out += line + "\n";
  }
  return out;
}

bool is_about_images(const Finding& finding) {
  return finding.id == 341 || finding.id == 922;
}

void set_findings(const PlanCmakeInput& in, std::string& out) {
  List<std::string> codes;
  std::string fatal;    // reach fail-on
  std::string notices;  // warnings and unknowns below it
  std::string notes;
  for (const Finding& finding : in.report.findings) {
    codes.push_back(finding.code());
    std::string& into = reaches(finding, in.policy)          ? fatal
                        : finding.severity == Severity::Note ? notes
                                                             : notices;
    if (!into.empty()) into += "\n";
    into += finding_text(finding, in.language);
  }
  if (fatal.empty() && in.plan.gencodes.empty()) {
    fatal = cat(said("error: no architecture is planned, and torch would make up a list of its own",
                     in.language),
                "\n", notices, notes);
  }
  // What was tried of each image: always to be had, and shown where an image is what fails.
  const std::string table = availability_text(in.facts, in.plan, in.language);
  if (!table.empty()) {
    bool images = false;
    for (const Finding& finding : in.report.findings)
      images = images || (reaches(finding, in.policy) && is_about_images(finding));
    std::string& into = images ? fatal : notes;
    into += (into.empty() ? "" : "\n") + table;
  }
  set(out, "TorchCudaStack_FINDINGS", join(codes, ";"));
  set(out, "_tcs_fatal", indented(fatal));
  set(out, "_tcs_notices", indented(notices));
  set(out, "_tcs_notes", indented(notes));
}

void set_toolkit(const PlanCmakeInput& in, std::string& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  std::string nvcc = toolkit != nullptr ? toolkit->nvcc.value() : "";
  // The farm's nvcc belongs to the farm: nvcc, headers and libraries must be of one root.
  bool farm =
      toolkit != nullptr && !in.toolkit_root.empty() && in.toolkit_root != toolkit->root.value();
  if (farm) nvcc = in.toolkit_root + "/bin/nvcc";
  std::string root =
      in.toolkit_root.empty() && toolkit != nullptr ? toolkit->root.value() : in.toolkit_root;
  std::string host;
  if (toolkit != nullptr) host = toolkit->fitting_host_compiler.value();
  set(out, "TorchCudaStack_CUDA_COMPILER", nvcc);
  set(out, "TorchCudaStack_TOOLKIT_ROOT", root);
  set(out, "TorchCudaStack_CUDA_HOST_COMPILER",
      host.empty() ? in.facts.host_compiler.path.value() : host);
  set(out, "_tcs_nvcc", nvcc);
  set(out, "_tcs_root", root);
  set(out, "_tcs_host_compiler", host);
}

void set_torch(const PlanCmakeInput& in, std::string& out) {
  const TorchFacts& torch = in.facts.torch;
  set(out, "TorchCudaStack_TORCH_VERSION", torch.version.value());
  set(out, "TorchCudaStack_TORCH_CUDA_VERSION", torch.cuda.value());
  set(out, "_tcs_torch_dir", torch.cmake_dir.value());
  set(out, "_tcs_cxx_standard", torch.cxx_standard.known() ? cat(torch.cxx_standard.value()) : "");
  set(out, "_tcs_python", in.facts.python.executable.value());
}

}  // namespace

std::string plan_cmake(const PlanCmakeInput& in) {
  std::string out = "# Written by tcstack " TCS_VERSION "; read by FindTorchCudaStack.cmake.\n";
  set(out, "TorchCudaStack_STATUS", in.report.outcome);
  set(out, "TorchCudaStack_TORCH_CUDA_ARCH_LIST", torch_list(in.plan).text);
  set(out, "TorchCudaStack_GENCODE_FLAGS", join(gencode_flags(in.plan), ";"));
  set(out, "TorchCudaStack_CUDA_ARCHITECTURES", cmake_architectures(in.plan).text);
  set(out, "TorchCudaStack_REPORT_JSON", in.dir + "/report.json");
  set(out, "TorchCudaStack_FACTS_JSON", in.dir + "/facts.json");
  for (const auto& variable : availability_variables(in.facts, in.plan))
    set(out, variable.first, variable.second);
  set_components(in, out);
  set_findings(in, out);
  set_toolkit(in, out);
  set_torch(in, out);
  set(out, "_tcs_purpose", in.request.purpose);
  set(out, "_tcs_outcome", in.report.outcome);
  set(out, "_tcs_summary", summary_line(in.report, in.facts, in.plan, in.language));
  return out;
}

}  // namespace tcs
