// SPDX-License-Identifier: Apache-2.0
// Run-time compilation: PyTorch's kernels may fit a device that its own compilers do not know.
#include "findings/rules/common.h"
#include "host/host.h"

namespace tcs {
namespace {

// Devices that none of `tools` knows.
struct Unknown {
  List<const Device*> devices;
  List<std::string> dotted, names, real;
};

Unknown not_known(const RuleInput& in, const List<const Library*>& tools) {
  Unknown out;
  for (const Device* device : visible_devices(in.facts)) {
    Sm sm;
    bool knows = !capability(*device, sm);
    for (const Library* tool : tools)
      for (const auto& image : images_in(tool->archs.value())) knows = knows || image.sm == sm;
    if (knows) continue;
    out.devices.push_back(device);
    add_once(out.dotted, sm.dotted());
    add_once(out.names, device->name.or_else("a visible device"));
    // As Triton asks for it.
    add_once(out.real, (sm < Sm{9, 0, 0} ? sm : Sm{sm.major, sm.minor, 'a'}).real());
  }
  return out;
}

std::string owners(const Unknown& lacks) {
  return cat(lacks.dotted.size() == 1 ? "the capability of " : "the capabilities of ",
             in_words(lacks.names));
}

// The CUDA whose compilers know it.
std::string knowing_cuda(const Device& device) {
  Sm sm;
  capability(device, sm);
  const ArchRow* arch = find_arch(sm);
  if (!arch) return "a newer CUDA";
  return arch->last != 0 ? cat("CUDA ", release_text(arch->last), " or older")
                         : cat("CUDA ", release_text(arch->first), " or newer");
}

void nvrtc(const RuleInput& in, const Library& lib, List<Finding>& out) {
  if (!starts_with(lib.soname.value(), "libnvrtc.so.") || !lib.state.is("found")) return;
  if (!lib.archs.known() && !visible_devices(in.facts).empty())
    return missing(out, 590, "libraries[].archs",
                   "whether NVRTC compiles for the devices at run time");
  const Unknown lacks = not_known(in, {&lib});
  if (lacks.devices.empty()) return;
  Finding& f = report(
      out, 504,
      {lib.soname.value(), in_words(lacks.dotted), owners(lacks), knowing_cuda(*lacks.devices[0])});
  add_devices(f, lacks.devices);
  add(f, "runtime", cat(lib.soname.value(), ": ", image_words(images_in(lib.archs.value()))),
      join(lacks.dotted, ", "), lib.archs.from);
}

// "sm_75 ... sm_90a": the plain ones, for a ptxas has thirty.
std::string short_words(const Library& tool) {
  List<Image> plain;
  for (const auto& image : images_in(tool.archs.value()))
    if (image.sm.plain()) plain.push_back(image);
  return image_words(plain);
}

// The toolkit's own where that knows the device, as a path; else in words, by the table.
std::string newer_ptxas(const RuleInput& in, const Device& device) {
  Sm sm;
  capability(device, sm);
  const Toolkit* toolkit = in.facts.toolkit();
  if (toolkit && toolkit->root.known() &&
      contains(images_in(toolkit->archs.value()), Image{sm, false}))
    return path_join(toolkit->root.value(), "bin/ptxas");
  return knowing_cuda(device);
}

// Triton brings one or two (ptxas-blackwell); which one it calls for a device changes with its
// release, so that only a device which none of them knows is trouble.
void ptxas(const RuleInput& in, List<Finding>& out) {
  List<const Library*> tools;
  for (const auto& lib : in.facts.libraries) {
    if (!lib.soname.known()) return;  // it may be another ptxas
    if (starts_with(lib.soname.value(), "ptxas") && !lib.state.is("missing")) tools.push_back(&lib);
  }
  if (tools.empty() || visible_devices(in.facts).empty()) return;
  for (const Library* tool : tools)
    if (!tool->state.known())
      return missing(out, 590, "libraries[].state", "whether Triton's ptxas knows the devices");
  for (const Library* tool : tools)
    if (!tool->archs.known())
      return missing(out, 590, "libraries[].archs", "whether Triton's ptxas knows the devices");
  const Unknown lacks = not_known(in, tools);
  if (lacks.devices.empty()) return;
  std::string variable;
  for (const Library* tool : tools)
    if (starts_with(tool->via.value(), "TRITON_")) variable = tool->via.value();
  const std::string better = newer_ptxas(in, *lacks.devices[0]);
  Finding& f = report(
      out, 507,
      {in_words(lacks.dotted), owners(lacks), lacks.real[0], variable,
       variable.empty() && contains(better, "/") ? better : "", contains(better, "/") ? "" : better,
       variable.empty() ? "TRITON_PTXAS_PATH" : variable,
       contains(knowing_cuda(*lacks.devices[0]), "older") ? "an older" : "a newer"});
  add_devices(f, lacks.devices);
  for (const Library* tool : tools)
    add(f, "runtime",
        cat(tool->soname.value(), " ", or_unknown(tool->version), ": ", short_words(*tool)),
        join(lacks.real, ", "), tool->archs.from);
  for (const Library* tool : tools)
    if (tool->path.known())
      f.notes.push_back(cat(tool->soname.value(), " is ", tool->path.value()));
}

}  // namespace

void rule_runtime_compilers(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (!torch.state.is("found") || !torch.flavour.is("cuda") ||
      in.request.purpose == "pytorch-source")
    return;
  for (const auto& lib : in.facts.libraries) nvrtc(in, lib, out);
  ptxas(in, out);
}

}  // namespace tcs
