// SPDX-License-Identifier: Apache-2.0
// The child that holds libcuda. cuInit may take seconds on a machine with many GPUs: it is called
// once, by a child that starts before everything else and that stays to try images (image_probe.h).
#pragma once
#include <memory>

#include "facts/gather.h"

namespace tcs {

struct DriverChild {
  std::unique_ptr<Talk> nvml;  // asks NVML meanwhile; null: likewise
  std::unique_ptr<Talk> talk;  // null: nothing is asked
  int left_ms = 0;             // of the time that the driver may take, all questions together
};

// What a child says first: its line, or how it ended without one.
Outcome first_answer(Talk& child, int& left_ms);
Command driver_command(const Host& host, const Inputs& in);
DriverChild start_driver(Host& host, const Inputs& in);
// Driver and devices from what the child answers, and from what the kernel's files say.
// `child.talk` is null afterwards where there is no driver to ask more.
void gather_driver(Host& host, const Inputs& in, DriverChild& child, Facts& facts);
// The part of it that reads the answer.
void learn_driver(Host& host, const Outcome& outcome, Facts& facts);

// Of all boards, after gather_driver(): what NVML's child says, which has run beside the driver's
// and gets little time of its own (gather_nvml.cpp).
void gather_nvml(const Inputs& in, DriverChild& child, Facts& facts);
void learn_nvml(const Outcome& outcome, Facts& facts);

}  // namespace tcs
