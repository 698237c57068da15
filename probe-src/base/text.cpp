// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"

namespace tcs {
namespace {

std::string joined(std::initializer_list<const Piece*> pieces) {
  std::string out;
  for (const Piece* piece : pieces) out += piece->view();
  return out;
}

}  // namespace

Piece::Piece(char c) : size_(1) {
  own_[0] = c;
}
Piece::Piece(int v) : Piece(static_cast<long long>(v)) {}
Piece::Piece(long v) : Piece(static_cast<long long>(v)) {}
Piece::Piece(long long v) {
  number(v < 0 ? 0 - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v),
         v < 0);
}
Piece::Piece(unsigned v) {
  number(v, false);
}
Piece::Piece(unsigned long v) {
  number(v, false);
}
Piece::Piece(unsigned long long v) {
  number(v, false);
}

void Piece::number(unsigned long long v, bool negative) {
  char* at = own_ + sizeof own_;
  do {
    *--at = static_cast<char>('0' + v % 10);
    v /= 10;
  } while (v != 0);
  if (negative) *--at = '-';
  size_ = static_cast<size_t>(own_ + sizeof own_ - at);
  std::memmove(own_, at, size_);
}

std::string cat(const Piece& a) {
  return joined({&a});
}
std::string cat(const Piece& a, const Piece& b) {
  return joined({&a, &b});
}
std::string cat(const Piece& a, const Piece& b, const Piece& c) {
  return joined({&a, &b, &c});
}
std::string cat(const Piece& a, const Piece& b, const Piece& c, const Piece& d) {
  return joined({&a, &b, &c, &d});
}
std::string cat(const Piece& a, const Piece& b, const Piece& c, const Piece& d, const Piece& e) {
  return joined({&a, &b, &c, &d, &e});
}

List<std::string> split(std::string_view text, std::string_view separators) {
  List<std::string> parts;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find_first_of(separators, at);
    if (end == std::string_view::npos) end = text.size();
    if (end > at) parts.push_back(std::string(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

List<std::string> lines_of(std::string_view text) {
  List<std::string> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(std::string(line));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string join(const List<std::string>& parts, const char* separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text) {
  const char* blank = " \t\r\n\v\f";
  size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

List<std::string> split(const std::string& text, const char* separators) {
  return split(std::string_view(text), std::string_view(separators));
}
bool starts_with(const std::string& text, const char* prefix) {
  return starts_with(std::string_view(text), std::string_view(prefix));
}
bool ends_with(const std::string& text, const char* suffix) {
  return ends_with(std::string_view(text), std::string_view(suffix));
}
bool contains(const std::string& text, const char* part) {
  return contains(std::string_view(text), std::string_view(part));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t at = 0;
  while (!from.empty()) {
    size_t hit = text.find(from, at);
    if (hit == std::string_view::npos) break;
    out += text.substr(at, hit - at);
    out += to;
    at = hit + from.size();
  }
  out += text.substr(at);
  return out;
}

bool parse_number(std::string_view text, uint64_t max, uint64_t& out) {
  if (text.empty()) return false;
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    uint64_t digit = static_cast<uint64_t>(c - '0');
    if (digit > max || value > (max - digit) / 10) return false;
    value = value * 10 + digit;
  }
  out = value;
  return true;
}

std::string tail(std::string_view text, size_t limit) {
  text = trim(text);
  std::string out;
  if (text.size() > limit) {
    text = text.substr(text.size() - limit);
    out = "...";
  }
  while (!text.empty()) {
    size_t length = utf8_length(text);  // 0: bytes that are no text
    char c = text[0];
    bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    if (length == 0 || control)
      out += '?';
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

// Two letters that changed places are one edit: 4900 for 4090.
size_t edit_distance(std::string_view a, std::string_view b) {
  List<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string closest(std::string_view word, const List<std::string>& words, size_t at_most) {
  std::string best;
  size_t least = at_most + 1;
  if (word.size() > 100) return best;
  for (const std::string& candidate : words) {
    const size_t distance = edit_distance(lower(word), lower(candidate));
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const List<std::string>& words) {
  const std::string near = closest(word, words);
  return near.empty() ? near : cat("; did you mean ", near, "?");
}

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 14695981039346656037ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace tcs
