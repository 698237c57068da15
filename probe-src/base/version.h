// SPDX-License-Identifier: Apache-2.0
// Dotted release numbers: "12.4.131", "535.261.03", "2.3.0+cu121", "2.7.0.dev20250310".
#pragma once
#include <string>
#include <string_view>

#include "base/list.h"

namespace tcs {

// Numbers compare as integers, missing ones count as 0; `rest` (anything after the leading dotted
// numbers, with its separator) takes no part in comparison. Unparsed text has no numbers: !known().
struct Version {
  List<int> numbers;
  std::string rest;

  static Version parse(std::string_view text);
  static Version parse(const std::string& text);
  static Version parse(const char* text);
  bool known() const { return !numbers.empty(); }
  int major() const { return number(0); }
  int minor() const { return number(1); }
  int number(size_t i) const { return i < numbers.size() ? numbers[i] : 0; }
  std::string major_minor() const;  // "12.4"; "" when unknown
  std::string dotted() const;       // the numbers as read, "12.4.131"
};

int compare(const Version& a, const Version& b);  // <0, 0, >0
inline bool operator<(const Version& a, const Version& b) {
  return compare(a, b) < 0;
}
inline bool operator>=(const Version& a, const Version& b) {
  return compare(a, b) >= 0;
}
inline bool operator==(const Version& a, const Version& b) {
  return compare(a, b) == 0;
}

}  // namespace tcs
