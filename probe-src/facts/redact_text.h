// SPDX-License-Identifier: Apache-2.0
// What a piece of text looks like, for facts/redact.cpp. A length is that of what stands at the
// start of the text; 0 where it does not.
#pragma once
#include <string>
#include <string_view>

#include "base/text.h"

namespace tcs::redaction {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
inline bool is_alnum(char c) {
  return is_digit(c) || is_upper(c) || is_lower(c);
}
inline bool is_word(char c) {
  return is_alnum(c) || c == '_';
}
inline bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
inline bool is_slash(char c) {
  return c == '/' || c == '\\';
}
inline bool in(std::string_view words, char c) {
  return words.find(c) != std::string_view::npos;
}
inline char at(std::string_view text, size_t i) {
  return i < text.size() ? text[i] : '\0';
}
// How many bytes at the start are letters, digits or of `others`.
inline size_t run_of(std::string_view text, std::string_view others) {
  size_t n = 0;
  while (n < text.size() && (is_alnum(text[n]) || in(others, text[n]))) ++n;
  return n;
}
inline size_t while_hex(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_hex(text[n])) ++n;
  return n;
}
inline bool one_of(std::string_view word, std::string_view words) {
  const std::string wanted = lower(word);
  for (size_t i = words.find(wanted); i != std::string_view::npos; i = words.find(wanted, i + 1)) {
    const bool starts = i == 0 || words[i - 1] == ' ';
    if (starts && (i + wanted.size() == words.size() || words[i + wanted.size()] == ' '))
      return !wanted.empty();
  }
  return false;
}
inline bool starts_with_any_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && lower(text.substr(0, prefix.size())) == lower(prefix);
}

// Random text changes between capitals, small letters and digits at every second or third place;
// names hardly do.
inline bool looks_random(std::string_view text, bool need_all_three) {
  int pairs = 0, changes = 0;
  bool digit = false, upper = false, small = false;
  auto kind = [](char c) { return is_digit(c) ? 1 : is_upper(c) ? 2 : 3; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_alnum(text[i])) continue;
    digit = digit || is_digit(text[i]);
    upper = upper || is_upper(text[i]);
    small = small || is_lower(text[i]);
    if (i == 0 || !is_alnum(text[i - 1])) continue;
    ++pairs;
    changes += kind(text[i]) != kind(text[i - 1]);
  }
  const bool mixed = need_all_three ? digit && upper && small : digit && (upper || small);
  return mixed && changes * 10 >= pairs * 3;
}

// "/", "//", "/./", "\\", "\\\\", and "%2F" of a URL: how long what stands at the start is.
inline size_t separator(std::string_view text) {
  size_t n = 0;
  while (true) {
    const std::string_view rest = text.substr(n);
    if (is_slash(at(rest, 0)))
      ++n;
    else if (starts_with_any_case(rest, "%2f") || starts_with_any_case(rest, "%5c"))
      n += 3;
    else if (n != 0 && at(rest, 0) == '.' && is_slash(at(rest, 1)))
      n += 2;
    else
      return n;
  }
}
inline size_t digits_in(std::string_view text) {
  size_t n = 0;
  for (char c : text) n += is_digit(c);
  return n;
}

// A name of a folder; with blanks in it only where a path goes on behind them. Between "/" a
// backslash is part of the name: "/home/DOMAIN\carol", "/home/carol\ smith".
inline size_t component(std::string_view text, bool backslash) {
  const std::string_view stops = "/:;,\"'`<>|()[]{}\n\t=%";
  size_t end = 0, blank = std::string_view::npos;
  for (; end < text.size() && !in(stops, text[end]); ++end) {
    if (text[end] == '\\' && !backslash) break;
    if (text[end] == ' ' && blank > end && !(end > 0 && text[end - 1] == '\\')) blank = end;
  }
  const bool goes_on = end < 40 && is_slash(at(text, end)) && text[end - 1] != ' ';
  return blank > end || goes_on ? end : blank;
}

// A word is meant whole, or behind one of its joints: SOME_TOKEN, --api-key.
inline bool ends_in(std::string_view word, std::string_view words) {
  for (size_t i = 0; i < word.size(); ++i)
    if ((i == 0 || in("_-", word[i - 1])) && one_of(word.substr(i), words)) return true;
  return false;
}
inline size_t skip(std::string_view text, size_t i, std::string_view over) {
  while (in(over, at(text, i))) ++i;
  return i;
}

inline size_t whole_uuid(std::string_view text) {
  size_t full = 0;
  for (size_t group : {8U, 4U, 4U, 4U, 12U}) {
    if (full != 0 && at(text, full++) != '-') return 0;
    if (while_hex(text.substr(full < text.size() ? full : text.size())) != group) return 0;
    full += group;
  }
  return is_alnum(at(text, full)) ? 0 : full;
}
inline bool holds_uuid(std::string_view run) {
  for (size_t i = 0; i + 36 <= run.size(); ++i)
    if (whole_uuid(run.substr(i)) != 0) return true;
  return false;
}

// The length of "10.1.2.3" at the start; 0 when none stands there.
inline size_t quad(std::string_view text, char joint = '.') {
  size_t end = 0;
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && at(text, end++) != joint) return 0;
    size_t length = 0;
    while (is_digit(at(text, end + length))) ++length;
    uint64_t value = 0;
    if (length == 0 || length > 3 || !parse_number(text.substr(end, length), 255, value)) return 0;
    end += length;
  }
  return end;
}

// "00-1b-63-84-45-e6"
inline size_t card_address(std::string_view text) {
  if (run_of(text, "-_") != 17) return 0;
  for (size_t i = 0; i < 17; ++i)
    if (i % 3 == 2 ? text[i] != '-' : !is_hex(text[i])) return 0;
  return 17;
}

}  // namespace tcs::redaction
