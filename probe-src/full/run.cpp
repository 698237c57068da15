// SPDX-License-Identifier: Apache-2.0
#include "full/verbs.h"
#include "tool/verbs.h"

namespace tcs {

int verb_run(Host&, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, {}, "tcstack run [OPTIONS] -- COMMAND...", options, status))
    return status;
  print_err("tcstack run: not yet\n");
  return 3;
}

}  // namespace tcs
