# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# What TorchCudaStackGate.cmake does in the first project() call. Macros: what they set is for the whole project.
macro(_tcs_pass_gate _tcs_gate_file)
  _tcs_gate_place("${_tcs_gate_file}" _tcs_place)
  _tcs_set_voice(FALSE TRUE)
  _tcs_setting(_tcs_skipped SKIP)
  if(_tcs_skipped)
    message(WARNING "TorchCudaStack_SKIP is set: the gate is open, nothing is checked or chosen.")
  elseif(NOT CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
    message(
      STATUS
      "TorchCudaStack not used: ${CMAKE_HOST_SYSTEM_NAME} is not supported, only Linux is"
    )
  else()
    _tcs_setting(_tcs_replayed FACTS)
    _tcs_names_cuda(_tcs_concerned "${CMAKE_SOURCE_DIR}")
    if(NOT _tcs_concerned AND "${_tcs_replayed}" STREQUAL "")
      message(
        STATUS
        "TorchCudaStack: no CMake file here names CUDA or Torch: nothing is measured before find_package(Torch)"
      )
      _tcs_watch_torch("${_tcs_place}")
    else()
      _tcs_measure_whole()
    endif()
    if(_tcs_concerned AND "${_tcs_replayed}" STREQUAL "")
      _tcs_apply_choices()
      if(
        DEFINED _tcs_own_value_TORCH_CUDA_ARCH_LIST
        AND "${_tcs_purpose}" STREQUAL "pytorch-source"
      )
        # Its Dependencies.cmake sets the variable anew from the environment, which unsets ours.
        set(ENV{TORCH_CUDA_ARCH_LIST} "${TORCH_CUDA_ARCH_LIST}")
      endif()
      _tcs_choose_architectures()
      _tcs_watch_torch("${_tcs_place}")
    endif()
    unset(_tcs_replayed)
    unset(_tcs_concerned)
  endif()
endmacro()

# A plan for the whole project, or an end.
macro(_tcs_measure_whole)
  set(_tcs_dir "${CMAKE_BINARY_DIR}/TorchCudaStack/gate")
  _tcs_gate_inputs(_tcs_more TRUE)
  _tcs_measure()
  if(_tcs_reason)
    message(FATAL_ERROR "TorchCudaStack: ${_tcs_reason}")
  endif()
endmacro()

# Whether a project may have to do with CUDA: the gate is also in the way of what is only built along with others, and this
# machine's CUDA must not stop that. What cannot be seen counts: a file outside the source folder (".."), an odd path.
function(_tcs_names_cuda out source)
  set(${out} TRUE PARENT_SCOPE)
  set(files "${source}/CMakeLists.txt")
  foreach(turn IN ITEMS top all)
    if(turn STREQUAL "all")
      file(GLOB_RECURSE files FOLLOW_SYMLINKS "${source}/CMakeLists.txt" "${source}/*.cmake")
      list(FILTER files EXCLUDE REGEX "/(CMakeFiles|TorchCudaStack|site-packages)/")
    endif()
    if(files STREQUAL "")
      return()
    endif()
    foreach(file IN LISTS files)
      string(FIND "${file}" "${CMAKE_BINARY_DIR}/" at)
      if(at EQUAL 0 AND NOT CMAKE_BINARY_DIR STREQUAL source)
        continue() # what an earlier configure left there
      endif()
      if(IS_DIRECTORY "${file}" OR NOT EXISTS "${file}")
        return()
      endif()
      file(READ "${file}" text)
      string(TOLOWER "${text}" text)
      if(text MATCHES "cuda|torch|caffe2|nvcc|(^|[^.])[.][.]([^.]|$)")
        return()
      endif()
    endforeach()
  endforeach()
  set(${out} FALSE PARENT_SCOPE)
endfunction()

# Where this file was read: `includes`, the one place where a provider can be set; `late`, after that. As a toolchain file
# it would be read again and again.
function(_tcs_gate_place gate out)
  file(REAL_PATH "${gate}" gate)
  set(toolchain "")
  if(EXISTS "${CMAKE_TOOLCHAIN_FILE}")
    file(REAL_PATH "${CMAKE_TOOLCHAIN_FILE}" toolchain)
  endif()
  if(toolchain STREQUAL gate)
    message(
      FATAL_ERROR
      "  TorchCudaStackGate.cmake is no toolchain file\n"
      "  \n"
      "  help: -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${gate}\n"
    )
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(${out} late PARENT_SCOPE)
  if(NOT CMAKE_PROJECT_TOP_LEVEL_INCLUDES STREQUAL "" AND "${languages}" MATCHES "^(NONE)?$")
    set(${out} includes PARENT_SCOPE)
  endif()
endfunction()

# What only the gate says. That there is no PyTorch is no failure before somebody asks for it.
function(_tcs_gate_inputs out optional)
  set(code "")
  set(SOURCE_DIR "${CMAKE_SOURCE_DIR}")
  set(BINARY_DIR "${CMAKE_BINARY_DIR}")
  set(TORCH_OPTIONAL "")
  if(optional)
    set(TORCH_OPTIONAL ON)
  endif()
  _tcs_setting(PURPOSE PURPOSE)
  foreach(name IN ITEMS SOURCE_DIR BINARY_DIR PURPOSE TORCH_OPTIONAL)
    if(NOT "${${name}}" STREQUAL "")
      _tcs_quote(quoted "${name}=${${name}}")
      string(APPEND code " --set ${quoted}")
    endif()
  endforeach()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

# For CUDA without PyTorch. PyTorch's own tree refuses a CMAKE_CUDA_ARCHITECTURES; before find_package(Torch) it is taken
# back.
macro(_tcs_choose_architectures)
  _tcs_users_architectures(_tcs_users "")
  if("${_tcs_users}" STREQUAL "" AND NOT "${_tcs_purpose}" STREQUAL "pytorch-source")
    _tcs_choose(CMAKE_CUDA_ARCHITECTURES TorchCudaStack_CUDA_ARCHITECTURES)
  endif()
  unset(_tcs_users)
endmacro()

# Our provider for find_package(Torch), before that of another file, which it calls. One that is set after ours takes its
# place; where none of ours can be set, what came of it is looked at in the end.
macro(_tcs_watch_torch _tcs_where)
  _tcs_find_other_provider(_tcs_other_provider _tcs_methods)
  if("${_tcs_where}" STREQUAL "includes" AND NOT "${_tcs_other_provider}" STREQUAL "unknown")
    cmake_language(SET_DEPENDENCY_PROVIDER _tcs_provide SUPPORTED_METHODS ${_tcs_methods})
  endif()
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _tcs_look_at_torch)
  unset(_tcs_methods)
