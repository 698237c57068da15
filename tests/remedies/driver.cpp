// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/driver.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects driver_effects() {
  return {};
}

}  // namespace tcs::remedies
