// SPDX-License-Identifier: Apache-2.0
// What the targets share.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/list.h"
#include "base/text.h"

namespace fuzz {

inline void require(bool holds, const char* what, const std::string& found = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s: %s\n", what, found.c_str());
  std::abort();
}

// The input's parts, with a line of "--" between them; `count` of them, the missing ones empty.
inline tcs::List<std::string> parts_of(const uint8_t* data, size_t size, size_t count) {
  const std::string fence = "\n--\n";
  std::string rest(reinterpret_cast<const char*>(data), size);
  tcs::List<std::string> parts;
  while (parts.size() + 1 < count) {
    const size_t at = rest.find(fence);
    parts.push_back(rest.substr(0, at));
    rest = at == std::string::npos ? std::string() : rest.substr(at + fence.size());
  }
  parts.push_back(rest);
  return parts;
}

}  // namespace fuzz
