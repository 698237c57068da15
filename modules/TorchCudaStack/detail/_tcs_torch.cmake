# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# find_package(Torch) with what it needs where this PyTorch, CMake and toolkit do not fit each other. Every repair is
# triggered by asking (a text, a target, a variable), never by a version, and says one line.
#
# Macros, because CUDA can only be enabled, and its settings only be left behind, in the caller's own scope.

macro(_tcs_apply_torch)
  set(_tcs_wanted TRUE)
  _tcs_is_link_target(_tcs_linked)
  if(TorchCudaStack_FIND_COMPONENTS AND NOT "Torch" IN_LIST TorchCudaStack_FIND_COMPONENTS)
    set(_tcs_wanted FALSE)
  elseif(NOT CMAKE_CXX_COMPILER_LOADED)
    set(_tcs_wanted FALSE) # LANGUAGES NONE: the plan only
  elseif(NOT _tcs_skipped AND "${_tcs_torch_dir}" STREQUAL "" AND NOT TARGET torch)
    set(_tcs_wanted FALSE)
  elseif(TARGET TorchCudaStack::Torch AND NOT _tcs_linked)
    set(_tcs_wanted FALSE)
    if(NOT _tcs_skipped)
      _tcs_replace_made_up_flags(above) # a directory above was here first, perhaps with another plan
    endif()
  endif()
  if(_tcs_wanted)
    if(_tcs_skipped AND NOT TARGET torch)
      _tcs_provide_cuda20()
      find_package(Torch ${_tcs_find_quietly})
    elseif(NOT _tcs_skipped AND TARGET torch)
      _tcs_provide_cuda20()
      _tcs_replace_made_up_flags(project)
    elseif(NOT _tcs_skipped)
      _tcs_find_torch(find_package Torch ${_tcs_find_quietly} ${_tcs_find_required})
    endif()
    if(NOT _tcs_skipped AND TARGET torch)
      _tcs_check_one_torch()
    elseif(NOT TARGET torch)
      _tcs_torch_not_found()
    endif()
  endif()
  if(_tcs_wanted AND TARGET torch)
    _tcs_drop_missing_items()
    _tcs_check_one_toolkit()
    _tcs_make_torch_target()
  endif()
  unset(_tcs_wanted)
  unset(_tcs_linked)
endmacro()

# The arguments are the call: find_package(Torch), or who stands for it.
macro(_tcs_find_torch _tcs_command)
  set_property(GLOBAL PROPERTY TorchCudaStack_TORCH_HANDLED TRUE)
  _tcs_enable_cuda()
  _tcs_provide_nvtoolsext()
  _tcs_provide_cuda20()

  _tcs_call_torch(${_tcs_command} ${ARGN})

  # torch puts its -gencode flags into CMAKE_CUDA_FLAGS; with CMake's own on top nvcc would build the union.
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  _tcs_replace_made_up_flags(we)
endmacro()

