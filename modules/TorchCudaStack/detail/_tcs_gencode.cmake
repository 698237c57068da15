# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# The `arch=...,code=...` of every -gencode in a text or list of flags.
function(_tcs_gencode_pairs out flags)
  string(REPLACE ";" " " flags "${flags}")
  string(REGEX MATCHALL "(-gencode|--generate-code)[= ]+\"?arch=[^ \"]+" found "${flags}")
  set(pairs "")
  foreach(item IN LISTS found)
    string(REGEX REPLACE "^.*arch=" "arch=" item "${item}")
    list(APPEND pairs "${item}")
  endforeach()
  set(${out} "${pairs}" PARENT_SCOPE)
endfunction()

# Where find_package(Torch) made up a list (it came first, or cannot say the plan), its flags give way to the plan's: a
# list of the user's is in the plan already. Only the tokens that torch itself added are touched; it leaves them in
# NVCC_FLAGS_EXTRA, where those of the plan are left then: a directory below may have another plan. `_tcs_who` put them
# there: `we` called torch, `project` did so before us, or `above`, where this plan may have more than TorchCudaStack::Archs.
macro(_tcs_replace_made_up_flags _tcs_who)
  _tcs_gencode_pairs(_tcs_plan "${TorchCudaStack_GENCODE_FLAGS}")
  _tcs_gencode_pairs(_tcs_torchs "${NVCC_FLAGS_EXTRA}")
  # What the user's own CMAKE_CUDA_FLAGS hold stays, though torch made up the same.
  _tcs_gencode_pairs(_tcs_extra "$CACHE{CMAKE_CUDA_FLAGS}")
  if(_tcs_extra AND _tcs_torchs)
    list(REMOVE_ITEM _tcs_torchs ${_tcs_extra})
  endif()
  set(_tcs_extra "${_tcs_torchs}")
  if(_tcs_extra AND _tcs_plan)
    list(REMOVE_ITEM _tcs_extra ${_tcs_plan})
  endif()
  if("${_tcs_who}" STREQUAL "above" AND NOT _tcs_extra)
    _tcs_lacking_pairs(_tcs_extra)
    get_property(_tcs_pair TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_PAIRS)
    if("${_tcs_extra}" STREQUAL "${_tcs_pair}")
      set(_tcs_extra "")
    endif()
  endif()
  if(_tcs_extra AND _tcs_plan)
    set(NVCC_FLAGS_EXTRA "")
    # With the blank behind: code=sm_90 is not the beginning of code=sm_90a.
    string(APPEND CMAKE_CUDA_FLAGS " ")
    foreach(_tcs_pair IN LISTS _tcs_torchs)
      string(REPLACE " -gencode ${_tcs_pair} " " " CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")
    endforeach()
    string(REGEX REPLACE " $" "" CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")
    foreach(_tcs_pair IN LISTS _tcs_plan)
      string(APPEND CMAKE_CUDA_FLAGS " -gencode ${_tcs_pair}")
      list(APPEND NVCC_FLAGS_EXTRA -gencode "${_tcs_pair}")
    endforeach()
    list(JOIN _tcs_torchs " " _tcs_torchs)
    string(REPLACE "arch=" "" _tcs_torchs "${_tcs_torchs}")
    _tcs_user_value(_tcs_list TORCH_CUDA_ARCH_LIST)
    if("${_tcs_list}" STREQUAL "")
      set(_tcs_list "$ENV{TORCH_CUDA_ARCH_LIST}")
    endif()
    if("${_tcs_who}" STREQUAL "above")
      message(
        ${_tcs_say_status}
        "TorchCudaStack: replaced the architectures of an earlier call (${_tcs_torchs}) by this plan's"
      )
    elseif("${_tcs_who}" STREQUAL "we" OR "${_tcs_list}" STREQUAL "")
      message(
        ${_tcs_say_status}
        "TorchCudaStack: replaced the architectures that find_package(Torch) made up (${_tcs_torchs}) by the plan's"
      )
    else()
      message(
        ${_tcs_say_notice}
        "TorchCudaStack: find_package(Torch) read TORCH_CUDA_ARCH_LIST=${_tcs_list} as ${_tcs_torchs}: replaced by the plan's"
      )
    endif()
    unset(_tcs_list)
    set(CMAKE_CUDA_ARCHITECTURES OFF)
  endif()
  unset(_tcs_plan)
  unset(_tcs_torchs)
  unset(_tcs_extra)
  unset(_tcs_pair)
endmacro()

# The pairs of the plan that reach no target yet: neither by CMAKE_CUDA_FLAGS nor by a CMAKE_CUDA_ARCHITECTURES of the
# user's.
function(_tcs_lacking_pairs out)
  set(${out} "" PARENT_SCOPE)
  _tcs_user_value(architectures CMAKE_CUDA_ARCHITECTURES)
  if(architectures)
    return()
  endif()
  _tcs_gencode_pairs(lacking "${TorchCudaStack_GENCODE_FLAGS}")
  _tcs_gencode_pairs(present "${CMAKE_CUDA_FLAGS}")
  if(present AND lacking)
    list(REMOVE_ITEM lacking ${present})
  endif()
  set(${out} "${lacking}" PARENT_SCOPE)
endfunction()
