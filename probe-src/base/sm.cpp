// SPDX-License-Identifier: Apache-2.0
#include "base/sm.h"

#include "base/text.h"

namespace tcs {

namespace {

std::string with_suffix(std::string text, char suffix) {
  if (suffix != 0) text += suffix;
  return text;
}

// Takes an 'a' or 'f' off the end of `text` into `suffix`.
void take_suffix(std::string_view& text, char& suffix) {
  suffix = 0;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    suffix = text.back();
    text.remove_suffix(1);
  }
}

}  // namespace

std::string Sm::digits() const {
  return with_suffix(cat(major, minor), suffix);
}
std::string Sm::dotted() const {
  return with_suffix(cat(major, ".", minor), suffix);
}
std::string Sm::real() const {
  return "sm_" + digits();
}
std::string Sm::virt() const {
  return "compute_" + digits();
}

int compare(const Sm& a, const Sm& b) {
  if (a.major != b.major) return a.major < b.major ? -1 : 1;
  if (a.minor != b.minor) return a.minor < b.minor ? -1 : 1;
  return static_cast<int>(a.suffix) - static_cast<int>(b.suffix);
}

bool parse_sm_dotted(std::string_view text, Sm& out) {
  Sm sm;
  take_suffix(text, sm.suffix);
  size_t dot = text.find('.');
  uint64_t major = 0;
  uint64_t minor = 0;
  if (dot == std::string_view::npos || !parse_number(text.substr(0, dot), 999, major) ||
      !parse_number(text.substr(dot + 1), 9, minor) || text.size() != dot + 2) {
    return false;
  }
  sm.major = static_cast<int>(major);
  sm.minor = static_cast<int>(minor);
  out = sm;
  return true;
}

bool parse_sm_digits(std::string_view text, Sm& out) {
  Sm sm;
  take_suffix(text, sm.suffix);
  uint64_t number = 0;
  if (text.size() < 2 || !parse_number(text, 9999, number)) return false;
  sm.major = static_cast<int>(number / 10);
  sm.minor = static_cast<int>(number % 10);
  out = sm;
  return true;
}

bool parse_image(std::string_view text, Image& out) {
  Image image;
  if (starts_with(text, "sm_")) {
    text.remove_prefix(3);
  } else if (starts_with(text, "compute_")) {
    text.remove_prefix(8);
    image.ptx = true;
  } else {
    return false;
  }
  if (!parse_sm_digits(text, image.sm)) return false;
  out = image;
  return true;
}

}  // namespace tcs
