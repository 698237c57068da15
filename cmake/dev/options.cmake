# SPDX-License-Identifier: Apache-2.0
# How this repository itself is compiled: warnings and, on demand, sanitizers.
option(TCS_WERROR "Warnings are errors" OFF)
set(TCS_SANITIZE "" CACHE STRING "Value for -fsanitize=, e.g. address,undefined")

add_library(tcs_options INTERFACE)
target_compile_options(
  tcs_options
  INTERFACE
    -Wall
    -Wextra
    -Wshadow
    -Wconversion
    -Wno-sign-conversion
    -Wnon-virtual-dtor
    $<$<BOOL:${TCS_WERROR}>:-Werror>
)
if(TCS_SANITIZE)
  target_compile_options(
    tcs_options
    INTERFACE -fsanitize=${TCS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g
  )
  target_link_options(tcs_options INTERFACE -fsanitize=${TCS_SANITIZE})
endif()
