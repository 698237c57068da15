// SPDX-License-Identifier: Apache-2.0
// What PyTorch's own source tree is told, by the era of its build system.
#pragma once
#include <string>

#include "base/list.h"
#include "drive/drive.h"

namespace tcs {

Dialect tree_list(const DriveInput& in);  // TORCH_CUDA_ARCH_LIST, as the tree's CMake reads it
List<BuildSetting> pytorch_environment(const DriveInput& in);
List<BuildSetting> pytorch_cache(const DriveInput& in);
bool pytorch_reads_cmake_args(const DriveInput& in);

}  // namespace tcs
