// SPDX-License-Identifier: Apache-2.0
// What the files of Facts.libraries hold: kernel images of each, what NVRTC compiles for. And the
// parts that cuDNN opens by itself, and the ptxas of Triton. docs/libraries.md has what was
// measured.
#pragma once
#include "facts/gather.h"

namespace tcs {

// After gather_torch(). Kept in Inputs.cache_dir for as long as the files are the same.
void gather_library_images(Host& host, const Inputs& in, Facts& facts);

}  // namespace tcs