# The call alone, with what it reads set for the call and put back after it.
macro(_tcs_call_torch _tcs_command)
  # First in the path: torch's own FindCUDNN is asked by ours.
  set(_tcs_module_path "${CMAKE_MODULE_PATH}")
  list(PREPEND CMAKE_MODULE_PATH "${_TorchCudaStack_SHIMS}")
  # torch hashes libnvrtc (0.1 GB) at each configure, some releases by a command that always fails; only PyTorch's own
  # build reads the hash.
  set(_tcs_shorthash "${CUDA_NVRTC_SHORTHASH}")
  if(NOT CUDA_NVRTC_SHORTHASH)
    set(CUDA_NVRTC_SHORTHASH XXXXXXXX)
  endif()
  # The plan's text, not the user's: torch reads names otherwise than PyTorch's documentation does, and stops at `sm_90`.
  # Blanks, because old releases ask if(EXISTS ${TORCH_CUDA_ARCH_LIST}), which a list of several breaks; and they prefer
  # the environment's list to the variable.
  set(_tcs_list "${TORCH_CUDA_ARCH_LIST}")
  set(_tcs_env "$ENV{TORCH_CUDA_ARCH_LIST}")
  string(REPLACE ";" " " TORCH_CUDA_ARCH_LIST "${TorchCudaStack_TORCH_CUDA_ARCH_LIST}")
  unset(ENV{TORCH_CUDA_ARCH_LIST})

  set(_tcs_calling_torch TRUE) # ours: the gate's provider has nothing to add
  cmake_language(CALL ${_tcs_command} ${ARGN})
  unset(_tcs_calling_torch)

  set(TORCH_CUDA_ARCH_LIST "${_tcs_list}")
  if("${_tcs_list}" STREQUAL "")
    unset(TORCH_CUDA_ARCH_LIST)
  endif()
  if(NOT "${_tcs_env}" STREQUAL "")
    set(ENV{TORCH_CUDA_ARCH_LIST} "${_tcs_env}")
  endif()
  set(CUDA_NVRTC_SHORTHASH "${_tcs_shorthash}")
  set(CMAKE_MODULE_PATH "${_tcs_module_path}")
  _tcs_user_value(_tcs_list CMAKE_CUDA_ARCHITECTURES)
  if(_tcs_list AND DEFINED CACHE{CMAKE_CUDA_ARCHITECTURES})
    message(
      ${_tcs_say_status}
      "TorchCudaStack: PyTorch's warning on CMAKE_CUDA_ARCHITECTURES does not apply: ${_tcs_list} is judged with the plan"
    )
  endif()
  unset(_tcs_list)
  unset(_tcs_env)
  unset(_tcs_shorthash)
  unset(_tcs_module_path)
endmacro()

# What was measured must be what is linked: another find_package(Torch), or a <Package>_ROOT that leads the Caffe2 of one
# PyTorch into the other, would make every finding one about the wrong PyTorch.
function(_tcs_check_one_torch)
  if("${_tcs_torch_dir}" STREQUAL "")
    return()
  endif()
  file(REAL_PATH "${_tcs_torch_dir}/.." measured)
  set(linked_DIR "")
  _tcs_is_link_target(linked)
  if(linked)
    get_property(linked_DIR TARGET TorchCudaStack::Torch PROPERTY TorchCudaStack_LINK_ROOT)
    string(APPEND linked_DIR "/share/cmake/Torch")
  endif()
  foreach(name IN ITEMS Torch_DIR Caffe2_DIR linked_DIR)
    if("${${name}}" STREQUAL "" OR "${${name}}" MATCHES "-NOTFOUND$")
      continue()
    endif()
    file(REAL_PATH "${${name}}/.." used)
    string(REPLACE "linked_DIR" "by a package that was found before" shown "${name}")
    if(NOT used STREQUAL measured)
      message(
        FATAL_ERROR
        "  TorchCudaStack: the PyTorch that was measured is not the one that CMake uses\n"
        "  \n"
        "    measured  ${_tcs_torch_dir}\n"
        "    used      ${${name}} (${shown})\n"
        "  \n"
        "  help: name the one to use with -DTorch_DIR=...; unset Torch_ROOT, Caffe2_ROOT and old entries: cmake --fresh\n"
      )
    endif()
  endforeach()
endfunction()

# Not REQUIRED, or under SKIP: the project goes on, without the target.
macro(_tcs_torch_not_found)
  set(TorchCudaStack_Torch_FOUND FALSE)
  if(NOT _tcs_skipped)
    set(TorchCudaStack_FOUND FALSE)
  endif()
  message(
    ${_tcs_say_status}
    "TorchCudaStack: find_package(Torch) finds no PyTorch that it can use (Torch_DIR: ${Torch_DIR}), so there is no TorchCudaStack::Torch"
  )
endmacro()

# CUDA before torch enables it: with OFF, CMake neither asks for a GPU (`native`) nor writes its compiler's default into
# the cache, and torch does not warn of a value that nobody set.
macro(_tcs_enable_cuda)
  if(NOT CMAKE_CUDA_COMPILER_LOADED AND NOT "${_tcs_nvcc}" STREQUAL "")
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    enable_language(CUDA)
  endif()
  if(NOT DEFINED CACHE{CMAKE_CUDA_ARCHITECTURES})
    unset(CMAKE_CUDA_ARCHITECTURES)
  endif()
