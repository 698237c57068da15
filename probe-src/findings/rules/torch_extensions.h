// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "facts/facts.h"

namespace tcs {

// `lib` is a CUDA runtime of another major than PyTorch's, which an extension was built with: where
// it is missing, the extension is the cause.
bool asked_by_extension(const Facts& facts, const Library& lib);

}  // namespace tcs
