// SPDX-License-Identifier: Apache-2.0
// The one grammar of architecture lists: text to tokens with a meaning. What this nvcc can build is
// not asked here.
#pragma once
#include <string>
#include <string_view>

#include "base/list.h"
#include "plan/plan.h"

namespace tcs {

struct ArchToken {
  TCS_COPIED(ArchToken);
  enum class Kind { Arch, Name, Native, All, AllMajor, Defaults };
  Kind kind = Kind::Arch;
  std::string text;   // as written
  int position = 0;   // byte offset in the list
  Sm virt, real;      // Arch
  bool cubin = true;  // Arch: false for 90-virtual
  bool ptx = false;   // Arch: PTX of `virt`; Name: PTX on its last member
  bool bare = false;  // a number without a dot, read by the list's dialect
  std::string name;   // Name: without +PTX
};

struct ArchTokens {
  List<ArchToken> tokens;  // in the order written, repeats dropped
  List<PlanIssue> issues;  // Malformed, UnknownName
};

// `dialect`: "cmake" reads 90 as CMake does (machine code and PTX), anything else as 9.0.
ArchTokens parse_arch_list(std::string_view list, std::string_view dialect);

// True when a list asks for nothing: empty, separators only, or (cmake) a false constant as OFF.
bool is_unset_list(std::string_view list, std::string_view dialect);

// May `virt` be compiled for `real`: arch=compute_<virt>,code=sm_<real>?
bool can_assemble(const Sm& virt, const Sm& real);

// A token for a message: control and non-ASCII bytes as \xNN, at most 60 characters.
std::string quotable(std::string_view token);

}  // namespace tcs
