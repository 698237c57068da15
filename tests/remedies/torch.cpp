// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/torch.def does.
#include "remedy.h"

namespace tcs::remedies {

Effects torch_effects() {
  return {};
}

}  // namespace tcs::remedies
