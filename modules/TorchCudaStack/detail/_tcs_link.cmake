# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# find_package(TorchCudaStack COMPONENTS Link): for the config file of a library that is compiled already. Nothing is
# measured; what an earlier call in this project found stays.
macro(_tcs_find_link)
  _tcs_call_link()
  set(_tcs_quietly "${TorchCudaStack_FIND_QUIETLY}")
  set(TorchCudaStack_FIND_QUIETLY TRUE) # that module has said it
  find_package_handle_standard_args(
    TorchCudaStack
    REQUIRED_VARS TorchCudaStackLink_TORCH_ROOT
    VERSION_VAR TorchCudaStack_VERSION
    HANDLE_VERSION_RANGE
    HANDLE_COMPONENTS
  )
  set(TorchCudaStack_FIND_QUIETLY "${_tcs_quietly}")
  unset(_tcs_quietly)
endmacro()

macro(_tcs_call_link)
  set(_tcs_module_path "${CMAKE_MODULE_PATH}")
  get_filename_component(_tcs_modules "${TorchCudaStack_LINK_MODULE}" DIRECTORY)
  list(PREPEND CMAKE_MODULE_PATH "${_tcs_modules}")
  find_package(TorchCudaStackLink MODULE ${_tcs_find_quietly} ${_tcs_find_required})
  set(CMAKE_MODULE_PATH "${_tcs_module_path}")
  unset(_tcs_modules)
  unset(_tcs_module_path)
  set(TorchCudaStack_Link_FOUND "${TorchCudaStackLink_FOUND}")
endmacro()