endmacro()

# A torch that asks CMake for C++20 (its target says cxx_std_20, which covers .cu files too) and a CMake that does not know
# how nvcc spells it.
macro(_tcs_provide_cuda20)
  # Skipped: nothing is known, and a CMake that knows the option sets it anew when CUDA is enabled.
  if(
    "${CMAKE_CUDA20_STANDARD_COMPILE_OPTION}" STREQUAL ""
    AND
      (
        _tcs_skipped
        OR
          (
            CMAKE_CUDA_COMPILER_LOADED
            AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA"
            AND "${_tcs_cxx_standard}" GREATER_EQUAL 20
          )
      )
  )
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    message(
      ${_tcs_say_status}
      "TorchCudaStack: told CMake ${CMAKE_VERSION} that nvcc takes -std=c++20, which this PyTorch asks for"
    )
  endif()
endmacro()

# A torch whose CMake code links CUDA::nvToolsExt and a toolkit that no longer has it: NVTX is headers now.
macro(_tcs_provide_nvtoolsext)
  set(_tcs_mentions "")
  if(EXISTS "${Torch_DIR}/../Caffe2/public/cuda.cmake")
    file(
      STRINGS "${Torch_DIR}/../Caffe2/public/cuda.cmake"
      _tcs_mentions
      REGEX "CUDA::nvToolsExt"
      LIMIT_COUNT 1
    )
  endif()
  if(_tcs_mentions AND NOT TARGET CUDA::nvToolsExt)
    find_package(CUDAToolkit QUIET)
    if(NOT TARGET CUDA::nvToolsExt)
      add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
      message(
        ${_tcs_say_status}
        "TorchCudaStack: gave this PyTorch's CMake code a CUDA::nvToolsExt, which the toolkit no longer has"
      )
    endif()
  endif()
  unset(_tcs_mentions)
endmacro()

