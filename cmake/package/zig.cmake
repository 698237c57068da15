# SPDX-License-Identifier: Apache-2.0
# Toolchain of the published wheels: zig's clang, which brings the symbols of every glibc, and a C++ runtime that it links
# statically. From the environment, since try_compile reads this file anew: TCS_WHEEL_ARCH, TCS_WHEEL_ZIG (a folder with
# the wrappers that wheels.py writes).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "$ENV{TCS_WHEEL_ARCH}")
foreach(
  _tcs_tool
  IN
  ITEMS "C_COMPILER;cc" "CXX_COMPILER;c++" "AR;ar" "RANLIB;ranlib" "STRIP;strip"
)
  list(GET _tcs_tool 0 _tcs_name)
  list(GET _tcs_tool 1 _tcs_program)
  set(CMAKE_${_tcs_name} "$ENV{TCS_WHEEL_ZIG}/${_tcs_program}")
endforeach()
