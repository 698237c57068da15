// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// libcuda.so.1 is the driver's: the driver rules speak of it.
bool is_driver_library(const Library& lib) {
  return starts_with(lib.soname.value(), "libcuda.so");
}

void missing_libraries(const RuleInput& in, std::vector<Finding>& out) {
  std::vector<const Library*> gone;
  for (const auto& lib : in.facts.libraries)
    if (lib.state.is("missing") && !is_driver_library(lib)) gone.push_back(&lib);
  if (gone.empty()) return;
  const std::string first = gone[0]->soname.or_else("a library");
  Finding& f =
      report(out, 501,
             gone.size() == 1 ? cat(first, ", which ", gone[0]->needed_by.or_else("PyTorch"),
                                    " needs, is not found by the loader")
                              : cat("the loader does not find ", gone.size(),
                                    " libraries that PyTorch needs: ", first, " and others"));
  for (size_t i = 0; i < gone.size() && i < 12; ++i)
    f.evidence.push_back(row("runtime", cat(gone[i]->soname.or_else("?"), " missing"),
                             cat("by ", gone[i]->needed_by.or_else("PyTorch")), gone[i]->state.from,
                             "loader"));
  if (gone.size() > 12) f.notes.push_back(cat("and ", gone.size() - 12, " more"));
  f.help.push_back(
      "install PyTorch with its dependencies (no --no-deps), or the nvidia-* packages it names: "
      "pip check");
  f.help.push_back("or put the folder that holds them on LD_LIBRARY_PATH");
  f.help.push_back("a wheel unpacked alone on purpose: -DTorchCudaStack_ALLOW=TCS501");
}

void wrong(const Library& lib, std::vector<Finding>& out) {
  Version has = Version::parse(lib.version.value());
  Version built = Version::parse(lib.built_against.value());
  const std::string name = lib.soname.or_else("a library");
  const bool older = has.known() && built.known() && has < built;
  if (older || lib.state.is("wrong")) {
    Finding& f = report(out, 502,
                        older ? cat(name, " that loads is ", has.dotted(), ", older than the ",
                                    built.dotted(), " that PyTorch was built with")
                              : cat(name, " that loads is not the one that ",
                                    lib.needed_by.or_else("PyTorch"), " needs"));
    f.evidence.push_back(row(
        "runtime",
        cat(name, " ", or_unknown(lib.version), lib.path.known() ? cat(" ", lib.path.value()) : ""),
        built.known() ? cat(">= ", built.dotted()) : "", lib.via.or_else(lib.version.from),
        "loader"));
    if (!older && !lib.state.from.empty()) f.notes.push_back(lib.state.from);
    f.help.push_back(
        lib.via.is("LD_LIBRARY_PATH")
            ? "take its folder out of LD_LIBRARY_PATH, so that PyTorch's own copy loads"
            : "remove it from the loader's path, so that PyTorch's own copy loads");
    f.help.push_back(cat("or install ", built.known()
                                            ? cat(built.dotted(), " or newer")
                                            : std::string("the release that PyTorch names")));
  } else if (lib.state.is("found") && lib.via.is("LD_LIBRARY_PATH") && !is_driver_library(lib) &&
             !(has.known() && built.known() && same_release(has, built))) {
    Finding& f = report(out, 503, cat(name, " is taken from LD_LIBRARY_PATH before PyTorch's own"));
    f.evidence.push_back(row(
        "runtime",
        cat(name, " ", or_unknown(lib.version), lib.path.known() ? cat(" ", lib.path.value()) : ""),
        built.dotted(), "LD_LIBRARY_PATH", ""));
    f.help.push_back("take its folder out of LD_LIBRARY_PATH, unless it is meant");
  }
}

// Run-time compilation: a library's kernels may fit a device that its own NVRTC does not know.
void nvrtc(const RuleInput& in, const Library& lib, std::vector<Finding>& out) {
  if (!starts_with(lib.soname.value(), "libnvrtc.so") || !lib.archs.known()) return;
  std::vector<Image> archs = images_in(lib.archs.value());
  for (const Device* device : visible_devices(in.facts)) {
    Sm sm;
    bool knows = !capability(*device, sm);
    for (const auto& image : archs) knows = knows || image.sm == sm;
    if (knows) continue;
    Finding& f = report(out, 504,
                        cat(lib.soname.value(), " cannot compile for ", sm.dotted(),
                            ", the capability of ", device->name.or_else("a visible device")));
    device_rows({device}, f.evidence);
    f.evidence.push_back(row("runtime", cat(lib.soname.value(), ": ", image_words(archs)),
                             sm.dotted(), lib.archs.from, "libnvrtc"));
    f.notes.push_back(
        "ready kernels are not touched; what PyTorch compiles at run time fails on this device");
    f.help.push_back("use a PyTorch of a newer CUDA");
    return;
  }
}

}  // namespace

void rule_libraries(const RuleInput& in, std::vector<Finding>& out) {
  missing_libraries(in, out);
  for (const auto& lib : in.facts.libraries) {
    wrong(lib, out);
    nvrtc(in, lib, out);
  }
  if (in.facts.libraries_known || in.request.purpose != "run" || !in.facts.torch.state.is("found"))
    return;
  Finding& f = report(out, 590, "it is unknown which libraries PyTorch would load");
  f.help.push_back("run `tcstack probe` on the machine, or ldd on libtorch_cuda.so");
}

}  // namespace tcs
