# SPDX-License-Identifier: Apache-2.0
# What FindTorchCudaStack.cmake and TorchCudaStackGate.cmake are made of.

set(TorchCudaStack_VERSION 0.1.0)
get_filename_component(_tcs_part "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set_property(GLOBAL PROPERTY TorchCudaStack_MODULES "${_tcs_part}")
get_filename_component(_TorchCudaStack_SHIMS "${CMAKE_CURRENT_LIST_DIR}/../shims" ABSOLUTE)
get_filename_component(
  TorchCudaStack_LINK_MODULE
  "${CMAKE_CURRENT_LIST_DIR}/../../FindTorchCudaStackLink.cmake"
  ABSOLUTE
)
# Of an installation: names the tool that lies beside it.
include("${CMAKE_CURRENT_LIST_DIR}/_tcs_installed.cmake" OPTIONAL)

include(FindPackageHandleStandardArgs)
foreach(
  _tcs_part
  IN
  ITEMS
    detail/_tcs_core
    detail/_tcs_tool
    detail/_tcs_inputs
    detail/_tcs_configure
    detail/_tcs_measure
    detail/_tcs_choices
    detail/_tcs_torch
    detail/_tcs_gencode
    detail/_tcs_targets
    detail/_tcs_link
    torch_cuda_stack_add_extension
    torch_cuda_stack_intersect
    torch_cuda_stack_source_archs
    torch_cuda_stack_verify
)
  include("${CMAKE_CURRENT_LIST_DIR}/../${_tcs_part}.cmake")
endforeach()
unset(_tcs_part)
