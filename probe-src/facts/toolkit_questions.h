// SPDX-License-Identifier: Apache-2.0
// What the chosen toolkit is asked without compiling: its parts, and which architectures it builds.
#pragma once
#include <string>

#include "facts/host_compiler.h"
#include "facts/nvcc_output.h"

namespace tcs {

// A dry run of an empty file: prints where nvcc looks and what it would call, and writes nothing.
Command ask_dry_run(const std::string& nvcc, const std::string& ccbin, int timeout_ms);

// Fills archs, ptxas, cicc and, where it answers nothing, works and failure of `toolkit`, whose
// program runs, and the host compiler that nvcc takes.
void question_toolkit(Host& host, const Inputs& in, Toolkit& toolkit, HostCompiler& compiler);

// The suffixed ones among archs. The dry run asks the host compiler `ccbin` for its properties.
void ask_suffixes(Host& host, const Inputs& in, const std::string& ccbin, Toolkit& toolkit);

void mark_failed(const Host& host, const std::string& kind, const std::string& text,
                 Toolkit& toolkit);

}  // namespace tcs
