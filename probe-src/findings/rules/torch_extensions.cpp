// SPDX-License-Identifier: Apache-2.0
// Extensions that are installed beside PyTorch: built for it, and for the devices here?
#include "findings/rules/torch_extensions.h"

#include <algorithm>

#include "findings/nearest_toolkit.h"
#include "findings/rules/driver.h"

namespace tcs {

bool asked_by_extension(const Facts& facts, const Library& lib) {
  const std::string sign = "libcudart.so.";
  const Version torch = Version::parse(facts.torch.cuda.value());
  if (!starts_with(lib.soname.value(), sign) || !torch.known()) return false;
  const int major = Version::parse(lib.soname.value().substr(sign.size())).major();
  if (major == 0 || major == torch.major()) return false;
  for (const auto& e : facts.extensions)
    if (Version::parse(e.cuda.value()).major() == major) return true;
  return false;
}

namespace {

using Extensions = List<const Extension*>;

bool with_cuda(const RuleInput& in) {
  return in.facts.torch.state.is("found") && in.facts.torch.flavour.is("cuda");
}

// Those that are merely installed are judged apart: they are no trouble of what is built here.
Extensions of_kind(const RuleInput& in, bool neighbours) {
  Extensions out;
  for (const auto& e : in.facts.extensions)
    if (e.role.is("neighbour") == neighbours) out.push_back(&e);
  return out;
}

void weigh(Finding& f, bool neighbours) {
  if (neighbours && f.severity > Severity::Warning) f.severity = Severity::Warning;
}

std::string name_of(const Extension& e) {
  return e.name.or_else("without a name");
}

// "the extension a.so was", "the extensions a.so, b.so were": a PyTorch of another kind touches
// all.
std::string subject(const Extensions& all, const char* one, const char* several) {
  List<std::string> names;
  for (const Extension* e : all) add_once(names, name_of(*e));
  constexpr size_t kShown = 6;
  const size_t more = names.size() > kShown ? names.size() - kShown : 0;
  while (names.size() > kShown) names.erase(names.end() - 1);
  if (names.size() == 1) return cat("the extension ", names[0], " ", one);
  return cat("the extensions ", join(names, ", "), more ? cat(" and ", more, " more") : "", " ",
             several);
}

// As the files of builds for several PyTorch are named: "cu12torch2.7cxx11abiTRUE".
std::string build_name(const TorchFacts& torch) {
  const Version version = Version::parse(torch.version.value());
  const int cuda = Version::parse(torch.cuda.value()).major();
  return !version.known() || cuda == 0 || !torch.cxx11_abi.known()
             ? ""
             : cat(" (cu", cuda, "torch", version.major_minor(), "cxx11abi",
                   cat(torch.cxx11_abi.value() ? "TRUE" : "FALSE", ")"));
}

void judge_abi(const RuleInput& in, bool neighbours, List<Finding>& out) {
  const Flag& abi = in.facts.torch.cxx11_abi;
  Extensions other;
  if (!abi.known() && !in.facts.extensions.empty())
    missing(out, 690, "torch.cxx11_abi", "whether extensions have its C++ string ABI");
  for (const Extension* e : of_kind(in, neighbours)) {
    if (!e->cxx11_abi.known())
      missing(out, 692, "extensions[].cxx11_abi", "whether extensions have PyTorch's string ABI",
              e->reason);
    if (abi.known() && e->cxx11_abi.known() && !e->cxx11_abi.is(abi.value())) other.push_back(e);
  }
  if (other.empty()) return;
  auto words = [](bool on) { return cat("_GLIBCXX_USE_CXX11_ABI=", on ? 1 : 0); };
  Finding& f = report(out, 606,
                      {subject(other, "was", "were"), torch_label(in.facts), neighbours ? "y" : "",
                       build_name(in.facts.torch)});
  weigh(f, neighbours);
  for (const Extension* e : other)
    add(f, "extension", cat(name_of(*e), ": ", words(e->cxx11_abi.value())), words(abi.value()),
        e->cxx11_abi.from);
  add(f, "torch", words(abi.value()), "", abi.from);
}

// Two CUDA majors in one process: the runtime that the extension needs is not the one PyTorch
// brings. Its missing library is then no trouble of its own.
void judge_cuda(const RuleInput& in, bool neighbours, List<Finding>& out) {
  const Version torch = Version::parse(in.facts.torch.cuda.value());
  Extensions other;
  for (const Extension* e : of_kind(in, neighbours)) {
    const Version own = Version::parse(e->cuda.value());
    if (!e->cuda.known())
      missing(out, 692, "extensions[].cuda", "whether extensions have PyTorch's CUDA", e->reason);
    if (own.known() && torch.known() && own.major() != torch.major()) other.push_back(e);
  }
  if (other.empty()) return;
  List<std::string> releases;
  for (const Extension* e : other) add_once(releases, Version::parse(e->cuda.value()).dotted());
  Finding& f =
      report(out, 608,
             {subject(other, "was", "were"), join(releases, " and "), torch_label(in.facts),
              torch.major_minor(), neighbours ? "y" : "", build_name(in.facts.torch)});
  weigh(f, neighbours);
  for (const Extension* e : other)
    add(f, "extension", cat(name_of(*e), ": CUDA ", Version::parse(e->cuda.value()).dotted()),
        cat("CUDA ", torch.major()), e->cuda.from);
  add(f, "torch", cat(torch_label(in.facts), ", CUDA ", torch.major_minor()), "",
      in.facts.torch.cuda.from);
  for (const auto& lib : in.facts.libraries)
    if (lib.state.is("missing") && asked_by_extension(in.facts, lib))
      add_once(f.consequences, std::string("TCS501"));
}

// Its newest PTX needs a driver that speaks this CUDA: what the PTX says, or the nvcc that wrote
// it.
Version ptx_needs(const Extension& e) {
  const Version isa = Version::parse(e.ptx_isa.value()), cuda = Version::parse(e.cuda.value());
  const Version by_isa = Version::parse(release_text(cuda_that_reads(release_of(isa)))),
                by_nvcc = cuda.numbers.size() > 1 ? ptx_release(cuda) : Version();
  return by_isa < by_nvcc ? by_nvcc : by_isa;
}

void judge_ptx(const RuleInput& in, const Extension& e, const List<const Device*>& jit,
               List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  if (jit.empty() || !driver.state.is("ok")) return;
  const Version needs = ptx_needs(e), speaks = Version::parse(driver.cuda.value());
  if (!speaks.known())
    return missing(out, 290, "driver.cuda", "whether the driver reads an extension's PTX");
  if (!e.ptx_isa.known() && speaks >= needs)
    return missing(out, 692, "extensions[].ptx_isa", "whether the driver reads an extension's PTX");
  if (speaks >= needs) return;
  const std::string branch = driver_branch_for(needs);
  Finding& f = report(out, 610,
                      {name_of(e), needs.major_minor(), speaks.major_minor(),
                       branch.empty() ? "" : cat(" (", branch, " or newer)"),
                       e.role.is("neighbour") ? "y" : "", list_entries(in, jit)});
  f.severity = here_or_elsewhere(in);
  weigh(f, e.role.is("neighbour"));
  add_devices(f, jit);
  add(f, "extension", cat(name_of(e), ": ", image_words(images_in(e.images.value()))), "",
      e.images.from);
  add(f, "driver", cat(or_unknown(driver.version), ", CUDA ", speaks.major_minor()),
      ">= CUDA " + needs.major_minor(), driver.cuda.from);
}

// What `e` has no code for at all goes to `without`, what only its PTX serves to `jit`.
void sort_devices(const RuleInput& in, const Extension& e, List<const Device*>& without,
                  List<const Device*>& jit, List<Finding>& out) {
  const List<Image> images = images_in(e.images.value());
  for (const Device* device : visible_devices(in.facts)) {
    Sm sm;
    if (images.empty() || !capability(*device, sm)) continue;
    const Fit fit = serves(images, sm, device);
    if (fit == Fit::None) without.push_back(device);
    if (fit == Fit::Jit) jit.push_back(device);
    if (fit == Fit::CrossTegra && with_cuda(in))
      report(out, 611,
             {sm.dotted(), "the extension " + name_of(e), e.role.is("neighbour") ? "y" : "", "",
              is_tegra(sm) ? "y" : "", is_tegra(sm) ? "" : "y"});
  }
}

void judge_images(const RuleInput& in, bool neighbours, List<Finding>& out) {
  Extensions lacking;
  List<const Device*> devices;
  for (const Extension* e : of_kind(in, neighbours)) {
    const bool asks = with_cuda(in) || !in.facts.torch.state.known();
    if (asks && !e->images.known() && !visible_devices(in.facts).empty())
      missing(out, with_cuda(in) ? 692 : 690, "extensions[].images",
              "whether extensions run on these devices", e->reason);
    List<const Device*> without, jit;
    sort_devices(in, *e, without, jit, out);
    if (with_cuda(in)) judge_ptx(in, *e, jit, out);
    if (!without.empty()) lacking.push_back(e);
    for (const Device* device : without) add_once(devices, device);
  }
  if (lacking.empty()) return;
  List<Sm> sms;
  List<std::string> real, dotted;
  for (const Device* device : devices) {
    Sm sm;
    if (capability(*device, sm)) add_once(sms, sm);
  }
  sort_few(sms);
  for (const Sm& sm : sms) {
    real.push_back(sm.real());
    dotted.push_back(sm.dotted());
  }
  const std::string entries = list_entries(in, devices);
  Finding& f = report_toolkit(out, 609,
                              {subject(lacking, "has", "have"), join(real, ", "), join(dotted, ";"),
                               neighbours ? "y" : "", entries},
                              entries.empty() ? nearest_toolkit(in, sms) : NearestToolkit());
  f.severity = here_or_elsewhere(in);
  weigh(f, neighbours);
  add_devices(f, devices);
  bool fits = true;  // and the devices refused it
  for (const Extension* e : lacking)
    for (const Device* device : devices) {
      Sm sm;
      const List<Image> images = images_in(e->images.value());
      fits = fits && capability(*device, sm) && should_run(images, sm);
      const std::string said = refused_words(images, sm, *device);
      if (!said.empty()) add_once(f.notes, said);
    }
  if (fits) {
    f.caused_by = kImageDoesNotRun;
    f.severity = std::min(f.severity, Severity::Warning);  // which that one is for a lost board
  }
  for (const Extension* e : lacking)
    add(f, "extension", cat(name_of(*e), ": ", image_words(images_in(e->images.value()))), "",
        e->images.from);
}

}  // namespace

void rule_torch_extensions(const RuleInput& in, List<Finding>& out) {
  if (in.request.purpose == "pytorch-source") return;
  const bool listed = in.facts.extensions_known || !in.facts.extensions.empty();
  const char* const what = "whether installed extensions fit this PyTorch";
  if (!in.facts.torch.state.known() && !listed && !visible_devices(in.facts).empty())
    missing(out, 690, "extensions", what);
  if (with_cuda(in) && !listed) return missing(out, 692, "extensions", what);
  for (bool neighbours : {false, true}) {
    if (with_cuda(in)) judge_abi(in, neighbours, out);
    if (with_cuda(in)) judge_cuda(in, neighbours, out);
    // Its images and the device decide alone, whatever is known of PyTorch.
    judge_images(in, neighbours, out);
  }
}

}  // namespace tcs
