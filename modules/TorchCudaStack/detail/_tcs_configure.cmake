# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# Why nothing can be done here at all, else "".
function(_tcs_refusal out)
  set(${out} "" PARENT_SCOPE)
  if(NOT CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
    set(${out} "${CMAKE_HOST_SYSTEM_NAME} is not supported, only Linux is" PARENT_SCOPE)
  endif()
  find_package_check_version(
    "${TorchCudaStack_VERSION}"
    fits
    HANDLE_VERSION_RANGE
    RESULT_MESSAGE_VARIABLE message
  )
  if(NOT fits)
    get_property(modules GLOBAL PROPERTY TorchCudaStack_MODULES)
    set(${out} "${message} (${modules}, the copy that this project brought first)" PARENT_SCOPE)
  endif()
  set(
    known
    Device
    Driver
    Toolkit
    HostCompiler
    Runtime
    Torch
    Python
    Link
  )
  foreach(component IN LISTS TorchCudaStack_FIND_COMPONENTS)
    if(NOT component IN_LIST known)
      list(JOIN known " " shown)
      message(FATAL_ERROR "TorchCudaStack has no component ${component}\n  components: ${shown}")
    endif()
  endforeach()
endfunction()

# What find_package(TorchCudaStack) came to is known in its directory and below, in functions as well.
foreach(_tcs_name IN ITEMS STATE DIR FACTS USERS_ARCHITECTURES)
  define_property(
    DIRECTORY
    PROPERTY TorchCudaStack_${_tcs_name}
    INHERITED
    BRIEF_DOCS "of TorchCudaStack"
    FULL_DOCS "of TorchCudaStack"
  )
endforeach()
unset(_tcs_name)

# `state`: used, unused, skipped.
function(_tcs_remember state dir)
  set_property(DIRECTORY PROPERTY TorchCudaStack_STATE "${state}")
  set_property(DIRECTORY PROPERTY TorchCudaStack_DIR "${dir}")
  set_property(DIRECTORY PROPERTY TorchCudaStack_FACTS "${TorchCudaStack_FACTS_JSON}")
endfunction()

# Runs the tool once. `code` is what _tcs_collect_inputs() made. `reason` gets why it could not work, else "".
function(_tcs_run_configure tool dir code reason)
  set(${reason} "" PARENT_SCOPE)
  _tcs_quote(program "${tool}")
  _tcs_quote(quoted "${dir}")
  # Its own probes have deadlines; this one is for a tool that hangs itself. A download is seen as it goes.
  set(patience 900)
  set(echo "")
  _tcs_setting(provision PROVISION)
  if(provision)
    set(patience 4000)
    if(NOT _tcs_find_quietly)
      set(echo "ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE") # of one variable only both together
    endif()
  endif()
  cmake_language(
    EVAL CODE
      "execute_process(
       COMMAND ${program} configure --dir ${quoted} ${code}
       TIMEOUT ${patience}
       ${echo}
       RESULT_VARIABLE result
       OUTPUT_VARIABLE output
       ERROR_VARIABLE output
     )"
  )
  string(STRIP "${output}" output)
  if(result STREQUAL "0" OR result STREQUAL "1")
    if(NOT output STREQUAL "" AND NOT echo)
      message(${_tcs_say_notice} "${output}")
    endif()
    if(NOT EXISTS "${dir}/plan.cmake")
      set(${reason} "${tool} wrote no plan.cmake into ${dir}" PARENT_SCOPE)
    endif()
    return()
  endif()
  string(REPLACE "\n" "\n    " output "    ${output}")
  if(result STREQUAL "2")
    message(FATAL_ERROR "TorchCudaStack: bad input\n${output}")
  endif()
  set(${reason} "its tool could not work: ${tool} ended with ${result}\n${output}" PARENT_SCOPE)
endfunction()

# Says a thing, once where the gate and find_package() may both come to it.
function(_tcs_tell mode text)
  if(_tcs_gated)
    get_property(said GLOBAL PROPERTY TorchCudaStack_SAID)
    string(FIND "${said}" "${text}" at)
    if(NOT at EQUAL -1)
      return()
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY TorchCudaStack_SAID "${text}")
  endif()
  message(${mode} "${text}")
endfunction()

# Prints what plan.cmake says. `reason` gets the short reason where the findings reach fail-on, else "". A fatal error is
# ours to raise: FPHSA would prefix and re-wrap the findings.
function(_tcs_report reason)
  set(${reason} "" PARENT_SCOPE)
  if(NOT _tcs_outcome STREQUAL "fail")
    if(NOT "${_tcs_notices}" STREQUAL "")
      _tcs_tell(${_tcs_say_notice} "${_tcs_notices}  tcstack: ${_tcs_tool}\n")
    endif()
    if(NOT "${_tcs_notes}" STREQUAL "")
      _tcs_tell(VERBOSE "${_tcs_notes}")
    endif()
    if("${TorchCudaStack_GENCODE_FLAGS}" STREQUAL "" AND _tcs_gated)
      set(
        _tcs_summary
        "TorchCudaStack: no PyTorch and no list in sight: find_package(Torch) will be judged"
      )
    endif()
    _tcs_tell(${_tcs_say_status} "${_tcs_summary}")
    _tcs_setting(facts FACTS)
    if(NOT facts STREQUAL "")
      _tcs_tell(
        ${_tcs_say_status}
        "TorchCudaStack: recorded facts (${facts}): a plan only, no compiler is chosen and there is no TorchCudaStack::Torch"
      )
    endif()
    return()
  endif()
  if(_tcs_find_required)
    set(after "")
    if(_tcs_gated AND NOT CMAKE_C_COMPILER_LOADED AND NOT CMAKE_CXX_COMPILER_LOADED)
      # project() goes on into its languages all the same, and none of them gets its compiler.
      set(after "  note: a \"CMAKE_..._COMPILER not set\" after this comes of this stop alone\n")
    endif()
    # Indented lines are kept as they are; anything else CMake re-wraps.
    message(FATAL_ERROR "${_tcs_fatal}  \n  ${_tcs_summary}\n  tcstack: ${_tcs_tool}\n${after}")
  endif()
  message(${_tcs_say_notice} "${_tcs_fatal}  \n  tcstack: ${_tcs_tool}\n")
  string(REGEX REPLACE "^TorchCudaStack: " "" summary "${_tcs_summary}")
  set(${reason} "${summary}" PARENT_SCOPE)
endfunction()

# The escape hatch: everything is found, nothing is known.
macro(_tcs_skip)
  set(TorchCudaStack_STATUS unknown)
  foreach(
    _tcs_name
    IN
    ITEMS Device Driver Toolkit HostCompiler Runtime Torch Python
  )
    set(TorchCudaStack_${_tcs_name}_FOUND TRUE)
    set(TorchCudaStack_${_tcs_name}_STATUS unknown)
  endforeach()
  unset(_tcs_name)
  foreach(
    _tcs_word
    IN
    ITEMS nvcc root host_compiler torch_dir cxx_standard
  )
    set(_tcs_${_tcs_word} "")
  endforeach()
  unset(_tcs_word)
  set(TorchCudaStack_FACTS_JSON "")
  message(
    WARNING
    "TorchCudaStack_SKIP is set: nothing was measured, nothing is checked or chosen, and no target is verified."
  )
endmacro()
