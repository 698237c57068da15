// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/runtime.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects runtime_effects() {
  return {};
}

}  // namespace tcs::remedies
