// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include <algorithm>

#include "base/text.h"

namespace tcs {

Version Version::parse(std::string_view text) {
  Version v;
  text = trim(text);
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    uint64_t number = 0;
    if (!parse_number(text.substr(at, end - at), 999999999, number)) break;
    v.numbers.push_back(static_cast<int>(number));
    at = end;
    bool more =
        at + 1 < text.size() && text[at] == '.' && text[at + 1] >= '0' && text[at + 1] <= '9';
    if (!more) break;
    ++at;
  }
  v.rest = v.known() ? std::string(text.substr(at)) : std::string();
  return v;
}
Version Version::parse(const std::string& text) {
  return parse(std::string_view(text));
}
Version Version::parse(const char* text) {
  return parse(std::string_view(text));
}

std::string Version::major_minor() const {
  return known() ? cat(major(), ".", minor()) : std::string();
}

std::string Version::dotted() const {
  std::string out;
  for (int n : numbers) {
    if (!out.empty()) out += '.';
    out += std::to_string(n);
  }
  return out;
}

int compare(const Version& a, const Version& b) {
  size_t n = std::max(a.numbers.size(), b.numbers.size());
  for (size_t i = 0; i < n; ++i) {
    if (a.number(i) != b.number(i)) return a.number(i) < b.number(i) ? -1 : 1;
  }
  return 0;
}

}  // namespace tcs
