# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
FindTorchCudaStackLink
----------------------

For the package of a library that was compiled with TorchCudaStack: makes ``TorchCudaStack::Torch`` and
``TorchCudaStack::Archs`` for those who link it. Nothing is measured or checked, no CUDA compiler is needed, no language
is enabled and no CMAKE_CUDA_FLAGS is touched: PyTorch's headers and libraries are found, and no more.

.. code-block:: cmake

  # my_ops-config.cmake
  include(CMakeFindDependencyMacro)
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
  find_dependency(TorchCudaStackLink 2.15...<2.16)
  include("${CMAKE_CURRENT_LIST_DIR}/my_ops-targets.cmake")

This file needs no other one: ``install(FILES "${TorchCudaStack_LINK_MODULE}" DESTINATION lib/cmake/my_ops)`` lays it beside
that config. Where TorchCudaStack itself is at hand, ``find_package(TorchCudaStack COMPONENTS Link)`` does the same. The version
is PyTorch's: its C++ interface changes with each minor one.

Hints
^^^^^

``Torch_DIR``, ``Torch_ROOT``, ``CMAKE_PREFIX_PATH``, as for ``find_package(Torch)``; else the PyTorch of
``Python_EXECUTABLE``, of the active environment, or of ``python3``. A ``torch`` that the project has found already is taken.

Result Variables
^^^^^^^^^^^^^^^^

``TorchCudaStackLink_FOUND``, ``TorchCudaStackLink_VERSION``, ``TorchCudaStackLink_TORCH_ROOT``
  Whether there is a PyTorch; its version; the folder with its ``include`` and ``lib``.

Imported Targets
^^^^^^^^^^^^^^^^

``TorchCudaStack::Torch``
  Headers, libraries, definitions, the C++ ABI and standard of PyTorch, and the CUDA runtime that it loads.
``TorchCudaStack::Archs``
  Nothing: for which architectures a consumer compiles is the consumer's own affair.
#]=======================================================================]

include(FindPackageHandleStandardArgs)

# The folder of PyTorch's CMake files, by CMake's own rules; the version file is what is read, not the config, which would
# enable CUDA. `ARGN` narrows the search.
macro(_tcs_link_search)
  find_package(
    TorchCudaStackLinkTorch
    QUIET
    CONFIG
    NAMES Torch
    CONFIGS TorchConfigVersion.cmake ${ARGN}
  )
  set(_tcs_link_dir "")
  if(TorchCudaStackLinkTorch_FOUND)
    set(_tcs_link_dir "${TorchCudaStackLinkTorch_DIR}")
  endif()
  # Searched anew each time: a changed hint must count.
  unset(TorchCudaStackLinkTorch_DIR CACHE)
  unset(TorchCudaStackLinkTorch_DIR)
endmacro()

