// SPDX-License-Identifier: Apache-2.0
// Extensions that are installed beside PyTorch: built for it, and for the devices here?
#include "findings/rules/torch_extensions.h"

#include "findings/rules/common.h"

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

std::string name_of(const Extension& e) {
  return e.name.or_else("without a name");
}

void judge_abi(const RuleInput& in, const Extension& e, List<Finding>& out) {
  const Flag& abi = in.facts.torch.cxx11_abi;
  if (!abi.known())
    missing(out, 690, "torch.cxx11_abi", "whether extensions have its C++ string ABI");
  if (!e.cxx11_abi.known())
    missing(out, 692, "extensions[].cxx11_abi", "whether extensions have PyTorch's string ABI");
  if (!abi.known() || !e.cxx11_abi.known() || e.cxx11_abi.is(abi.value())) return;
  auto words = [](bool on) { return cat("_GLIBCXX_USE_CXX11_ABI=", on ? 1 : 0); };
  Finding& f = report(out, 606, {name_of(e), torch_label(in.facts)});
  add(f, "extension", words(e.cxx11_abi.value()), words(abi.value()), e.cxx11_abi.from);
  add(f, "torch", words(abi.value()), "", abi.from);
}

// Two CUDA majors in one process: the runtime that the extension needs is not the one PyTorch
// brings. Its missing library is then no trouble of its own.
void judge_cuda(const RuleInput& in, const Extension& e, List<Finding>& out) {
  if (!e.cuda.known())
    return missing(out, 692, "extensions[].cuda", "whether extensions have PyTorch's CUDA");
  const Version own = Version::parse(e.cuda.value()),
                torch = Version::parse(in.facts.torch.cuda.value());
  if (!own.known() || !torch.known() || own.major() == torch.major()) return;
  Finding& f =
      report(out, 608, {name_of(e), own.dotted(), torch_label(in.facts), torch.major_minor()});
  add(f, "extension", cat(name_of(e), ": CUDA ", own.dotted()), cat("CUDA ", torch.major()),
      e.cuda.from);
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
                       branch.empty() ? "" : cat(" (", branch, " or newer)")});
  f.severity = here_or_elsewhere(in);
  add_devices(f, jit);
  add(f, "extension", cat(name_of(e), ": ", image_words(images_in(e.images.value()))), "",
      e.images.from);
  add(f, "driver", cat(or_unknown(driver.version), ", CUDA ", speaks.major_minor()),
      ">= CUDA " + needs.major_minor(), driver.cuda.from);
}

void judge_images(const RuleInput& in, const Extension& e, List<Finding>& out) {
  const List<const Device*> visible = visible_devices(in.facts);
  if (visible.empty()) return;
  if (!e.images.known())
    return missing(out, 692, "extensions[].images", "whether extensions run on these devices");
  const List<Image> images = images_in(e.images.value());
  List<const Device*> without, jit;
  for (const Device* device : visible) {
    Sm sm;
    if (images.empty() || !capability(*device, sm)) continue;
    const Fit fit = serves(images, sm, device);
    if (fit == Fit::None) without.push_back(device);
    if (fit == Fit::Jit) jit.push_back(device);
    if (fit == Fit::CrossTegra) report(out, 911, {sm.dotted(), "the extension " + name_of(e)});
  }
  judge_ptx(in, e, jit, out);
  if (without.empty()) return;
  Sm first;
  capability(*without[0], first);
  Finding& f = report(out, 609, {name_of(e), first.real(), first.dotted()});
  f.severity = here_or_elsewhere(in);
  add_devices(f, without);
  add(f, "extension", cat(name_of(e), ": ", image_words(images)), first.real(), e.images.from);
}

}  // namespace

void rule_torch_extensions(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (!torch.state.is("found") || !torch.flavour.is("cuda") ||
      in.request.purpose == "pytorch-source")
    return;
  if (!in.facts.extensions_known && in.facts.extensions.empty())
    return missing(out, 692, "extensions", "whether installed extensions fit this PyTorch");
  for (const auto& extension : in.facts.extensions) {
    judge_abi(in, extension, out);
    judge_cuda(in, extension, out);
    judge_images(in, extension, out);
  }
}

}  // namespace tcs
