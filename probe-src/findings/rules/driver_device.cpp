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
    if (!release.known())
      missing(out, 290, "driver.version", "whether it still drives older GPUs", driver.reason);
    // A release of three numbers is one of Linux.
    if (release.numbers.size() < 3 || release.major() < row.branch) continue;
    Finding& f = report(
        out, 211,
        {driver.version.value(), device_label(*old[0]), row.oldest.dotted(), cat(row.branch)});
    if (state == DriverIs::NoDevice || state == DriverIs::NoAnswer)
      f.severity = here_or_elsewhere(in);
    add_devices(f, old);
    add(f, "driver", driver.version.value(), cat("< ", row.branch), driver.version.from);
  }
}

}  // namespace tcs
