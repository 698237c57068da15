// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/torch.h"

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

struct WheelRow {
  const char* index;
  int cuda;
  const char *x86_64, *aarch64;  // images
};
constexpr WheelRow kWheels[] = {
#define TCS_TORCH_WHEEL(index, cuda, x86_64, aarch64) {index, cuda, x86_64, aarch64},
#include "tables/torch_wheels.def"
#undef TCS_TORCH_WHEEL
};

bool has_images(const WheelRow& row, const Facts& facts, const List<Sm>& all) {
  const List<Image> images =
      images_in(split(facts.host.arch.is("aarch64") ? row.aarch64 : row.x86_64, " "));
  for (const Sm& sm : all) {
    const Fit fit = best_fit(images, sm);
    if (fit != Fit::Native && fit != Fit::Jit) return false;
  }
  return !images.empty();
}

List<Sm> visible_sms(const RuleInput& in) {
  List<Sm> out;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) add_once(out, sm);
  return out;
}

// The newest that serves all devices and that the driver takes, of the toolkit's CUDA major where
// one builds. Null: there is none.
const WheelRow* wheel(const RuleInput& in, int toolkit_major) {
  const DriverSays says = driver_says(in.facts);
  const List<Sm> all = visible_sms(in);
  bool thor = false;
  for (const Sm& sm : all) thor = thor || sm.major == 11;
  // The board's own builds are NVIDIA's; from JetPack 7 on the usual ones for aarch64 run.
  if (says.jetson && !thor && says.jetpack_cuda.major() < 13) return nullptr;
  const WheelRow* best = nullptr;
  for (const WheelRow& row : kWheels) {
    const Need need{Version::parse(release_text(row.cuda)), false};
    const bool fits = toolkit_major == 0 || toolkit_major == row.cuda / 100;
    if (fits && has_images(row, in.facts, all) && !too_old(says, need)) best = &row;
  }
  return best;
}

// What to look for where no index is known to have it.
std::string other_build(const RuleInput& in, int toolkit_major) {
  if (driver_says(in.facts).jetson) return "NVIDIA's PyTorch for Jetson, the build of your JetPack";
  const int driver = Version::parse(speaks(driver_says(in.facts), in.facts.driver).value()).major();
  const int major = toolkit_major ? toolkit_major : driver;
  if (major != 0 && major < 11)
    return "a CUDA build; those of this old CUDA: "
           "https://pytorch.org/get-started/previous-versions";
  List<std::string> dotted;
  for (const Sm& sm : visible_sms(in)) add_once(dotted, sm.dotted());
  return cat("a CUDA build", dotted.empty() ? "" : " that serves " + in_words(dotted),
             " and that the driver takes",
             toolkit_major ? cat("; PyTorch's own of CUDA ", toolkit_major,
                                 " do not: another toolkit comes with it")
                           : "");
}

void torch_without_cuda(const RuleInput& in, List<Finding>& out) {
  const Text& flavour = in.facts.torch.flavour;
  const Toolkit* toolkit = builds(in) ? in.facts.toolkit() : nullptr;
  const int major = toolkit ? Version::parse(toolkit->version.value()).major() : 0;
  const WheelRow* row = wheel(in, major);
  Finding& f = report(
      out, 603,
      {torch_label(in.facts),
       flavour.is("cpu")    ? "the CPU alone"
       : flavour.is("rocm") ? "ROCm"
                            : "XPU",
       flavour.is("cpu") ? "y" : "", row ? row->index : "", row ? "" : other_build(in, major)});
  add(f, "torch", cat(torch_label(in.facts), ", ", flavour.value()), "a CUDA build", flavour.from);
  add_devices(f, visible_devices(in.facts));
}

}  // namespace

bool in_one_index(const Facts& facts, const List<Sm>& all) {
  for (const WheelRow& row : kWheels)
    if (has_images(row, facts, all)) return true;
  return false;
}

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
