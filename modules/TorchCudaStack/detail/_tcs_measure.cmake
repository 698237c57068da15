# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# Who speaks: QUIET leaves only the fatal error. `required` is REQUIRED where a failure stops.
macro(_tcs_set_voice _tcs_quiet _tcs_required)
  set(_tcs_say_status STATUS)
  set(_tcs_say_notice NOTICE)
  set(_tcs_find_quietly "")
  if("${_tcs_quiet}")
    set(_tcs_say_status VERBOSE)
    set(_tcs_say_notice VERBOSE)
    set(_tcs_find_quietly QUIET)
  endif()
  set(_tcs_find_required "")
  if("${_tcs_required}")
    set(_tcs_find_required REQUIRED)
  endif()
endmacro()

# The inputs as far as another plan would come of them: not for whom it is judged, and not the compiler of the tree and the
# Python where they are the plan's.
function(_tcs_comparable out inputs)
  string(REGEX REPLACE " --set \\[=\\[COMPONENTS=[A-Za-z;]*\\]=\\]" "" inputs "${inputs}")
  foreach(ours IN ITEMS "TREE_CUDA_COMPILER=${_tcs_nvcc}" "Python_EXECUTABLE=${_tcs_python}")
    _tcs_quote(ours "${ours}")
    string(REPLACE " --set ${ours}" "" inputs "${inputs}")
  endforeach()
  set(${out} "${inputs}" PARENT_SCOPE)
endfunction()

# A plan for this directory: that of the gate where the inputs are still the same, else one of the tool's, in `_tcs_dir`.
# `_tcs_more` holds further inputs. `_tcs_reason` gets why there is none, else "".
macro(_tcs_measure)
  set(_tcs_reason "")
  _tcs_collect_inputs(_tcs_inputs)
  _tcs_comparable(_tcs_inputs_now "${_tcs_inputs}")
  if(NOT _tcs_gated OR NOT "${_tcs_inputs_now}" STREQUAL "${_tcs_plan_inputs}")
    _tcs_find_tool(_tcs_tool _tcs_reason)
    if(NOT _tcs_reason)
      _tcs_run_configure("${_tcs_tool}" "${_tcs_dir}" "${_tcs_inputs} ${_tcs_more}" _tcs_reason)
    endif()
    if(NOT _tcs_reason)
      # Only set() lines; every value is a bracket argument.
      include("${_tcs_dir}/plan.cmake")
      set(_tcs_plan_dir "${_tcs_dir}")
      _tcs_comparable(_tcs_plan_inputs "${_tcs_inputs}")
      _tcs_report(_tcs_reason)
    endif()
  endif()
  unset(_tcs_inputs)
  unset(_tcs_inputs_now)
endmacro()
