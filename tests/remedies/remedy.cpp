// SPDX-License-Identifier: Apache-2.0
#include "remedy.h"

#include "base/text.h"
#include "facts/devices.h"
#include "plan/buildable.h"
#include "plan/plan.h"
#include "tables/tables.h"

namespace tcs::remedies {

void unset(Machine& m, const std::string& variable) {
  m.facts.environment.erase(variable);
}

void for_targets(Machine& m, const std::string& list) {
  m.request.targets = split(list, "; ");
  m.request.targets_known = true;
  m.request.targets_from = "TorchCudaStack_TARGETS";
}

void allow(Machine& m, const std::string& code) {
  m.policy.allow.push_back(code);
}

void write_list(Machine& m, const std::string& list) {
  m.request.arch_list = Text(list, m.request.arch_list.from);
}

void select_toolkit(Machine& m, const std::string& root) {
  int at = 0;
  for (const Toolkit& toolkit : m.facts.toolkits.list) {
    if (toolkit.root.is(root) || toolkit.nvcc.is(root + "/bin/nvcc"))
      m.facts.toolkits.selected = at;
    ++at;
  }
}

void install_toolkit(Machine& m, const std::string& release) {
  Toolkit t;
  t.root = cat("/usr/local/cuda-", release);
  t.nvcc = t.root.value() + "/bin/nvcc";
  t.origin = "TorchCudaStack_TOOLKIT";
  t.layout = "default";
  t.version = t.headers = t.ptxas = t.cicc = t.cudart = Text(release);
  t.missing = List<std::string>();
  m.facts.toolkits.list.push_back(t);
  m.facts.toolkits.list_known = true;
  m.facts.toolkits.selected = static_cast<int>(m.facts.toolkits.list.size()) - 1;
  m.facts.toolkits.on_path = Text(release);
}

namespace {

// A GPU that this PyTorch and this nvcc serve, the newest of them.
std::string served(const Machine& m) {
  const Buildable build(m.facts);
  std::string cc = "8.6";
  for (const Image& image : own_images(m.facts.torch))
    if (image.sm.suffix == 0 && build.real(image.sm)) cc = image.sm.dotted();
  return cc;
}

}  // namespace

void driver_works(Machine& m) {
  DriverFacts& driver = m.facts.driver;
  driver.state = "ok";
  driver.error_code = Fact<int>();
  driver.error_call = Text();
  driver.failure = DriverFailure();
  driver.reason.clear();
  for (DeviceNode& node : driver.nodes) node.state = "ok";
  bool any = false;
  for (Device& device : m.facts.devices.list) any = any || is_in_use(device);
  m.facts.devices.state = "measured";
  m.facts.devices.list_known = true;
  for (Device& device : m.facts.devices.list) {
    if (any || is_foreign(device) || m.facts.environment.count("CUDA_VISIBLE_DEVICES")) continue;
    device.visible = any = true;
  }
  if (any || m.facts.environment.count("CUDA_VISIBLE_DEVICES")) return;
  Device device;
  device.index = 0;
  device.name = "NVIDIA GPU";
  device.cc = Text(served(m));
  device.visible = true;
  device.mig = false;
  m.facts.devices.list.push_back(device);
}

void install_driver(Machine& m, const std::string& cuda) {
  DriverFacts& driver = m.facts.driver;
  const CudaRow* last = cuda_rows().end() - 1;
  const std::string speaks = cuda.empty() ? release_text(last->release) : cuda;
  int branch = 0;
#define TCS_DRIVER_BRANCH(number, release) \
  if (branch == 0 && (release) >= release_of(Version::parse(speaks))) branch = number;
#include "tables/cuda_releases.def"
  driver.version = cat(branch, ".95.05");
  driver.cuda = Text(speaks);
  driver.kernel_module = driver.version;
  driver.libcuda.clear();
  driver.nvml = Nvml();
  for (Device& device : m.facts.devices.list) device.image_probe.clear();
  driver_works(m);
}

void install_torch(Machine& m, const std::string& release, const std::string& cuda) {
  TorchFacts& torch = m.facts.torch;
  for (const TorchRow& row : torch_rows()) {
    if (!release.empty() && release != row.version) continue;
    if (!cuda.empty() && row.cuda != release_of(Version::parse(cuda))) continue;
    const std::string images = m.facts.host.arch.is("aarch64") ? row.aarch64 : row.x86_64;
    if (images.empty()) continue;
    torch.state = "found";
    torch.flavour = "cuda";
    torch.version = cat(row.version, "+", row.index);
    torch.cuda = Text(release_text(row.cuda));
    torch.cxx11_abi = row.abi != 0;
    torch.images = split(images, " ");
    torch.libraries.clear();
    torch.libraries_known = true;
    TorchLibrary library;
    library.name = "libtorch_cuda.so";
    library.images = torch.images;
    library.sets.push_back({torch.images.value(), 100});
    library.fat_binaries = 100;
    torch.libraries.push_back(library);
    torch.reason.clear();
    m.facts.libraries.clear();
    m.facts.libraries_known = true;
    for (Device& device : m.facts.devices.list) device.image_probe.clear();
  }
}

std::string quoted(const std::string& text) {
  const size_t from = text.find('"'), to = text.find('"', from + 1);
  return from == std::string::npos ? "" : text.substr(from + 1, to - from - 1);
}

}  // namespace tcs::remedies
