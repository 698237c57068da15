// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/toolkit.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects toolkit_effects() {
  return {};
}

}  // namespace tcs::remedies
