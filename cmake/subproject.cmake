# SPDX-License-Identifier: Apache-2.0
# As part of another project (add_subdirectory, FetchContent) nothing is built or tested here: find_package(TorchCudaStack)
# in that project runs the module, which gets its tool by itself. Quiet.
# The first that comes serves the whole project, as with FetchContent's own names.
get_property(_tcs_first GLOBAL PROPERTY TorchCudaStack_SUBPROJECT)
if(_tcs_first)
  return()
endif()
set_property(GLOBAL PROPERTY TorchCudaStack_SUBPROJECT "${CMAKE_CURRENT_SOURCE_DIR}")

include(CMakePackageConfigHelpers)

list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_SOURCE_DIR}/modules")
set(CMAKE_MODULE_PATH "${CMAKE_MODULE_PATH}" PARENT_SCOPE)

# find_package() looks here first, in whatever directory it is called: the module path reaches the caller alone.
if(CMAKE_FIND_PACKAGE_REDIRECTS_DIR)
  file(
    CONFIGURE
    OUTPUT "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/torchcudastack-config.cmake"
    CONTENT "include([==[${CMAKE_CURRENT_SOURCE_DIR}/modules/FindTorchCudaStack.cmake]==])\n"
    @ONLY
  )
  write_basic_package_version_file(
    "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/torchcudastack-config-version.cmake"
    VERSION "${PROJECT_VERSION}"
    COMPATIBILITY SameMajorVersion
    ARCH_INDEPENDENT
  )
endif()