# The folder of the PyTorch that a Python would import, without importing it.
function(_tcs_link_ask_python out)
  set(${out} "" PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(python "${Python_EXECUTABLE}")
  if(NOT python)
    foreach(environment IN ITEMS "$ENV{VIRTUAL_ENV}" "$ENV{CONDA_PREFIX}")
      if(NOT environment STREQUAL "" AND EXISTS "${environment}/bin/python")
        set(python "${environment}/bin/python")
        break()
      endif()
    endforeach()
  endif()
  if(NOT python)
    find_program(python NAMES python3 python NO_CACHE)
  endif()
  if(NOT python)
    return()
  endif()
  execute_process(
    COMMAND
      "${python}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
    OUTPUT_VARIABLE folder
    ERROR_QUIET
    RESULT_VARIABLE failed
    TIMEOUT 30
  )
  if(failed STREQUAL "0" AND IS_DIRECTORY "${folder}/share/cmake/Torch")
    set(${out} "${folder}/share/cmake/Torch" PARENT_SCOPE)
  endif()
endfunction()

# TorchCudaStack::Torch out of PyTorch's folder.
function(_tcs_link_make_torch dir root)
  # All of them out of one folder: <root>/lib, or a distribution's.
  unset(c10)
  find_library(c10 NAMES c10 PATHS "${root}/lib" NO_DEFAULT_PATH NO_CACHE)
  if(NOT c10)
    find_library(c10 NAMES c10 NO_CACHE)
  endif()
  get_filename_component(folder "${c10}" DIRECTORY)
  set(libraries "")
  foreach(
    name
    IN
    ITEMS torch_cpu torch_cuda torch_cuda_cu torch_cuda_cpp torch c10 c10_cuda
  )
    unset(library)
    find_library(library NAMES "${name}" PATHS "${folder}" NO_DEFAULT_PATH NO_CACHE)
    if(library)
      list(APPEND libraries "${library}")
    endif()
  endforeach()
  set(kept "${libraries}")
  set(headers "")
  if("${libraries}" MATCHES "libc10_cuda")
    _tcs_link_find_cudart(cudart headers "${root}")
    list(APPEND libraries ${cudart})
    if(TARGET "${cudart}")
      set(cudart "$<TARGET_FILE:${cudart}>")
    endif()
    list(APPEND kept ${cudart})
  endif()
  # What only registers itself is never referred to; and a shared library that was installed without a run path finds these
  # through the program alone. A linker that leaves out what it sees no use for would break both.
  if(kept AND NOT "${kept}" MATCHES ",")
    list(JOIN kept "\",\"" kept)
    list(PREPEND libraries "-Wl,--push-state,--no-as-needed,\"${kept}\",--pop-state")
  endif()

  set(definitions "")
  set(standard "")
  file(STRINGS "${dir}/TorchConfig.cmake" line REGEX "_GLIBCXX_USE_CXX11_ABI=[01]" LIMIT_COUNT 1)
  if("${line}" MATCHES "(_GLIBCXX_USE_CXX11_ABI=[01])")
    list(APPEND definitions "${CMAKE_MATCH_1}")
  endif()
  if(EXISTS "${dir}/../Caffe2/Caffe2Targets.cmake")
    file(
      STRINGS "${dir}/../Caffe2/Caffe2Targets.cmake"
      lines
      REGEX "INTERFACE_COMPILE_DEFINITIONS \"[A-Z]"
    )
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" line "${line}")
      list(APPEND definitions ${line})
    endforeach()
  endif()
  list(REMOVE_DUPLICATES definitions)
  if(EXISTS "${root}/include/ATen/ATen.h")
    file(
      STRINGS "${root}/include/ATen/ATen.h"
      line
      REGEX "#error C[+][+][0-9]+ or later"
      LIMIT_COUNT 1
    )
    if("${line}" MATCHES "C[+][+](14|17|20|23) or later")
      set(standard "${CMAKE_MATCH_1}")
    endif()
  endif()

  add_library(TorchCudaStack::Torch INTERFACE IMPORTED)
  set(includes "")
  foreach(folder IN ITEMS "${root}/include" "${root}/include/torch/csrc/api/include")
    if(IS_DIRECTORY "${folder}")
      list(APPEND includes "${folder}")
    endif()
  endforeach()
  if(headers)
    # nvcc has its own; another release's in front of them would be mixed with them.
    list(APPEND includes "$<$<COMPILE_LANGUAGE:CXX>:${headers}>")
  endif()
  set_target_properties(
    TorchCudaStack::Torch
    PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${includes}"
      INTERFACE_COMPILE_DEFINITIONS "${definitions}"
      INTERFACE_LINK_LIBRARIES "${libraries}"
  )
  if(standard)
    set_target_properties(
      TorchCudaStack::Torch
      PROPERTIES INTERFACE_COMPILE_FEATURES "cxx_std_${standard}"
    )
    set(_tcs_link_standard "${standard}" PARENT_SCOPE)
  endif()
endfunction()

# The CUDA runtime of PyTorch's own packages, else that of a toolkit.
function(_tcs_link_find_cudart cudart headers root)
  set(${headers} "" PARENT_SCOPE)
  get_filename_component(site "${root}" DIRECTORY)
  file(
    GLOB found
    "${site}/nvidia/cu*/lib/libcudart.so.*"
    "${site}/nvidia/cuda_runtime/lib/libcudart.so.*"
    "${root}/lib/libcudart*.so.*"
  )
  if(found)
    list(GET found 0 library)
    set(${cudart} "${library}" PARENT_SCOPE)
    get_filename_component(folder "${library}/../../include" ABSOLUTE)
    if(EXISTS "${folder}/cuda_runtime_api.h")
      set(${headers} "${folder}" PARENT_SCOPE)
    endif()
    return()
  endif()
  set(${cudart} "" PARENT_SCOPE)
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cudart)
    set(${cudart} CUDA::cudart PARENT_SCOPE)
    set(${headers} "${CUDAToolkit_INCLUDE_DIRS}" PARENT_SCOPE)
  endif()
