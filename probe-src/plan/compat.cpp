// SPDX-License-Identifier: Apache-2.0
// Which image runs on which device. The rules, from NVIDIA's compatibility guides and from what
// ptxas and nvlink answered (tests/unit/plan/oracle_test.cpp holds nvlink's):
// - machine code X.y runs on X.z with z >= y, and on no other major;
// - 'a' runs on exactly its own capability, 'f' on its family, as machine code and as PTX;
// - plain PTX X.y can be translated for every capability >= X.y;
// - Tegra parts and desktop parts of one major: nvlink before 13.2 refuses to mix them, from 13.2
// on
//   it accepts, and users measured failures on Orin. So the answer there is "only across".
#include <algorithm>

#include "base/text.h"
#include "plan/plan.h"
#include "tables/tables.h"

namespace tcs {

namespace {

bool same_capability(const Sm& a, const Sm& b) {
  return a.major == b.major && a.minor == b.minor;
}

// A capability that the tables lack is judged by the rule: same major, minor at least the target's.
bool in_family(const Sm& family, const Sm& device) {
  if (family.major != device.major || device.minor < family.minor) return false;
  const ArchRow* row = find_arch(family);
  if (row == nullptr || find_arch(device.base()) == nullptr) return true;
  return contains(row->members, cat(device.minor));
}

Fit fits_ptx(const Sm& ptx, const Sm& device) {
  bool runs = ptx.suffix == 'a'   ? same_capability(ptx, device)
              : ptx.suffix == 'f' ? in_family(ptx, device)
                                  : !(device.base() < ptx);
  return runs ? Fit::Jit : Fit::None;
}

}  // namespace

bool is_tegra(const Sm& sm) {
  const ArchRow* row = find_arch(sm.base());
  return row != nullptr && row->tegra;
}

Fit fits(const Image& image, const Sm& device) {
  if (image.ptx) return fits_ptx(image.sm, device);
  if (same_capability(image.sm, device)) return Fit::Native;
  if (image.sm.suffix == 'a') return Fit::None;
  if (image.sm.suffix == 'f') return in_family(image.sm, device) ? Fit::Native : Fit::None;
  if (image.sm.major != device.major || image.sm.minor > device.minor) return Fit::None;
  return is_tegra(image.sm) || is_tegra(device) ? Fit::CrossTegra : Fit::Native;
}

Fit best_fit(const List<Image>& images, const Sm& device) {
  Fit best = Fit::None;
  for (const Image& image : images) best = std::min(best, fits(image, device));
  return best;
}

}  // namespace tcs
