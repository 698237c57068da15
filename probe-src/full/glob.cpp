// SPDX-License-Identifier: Apache-2.0
#include "full/glob.h"

#include "base/text.h"

namespace tcs {

namespace {

// The set at pattern[at] == '[': whether `c` is in it, and `at` behind it. Without a `]` it is a
// plain bracket.
bool in_set(char c, std::string_view pattern, size_t& at) {
  size_t i = at + 1;
  const bool inverse = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (inverse) ++i;
  const size_t end = pattern.find(']', i + 1);
  if (end == std::string_view::npos) {
    ++at;
    return c == '[';
  }
  bool found = false;
  for (; i < end; ++i) {
    const bool range = i + 2 < end && pattern[i + 1] == '-';
    found = found || (range ? c >= pattern[i] && c <= pattern[i + 2] : c == pattern[i]);
    if (range) i += 2;
  }
  at = end + 1;
  return found != inverse;
}

void descend(const Host& host, const std::string& folder, const List<std::string>& parts, size_t at,
             List<std::string>& out) {
  if (at == parts.size()) {
    if (host.stat(folder).is_file()) add_once(out, folder);
    return;
  }
  const std::string& part = parts[at];
  if (part == "**") descend(host, folder, parts, at + 1, out);
  if (part.find_first_of("*?[") == std::string::npos) {
    descend(host, path_join(folder, part), parts, at + 1, out);
    return;
  }
  Result<List<std::string>> names = host.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = path_join(folder, name);
    if (starts_with(name, ".") && !starts_with(part, ".")) continue;
    if (part != "**") {
      if (name_matches(name, part)) descend(host, path, parts, at + 1, out);
    } else if (host.stat(path).is_dir() &&
               host.real_path(path) == path_join(host.real_path(folder), name)) {
      descend(host, path, parts, at, out);
    }
  }
}

}  // namespace

bool name_matches(std::string_view name, std::string_view pattern) {
  constexpr size_t kNone = std::string_view::npos;
  size_t n = 0, p = 0, star = kNone, from = 0;
  while (n < name.size()) {
    size_t next = p;
    bool same = false;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      from = n;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '[') {
      same = in_set(name[n], pattern, next);
    } else if (p < pattern.size()) {
      same = pattern[p] == '?' || pattern[p] == name[n];
      next = p + 1;
    }
    if (same) {
      ++n;
      p = next;
    } else if (star != kNone) {
      p = star;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

List<std::string> files_matching(const Host& host, const std::string& folder,
                                 const std::string& pattern) {
  List<std::string> out;
  descend(host, starts_with(pattern, "/") ? "/" : folder, split(pattern, "/"), 0, out);
  sort_unique(out);
  return out;
}

}  // namespace tcs
