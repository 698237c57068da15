// SPDX-License-Identifier: Apache-2.0
// Text helpers that need no iostream: joining, splitting, trimming, numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/list.h"
#include "base/piece.h"

namespace tcs {

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
std::string join(const List<std::string>& parts, const char* separator);
std::string_view trim(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);
bool contains(std::string_view text, std::string_view part);
// The same for what they are called with most, where no view need be made first.
List<std::string> split(const std::string& text, const char* separators);
bool starts_with(const std::string& text, const char* prefix);
bool ends_with(const std::string& text, const char* suffix);
bool contains(const std::string& text, const char* part);
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
