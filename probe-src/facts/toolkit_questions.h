// SPDX-License-Identifier: Apache-2.0
// What the chosen toolkit is asked: which architectures it builds, and one real compile.
#pragma once
#include <string>

#include "facts/host_compiler.h"
#include "facts/nvcc_output.h"

namespace tcs {

// A dry run of an empty file: prints where nvcc looks and what it would call, and writes nothing.
Command ask_dry_run(const std::string& nvcc, const std::string& ccbin, int timeout_ms);

// Fills archs, ptxas, cicc, works, failure, fitting_host_compiler of `toolkit`, whose program runs,
// and the host compiler that nvcc takes.
void question_toolkit(Host& host, const Inputs& in, Toolkit& toolkit, HostCompiler& compiler);

}  // namespace tcs
