# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

set_property(GLOBAL PROPERTY TorchCudaStack_PLAN "${CMAKE_BINARY_DIR}/TorchCudaStack/plan.json")

# TorchCudaStack::Archs and TorchCudaStack::tcstack.
macro(_tcs_make_targets _tcs_program)
  if(NOT TARGET TorchCudaStack::tcstack AND NOT "${_tcs_program}" STREQUAL "")
    add_executable(TorchCudaStack::tcstack IMPORTED)
    set_target_properties(TorchCudaStack::tcstack PROPERTIES IMPORTED_LOCATION "${_tcs_program}")
  endif()
  _tcs_make_archs_target()
endmacro()

function(_tcs_make_archs_target)
  if(NOT TARGET TorchCudaStack::Archs)
    add_library(TorchCudaStack::Archs INTERFACE IMPORTED)
  endif()
  _tcs_lacking_pairs(pairs)
  set(options "")
  set(link_options "")
  foreach(pair IN LISTS pairs)
    list(APPEND options "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:SHELL:-gencode ${pair}>")
    list(APPEND link_options "$<DEVICE_LINK:SHELL:-gencode ${pair}>")
  endforeach()
  set_target_properties(
    TorchCudaStack::Archs
    PROPERTIES INTERFACE_COMPILE_OPTIONS "${options}" INTERFACE_LINK_OPTIONS "${link_options}"
  )
endfunction()

# TorchCudaStack::Torch.
function(_tcs_make_torch_target)
  if(NOT TARGET TorchCudaStack::Archs)
    add_library(TorchCudaStack::Archs INTERFACE IMPORTED)
  endif()
  add_library(TorchCudaStack::Torch INTERFACE IMPORTED)
  target_link_libraries(TorchCudaStack::Torch INTERFACE torch TorchCudaStack::Archs)
  if("${_tcs_cxx_standard}" MATCHES "^(14|17|20|23)$")
    target_compile_features(TorchCudaStack::Torch INTERFACE "cxx_std_${_tcs_cxx_standard}")
  endif()
endfunction()
