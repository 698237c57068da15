// SPDX-License-Identifier: Apache-2.0
// Text helpers that need no iostream: joining, splitting, trimming, numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/list.h"

namespace tcs {

extern template class List<std::string>;  // compiled once, in list.cpp

inline void append(std::string& out, std::string_view s) {
  out.append(s.data(), s.size());
}
inline void append(std::string& out, char c) {
  out.push_back(c);
}
inline void append(std::string& out, int v) {
  out += std::to_string(v);
}
inline void append(std::string& out, long v) {
  out += std::to_string(v);
}
inline void append(std::string& out, long long v) {
  out += std::to_string(v);
}
inline void append(std::string& out, unsigned v) {
  out += std::to_string(v);
}
inline void append(std::string& out, unsigned long v) {
  out += std::to_string(v);
}
inline void append(std::string& out, unsigned long long v) {
  out += std::to_string(v);
}

// cat("sm_", 90, 'a') == "sm_90a"
template <class... Args>
std::string cat(const Args&... args) {
  std::string out;
  (append(out, args), ...);
  return out;
}

List<std::string> split(std::string_view text,
                        std::string_view separators);  // no empty ones
List<std::string> lines_of(std::string_view text);     // without the line ends, empty ones kept
std::string join(const List<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);
bool contains(std::string_view text, std::string_view part);
std::string lower(std::string_view text);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// The whole of `text` as a decimal number from 0 to `max`; false (and `out` untouched) otherwise.
bool parse_number(std::string_view text, uint64_t max, uint64_t& out);

// At most `limit` bytes of the end of `text`, control characters and what is no UTF-8 shown as '?',
// for quoting what a child printed.
std::string tail(std::string_view text, size_t limit);

// Edit distance, for "did you mean"; small inputs only.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace tcs
