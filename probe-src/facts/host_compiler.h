// SPDX-License-Identifier: Apache-2.0
// The C++ compiler that nvcc hands the host code to.
#pragma once
#include <string>

#include "base/list.h"
#include "facts/gather.h"

namespace tcs {

// What the user set for nvcc: CMAKE_CUDA_HOST_COMPILER, CUDAHOSTCXX (CMake reads these two and
// passes -ccbin), NVCC_CCBIN or -ccbin in NVCC_PREPEND_FLAGS / NVCC_APPEND_FLAGS (nvcc reads these
// itself).
struct HostCompilerChoice {
  std::string origin;  // "" = nothing set
  std::string ccbin;   // to pass as -ccbin; "" when nvcc reads it itself
  std::string named;   // as it was named
};
HostCompilerChoice host_compiler_choice(const Host& host, const Inputs& in);

// A command that prints the predefined macros, and what they say.
Command ask_macros(const std::string& compiler, int timeout_ms);
void read_macros(const Outcome& outcome, const std::string& compiler, HostCompiler& out);

// What is on the machine beside nvcc's own choice, in the order to try it: g++-N of PATH with N in
// the limits, newest first, clang++-N likewise, the compiler of a conda environment, the g++ of
// gcc-toolset-N, and /usr/bin/g++ where PATH has another.
List<std::string> fitting_host_compilers(const Host& host, const Toolkit& toolkit);

}  // namespace tcs
