// SPDX-License-Identifier: Apache-2.0
// What a device does with an image: of cubins the oracle's rows (tests/oracles), of PTX the PTX ISA
// manual's. Nothing here is the code that is tested.
#pragma once
#include "../script.h"
#include "image.h"

namespace tcs_double {

// 0, or the error of cuModuleLoadData. `driver`: the CUDA release it speaks, 12080.
int load_error(const Image& image, const Device& device, int driver, bool no_jit);
// Of a fat binary: the one that is taken, or `out` of its list and the error.
const Image* choose(const std::vector<Image>& images, const Device& device, int driver, bool no_jit,
                    int& error);

}  // namespace tcs_double