# The items of a list that can be linked: no ...-NOTFOUND, no CUDA:: target that FindCUDAToolkit did not make, no imported
# library whose file was not found. What was left out is added to `dropped`.
function(_tcs_linkable out dropped)
  set(kept "")
  set(gone "${${dropped}}")
  foreach(item IN LISTS ARGN)
    set(broken FALSE)
    if(item MATCHES "-NOTFOUND$" OR (item MATCHES "^CUDA::[A-Za-z0-9_]+$" AND NOT TARGET "${item}"))
      set(broken TRUE)
    elseif(item MATCHES "^caffe2::" AND TARGET "${item}")
      get_target_property(location "${item}" IMPORTED_LOCATION)
      get_target_property(type "${item}" TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY" AND (NOT location OR location MATCHES "-NOTFOUND$"))
        set(broken TRUE)
      endif()
    endif()
    if(broken)
      list(APPEND gone "${item}")
    else()
      list(APPEND kept "${item}")
    endif()
  endforeach()
  set(${out} "${kept}" PARENT_SCOPE)
  set(${dropped} "${gone}" PARENT_SCOPE)
endfunction()

# torch's CMake code hands on every CUDA library it looked for, found or not. An extension needs none of those that are
# missing; linking them would stop the generate step with '...-NOTFOUND'.
macro(_tcs_drop_missing_items)
  set(_tcs_dropped "")
  get_property(_tcs_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(_tcs_item IN LISTS _tcs_imported)
    if(_tcs_item MATCHES "^(torch|c10|caffe2)")
      # Not a bare if(): it takes a list that ends in ...-NOTFOUND for false.
      get_property(_tcs_links TARGET "${_tcs_item}" PROPERTY INTERFACE_LINK_LIBRARIES)
      if(NOT "${_tcs_links}" STREQUAL "")
        _tcs_linkable(_tcs_kept _tcs_dropped ${_tcs_links})
        if(NOT "${_tcs_kept}" STREQUAL "${_tcs_links}")
          set_target_properties("${_tcs_item}" PROPERTIES INTERFACE_LINK_LIBRARIES "${_tcs_kept}")
        endif()
      endif()
      get_target_property(_tcs_links "${_tcs_item}" INTERFACE_INCLUDE_DIRECTORIES)
      if(_tcs_links AND "${_TorchCudaStack_SHIMS}/cudnn" IN_LIST _tcs_links)
        set_target_properties("${_tcs_item}" PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
      endif()
    endif()
  endforeach()
  foreach(_tcs_item IN ITEMS TORCH_LIBRARIES TORCH_CUDA_LIBRARIES)
    if(DEFINED ${_tcs_item})
      _tcs_linkable(${_tcs_item} _tcs_dropped ${${_tcs_item}})
    endif()
  endforeach()
  if("$CACHE{CUDA_NVRTC_LIB}" MATCHES "-NOTFOUND$")
    # So that a find_package(Torch) of the project's own does not bring it back.
    set(CUDA_NVRTC_LIB "" CACHE FILEPATH "" FORCE)
  endif()
  if(NOT "${_tcs_dropped}" STREQUAL "")
    list(REMOVE_DUPLICATES _tcs_dropped)
    list(JOIN _tcs_dropped " " _tcs_dropped)
    message(
      ${_tcs_say_status}
      "TorchCudaStack: left out what PyTorch's CMake code links and this toolkit lacks: ${_tcs_dropped}"
    )
  endif()
  unset(_tcs_dropped)
  unset(_tcs_imported)
  unset(_tcs_item)
  unset(_tcs_links)
  unset(_tcs_kept)
endmacro()

# nvcc, headers, FindCUDA and cudart must be one toolkit; whatever leaked in through an old cache entry or another
# find_package() shows here, where all of them are known.
function(_tcs_check_one_toolkit)
  if(_tcs_skipped OR NOT CMAKE_CUDA_COMPILER_LOADED OR NOT CMAKE_CUDA_COMPILER_VERSION)
    return()
  endif()
  string(REGEX MATCH "^[0-9]+[.][0-9]+" nvcc_version "${CMAKE_CUDA_COMPILER_VERSION}")
  set(seen "    nvcc       ${nvcc_version}  ${CMAKE_CUDA_COMPILER}")
  set(differ FALSE)
  foreach(
    row
    IN
    ITEMS
      "FindCUDA |CUDA_VERSION|CUDA_TOOLKIT_ROOT_DIR"
      "headers  |CUDAToolkit_VERSION|CUDAToolkit_INCLUDE_DIRS"
  )
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 what)
    list(GET row 1 version)
    list(GET row 2 place)
    string(REGEX MATCH "^[0-9]+[.][0-9]+" version "${${version}}")
    if(NOT version STREQUAL "")
      string(APPEND seen "\n    ${what}  ${version}  ${${place}}")
      if(NOT version STREQUAL nvcc_version)
        set(differ TRUE)
      endif()
    endif()
  endforeach()
  set(library "")
  if(TARGET CUDA::cudart)
    get_target_property(library CUDA::cudart IMPORTED_LOCATION)
  endif()
  if(library AND CUDA_CUDART_LIBRARY)
    file(REAL_PATH "${library}" one)
    file(REAL_PATH "${CUDA_CUDART_LIBRARY}" other)
    if(NOT one STREQUAL other)
      set(differ TRUE)
    endif()
    string(APPEND seen "\n    cudart     ${one}\n    cudart     ${other} (FindCUDA)")
  endif()
  if(differ)
    message(
      FATAL_ERROR
      "TorchCudaStack: this build tree mixes CUDA toolkits\n${seen}\n"
      "  \n"
      "  help: an entry of an earlier configure is left in CMakeCache.txt: configure with --fresh\n"
      "  help: or the project finds CUDA by itself before TorchCudaStack: move find_package(TorchCudaStack) up\n"
    )
  endif()
endfunction()
