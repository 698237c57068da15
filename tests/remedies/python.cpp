// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/python.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects python_effects() {
  return {};
}

}  // namespace tcs::remedies
