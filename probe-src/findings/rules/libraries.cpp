// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

constexpr size_t kShown = 12;

// libcuda.so.1 is the driver's: the driver rules speak of it.
bool is_driver_library(const Library& lib) {
  return starts_with(lib.soname.value(), "libcuda.so");
}

void missing_libraries(const RuleInput& in, List<Finding>& out) {
  List<const Library*> gone;
  for (const auto& lib : in.facts.libraries)
    if (lib.state.is("missing") && !is_driver_library(lib)) gone.push_back(&lib);
  if (gone.empty()) return;
  const std::string first = gone[0]->soname.or_else("a library"),
                    one = ", which " + gone[0]->needed_by.or_else("PyTorch") +
                          " needs, is not found by the loader";
  Finding& f =
      report(out, 501,
             {gone.size() == 1 ? first + one
                               : cat("the loader does not find ", gone.size(),
                                     " libraries that PyTorch needs: ", first, " and others"),
              gone.size() > kShown ? std::to_string(gone.size() - kShown) : ""});
  for (size_t i = 0; i < gone.size() && i < kShown; ++i)
    add(f, "runtime", gone[i]->soname.or_else("?") + " missing",
        "by " + gone[i]->needed_by.or_else("PyTorch"), gone[i]->state.from);
}

void wrong_library(const Library& lib, List<Finding>& out) {
  if (is_driver_library(lib)) return;
  const Version has = Version::parse(lib.version.value()),
                built = Version::parse(lib.built_against.value());
  const bool older = has.known() && built.known() && has < built,
             by_path = lib.via.is("LD_LIBRARY_PATH");
  const bool other = by_path && !(has.known() && built.known() && same_release(has, built));
  const bool wrong = older || lib.state.is("wrong");
  if (!wrong && !(lib.state.is("found") && other)) return;
  const std::string name = lib.soname.or_else("a library");
  Finding& f = report(
      out, wrong ? 502 : 503,
      {name,
       older
           ? cat(has.dotted(), ", older than the ", built.dotted(), " that PyTorch was built with")
           : "not the one that " + lib.needed_by.or_else("PyTorch") + " needs",
       older ? "" : lib.state.from, by_path ? "LD_LIBRARY_PATH" : "the loader's path",
       built.known() ? built.dotted() + " or newer" : "the release that PyTorch names"});
  add(f, "runtime", with_path(cat(name, " ", or_unknown(lib.version)), lib.path),
      built.known() ? ">= " + built.dotted() : "", lib.via.or_else(lib.version.from));
}

// Run-time compilation: a library's kernels may fit a device that its own NVRTC does not know.
void nvrtc(const RuleInput& in, const Library& lib, List<Finding>& out) {
  if (!starts_with(lib.soname.value(), "libnvrtc.so") || !lib.archs.known()) return;
  const List<Image> archs = images_in(lib.archs.value());
  for (const Device* device : visible_devices(in.facts)) {
    Sm sm;
    bool knows = !capability(*device, sm);
    for (const auto& image : archs) knows = knows || image.sm == sm;
    if (knows) continue;
    Finding& f = report(
        out, 504, {lib.soname.value(), sm.dotted(), device->name.or_else("a visible device")});
    add_devices(f, {device});
    return add(f, "runtime", cat(lib.soname.value(), ": ", image_words(archs)), sm.dotted(),
               lib.archs.from);
  }
}

}  // namespace

void rule_libraries(const RuleInput& in, List<Finding>& out) {
  missing_libraries(in, out);
  for (const auto& lib : in.facts.libraries) {
    wrong_library(lib, out);
    nvrtc(in, lib, out);
  }
  if (!in.facts.libraries_known && in.request.purpose == "run" && in.facts.torch.state.is("found"))
    missing(out, 590, "libraries", "whether the loader finds what PyTorch needs");
}

}  // namespace tcs
