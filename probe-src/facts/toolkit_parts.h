// SPDX-License-Identifier: Apache-2.0
// What lies in a toolkit's folders, without running anything of it.
#pragma once
#include <string>

#include "facts/gather.h"
#include "facts/nvcc_output.h"

namespace tcs {

// Sets driver_dir, root and layout from the path nvcc is called by and, where known, from its dry
// run (a wrapper script's nvcc lies elsewhere).
void place_toolkit(const Host& host, const std::string& program, const DryRun& dry,
                   Toolkit& toolkit);

// Headers, cudart, host compiler limits and missing parts of a toolkit whose root is known.
void find_parts(const Host& host, const DryRun& dry, Toolkit& toolkit);

// cicc answers no question about its release, but carries nvcc's line among its constants (11.8 to
// 13.5). A few milliseconds; for where no PTX of it was seen.
void read_cicc_release(const Host& host, const DryRun& dry, Toolkit& toolkit);

}  // namespace tcs
