// SPDX-License-Identifier: Apache-2.0
// Text helpers that need no iostream: joining, splitting, trimming, numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/list.h"

namespace tcs {

extern template class List<std::string>;  // compiled once, in list.cpp

// What cat() joins: text, a character or a whole number, made from any of them without being asked.
class Piece {
 public:
  Piece(std::string_view s) : text_(s.data()), size_(s.size()) {}    // NOLINT: implicit by design
  Piece(const std::string& s) : text_(s.data()), size_(s.size()) {}  // NOLINT
  Piece(const char* s) : Piece(std::string_view(s)) {}               // NOLINT
  Piece(char c);                                                     // NOLINT
  Piece(int v);                                                      // NOLINT
  Piece(long v);                                                     // NOLINT
  Piece(long long v);                                                // NOLINT
  Piece(unsigned v);                                                 // NOLINT
  Piece(unsigned long v);                                            // NOLINT
  Piece(unsigned long long v);                                       // NOLINT
  std::string_view view() const { return {text_ != nullptr ? text_ : own_, size_}; }

 private:
  void number(unsigned long long v, bool negative);

  const char* text_ = nullptr;  // null: in own_
  size_t size_ = 0;
  char own_[24] = {};
};

// cat("sm_", 90, 'a') == "sm_90a". Plain functions for up to five pieces: one template would be
// compiled for each of the two hundred and fifty combinations of types that are joined somewhere.
std::string cat(const Piece& a);
std::string cat(const Piece& a, const Piece& b);
std::string cat(const Piece& a, const Piece& b, const Piece& c);
std::string cat(const Piece& a, const Piece& b, const Piece& c, const Piece& d);
std::string cat(const Piece& a, const Piece& b, const Piece& c, const Piece& d, const Piece& e);
template <class... More>
std::string cat(const Piece& a, const Piece& b, const Piece& c, const Piece& d, const Piece& e,
                const More&... more) {
  return cat(cat(a, b, c, d, e), more...);
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

// FNV-1a, 64 bits: names of cache entries, never a proof of equality.
uint64_t fnv1a(std::string_view text);

// Edit distance, for "did you mean"; small inputs only.
size_t edit_distance(std::string_view a, std::string_view b);
// The first of `words` that is nearest to `word`, whatever the case of letters; "" when each is
// more than `at_most` letters apart.
std::string closest(std::string_view word, const List<std::string>& words, size_t at_most = 2);
// "; did you mean X?", "" without such a word.
std::string did_you_mean(std::string_view word, const List<std::string>& words);

}  // namespace tcs
