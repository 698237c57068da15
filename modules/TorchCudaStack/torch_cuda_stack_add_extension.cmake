# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

#[=======================================================================[.rst:
torch_cuda_stack_add_extension
------------------------------

.. code-block:: cmake

  torch_cuda_stack_add_extension(<name> SOURCES <file>... [LIBRARIES <item>...] [IMAGES <arch>...]
    [SOURCE_ARCHS <file> <arch>... [OPTIONAL] ...] [SOURCE_IMAGES <file> <arch>... ...] [NO_VERIFY])

Adds the Python module ``<name>`` that links PyTorch: the file name that the chosen Python imports, hidden symbols,
``TORCH_EXTENSION_NAME`` defined as ``<name>``, and :command:`torch_cuda_stack_verify` attached where a source is CUDA.
``SOURCE_ARCHS`` is handed to :command:`torch_cuda_stack_source_archs`.
Keep PyTorch's headers out of ``.cu`` files: they cost a minute for each architecture.
#]=======================================================================]
function(torch_cuda_stack_add_extension name)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "NO_VERIFY"
    ""
    "SOURCES;LIBRARIES;IMAGES;SOURCE_IMAGES;SOURCE_ARCHS"
  )
  if(arg_UNPARSED_ARGUMENTS)
    message(
      FATAL_ERROR
      "torch_cuda_stack_add_extension(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}"
    )
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "torch_cuda_stack_add_extension(${name}): SOURCES names no file")
  endif()
  _tcs_setting(replayed FACTS)
  if(NOT TARGET TorchCudaStack::Torch AND NOT replayed STREQUAL "")
    message(
      FATAL_ERROR
      "torch_cuda_stack_add_extension(${name}): recorded facts (TorchCudaStack_FACTS) give a plan, no PyTorch to build for"
    )
  endif()
  if(NOT TARGET TorchCudaStack::Torch)
    message(
      FATAL_ERROR
      "torch_cuda_stack_add_extension(${name}): there is no TorchCudaStack::Torch here\n"
      "  It is made by find_package(TorchCudaStack) in this directory or above, with the Torch component\n"
      "  (or no COMPONENTS), in a project() that has enabled CXX.\n"
    )
  endif()

  if(NOT TARGET Python::Module)
    if(NOT Python_EXECUTABLE AND _tcs_python)
      set(Python_EXECUTABLE "${_tcs_python}")
    endif()
    find_package(Python COMPONENTS Interpreter Development.Module)
  endif()
  if(NOT TARGET Python::Module)
    message(
      FATAL_ERROR
      "torch_cuda_stack_add_extension(${name}): no Python headers for ${Python_EXECUTABLE}\n"
      "  help: install them (Debian, Ubuntu: python3-dev), or choose another Python with -DPython_EXECUTABLE=...\n"
    )
  endif()
  _tcs_check_python("${name}")
  unset(torch_python)
  find_library(
    torch_python
    NAMES torch_python
    PATHS "${TORCH_INSTALL_PREFIX}/lib" "${Torch_DIR}/../../../lib"
    NO_DEFAULT_PATH
    NO_CACHE
  )
  if(NOT torch_python)
    message(
      FATAL_ERROR
      "torch_cuda_stack_add_extension(${name}): no libtorch_python in ${TORCH_INSTALL_PREFIX}/lib\n"
      "  A libtorch folder has no Python part; a Python module needs a PyTorch installed by pip or conda.\n"
    )
  endif()

  python_add_library("${name}" MODULE WITH_SOABI ${arg_SOURCES})
  target_link_libraries("${name}" PRIVATE TorchCudaStack::Torch "${torch_python}" ${arg_LIBRARIES})
  target_compile_definitions(
    "${name}"
    PRIVATE "TORCH_EXTENSION_NAME=${name}" TORCH_API_INCLUDE_EXTENSION_H
  )
  set_target_properties(
    "${name}"
    PROPERTIES
      CXX_VISIBILITY_PRESET hidden
      CUDA_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON
  )
  if(arg_SOURCE_ARCHS)
    torch_cuda_stack_source_archs("${name}" ${arg_SOURCE_ARCHS})
  endif()
  set(cuda "")
  get_target_property(sources "${name}" SOURCES)
  foreach(source IN LISTS sources)
    _tcs_is_cuda(is_cuda "${source}")
    if(is_cuda)
      list(APPEND cuda "${source}")
    endif()
  endforeach()
  if(cuda AND NOT arg_NO_VERIFY)
    set(images "")
    if(arg_IMAGES)
      set(images IMAGES ${arg_IMAGES})
    endif()
    if(arg_SOURCE_IMAGES)
      list(APPEND images SOURCE_IMAGES ${arg_SOURCE_IMAGES})
    endif()
    torch_cuda_stack_verify("${name}" ${images})
  endif()
endfunction()

# A project's own find_package(Python) may have found another one than the PyTorch that was measured belongs to.
function(_tcs_check_python name)
  if(NOT _tcs_python OR NOT Python_EXECUTABLE OR NOT Python_SOABI)
    return()
  endif()
  file(REAL_PATH "${_tcs_python}" measured)
  file(REAL_PATH "${Python_EXECUTABLE}" used)
  if(measured STREQUAL used)
    return()
  endif()
  execute_process(
    COMMAND "${_tcs_python}" -c "import sysconfig; print(sysconfig.get_config_var('SOABI'))"
    OUTPUT_VARIABLE soabi
    ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE
    TIMEOUT 30
  )
  if(NOT soabi STREQUAL "" AND NOT soabi STREQUAL Python_SOABI)
    message(
      FATAL_ERROR
      "  torch_cuda_stack_add_extension(${name}): the Python of this build is not the one whose PyTorch was measured\n"
      "  \n"
      "    measured  ${soabi}  ${_tcs_python}\n"
      "    used      ${Python_SOABI}  ${Python_EXECUTABLE}\n"
      "  \n"
      "  help: name one for both: -DPython_EXECUTABLE=${_tcs_python}\n"
    )
  endif()
endfunction()
