// SPDX-License-Identifier: Apache-2.0
#include "full/verbs.h"
#include "tool/verbs.h"

namespace tcs {

int verb_toolkit(Host&, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, {}, "tcstack toolkit add RELEASE --into DIR", options, status))
    return status;
  print_err("tcstack toolkit: not yet\n");
  return 3;
}

}  // namespace tcs
