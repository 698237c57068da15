// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/host_compiler.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects host_compiler_effects() {
  return {};
}

}  // namespace tcs::remedies
