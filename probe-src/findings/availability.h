// SPDX-License-Identifier: Apache-2.0
// What is known of each image: does nvcc build it, does PyTorch hold it, does it run on the
// devices.
#pragma once
#include <string>

#include "base/list.h"
#include "facts/facts.h"
#include "plan/plan.h"

namespace tcs {

// What one device did with an image, and what the rules alone say of it.
struct DeviceAnswer {
  const Device* device;
  const ImageProbe* answer;  // null: it was not tried there
  const char* predicted;     // cubin, ptx, cross-tegra, none, unknown
};

struct Availability {
  TCS_COPIED(Availability);
  Image image;
  std::string nvcc;  // measured: built, refused, wrong; as it says: listed, unlisted; unknown
  std::string nvcc_said;
  // full, part: the image itself, in all or some of the fat binaries; listed: it is there, and they
  // were not counted; served: another image serves such devices; ptx, cross-tegra: so does PTX, or
  // an image from across the border; none, absent, unknown.
  std::string torch;
  std::string torch_by;                     // what serves such devices, where it is another image
  int64_t torch_served = 0, torch_all = 0;  // fat binaries, where they were counted
  List<DeviceAnswer> devices;               // the visible ones
};

// The images of the plan, those that were built or tried, and those of the visible devices; sorted.
// Points into `facts`.
List<Availability> availability(const Facts& facts, const Plan& plan);

const char* name_of(Fit fit);  // cubin, ptx, cross-tegra, none

}  // namespace tcs
