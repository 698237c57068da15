# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: the tool, the modules, and the sources, which the module falls back to where the
# installed tool is not there. Everything finds everything by relative paths.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(_tcs_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/TorchCudaStack")
set(_tcs_details_dir "${_tcs_package_dir}/modules/TorchCudaStack/detail")
file(
  RELATIVE_PATH
  _tcs_tool_from_here
  "${CMAKE_INSTALL_FULL_DATADIR}/cmake/TorchCudaStack/modules/TorchCudaStack/detail"
  "${CMAKE_INSTALL_FULL_BINDIR}/tcstack"
)
configure_file(
  "${CMAKE_CURRENT_LIST_DIR}/installed.cmake.in"
  "${PROJECT_BINARY_DIR}/package/_tcs_installed.cmake"
  @ONLY
)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/package/TorchCudaStackConfigVersion.cmake"
  VERSION "${PROJECT_VERSION}"
  COMPATIBILITY SameMajorVersion
  ARCH_INDEPENDENT # the tool is for the machine that builds, whatever it builds for
)

install(TARGETS tcstack RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(
  FILES
    "${CMAKE_CURRENT_LIST_DIR}/TorchCudaStackConfig.cmake"
    "${PROJECT_BINARY_DIR}/package/TorchCudaStackConfigVersion.cmake"
  DESTINATION "${_tcs_package_dir}"
)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/modules" DESTINATION "${_tcs_package_dir}")
install(
  FILES "${PROJECT_BINARY_DIR}/package/_tcs_installed.cmake"
  DESTINATION "${_tcs_details_dir}"
)
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/probe-src"
  DESTINATION "${_tcs_package_dir}"
  FILES_MATCHING
  PATTERN "*.cpp"
  PATTERN "*.h"
  PATTERN "*.def"
  PATTERN "*.cu"
)
