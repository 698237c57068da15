// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.h"

#include "base/text.h"

namespace tcs {

bool is_foreign(const Device& device) {
  Sm sm;
  if (device.cc.known() && parse_sm_dotted(device.cc.value(), sm)) return false;
  const std::string name = cat(" ", lower(device.name.value()), " ");
  for (const char* maker : {" amd", " ati ", "radeon", "firepro", " intel", " apple", "aspeed",
                            "llvmpipe", "vmware", "virtio", " mali", "adreno", "microsoft"})
    if (contains(name, maker)) return true;
  return false;
}

List<std::string> foreign_names(const DeviceFacts& devices) {
  List<std::string> names;
  for (const Device& device : devices.list)
    if (is_foreign(device)) add_once(names, device.name.value());
  return names;
}

bool is_in_use(const Device& device) {
  return device.visible.is(true) && !is_foreign(device);
}

bool may_be_in_use(const Device& device) {
  return !device.visible.known() && !is_foreign(device);
}

}  // namespace tcs
