// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/driver.h"

namespace tcs {
namespace {

struct OpenOnly {
  int branch;
  Sm oldest;
};
constexpr OpenOnly kOpenOnly[] = {
#define TCS_DRIVER_OPEN_ONLY(branch, major, minor) {branch, {major, minor, 0}},
#include "tables/cuda_releases.def"
};

}  // namespace

// Devices that the driver's branch has left behind. One that the driver shows is not among them.
void rule_driver_device(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const DriverIs state = driver_is(driver);
  if (state == DriverIs::Unknown || state == DriverIs::Ok || state == DriverIs::Absent) return;
  const Version release = Version::parse(driver.version.value());
  for (const OpenOnly& row : kOpenOnly) {
    List<const Device*> old;
    Sm sm;
    for (const Device* device : visible_devices(in.facts))
      if (capability(*device, sm) && sm < row.oldest) old.push_back(device);
    if (old.empty()) continue;
    const bool open = driver.module_kind.is("open");
    if (!release.known() && !open)
      missing(out, 290, "driver.version", "whether it still drives older GPUs", driver.reason);
    // A release of three numbers is one of Linux.
    if (!open && (release.numbers.size() < 3 || release.major() < row.branch)) continue;
    Finding& f = report(
        out, 211,
        {open ? "the open kernel modules, which are loaded, do"
              : cat("driver ", driver.version.value(), " has open kernel modules only, which do"),
         device_label(*old[0]), row.oldest.dotted(), cat(row.branch)});
    if (state == DriverIs::NoDevice || no_answer(state)) f.severity = here_or_elsewhere(in);
    add_devices(f, old);
    add(f, "driver",
        open ? cat("open kernel module ", driver.kernel_module.value()) : driver.version.value(),
        open ? "the proprietary one" : cat("< ", row.branch),
        open ? driver.module_kind.from : driver.version.from);
  }
}

}  // namespace tcs
