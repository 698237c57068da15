// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/environment.def does.
#include "base/text.h"
#include "facts/devices.h"
#include "remedy.h"

namespace tcs::remedies {
namespace {

void unset_6(Machine& m, const Words& w) {
  for (const std::string& name : split(w[6], " ")) unset(m, name);
}

// --- CUDA_VISIBLE_DEVICES

void correct(Machine& m, const Words&) {
  List<std::string> numbers;
  for (Device& device : m.facts.devices.list) {
    if (is_foreign(device)) continue;
    device.visible = true;
    numbers.push_back(cat(numbers.size()));
  }
  m.facts.environment["CUDA_VISIBLE_DEVICES"] = numbers.empty() ? "0" : join(numbers, ",");
  m.facts.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  if (numbers.empty()) driver_works(m);
}

void show_all(Machine& m, const Words&) {
  unset(m, "CUDA_VISIBLE_DEVICES");
  for (Device& device : m.facts.devices.list) device.visible = true;
  if (m.facts.devices.list.empty()) driver_works(m);
}

void count_by_bus(Machine& m, const Words&) {
  m.facts.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
}

// --- lists

void add_to_list(Machine& m, const std::string& word) {
  const std::string& list = m.request.arch_list.value();
  write_list(m, list.empty() ? word : cat(list, ";", word));
}

void add_ptx(Machine& m, const Words& w) {
  add_to_list(m, w[3] + "+PTX");
}

void add_3(Machine& m, const Words& w) {
  add_to_list(m, w[3]);
}

// The flags with an architecture in them, and what belongs to them.
void drop_arch_flags(Machine& m, const Words& w) {
  unset(m, w[0]);
}

void name_all(Machine& m, const Words&) {
  const Plan plan = make_plan(m.facts, m.request);
  m.facts.environment["NVCC_FLAGS"] = join(gencode_flags(plan), " ");
}

// --- folders

void set_home(Machine& m, const Words& w) {
  m.facts.environment[w[0]] = w[2];
}

void set_home_3(Machine& m, const Words& w) {
  m.facts.environment[w[0]] = w[3];
}

void use_toolkit_4(Machine& m, const Words& w) {
  const int before = m.facts.toolkits.selected.or_else(-1);
  select_toolkit(m, w[4]);
  if (m.facts.toolkits.selected.is(before)) {
    install_toolkit(m, w[4].substr(w[4].rfind('-') + 1));
    m.facts.toolkits.list.back().root = w[4];
    m.facts.toolkits.list.back().nvcc = w[4] + "/bin/nvcc";
  }
}

// What was found by it is found no more.
void drop_folder(Machine& m, const Words&) {
  unset(m, "LD_LIBRARY_PATH");
  DriverFacts& driver = m.facts.driver;
  bool compat = false;
  for (const LibCuda& lib : driver.libcuda)
    compat = compat || (lib.role.is("loaded") && contains(lib.path.value(), "compat"));
  if (!compat) return;
  driver.libcuda.clear();
  driver.cuda = Text();
  driver_works(m);
}

void no_preload(Machine& m, const Words&) {
  unset(m, "LD_PRELOAD");
}

// --- containers

void start_with_gpu(Machine& m, const Words&) {
  m.facts.environment["NVIDIA_VISIBLE_DEVICES"] = "all";
  m.facts.environment["NVIDIA_DRIVER_CAPABILITIES"] = "compute,utility";
  driver_works(m);
}

void targets_in_1(Machine& m, const Words& w) {
  name_targets(m, w[1]);
}

void not_required(Machine& m, const Words&) {
  m.facts.environment["NVIDIA_DISABLE_REQUIRE"] = "1";
}

void switch_on(Machine& m, const Words& w) {
  m.facts.environment[w[0]] = "1";
}

}  // namespace

Effects environment_effects() {
  return {
      {801, "correct it", Way::Mends, correct},
      {801, "or unset", Way::Mends, show_all},
      {802, "count as nvidia-smi", Way::Mends, count_by_bus},
      {803, "unset {6}", Way::Mends, unset_6},
      {803, "to test PTX", Way::Mends, add_ptx},
      {804, "unset {6}", Way::Mends, unset_6},
      {804, "or build machine code", Way::Mends, add_3},
      {805, "take that architecture out", Way::Mends, drop_arch_flags},
      {806, "say it in one place", Way::Mends, drop_arch_flags},
      {807, "name it in one place", Way::Mends, drop_arch_flags},
      {808, "take the flag out", Way::Mends, drop_arch_flags},
      {808, "or name all of them", Way::Mends, name_all},
      {809, "export {0}", Way::Mends, set_home},
      {810, "name one toolkit", Way::Mends, set_home_3},
      {810, "or let this build use", Way::Mends, use_toolkit_4},
      {811, "take that folder out", Way::Mends, drop_folder},
      {812, "unset LD_PRELOAD", Way::Mends, no_preload},
      {813, "for a GPU in it", Way::Mends, start_with_gpu},
      {813, "or say what to build for", Way::Eases, targets_in_1},
      {814, "CUDA programs of one major", Way::Mends, not_required},
      {814, "update the driver", Way::Mends,
       [](Machine& m, const Words& w) { install_driver(m, w[3]); }},
      {815, "on data-centre GPUs", Way::Mends, switch_on},
      {890, "run `tcstack probe`", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
