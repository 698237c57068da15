// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/environment.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects environment_effects() {
  return {};
}

}  // namespace tcs::remedies
