// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/arch.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects arch_effects() {
  return {};
}

}  // namespace tcs::remedies
