# SPDX-License-Identifier: Apache-2.0
# The installed package: the same module.
include("${CMAKE_CURRENT_LIST_DIR}/modules/FindTorchCudaStack.cmake")
