// SPDX-License-Identifier: Apache-2.0
// What the rules on host compilers share: how they are called, counted and known to fail.
#pragma once
#include <string>

#include "findings/rules/toolkit_candidates.h"

namespace tcs {

// By CMake's ids and the programs' own names. Other: no table knows it (NVHPC, AppleClang, ...).
enum class HostKind { Unknown, Gnu, Clang, Msvc, Intel, IntelLlvm, Other };
HostKind host_kind(const std::string& id);
// In the unit of its limit: a major, or _MSC_VER (toolset 14.40 is 1940); 0 when unknown.
int host_level(const HostCompiler& compiler);
std::string host_label(const HostCompiler& compiler);  // "GCC 13.2.0"

struct BadRow {
  const char *cuda_from, *cuda_to, *compiler, *from, *to, *machine, *symptom, *way;
};
// Of that kind of compiler alone, not of the C library. `release`: of another compiler than the one
// that is here.
const BadRow* known_bad_row(const RuleInput& in, const Toolkit& toolkit, HostKind kind,
                            const Version* release = nullptr);
// Of the compiler or of the C library that are here, or of the library alone.
const BadRow* bad_pair(const RuleInput& in, const Toolkit& toolkit, bool library_alone = false);
// 403, and, unless nvcc refuses the compiler anyway, what is not known of a C library or machine
// that such a pair depends on.
void known_bad(const RuleInput& in, const Toolkit& toolkit, bool refused, List<Finding>& out);

// The host compiler here. 0: `toolkit` takes it, as far as is known; + 1: a pair known to fail; +
// 2: it refuses it.
constexpr int kKnownBad = 1, kRefused = 2;
int host_trouble(const RuleInput& in, const Toolkit& toolkit);
// The newest that it takes in its place, "g++-13": with its path where it is known to be here. ""
// where none is known.
std::string host_compiler_for(const RuleInput& in, const Toolkit& toolkit);
// Whether that one has the C++ level of PyTorch's headers, as far as is known. torch_cxx.cpp
bool takes_headers(const RuleInput& in, const Toolkit& toolkit);

}  // namespace tcs
