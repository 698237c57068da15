// SPDX-License-Identifier: Apache-2.0
// Where a CUDA compiler could be: what the user names, the environment, the usual places.
#pragma once
#include <string>

#include "base/list.h"
#include "facts/gather.h"

namespace tcs {

// How much a place counts as the user's choice. A stale CUDA_HOME is common and is not followed.
enum class Say { None, Environment, Explicit };

struct NvccPlace {
  TCS_COPIED(NvccPlace);
  std::string origin;  // "CMAKE_CUDA_COMPILER", "CUDA_HOME" ...
  Say say = Say::None;
  std::string program;  // path of nvcc, a wrapper of it, or clang; "" when there is none
  std::string named;    // where it was expected then
  bool clang = false;
  std::string reason;  // why there is none, or what was read around: "a list; took its first"
};

// In order of rank. Places that nobody named and that hold nothing are left out.
List<NvccPlace> nvcc_places(const Host& host, const Inputs& in, const Facts& facts);

}  // namespace tcs
