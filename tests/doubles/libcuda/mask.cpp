// SPDX-License-Identifier: Apache-2.0
// CUDA_VISIBLE_DEVICES [CUDA Programming Guide, "CUDA Environment Variables"; MIG User Guide, "CUDA
// Device Enumeration"]: indices, GPU-<uuid> or a prefix that names one board, MIG-<uuid> or
// MIG-GPU-<uuid>/<instance>/<part>. An entry that names nothing hides itself and all behind it. One
// that stands there twice leaves none, and the first entry's form is that of all [torch/cuda,
// _parse_visible_devices, which copies the driver].
#include "mask.h"

#include <stdlib.h>
#include <string.h>

namespace tcs_double {
namespace {

bool starts(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

// Without a mask a process sees of a board in MIG mode its first instance.
std::vector<Device> unmasked(const std::vector<Device>& boards) {
  std::vector<Device> out;
  for (const Device& board : boards) {
    if (!board.mig)
      out.push_back(board);
    else if (!board.instances.empty())
      out.push_back(board.mig_instance(0));
  }
  return out;
}

std::vector<Device> all_instances(const std::vector<Device>& boards) {
  std::vector<Device> out;
  for (const Device& board : boards)
    for (size_t i = 0; i < board.instances.size(); ++i)
      out.push_back(board.mig_instance(static_cast<int>(i)));
  return out;
}

// The one of `devices` whose UUID begins so; null where none or several do.
const Device* by_prefix(const std::vector<Device>& devices, const std::string& prefix) {
  const Device* found = nullptr;
  for (const Device& device : devices) {
    if (!starts(device.uuid(), prefix)) continue;
    if (found != nullptr) return nullptr;
    found = &device;
  }
  return found;
}

// "MIG-GPU-<uuid>/<instance>/0": the older form. Instances are numbered from 1 here.
const Device* by_parent(const std::vector<Device>& instances, const std::string& entry) {
  const size_t slash = entry.find('/');
  if (!starts(entry, "MIG-GPU-") || slash == std::string::npos) return nullptr;
  const int number = atoi(entry.c_str() + slash + 1);
  for (const Device& device : instances) {
    Device parent = device;
    parent.instance = -1;
    if (parent.uuid() == entry.substr(4, slash - 4) && device.instance + 1 == number)
      return &device;
  }
  return nullptr;
}

struct Choices {
  std::vector<Device> shown, instances;
  std::string form;  // "GPU-", "MIG-" or "" for indices
};

const Device* find(const Choices& from, const std::string& entry) {
  if (!from.form.empty() && !starts(entry, from.form)) return nullptr;
  if (from.form == "GPU-") return by_prefix(from.shown, entry);
  if (from.form == "MIG-") {
    const Device* device = by_prefix(from.instances, entry);
    return device != nullptr ? device : by_parent(from.instances, entry);
  }
  char* end = nullptr;
  const long index = strtol(entry.c_str(), &end, 10);
  if (end == entry.c_str() || index < 0 || index >= static_cast<long>(from.shown.size()))
    return nullptr;
  return &from.shown[static_cast<size_t>(index)];
}

// One process sees one MIG instance.
std::vector<Device> one_instance(const std::vector<Device>& devices) {
  std::vector<Device> out;
  bool seen = false;
  for (const Device& device : devices) {
    if (device.instance >= 0 && seen) continue;
    seen = seen || device.instance >= 0;
    out.push_back(device);
  }
  return out;
}

}  // namespace

std::vector<Device> visible_devices(const std::vector<Device>& boards) {
  Choices from{unmasked(boards), all_instances(boards), ""};
  const char* mask = getenv("CUDA_VISIBLE_DEVICES");
  if (mask == nullptr) return one_instance(from.shown);
  for (const char* form : {"GPU-", "MIG-"})
    if (strncmp(mask, form, 4) == 0) from.form = form;
  std::vector<Device> out;
  std::string rest = mask;
  while (true) {
    const size_t comma = rest.find(',');
    const Device* device = find(from, rest.substr(0, comma));
    if (device == nullptr) break;
    for (const Device& other : out)
      if (other.uuid() == device->uuid()) return {};
    out.push_back(*device);
    if (comma == std::string::npos) break;
    rest.erase(0, comma + 1);
  }
  return one_instance(out);
}

}  // namespace tcs_double
