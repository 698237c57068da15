# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

#[=======================================================================[.rst:
torch_cuda_stack_verify
-----------------------

.. code-block:: cmake

  torch_cuda_stack_verify(<target> [IMAGES <arch>...])

After each link of ``<target>`` (a library or an executable of this directory) its kernel images are compared with the
plan, and the link fails where one is missing from code that the target itself compiled. Images of linked archives are
listed, not judged. ``IMAGES`` declares another set than the plan's, e.g. ``IMAGES sm_90a``.
#]=======================================================================]
function(torch_cuda_stack_verify target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "IMAGES")
  if(arg_UNPARSED_ARGUMENTS)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}"
    )
  endif()
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "torch_cuda_stack_verify(${target}): there is no target of that name")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    message(FATAL_ERROR "torch_cuda_stack_verify(${target}): it is an alias; verify ${aliased}")
  endif()
  get_target_property(imported "${target}" IMPORTED)
  if(imported)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): it is imported, nothing of it is built here"
    )
  endif()
  get_target_property(type "${target}" TYPE)
  if(NOT type MATCHES "^((SHARED|MODULE|STATIC)_LIBRARY|EXECUTABLE)$")
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): a target of type ${type} has no file to look into; verify what links it"
    )
  endif()
  get_target_property(directory "${target}" SOURCE_DIR)
  if(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): call it in ${directory}, where the target is made; "
      "CMake attaches no step to a target of another directory"
    )
  endif()
  if(TorchCudaStack_SKIP OR NOT TARGET TorchCudaStack::tcstack)
    return()
  endif()

  get_property(plan GLOBAL PROPERTY TorchCudaStack_PLAN)
  set(list "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/tcs-objects-$<CONFIG>.txt")
  file(GENERATE OUTPUT "${list}" CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>,\n>\n")
  set(images "")
  if(arg_IMAGES)
    list(JOIN arg_IMAGES "$<SEMICOLON>" images)
    set(images --images "${images}")
  endif()
  add_custom_command(
    TARGET "${target}"
    POST_BUILD
    COMMAND
      TorchCudaStack::tcstack verify "$<TARGET_FILE:${target}>" --plan "${plan}" --objects "${list}"
      ${images}
    COMMENT "Verifying the kernel images of ${target}"
    VERBATIM
  )
endfunction()
