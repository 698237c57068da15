// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "emit/emit.h"

namespace tcs {

std::string cmake_quote(const std::string& text) {
  std::string fence;
  // CMake drops a newline that follows the opening bracket, and "]" at the end would join the
  // fence.
  while (contains(cat(text, "]"), cat("]", fence, "]"))) fence += '=';
  return cat("[", fence, "[", starts_with(text, "\n") ? "\n" : "", text, "]", fence, "]");
}

}  // namespace tcs
