# SPDX-License-Identifier: Apache-2.0
#
# Stands before torch's own FindCUDNN while TorchCudaStack calls find_package(Torch). An old PyTorch's CMake code stops
# where cuDNN is missing although an extension does not compile against it: then it gets one that holds nothing.
set(_tcs_path "${CMAKE_MODULE_PATH}")
list(REMOVE_ITEM _tcs_path "${CMAKE_CURRENT_LIST_DIR}")
set(_tcs_quiet "${CUDNN_FIND_QUIETLY}")
set(CUDNN_FIND_QUIETLY TRUE)
set(_tcs_required "${CUDNN_FIND_REQUIRED}")
set(CUDNN_FIND_REQUIRED FALSE)
foreach(_tcs_folder IN LISTS _tcs_path)
  if(EXISTS "${_tcs_folder}/FindCUDNN.cmake")
    include("${_tcs_folder}/FindCUDNN.cmake")
    break()
  endif()
endforeach()
set(CUDNN_FIND_QUIETLY "${_tcs_quiet}")
set(CUDNN_FIND_REQUIRED "${_tcs_required}")
unset(_tcs_quiet)
unset(_tcs_required)
unset(_tcs_path)
unset(_tcs_folder)
if(NOT CUDNN_FOUND)
  set(CUDNN_FOUND TRUE)
  set(CUDNN_INCLUDE_PATH "${CMAKE_CURRENT_LIST_DIR}/cudnn")
  set(CUDNN_LIBRARY_PATH "")
  set(CUDNN_VERSION 9.0.0)
  message(
    STATUS
    "TorchCudaStack: PyTorch's CMake code asks for cuDNN, which is not here; an extension needs none"
  )
endif()
