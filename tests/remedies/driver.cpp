// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/driver.def does.
#include "base/text.h"
#include "remedy.h"
#include "tables/tables.h"

namespace tcs::remedies {
namespace {

// --- which libcuda.so.1 loads

bool is_bad(const LibCuda& lib) {
  return lib.kind.is("stub") || lib.kind.is("compat") || contains(lib.path.value(), "stubs") ||
         contains(lib.path.value(), "compat");
}

// The driver's own libcuda.so.1 is the one that loads, and what it speaks is what its release says.
void own_libcuda(Machine& m, const std::string& folder) {
  DriverFacts& driver = m.facts.driver;
  List<LibCuda> left;
  for (LibCuda lib : driver.libcuda) {
    const bool meant = folder.empty() ? !is_bad(lib) && !lib.role.is("loaded")
                                      : starts_with(lib.path.value(), folder);
    if (meant) lib.role = "loaded";
    if (meant) left.push_back(lib);
  }
  driver.libcuda = left;
  const Text release = driver.kernel_module.known() ? driver.kernel_module : driver.version;
  if (left.size() == 1 && left[0].version.known() && !driver.kernel_module.known())
    driver.version = left[0].version;
  else if (release.known())
    driver.version = release;
  const int cuda = cuda_of_driver(Version::parse(driver.version.value()));
  if (cuda != 0 && driver.cuda.known()) driver.cuda = Text(release_text(cuda));
  driver_works(m);
}

void take_out(Machine& m, const Words&) {
  own_libcuda(m, "");
}

void no_compat(Machine& m, const Words& w) {
  own_libcuda(m, "");
  if (!w[3].empty()) install_driver(m, w[3].substr(w[3].rfind(' ') + 1));
}

void use_folder_6(Machine& m, const Words& w) {
  own_libcuda(m, w[6]);
}

void use_folder_8(Machine& m, const Words& w) {
  own_libcuda(m, w[8]);
}

// --- a driver that starts

// "look at ..." only shows more.
bool only_looks(const std::string& words) {
  return starts_with(words, "look at ") || starts_with(words, "see ");
}

void starts(Machine& m, const Words&) {
  driver_works(m);
}

void starts_by_3(Machine& m, const Words& w) {
  m.looked = only_looks(w[3]);
  driver_works(m);
}

void starts_by_4(Machine& m, const Words& w) {
  m.looked = only_looks(w[4]);
  own_libcuda(m, contains(w[4], "/wsl/") ? "/usr/lib/wsl" : "");
}

void install_newest(Machine& m, const Words&) {
  install_driver(m, "");
}

void one_release(Machine& m, const Words&) {
  own_libcuda(m, "");
  m.facts.driver.libcuda.clear();
}

void another_maker(Machine& m, const Words&) {
  m.looked = true;
}

void targets_in_5(Machine& m, const Words& w) {
  name_targets(m, w[5]);
}

void nodes_there(Machine& m, const Words&) {
  driver_works(m);
}

void no_nouveau(Machine& m, const Words&) {
  m.facts.host.nouveau = false;
  install_driver(m, m.facts.driver.cuda.value());
}

void open_module(Machine& m, const Words&) {
  m.facts.driver.module_kind = "open";
  driver_works(m);
}

// --- GPUs that are taken or fail

void let_all_in(Machine& m, const Words&) {
  for (Device& device : m.facts.devices.list) device.compute_mode = "default";
  driver_works(m);
}

void use_another(Machine& m, const Words&) {
  List<Device>& all = m.facts.devices.list;
  for (Device& device : all) device.visible = false;
  if (all.empty()) driver_works(m);
  if (all.size() < 2) all.push_back(all[0]);
  all[1].visible = true;
  m.facts.environment["CUDA_VISIBLE_DEVICES"] = cat(all[1].index.or_else(1));
  driver_works(m);
}

}  // namespace

Effects driver_effects() {
  return {
      {201, "put {6} on LD_LIBRARY_PATH", Way::Mends, use_folder_6},
      {201, "say what to build for", Way::Eases, targets_in_5},
      {201, "{4}", Way::Mends, starts_by_4, "install NVIDIA's|WSL: |update the Windows|Jetson: "},
      {201, "{9}", Way::Mends, starts},
      {201, "install the NVIDIA driver", Way::Mends, install_newest},
      {201, "for {1} take a PyTorch", Way::Mends, another_maker},
      {202, "take {6} out", Way::Mends, take_out},
      {202, "the driver's own", Way::Mends, use_folder_8},
      {203, "{4}", Way::Mends, starts_by_4, "restart Windows|WSL: |Jetson: "},
      {203, "load it", Way::Mends, starts},
      {203, "\"Key was rejected", Way::Mends, starts},
      {203, "{9}", Way::Mends, starts},
      {203, "in a container", Way::Mends, starts},
      {203, "building for other machines", Way::Eases, targets_in_5},
      {206, "take {6} out", Way::Mends, take_out},
      {206, "let the loader find {8}", Way::Mends, use_folder_8},
      {206, "{4}", Way::Mends, starts_by_4},
      {206, "remove the image's own", Way::Mends, one_release},
      {206, "the host's driver was updated", Way::Mends, one_release},
      {206, "reboot, or unload", Way::Mends, one_release},
      {206, "or remove the stray", Way::Mends, one_release},
      {207, "take {6} out", Way::Mends, no_compat},
      {208, "{4}", Way::Mends, starts_by_4, "restart Windows|WSL: |Jetson: "},
      {208, "{3}", Way::Mends, starts_by_3},
      {208, "building for other machines", Way::Eases, targets_in_5},
      {210, "{4}", Way::Mends, starts_by_4, "restart Windows|WSL: |Jetson: "},
      {210, "{3}", Way::Mends, starts_by_3},
      {212, "sudo systemctl start", Way::Mends, starts},
      {212, "in a container", Way::Mends, starts},
      {212, "confidential computing", Way::Mends, starts},
      {213, "{3}", Way::Mends, starts_by_3},
      {213, "to go without it", Way::Mends, starts},
      {214, "see who has it", Way::Looks, nullptr},
      {214, "let several programs in", Way::Mends, let_all_in},
      {214, "use another GPU", Way::Mends, use_another},
      {215, "{3}", Way::Mends, starts_by_3},
      {215, "reset it", Way::Mends, starts},
      {215, "use another GPU", Way::Mends, use_another},
      {216, "see whether `nvidia-smi` answers", Way::Looks, nullptr},
      {216, "give a slow driver more time", Way::Mends, starts},
      {216, "GPUs that start slowly", Way::Mends, starts},
      {217, "see whether `nvidia-smi`", Way::Looks, nullptr},
      {217, "install the driver's libraries anew", Way::Mends, one_release},
      {217, "take other libraries out", Way::Mends, take_out},
      {218, "{4}", Way::Mends, starts_by_4, "restart Windows|WSL: |Jetson: "},
      {218, "{3}", Way::Mends, one_release},
      {218, "{9}", Way::Mends, starts},
      {219, "{4}", Way::Mends, starts_by_4, "restart Windows|WSL: |Jetson: "},
      {219, "`sudo dmesg", Way::Looks, nullptr},
      {219, "{9}", Way::Mends, starts, "docker|podman|give the pod|lxc|start the container"},
      {219, "{3}", Way::Mends, starts_by_3},
      {219, "building for other machines", Way::Eases, targets_in_5},
      {220, "Jetson", Way::Mends, nodes_there},
      {220, "see whose they are", Way::Mends, nodes_there},
      {220, "in a batch job", Way::Mends, nodes_there},
      {220, "{1}", Way::Mends, nodes_there},
      {220, "it worked until", Way::Mends, nodes_there},
      {220, "building for other machines", Way::Eases, targets_in_5},
      {221, "{1}", Way::Mends, nodes_there},
      {221, "the container must be given", Way::Mends, nodes_there},
      {221, "make them", Way::Mends, nodes_there},
      {221, "load the module behind", Way::Mends, nodes_there},
      {221, "building for other machines", Way::Eases, targets_in_5},
      {222, "switch it off", Way::Mends, no_nouveau},
      {222, "building for other machines", Way::Eases, targets_in_5},
      {223, "install the open flavour", Way::Mends, open_module},
      {290, "run `tcstack probe`", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