endfunction()

set(_tcs_link_dir "")
if("${Torch_DIR}" MATCHES "." AND EXISTS "${Torch_DIR}/TorchConfigVersion.cmake")
  set(_tcs_link_dir "${Torch_DIR}")
endif()
if(_tcs_link_dir STREQUAL "")
  _tcs_link_search(
    HINTS
    ${Torch_ROOT}
    ENV
    Torch_ROOT
    ENV
    Torch_DIR
  )
endif()
if(_tcs_link_dir STREQUAL "")
  _tcs_link_ask_python(_tcs_link_dir)
endif()

set(TorchCudaStackLink_TORCH_ROOT "")
set(TorchCudaStackLink_VERSION "")
set(_tcs_link_why "")
if(_tcs_link_dir STREQUAL "")
  set(
    _tcs_link_why
    "there is no PyTorch in sight: name it with -DTorch_DIR=... or -DPython_EXECUTABLE=..."
  )
endif()
if(NOT _tcs_link_dir STREQUAL "")
  # <root>/share/cmake/Torch of a wheel and of libtorch; <root>/lib/<machine>/cmake/Torch of a distribution.
  get_filename_component(TorchCudaStackLink_TORCH_ROOT "${_tcs_link_dir}/../../.." ABSOLUTE)
  if(
    NOT IS_DIRECTORY "${TorchCudaStackLink_TORCH_ROOT}/include/ATen"
    AND IS_DIRECTORY "${TorchCudaStackLink_TORCH_ROOT}/../include/ATen"
  )
    get_filename_component(TorchCudaStackLink_TORCH_ROOT "${_tcs_link_dir}/../../../.." ABSOLUTE)
  endif()
  file(
    STRINGS "${_tcs_link_dir}/TorchConfigVersion.cmake"
    _tcs_link_line
    REGEX "^set\\(PACKAGE_VERSION \"[0-9.]+"
    LIMIT_COUNT 1
  )
  if("${_tcs_link_line}" MATCHES "\"([0-9]+([.][0-9]+)*)")
    set(TorchCudaStackLink_VERSION "${CMAKE_MATCH_1}")
  endif()
  unset(_tcs_link_line)
endif()
find_package_handle_standard_args(
  TorchCudaStackLink
  REQUIRED_VARS TorchCudaStackLink_TORCH_ROOT
  VERSION_VAR TorchCudaStackLink_VERSION
  HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "${_tcs_link_why}"
)

if(TorchCudaStackLink_FOUND)
  if(NOT TARGET TorchCudaStack::Torch)
    if(TARGET torch)
      add_library(TorchCudaStack::Torch INTERFACE IMPORTED)
      set_target_properties(TorchCudaStack::Torch PROPERTIES INTERFACE_LINK_LIBRARIES torch)
    else()
      set(_tcs_link_standard "")
      _tcs_link_make_torch("${_tcs_link_dir}" "${TorchCudaStackLink_TORCH_ROOT}")
      # For .cu files of the project's own: a CMake that does not know how nvcc spells it leaves the option out in silence.
      if(
        "${_tcs_link_standard}" GREATER_EQUAL 20
        AND "${CMAKE_CUDA20_STANDARD_COMPILE_OPTION}" STREQUAL ""
      )
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
        set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
      endif()
      unset(_tcs_link_standard)
    endif()
    # So that find_package(TorchCudaStack) of the project itself knows them for what they are.
    set_target_properties(
      TorchCudaStack::Torch
      PROPERTIES
        TorchCudaStack_LINK_ROOT "${TorchCudaStackLink_TORCH_ROOT}"
        TorchCudaStack_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    )
  endif()
  if(NOT TARGET TorchCudaStack::Archs)
    add_library(TorchCudaStack::Archs INTERFACE IMPORTED)
    set_target_properties(
      TorchCudaStack::Archs
      PROPERTIES TorchCudaStack_LINK_ROOT "${TorchCudaStackLink_TORCH_ROOT}"
    )
  endif()
endif()
unset(_tcs_link_dir)
unset(_tcs_link_why)
