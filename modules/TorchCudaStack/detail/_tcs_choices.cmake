# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# One variable of the caller's, where the user did not set it. What was set is remembered beside it, in the same scope (a
# second find_package() must not take it for the user's). Both arguments are names of variables.
macro(_tcs_choose _tcs_name _tcs_from)
  _tcs_user_value(_tcs_users "${_tcs_name}")
  if("${_tcs_users}" STREQUAL "" AND NOT "${${_tcs_from}}" STREQUAL "")
    set(${_tcs_name} "${${_tcs_from}}")
    set(_tcs_own_value_${_tcs_name} "${${_tcs_from}}")
    list(APPEND _tcs_own "${_tcs_name}=${${_tcs_from}}")
  endif()
  unset(_tcs_users)
endmacro()

# What other files find here: nothing of a replayed machine, whose paths are not this one's.
macro(_tcs_apply_choices)
  set(_tcs_own "")
  if(NOT CMAKE_CUDA_COMPILER_LOADED)
    # Before CUDA is enabled, or CMake looks for its own. Afterwards they are what they are.
    _tcs_choose(CMAKE_CUDA_COMPILER _tcs_nvcc)
    _tcs_choose(CMAKE_CUDA_HOST_COMPILER _tcs_host_compiler)
  endif()
  _tcs_choose(CUDA_HOST_COMPILER _tcs_host_compiler)
  _tcs_choose(CUDA_TOOLKIT_ROOT_DIR _tcs_root)
  _tcs_choose(CUDAToolkit_ROOT _tcs_root)
  _tcs_choose(Torch_DIR _tcs_torch_dir)
  set(_tcs_list "${TorchCudaStack_TORCH_CUDA_ARCH_LIST}")
  if(_tcs_gated)
    # PyTorch's code may read it without us around it, and asks if(EXISTS ${TORCH_CUDA_ARCH_LIST}).
    string(REPLACE ";" " " _tcs_list "${_tcs_list}")
  endif()
  _tcs_choose(TORCH_CUDA_ARCH_LIST _tcs_list)
  set(
    TorchCudaStack_OWN_CHOICES
    "${_tcs_own}"
    CACHE INTERNAL
    "What TorchCudaStack chose at its last configure: not the user's"
  )
  unset(_tcs_own)
  unset(_tcs_list)
endmacro()
