# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# TorchCudaStack::Archs and TorchCudaStack::tcstack.
macro(_tcs_make_targets _tcs_program)
  if(NOT TARGET TorchCudaStack::tcstack AND NOT "${_tcs_program}" STREQUAL "")
    add_executable(TorchCudaStack::tcstack IMPORTED)
    set_target_properties(TorchCudaStack::tcstack PROPERTIES IMPORTED_LOCATION "${_tcs_program}")
  endif()
  _tcs_make_archs_target()
endmacro()

function(_tcs_make_archs_target)
  _tcs_lacking_pairs(pairs)
  if(TARGET TorchCudaStack::Archs)
    get_property(plan TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_PLAN)
    get_property(earlier TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_PAIRS)
    get_property(place TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_DIRECTORY)
    if(earlier STREQUAL pairs)
      return()
    elseif(
      NOT place STREQUAL CMAKE_CURRENT_SOURCE_DIR
      AND plan STREQUAL TorchCudaStack_GENCODE_FLAGS
    )
      return() # the flags that torch brought since come twice, which nvcc takes as once
    elseif(NOT place STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      list(JOIN earlier " " earlier)
      list(JOIN pairs " " pairs)
      message(
        FATAL_ERROR
        "  TorchCudaStack: this directory and one above it have different plans, and share TorchCudaStack::Archs\n"
        "  \n"
        "    ${place}: ${earlier}\n"
        "    ${CMAKE_CURRENT_SOURCE_DIR}: ${pairs}\n"
        "  \n"
        "  help: call find_package(TorchCudaStack) in directories that lie side by side, not below each other\n"
      )
    endif()
  else()
    add_library(TorchCudaStack::Archs INTERFACE IMPORTED)
  endif()
  set_target_properties(
    TorchCudaStack::Archs
    PROPERTIES
      TorchCudaStack_PLAN "${TorchCudaStack_GENCODE_FLAGS}"
      TorchCudaStack_PAIRS "${pairs}"
      TorchCudaStack_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
  )
  # Not of a target whose sources get theirs one by one.
  set(whole "$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>")
  string(APPEND whole ",$<NOT:$<BOOL:$<TARGET_PROPERTY:TorchCudaStack_SOURCE_ARCHS>>>")
  set(options "")
  set(link_options "")
  foreach(pair IN LISTS pairs)
    list(APPEND options "$<$<AND:${whole}>:SHELL:-gencode ${pair}>")
    string(REPLACE "," "$<COMMA>" pair "${pair}") # a comma would end the expression's argument
    list(APPEND link_options "$<DEVICE_LINK:SHELL:-gencode ${pair}>")
  endforeach()
  set_target_properties(
    TorchCudaStack::Archs
    PROPERTIES INTERFACE_COMPILE_OPTIONS "${options}" INTERFACE_LINK_OPTIONS "${link_options}"
  )
endfunction()

# TorchCudaStack::Torch.
function(_tcs_make_torch_target)
  add_library(TorchCudaStack::Torch INTERFACE IMPORTED)
  target_link_libraries(TorchCudaStack::Torch INTERFACE torch TorchCudaStack::Archs)
  if("${_tcs_cxx_standard}" MATCHES "^(14|17|20|23)$")
    target_compile_features(TorchCudaStack::Torch INTERFACE "cxx_std_${_tcs_cxx_standard}")
  endif()
endfunction()
