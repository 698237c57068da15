// SPDX-License-Identifier: Apache-2.0
// Compute capabilities and the images made for them.
#pragma once
#include <string>
#include <string_view>

namespace tcs {

// One architecture: 8.6, 9.0a, 12.0f. Numeric order by (major, minor, suffix): 9.0 < 9.0a < 10.0.
struct Sm {
  int major = 0;
  int minor = 0;
  char suffix = 0;  // 0, 'a' (that capability only) or 'f' (its family)

  bool plain() const { return suffix == 0; }
  std::string digits() const;  // "90a"
  std::string dotted() const;  // "9.0a"
  std::string real() const;    // "sm_90a"
  std::string virt() const;    // "compute_90a"
  Sm base() const { return Sm{major, minor, 0}; }
};

int compare(const Sm& a, const Sm& b);
inline bool operator<(const Sm& a, const Sm& b) {
  return compare(a, b) < 0;
}
inline bool operator==(const Sm& a, const Sm& b) {
  return compare(a, b) == 0;
}
inline bool operator!=(const Sm& a, const Sm& b) {
  return compare(a, b) != 0;
}

// "8.6", "9.0a", "12.0f" (dotted) or "86", "90a", "120f" (digits: the last one is the minor).
// False for anything else.
bool parse_sm_dotted(std::string_view text, Sm& out);
bool parse_sm_digits(std::string_view text, Sm& out);

// Machine code (cubin) or PTX for one architecture: "sm_90a", "compute_90".
struct Image {
  Sm sm;
  bool ptx = false;
  std::string str() const { return ptx ? sm.virt() : sm.real(); }
};
bool parse_image(std::string_view text, Image& out);
inline bool operator<(const Image& a, const Image& b) {
  int c = compare(a.sm, b.sm);
  return c != 0 ? c < 0 : a.ptx < b.ptx;
}
inline bool operator==(const Image& a, const Image& b) {
  return a.sm == b.sm && a.ptx == b.ptx;
}

}  // namespace tcs