endmacro()

# The provider of the files before this one: its command, `unknown` where that cannot be told, else "". CMake says of none
# whether it is there.
function(_tcs_find_other_provider out methods)
  set(provider "")
  set(kinds FIND_PACKAGE)
  foreach(file IN LISTS CMAKE_PROJECT_TOP_LEVEL_INCLUDES)
    _tcs_include_file(file "${file}")
    if(file STREQUAL CMAKE_CURRENT_LIST_FILE OR file MATCHES "/TorchCudaStackGate[.]cmake$")
      break()
    endif()
    _tcs_provider_in("${file}" 4 found found_kinds)
    if(NOT found STREQUAL "")
      set(provider "${found}")
      set(kinds ${found_kinds} FIND_PACKAGE)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES kinds)
  set(${out} "${provider}" PARENT_SCOPE)
  set(${methods} "${kinds}" PARENT_SCOPE)
endfunction()

# An entry of CMAKE_PROJECT_TOP_LEVEL_INCLUDES as a file: it may be relative, or a module's name.
function(_tcs_include_file out entry)
  get_filename_component(file "${entry}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
  if(NOT EXISTS "${file}")
    find_file(module NAMES "${entry}.cmake" PATHS ${CMAKE_MODULE_PATH} NO_DEFAULT_PATH NO_CACHE)
    if(module)
      set(file "${module}")
    endif()
  endif()
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# The provider that a file sets, or one that it includes (`depth` levels, by plain paths).
function(_tcs_provider_in file depth out methods)
  set(${out} "" PARENT_SCOPE)
  set(${methods} "" PARENT_SCOPE)
  if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
    return()
  endif()
  file(READ "${file}" text)
  string(REGEX REPLACE "#[^\n]*" "" text "${text}")
  if(
    text
      MATCHES
      "SET_DEPENDENCY_PROVIDER[ \t\r\n]+\"?([^ \t\r\n\")]+)\"?[ \t\r\n]+SUPPORTED_METHODS([^)]*)"
  )
    set(command "${CMAKE_MATCH_1}")
    string(REGEX MATCHALL "FIND_PACKAGE|FETCHCONTENT_MAKEAVAILABLE_SERIAL" kinds "${CMAKE_MATCH_2}")
    if(NOT COMMAND "${command}" OR NOT kinds)
      set(command unknown)
    endif()
    set(${out} "${command}" PARENT_SCOPE)
    set(${methods} "${kinds}" PARENT_SCOPE)
    return()
  endif()
  if(depth EQUAL 0)
    return()
  endif()
  get_filename_component(here "${file}" DIRECTORY)
  string(REGEX MATCHALL "include[ \t]*\\([^)]*\\)" includes "${text}")
  foreach(include IN LISTS includes)
    string(
      REGEX REPLACE "^include[ \t]*\\([ \t\r\n]*\"?([^\"\r\n]*[^\" \t\r\n])\"?.*$"
      "\\1"
      path
      "${include}"
    )
    string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}" "${here}" path "${path}")
    math(EXPR below "${depth} - 1")
    _tcs_provider_in("${path}" ${below} found found_kinds)
    if(NOT found STREQUAL "")
      set(${out} "${found}" PARENT_SCOPE)
      set(${methods} "${found_kinds}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# find_package(Torch) of the project's: what FindTorchCudaStack does around it, with the project's own arguments.
macro(_tcs_gate_torch)
  set(_tcs_arguments ${ARGN})
  list(FIND _tcs_arguments QUIET _tcs_at_quiet)
  list(FIND _tcs_arguments REQUIRED _tcs_at_required)
  set(_tcs_is_quiet FALSE)
  if(_tcs_at_quiet GREATER -1)
    set(_tcs_is_quiet TRUE)
  endif()
  _tcs_set_voice("${_tcs_is_quiet}" TRUE)
  if(_tcs_other_provider)
    set(_tcs_call ${_tcs_other_provider})
    list(PREPEND _tcs_arguments FIND_PACKAGE Torch)
  else()
    set(_tcs_call _tcs_find_as_always)
    list(PREPEND _tcs_arguments Torch)
  endif()
  if(NOT CMAKE_CXX_COMPILER_LOADED)
    set(_tcs_torch_dir_now "") # PyTorch says what it needs
  else()
    _tcs_measure_torch()
    set(_tcs_torch_dir_now "${_tcs_torch_dir}")
  endif()
  if(NOT "${_tcs_torch_dir_now}" STREQUAL "")
    _tcs_find_torch(${_tcs_call} ${_tcs_arguments})
    if(TARGET torch)
      _tcs_check_one_torch()
      _tcs_drop_missing_items()
      _tcs_check_one_toolkit()
    endif()
  elseif(Torch_FOUND OR _tcs_other_provider)
    set(_tcs_calling_torch TRUE)
    cmake_language(CALL ${_tcs_call} ${_tcs_arguments})
    unset(_tcs_calling_torch)
  endif() # else CMake goes on by itself
  foreach(
    _tcs_name
    IN
    ITEMS arguments at_quiet at_required is_quiet call torch_dir_now
  )
    unset(_tcs_${_tcs_name})
  endforeach()
  unset(_tcs_name)
endmacro()

# A plan for the PyTorch and the settings that the project has by now.
macro(_tcs_measure_torch)
  set(_tcs_optional TRUE)
  if(_tcs_at_required GREATER -1 OR CMAKE_REQUIRE_FIND_PACKAGE_Torch)
    set(_tcs_optional FALSE)
    if("${_tcs_torch_dir}" STREQUAL "")
      unset(_tcs_plan_inputs) # now it has to be there
    endif()
  endif()
  _tcs_gate_inputs(_tcs_more "${_tcs_optional}")
  set(_tcs_dir "${CMAKE_CURRENT_BINARY_DIR}/TorchCudaStack")
  # Where findings stop here, CMake would search all the same, and say a second time that there is none.
  set(_tcs_found "${Torch_FOUND}")
  set(Torch_FOUND TRUE)
  _tcs_measure()
  if(_tcs_reason)
    message(FATAL_ERROR "TorchCudaStack: ${_tcs_reason}")
  endif()
  set(Torch_FOUND "${_tcs_found}")
  _tcs_apply_choices()
  unset(_tcs_optional)
  unset(_tcs_found)
endmacro()

# In the end: a PyTorch that was found behind our back.
function(_tcs_look_at_torch)
  get_property(handled GLOBAL PROPERTY TorchCudaStack_TORCH_HANDLED)
  get_property(packages GLOBAL PROPERTY PACKAGES_FOUND)
  if(handled OR NOT "Torch" IN_LIST packages)
    return()
  endif()
  if(NOT DEFINED _tcs_plan_inputs)
    _tcs_measure_whole()
  endif()
  _tcs_look_below("${CMAKE_SOURCE_DIR}")
  message(
    NOTICE
    "  TorchCudaStack: find_package(Torch) went past the gate: it was checked, nothing was repaired\n"
    "  \n"
    "  note: another dependency provider was set after the gate's, or the gate was not read by CMAKE_PROJECT_TOP_LEVEL_INCLUDES\n"
    "  help: name TorchCudaStackGate.cmake last in CMAKE_PROJECT_TOP_LEVEL_INCLUDES\n"
  )
endfunction()

function(_tcs_look_below directory)
  get_property(imported DIRECTORY "${directory}" PROPERTY IMPORTED_TARGETS)
  if("torch" IN_LIST imported)
    foreach(
      name
      IN
      ITEMS
        Torch_DIR
        Caffe2_DIR
        CMAKE_CUDA_FLAGS
        CMAKE_CUDA_COMPILER
        CMAKE_CUDA_COMPILER_LOADED
        CMAKE_CUDA_COMPILER_VERSION
        CUDA_VERSION
        CUDA_TOOLKIT_ROOT_DIR
        CUDA_CUDART_LIBRARY
        CUDAToolkit_VERSION
        CUDAToolkit_INCLUDE_DIRS
    )
      get_directory_property(${name} DIRECTORY "${directory}" DEFINITION ${name})
    endforeach()
    _tcs_check_one_torch()
    _tcs_check_one_toolkit()
    _tcs_check_flags("${directory}")
  endif()
  get_property(below DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS below)
    _tcs_look_below("${subdirectory}")
  endforeach()
endfunction()

# PyTorch's flags are the plan's.
function(_tcs_check_flags directory)
  _tcs_gencode_pairs(planned "${TorchCudaStack_GENCODE_FLAGS}")
  _tcs_gencode_pairs(present "${CMAKE_CUDA_FLAGS}")
  list(SORT planned)
  list(SORT present)
  list(REMOVE_DUPLICATES present)
  if(present STREQUAL planned)
    return()
  endif()
  list(JOIN planned " " planned)
  list(JOIN present " " present)
  message(
    FATAL_ERROR
    "  TorchCudaStack: CMAKE_CUDA_FLAGS are not those of the plan\n"
    "  \n"
    "    planned  ${planned}\n"
    "    present  ${present}\n"
    "    in       ${directory}\n"
    "  \n"
    "  help: name TorchCudaStackGate.cmake last in CMAKE_PROJECT_TOP_LEVEL_INCLUDES: then it can repair this\n"
  )
endfunction()
