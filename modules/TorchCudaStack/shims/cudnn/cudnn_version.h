// SPDX-License-Identifier: Apache-2.0
// Read by an old PyTorch's CMake code in place of cuDNN's own header (see FindCUDNN.cmake). Never in an include path.
#define CUDNN_MAJOR 9
#define CUDNN_MINOR 0
#define CUDNN_PATCHLEVEL 0
