// SPDX-License-Identifier: Apache-2.0
// PyTorch has kernels for a device, and a library that it computes with has none.
#include "findings/rules/common.h"

namespace tcs {
namespace {

struct Called {
  const char *stem, *package;  // package: as pip knows it, without its nvidia- and -cu12
  const char* what;            // what PyTorch computes with it
  bool all;                    // its images are all that it has
};
// What PyTorch calls without a question. cuSPARSELt, NVSHMEM and cuFile are left out: they are for
// some devices only, by their own documentation, and are asked before they are used.
constexpr Called kCalled[] = {{"cublas", "cublas", "matrix products", true},
                              {"cublasLt", "cublas", "matrix products", true},
                              {"cudnn", "cudnn", "convolutions", true},
                              {"cufft", "cufft", "Fourier transforms",
                               false},  // most of it is in its data: docs/libraries.md
                              {"curand", "curand", "random numbers", true},
                              {"cusolver", "cusolver", "linear algebra", true},
                              {"cusparse", "cusparse", "sparse matrices", true},
                              {"nccl", "nccl", "work on several GPUs", true}};

// "libcudnn_ops.so.9", "libcublas-f80c68d1.so.12" -> cudnn, cublas.
const Called* called(const Library& lib, size_t devices) {
  const std::string& name = lib.soname.value();
  const std::string stem =
      starts_with(name, "lib") ? name.substr(3, name.find_first_of(".-_") - 3) : "";
  for (const Called& row : kCalled)
    if (stem == row.stem) return stem == "nccl" && devices < 2 ? nullptr : &row;
  return nullptr;
}

struct Client {
  Sm sm;
  const Device* device = nullptr;  // null: a named target
  std::string label;
};

// What PyTorch itself serves: of the others the torch rules speak.
List<Client> served_by_torch(const RuleInput& in, size_t& devices) {
  const List<Image> images = images_in(in.facts.torch.images.value());
  List<Client> out;
  auto take = [&](const Sm& sm, const Device* device, const std::string& label) {
    const Fit fit = serves(images, sm, device);
    if (fit == Fit::Native || fit == Fit::Jit) out.push_back({sm, device, label});
  };
  Sm own;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, own)) take(own, device, device_label(*device));
  devices = out.size();
  for (const auto& target : in.plan.targets)
    if (target.device < 0 && in.request.targets_known && !target.cut)
      take(target.sm, nullptr, target.label);
  return out;
}

struct Lacking {
  Sm first;
  List<const Library*> libs;
  List<const Device*> devices;
  List<std::string> labels, real, what;
  bool refused = true;  // by the devices: it holds what should run
};

void note_lack(const Library& lib, const Called& row, const Client& w, Lacking& out) {
  if (out.libs.empty()) out.first = w.sm;
  out.refused = out.refused && should_run(images_in(lib.images.value()), w.sm);
  add_once(out.libs, &lib);
  add_once(out.real, w.sm.real());
  add_once(out.what, std::string(row.what));
  if (w.device)
    add_once(out.devices, w.device);
  else
    add_once(out.labels, w.label);
}

// PyTorch names another release of it: "nvidia-cudnn-cu12==9.10.2.21". Parts of cuDNN stand for it.
std::string named_release(const RuleInput& in, const Lacking& lacking) {
  const Library& lib = *lacking.libs[0];
  const Library* whole = &lib;
  for (const auto& other : in.facts.libraries)
    if (other.soname.known() && lib.needed_by.is(other.soname.value())) whole = &other;
  const std::string built = whole->built_against.value();
  if (!Version::parse(built).known() || built == whole->version.value()) return "";
  const int cuda = Version::parse(in.facts.torch.cuda.value()).major();
  const std::string package = called(lib, 2)->package;
  // From CUDA 13 on the toolkit's own have no -cu13 in their names.
  const bool bare = cuda >= 13 && package != "cudnn" && package != "nccl";
  return cuda == 0 ? "" : cat("nvidia-", package, bare ? "" : cat("-cu", cuda), "==", built);
}

void say(const RuleInput& in, const Lacking& lacking, bool tegra, List<Finding>& out) {
  if (lacking.libs.empty()) return;
  const size_t count = lacking.libs.size();
  const std::string first = lacking.libs[0]->soname.value();
  bool cudnn = true, older = true;
  for (const Image& image : images_in(lacking.libs[0]->images.value()))
    older = older && lacking.first < image.sm;
  for (const Library* lib : lacking.libs)
    cudnn = cudnn && starts_with(lib->soname.value(), "libcudnn");
  Finding& f = report(
      out, 506,
      {count == 1   ? first + " holds"
       : count == 2 ? cat(first, " and ", lacking.libs[1]->soname.value(), " hold")
                    : cat(first, " and ", count - 1, " other libraries hold"),
       tegra ? cat("for ", join(lacking.real, ", "), " only images from across the Tegra border")
             : cat("no kernel image that runs on ", join(lacking.real, ", ")),
       torch_label(in.facts), in_words(lacking.what), tegra ? "y" : "", named_release(in, lacking),
       cudnn ? "y" : "", tegra ? "" : "y", older ? "an older" : "a newer"});
  if (lacking.refused) f.caused_by = kImageDoesNotRun;
  if (!tegra && in.request.purpose == "run" && !lacking.devices.empty())
    f.severity = Severity::Error;
  if (!lacking.devices.empty()) add_devices(f, lacking.devices);
  for (const auto& label : lacking.labels) add(f, "target", label, "", in.request.targets_from);
  for (const Library* lib : lacking.libs)
    add(f, "runtime",
        cat(lib->soname.value(), lib->version.known() ? " " + lib->version.value() : "", ": ",
            image_words(images_in(lib->images.value()))),
        "", lib->images.from);
}

// Recordings from before the libraries were looked into, and those of a few facts, are not said to
// lack it: who looks into them names cuDNN's parts, or Triton's ptxas.
bool looked_into(const Facts& facts) {
  for (const auto& lib : facts.libraries)
    if (starts_with(lib.soname.value(), "libcudnn_") || starts_with(lib.soname.value(), "ptxas"))
      return true;
  return false;
}

}  // namespace

void rule_library_images(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (!torch.state.is("found") || !torch.flavour.is("cuda") ||
      in.request.purpose == "pytorch-source")
    return;
  size_t devices = 0;
  const List<Client> all = served_by_torch(in, devices);
  const bool asked = looked_into(in.facts);
  Lacking none, tegra;
  for (const auto& lib : in.facts.libraries) {
    const Called* row = called(lib, devices);
    if (!row || !lib.state.is("found")) continue;
    if (!lib.images.known() && row->all && !all.empty() && asked)
      missing(out, 590, "libraries[].images", "whether it has kernels for the devices");
    const List<Image> images = images_in(lib.images.value());
    for (const Client& w : images.empty() ? List<Client>() : all) {
      const Fit fit = serves(images, w.sm, w.device);
      if (fit == Fit::None) note_lack(lib, *row, w, none);
      if (fit == Fit::CrossTegra) note_lack(lib, *row, w, tegra);
    }
  }
  say(in, none, false, out);
  say(in, tegra, true, out);
}

}  // namespace tcs
