# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# A setting of the user's: variable or cache entry, else environment, else "".
function(_tcs_setting out name)
  set(value "${TorchCudaStack_${name}}")
  if(value STREQUAL "")
    set(value "$ENV{TORCH_CUDA_STACK_${name}}")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# True where the cache entry holds a value that CMake or a find module put there for itself: told by the help text that
# they give it. What a user sets with -D, a preset, or set(CACHE) has another one.
function(_tcs_is_found_value out name)
  set(${out} FALSE PARENT_SCOPE)
  get_property(help CACHE "${name}" PROPERTY HELPSTRING)
  if(
    (name STREQUAL "CMAKE_CUDA_COMPILER" AND help STREQUAL "CUDA compiler")
    OR (name STREQUAL "CMAKE_CUDA_ARCHITECTURES" AND help STREQUAL "CUDA architectures")
    OR (name STREQUAL "CUDA_TOOLKIT_ROOT_DIR" AND help STREQUAL "Toolkit location.")
    OR
      (
        name STREQUAL "Torch_DIR"
        AND help MATCHES "^The directory containing a CMake configuration file"
      )
    OR (name STREQUAL "Python_EXECUTABLE" AND help MATCHES "^Path to a program")
  )
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The user's value of a variable, else "". What we set ourselves is not the user's, neither in this run (remembered beside
# it) nor what an earlier run of ours left behind in CMake's own cache entries (told by their help texts).
function(_tcs_user_value out name)
  set(${out} "" PARENT_SCOPE)
  if(NOT DEFINED ${name} OR "${${name}}" STREQUAL "")
    return()
  endif()
  if(DEFINED _tcs_own_value_${name} AND "${_tcs_own_value_${name}}" STREQUAL "${${name}}")
    return()
  endif()
  if(DEFINED CACHE{${name}} AND "$CACHE{${name}}" STREQUAL "${${name}}")
    _tcs_is_found_value(found "${name}")
    if(found)
      return()
    endif()
  endif()
  set(${out} "${${name}}" PARENT_SCOPE)
endfunction()

# torch, and we after it, set CMAKE_CUDA_ARCHITECTURES to OFF in the caller's scope: behind that the user's value is the
# cache entry, or what an earlier call in this run saw.
function(_tcs_users_architectures out value)
  if(NOT value AND DEFINED CACHE{CMAKE_CUDA_ARCHITECTURES})
    _tcs_is_found_value(found CMAKE_CUDA_ARCHITECTURES)
    if(NOT found)
      set(value "$CACHE{CMAKE_CUDA_ARCHITECTURES}")
    endif()
  endif()
  if(value)
    set_property(DIRECTORY PROPERTY TorchCudaStack_USERS_ARCHITECTURES "${value}")
  elseif(DEFINED CMAKE_CUDA_ARCHITECTURES)
    get_property(value DIRECTORY PROPERTY TorchCudaStack_USERS_ARCHITECTURES)
  endif()
  if(NOT value)
    set(value "") # OFF by the user: he names the architectures elsewhere
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# The compiler that this build tree already has: fixed at its first configure, whatever is asked later.
function(_tcs_tree_compiler out)
  set(${out} "" PARENT_SCOPE)
  if(CMAKE_CUDA_COMPILER_LOADED)
    set(${out} "${CMAKE_CUDA_COMPILER}" PARENT_SCOPE)
    return()
  endif()
  set(file "${CMAKE_BINARY_DIR}/CMakeFiles/${CMAKE_VERSION}/CMakeCUDACompiler.cmake")
  if(EXISTS "${file}")
    file(STRINGS "${file}" line REGEX "^set\\(CMAKE_CUDA_COMPILER \"" LIMIT_COUNT 1)
    string(REGEX REPLACE "^set\\(CMAKE_CUDA_COMPILER \"(.*)\"\\)$" "\\1" line "${line}")
    set(${out} "${line}" PARENT_SCOPE)
  endif()
endfunction()

# The C++ compiler; before the gate lets the project enable it, the one that CMake will take, so that both ask the same.
function(_tcs_cxx_compiler out)
  set(found "${CMAKE_CXX_COMPILER}")
  if(_tcs_gated AND NOT CMAKE_CXX_COMPILER_LOADED AND NOT IS_ABSOLUTE "${found}")
    separate_arguments(words UNIX_COMMAND "$ENV{CXX}")
    list(POP_FRONT words program)
    set(
      names
      "${found}"
      "${program}"
      c++
      g++
      clang++
    )
    foreach(name IN LISTS names)
      unset(found)
      if(NOT name STREQUAL "")
        find_program(found NAMES "${name}" NO_CACHE)
      endif()
      if(found)
        break()
      endif()
      set(found "")
    endforeach()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# `--set NAME=VALUE ...` as CMake code, every value in brackets.
function(_tcs_collect_inputs out)
  set(code "")
  foreach(
    name
    IN
    ITEMS TARGETS TOOLKIT PROVISION FACTS FAIL_ON ALLOW TIMEOUT REPORT_DIR CACHE_DIR LANG
  )
    set(value "${TorchCudaStack_${name}}") # the tool reads the environment itself
    if(name MATCHES "^(FACTS|REPORT_DIR)$")
      # Not against the folder that cmake happens to run in: that is another one when ninja runs it again.
      _tcs_setting(path "${name}")
      if(NOT path STREQUAL "" AND NOT IS_ABSOLUTE "${path}")
        set(value "${CMAKE_CURRENT_SOURCE_DIR}/${path}")
      endif()
    endif()
    if(NOT value STREQUAL "")
      _tcs_quote(quoted "${name}=${value}")
      string(APPEND code " --set ${quoted}")
    endif()
  endforeach()

  _tcs_tree_compiler(tree)
  foreach(
    name
    IN
    ITEMS
      TORCH_CUDA_ARCH_LIST
      CMAKE_CUDA_ARCHITECTURES
      CMAKE_CUDA_COMPILER
      CMAKE_CUDA_HOST_COMPILER
      CUDA_TOOLKIT_ROOT_DIR
      CUDAToolkit_ROOT
      Torch_DIR
      Torch_ROOT
      TORCH_ROOT
      CMAKE_PREFIX_PATH
      Python_EXECUTABLE
      Python_ROOT_DIR
  )
    _tcs_user_value(value "${name}")
    if(name STREQUAL "CMAKE_CUDA_COMPILER" AND value STREQUAL tree)
      set(value "") # what the tree has, said once; whoever asked for it
    elseif(name STREQUAL "CMAKE_CUDA_ARCHITECTURES")
      _tcs_users_architectures(value "${value}")
    elseif(
      name STREQUAL "Torch_DIR"
      AND TARGET torch
      AND NOT "${Torch_DIR}" STREQUAL "${_tcs_own_value_Torch_DIR}"
    )
      set(value "${Torch_DIR}") # found by somebody already: that is the one in use
    elseif(
      name STREQUAL "CUDAToolkit_ROOT"
      AND TARGET torch::cudart
      AND value STREQUAL CUDA_TOOLKIT_ROOT_DIR
    )
      set(value "") # torch's own CMake code sets it
    endif()
    if(NOT value STREQUAL "")
      _tcs_quote(quoted "${name}=${value}")
      string(APPEND code " --set ${quoted}")
    endif()
  endforeach()

  set(components "${TorchCudaStack_FIND_COMPONENTS}")
  list(REMOVE_ITEM components Link)
  _tcs_cxx_compiler(cxx)
  set(CROSSCOMPILING "")
  if(CMAKE_CROSSCOMPILING)
    set(CROSSCOMPILING ON)
  endif()
  foreach(
    pair
    IN
    ITEMS
      TREE_CUDA_COMPILER:tree
      CXX_COMPILER:cxx
      CROSSCOMPILING:CROSSCOMPILING
      COMPONENTS:components
      CMAKE_VERSION:CMAKE_VERSION
  )
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 variable)
    if(NOT "${${variable}}" STREQUAL "")
      _tcs_quote(quoted "${name}=${${variable}}")
      string(APPEND code " --set ${quoted}")
    endif()
  endforeach()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()
