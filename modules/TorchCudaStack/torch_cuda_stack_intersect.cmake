# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

#[=======================================================================[.rst:
torch_cuda_stack_intersect
--------------------------

.. code-block:: cmake

  torch_cuda_stack_intersect(<out> ARCHS <arch>... [NAME <what>] [OPTIONAL | REQUIRED])

Which of the architectures that a source is written for does the plan need? ``ARCHS 9.0a 10.0f 8.0+PTX`` are those of the
source; ``<out>`` gets those to compile it for (``8.0+PTX;9.0a``), ``<out>_GENCODE_FLAGS`` and ``<out>_IMAGES`` the same as
flags of nvcc and as images, ``<out>_UNSERVED`` what of the plan is left without it (``12.1``, ``compute_90``). Where none
is needed it is a warning: ``REQUIRED`` makes it an error, ``OPTIONAL`` a line, for a project that handles it. ``NAME`` is
what messages call the source. docs/kernel-archs.md has the rules.
#]=======================================================================]
function(torch_cuda_stack_intersect out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIONAL;REQUIRED" "NAME" "ARCHS")
  set(who "torch_cuda_stack_intersect(${out})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${who}: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  elseif("${arg_ARCHS}" STREQUAL "")
    message(FATAL_ERROR "${who}: ARCHS names no architecture")
  elseif(arg_OPTIONAL AND arg_REQUIRED)
    message(FATAL_ERROR "${who}: OPTIONAL and REQUIRED exclude each other")
  endif()
  string(REPLACE "\\;" ";" arg_ARCHS "${arg_ARCHS}") # a list in quotes
  if("${arg_NAME}" STREQUAL "")
    set(arg_NAME "${out}")
  endif()
  set(kind WARNING)
  if(arg_REQUIRED)
    set(kind FATAL_ERROR)
  elseif(arg_OPTIONAL)
    set(kind STATUS)
  endif()
  _tcs_intersect("${who}" "${arg_NAME}" "${arg_ARCHS}" ${kind})
  set(${out} "${_tcs_list}" PARENT_SCOPE)
  set(${out}_GENCODE_FLAGS "${_tcs_gencode}" PARENT_SCOPE)
  set(${out}_IMAGES "${_tcs_images}" PARENT_SCOPE)
  set(${out}_UNSERVED "${_tcs_unserved}" PARENT_SCOPE)
endfunction()

# Asks the tool; sets _tcs_list, _tcs_gencode, _tcs_images, _tcs_unserved of the caller. `kind` is how it is said that
# nothing is left.
function(_tcs_intersect who name archs kind)
  get_property(state DIRECTORY PROPERTY TorchCudaStack_STATE)
  get_property(dir DIRECTORY PROPERTY TorchCudaStack_DIR)
  set(said "")
  if(state STREQUAL "skipped")
    set(result 1)
    set(output "")
    set(problem "${name}: there is no plan, TorchCudaStack_SKIP is set\n")
  elseif(state STREQUAL "unused")
    set(result 1)
    set(output "")
    set(problem "${name}: there is no plan, find_package(TorchCudaStack) found nothing\n")
  elseif(NOT TARGET TorchCudaStack::tcstack)
    message(
      FATAL_ERROR
      "${who}: there is no find_package(TorchCudaStack) in this directory or above it"
    )
  else()
    get_target_property(tool TorchCudaStack::tcstack IMPORTED_LOCATION)
    execute_process(
      COMMAND
        "${tool}" intersect --plan "${dir}/plan.json" "--archs=${archs}" "--name=${name}" --format
        cmake
      TIMEOUT 60
      RESULT_VARIABLE result
      OUTPUT_VARIABLE output
      ERROR_VARIABLE problem
    )
  endif()
  if(NOT result MATCHES "^[01]$")
    string(STRIP "${problem}" problem)
    message(FATAL_ERROR "  ${who}: ${problem}\n")
  endif()
  foreach(
    variable
    IN
    ITEMS _tcs_list _tcs_gencode _tcs_images _tcs_unserved _tcs_said
  )
    set(${variable} "")
  endforeach()
  cmake_language(EVAL CODE "${output}") # only set() lines; every value is a bracket argument
  if(result STREQUAL "0" AND _tcs_gencode STREQUAL "")
    message(FATAL_ERROR "${who}: ${tool} intersect gave no answer")
  elseif(result STREQUAL "1")
    string(REGEX REPLACE "\n$" "" problem "${problem}")
    if(kind STREQUAL "STATUS")
      string(REGEX REPLACE "\n.*" "" problem "${problem}")
      message(STATUS "TorchCudaStack: ${problem}")
    else()
      string(REPLACE "\n" "\n  " problem "${problem}")
      string(REPLACE ";" " " words "${archs}")
      message(
        ${kind}
        "  TorchCudaStack: ${problem}\n"
        "  \n"
        "  help: add an architecture that serves the plan, where the source can be compiled for it\n"
        "  help: or say OPTIONAL, where the project does without it: ${words} OPTIONAL (${who})\n"
      )
    endif()
  elseif(NOT _tcs_said STREQUAL "")
    message(STATUS "TorchCudaStack: ${_tcs_said}")
  endif()
  foreach(variable IN ITEMS _tcs_list _tcs_gencode _tcs_images _tcs_unserved)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()
