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
    get_property(link TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_LINK_ROOT)
    if(link) # of a package that was found before: it had no plan
      set_property(TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_LINK_ROOT "")
    elseif(earlier STREQUAL pairs)
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

# Whether TorchCudaStack::Torch is that of FindTorchCudaStackLink, which a package of another project brought.
function(_tcs_is_link_target out)
  set(${out} FALSE PARENT_SCOPE)
  if(TARGET TorchCudaStack::Torch)
    get_property(root TARGET TorchCudaStack::Torch PROPERTY TorchCudaStack_LINK_ROOT)
    if(root)
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# TorchCudaStack::Torch.
function(_tcs_make_torch_target)
  _tcs_is_link_target(linked)
  if(linked)
    get_property(place TARGET TorchCudaStack::Torch PROPERTY TorchCudaStack_DIRECTORY)
    set_property(TARGET TorchCudaStack::Torch PROPERTY TorchCudaStack_LINK_ROOT "")
    if(NOT place STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      # `torch` is known from here on alone, that target above as well: it stays what it is.
      set_property(
        TARGET TorchCudaStack::Torch
        APPEND
        PROPERTY INTERFACE_LINK_LIBRARIES TorchCudaStack::Archs
      )
      return()
    endif()
    set_target_properties(
      TorchCudaStack::Torch
      PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ""
        INTERFACE_COMPILE_DEFINITIONS ""
        INTERFACE_COMPILE_FEATURES ""
    )
  else()
    add_library(TorchCudaStack::Torch INTERFACE IMPORTED)
  endif()
  set_target_properties(
    TorchCudaStack::Torch
    PROPERTIES INTERFACE_LINK_LIBRARIES "torch;TorchCudaStack::Archs"
  )
  if("${_tcs_cxx_standard}" MATCHES "^(14|17|20|23)$")
    target_compile_features(TorchCudaStack::Torch INTERFACE "cxx_std_${_tcs_cxx_standard}")
  endif()
endfunction()
