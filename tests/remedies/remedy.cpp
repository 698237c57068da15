// SPDX-License-Identifier: Apache-2.0
#include "remedy.h"

#include <algorithm>

#include "base/text.h"
#include "facts/devices.h"
#include "findings/rules/host_compilers.h"
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

// What a recording leaves out may matter to a pair of nvcc and host compiler that was not there.
static void lacks_more(Machine& m) {
  const Facts& f = m.facts;
  m.forgot = m.forgot || !f.host.glibc.known() || !f.host.arch.known() || !f.host.os.known() ||
             !f.host_compiler.version.known() || !f.driver.cuda.known() ||
             !f.driver.version.known();
}

void install_toolkit(Machine& m, const std::string& release) {
  lacks_more(m);
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

void install_with_compiler(Machine& m, const std::string& release) {
  install_toolkit(m, release);
  const Plan plan = make_plan(m.facts, m.request);
  const RuleInput in{m.facts, m.request, plan};
  const Toolkit toolkit = *m.facts.toolkit();
  if (host_trouble(in, toolkit) >= kRefused) name_compiler(m, host_compiler_for(in, toolkit));
}

namespace {

// A GPU that the rest of the stack serves: it is not known which one there is.
std::string served(Machine m, Device device) {
  const Buildable build(m.facts);
  List<std::string> all;
  const Plan plan = make_plan(m.facts, m.request);
  for (const Gencode& g : plan.gencodes) all.push_back(g.image().sm.base().dotted());
  for (const Image& image : own_images(m.facts.torch)) all.push_back(image.sm.base().dotted());
  all.push_back("8.6");
  m.facts.devices.list.push_back(device);
  std::string best;
  int least = 1000;
  for (size_t i = all.size(); i-- > 0;) {
    m.facts.devices.list.back().cc = Text(all[i]);
    const Plan with = make_plan(m.facts, m.request);
    int bad = 0;
    for (const Finding& f : judge(RuleInput{m.facts, m.request, with}, m.policy).findings)
      bad += f.severity == Severity::Error ? 20 : f.severity == Severity::Warning;
    if (bad >= least) continue;
    least = bad;
    best = all[i];
  }
  return best;
}

constexpr const char* kNewestDriver = "610.43.02";

// A release of the oldest branch that speaks that CUDA.
std::string driver_of(const std::string& cuda) {
#define TCS_DRIVER_BRANCH(branch, release) \
  if ((release) >= release_of(Version::parse(cuda))) return cat(branch, ".95.05");
#include "tables/cuda_releases.def"
  return kNewestDriver;
}

// CUDA_VISIBLE_DEVICES names none.
bool hides_all(const Machine& m) {
  const std::string* mask = m.facts.environment.find("CUDA_VISIBLE_DEVICES");
  return mask && (mask->empty() || ((*mask)[0] != '0' && !starts_with(*mask, "GPU-") &&
                                    !starts_with(*mask, "MIG-")));
}

}  // namespace

void driver_works(Machine& m) {
  DriverFacts& driver = m.facts.driver;
  driver.state = "ok";
  driver.error_code = Fact<int>();
  driver.error_call = Text();
  driver.failure = DriverFailure();
  driver.reason.clear();
  // It says now of which release it is: that of its kernel module, else a new one.
  if (!driver.version.known()) driver.version = driver.kernel_module;
  if (!driver.version.known() && !driver.cuda.known()) driver.version = kNewestDriver;
  const int speaks = cuda_of_driver(Version::parse(driver.version.value()));
  if (!driver.cuda.known() && speaks != 0) driver.cuda = Text(release_text(speaks));
  if (!driver.version.known()) driver.version = driver_of(driver.cuda.value());
  for (DeviceNode& node : driver.nodes) node.state = "ok";
  bool any = false;
  for (Device& device : m.facts.devices.list) any = any || is_in_use(device);
  m.facts.devices.state = "measured";
  m.facts.devices.list_known = true;
  for (Device& device : m.facts.devices.list) {
    if (any || is_foreign(device) || hides_all(m)) continue;
    device.visible = any = true;
  }
  if (any || hides_all(m)) return;
  Device device;
  device.index = 0;
  device.name = "NVIDIA GPU";
  device.visible = true;
  device.mig = false;
  device.cc = Text(served(m, device));
  m.facts.devices.list.push_back(device);
}

void install_driver(Machine& m, const std::string& cuda) {
  DriverFacts& driver = m.facts.driver;
  driver.version = cuda.empty() ? std::string(kNewestDriver) : driver_of(cuda);
  driver.cuda = Text(release_text(std::max(cuda_of_driver(Version::parse(driver.version.value())),
                                           release_of(Version::parse(cuda)))));
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

void fitting_torch(Machine& m) {
  const Toolkit* toolkit = m.facts.toolkit();
  const int nvcc = toolkit ? release_of(Version::parse(toolkit->version.value())) : 0;
  const int driver = release_of(Version::parse(m.facts.driver.cuda.value()));
  const TorchRow* best = nullptr;
  for (const TorchRow& row : torch_rows()) {
    if (nvcc != 0 && row.cuda / 100 != nvcc / 100) continue;
    if (driver != 0 && row.cuda / 100 > driver / 100) continue;
    if (best && best->cuda == nvcc && row.cuda != nvcc) continue;
    bool serves = true;
    Sm sm;
    for (const Device& device : m.facts.devices.list) {
      if (!is_in_use(device) || !parse_sm_dotted(device.cc.value(), sm)) continue;
      List<Image> images;
      for (const std::string& name : split(row.x86_64, " ")) {
        Image image;
        if (parse_image(name, image)) images.push_back(image);
      }
      serves = serves && best_fit(images, sm) == Fit::Native;
    }
    if (serves) best = &row;
  }
  if (!best) return;
  install_torch(m, best->version, release_text(best->cuda));
  const Version python = Version::parse(m.facts.python.version.value());
  if (python.known()) m.facts.torch.python_tag = cat("cp", python.major(), python.minor());
}

void name_targets(Machine& m, const std::string& words) {
  const size_t from = words.find('"') + 1;
  const std::string list = words.substr(from, words.find('"', from) - from);
  if (!starts_with(words, "write ")) return for_targets(m, list);
  write_list(m, replace_all(m.request.arch_list.value(), "native", list));
  if (contains(words, " and in TorchCudaStack_TARGETS")) for_targets(m, list);
}

void name_compiler(Machine& m, const std::string& program) {
  lacks_more(m);
  HostCompiler& compiler = m.facts.host_compiler;
  compiler.id = contains(program, "clang") ? "Clang" : "GNU";
  compiler.version = Text(program.substr(program.rfind('-') + 1));
  // A distribution's g++-9 is 9.3 or newer.
  const Version oldest = Version::parse(m.facts.tree.gcc_min.value());
  if (compiler.version.is(cat(oldest.major()))) compiler.version = oldest.dotted();
  compiler.path = Text(program);
  compiler.reason.clear();
  // What was tried was tried with another one.
  for (Toolkit& toolkit : m.facts.toolkits.list) {
    if (!starts_with(toolkit.failure.kind.value(), "host-compiler") && !toolkit.works.is(false))
      continue;
    toolkit.works = Flag();
    toolkit.failure = ToolkitFailure();
  }
}

void take_toolkit(Machine& m, const Words& w) {
  if (!w[8].empty()) {
    select_toolkit(m, w[8]);
    m.forgot = !m.facts.toolkit()->headers.known();
    return;
  }
  const std::string& words = w[9];
  const size_t torch = words.find(", and PyTorch "), with = words.find(", with "),
               end = words.find(" as its host compiler");
  if (torch != std::string::npos) take_torch(m, words.substr(torch + 6));
  if (with < end && end != std::string::npos)
    name_compiler(m, words.substr(with + 7, end - with - 7));
  install_toolkit(m, words.substr(0, words.find_first_of(" ,")));
}

void torch_of_toolkit(Machine& m, const Words&) {
  TorchFacts& torch = m.facts.torch;
  torch.version = Text();
  torch.cxx_standard = Fact<int>();
  if (const Toolkit* t = m.facts.toolkit()) torch.cuda = Text(t->version.value());
  m.forgot = true;
}

}  // namespace tcs::remedies
