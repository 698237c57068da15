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

struct Walk {
  const Host& host;
  List<std::string> parts{};
  bool hidden = false;
  List<std::string> found{}, unread{};
};

void descend(Walk& walk, const std::string& folder, size_t at);

// Each name in `folder` against the part at `at`.
void descend_names(Walk& walk, const std::string& folder, size_t at) {
  const std::string& part = walk.parts[at];
  Result<List<std::string>> names = walk.host.list(folder);
  if (!names && walk.host.stat(folder).is_dir()) walk.unread.push_back(names.error().str());
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = path_join(folder, name);
    if (starts_with(name, ".") && !starts_with(part, ".") && !walk.hidden) continue;
    if (part != "**") {
      if (name_matches(name, part)) descend(walk, path, at + 1);
    } else if (walk.host.stat(path).is_dir() &&
               walk.host.real_path(path) == path_join(walk.host.real_path(folder), name)) {
      descend(walk, path, at);
    }
  }
}

void descend(Walk& walk, const std::string& folder, size_t at) {
  if (at == walk.parts.size()) {
    const FileStat stat = walk.host.stat(folder);
    if (stat.is_file()) walk.found.push_back(folder);
    if (stat.type == FileStat::Type::Unreadable)
      walk.unread.push_back(cat(folder, ": ", stat.reason));
    return;
  }
  const std::string& part = walk.parts[at];
  if (part == "**") descend(walk, folder, at + 1);
  if (part.find_first_of("*?[") == std::string::npos)
    descend(walk, path_join(folder, part), at + 1);
  else
    descend_names(walk, folder, at);
}

// "a//./**/**" -> a, **, *: one `**` more finds nothing more, and would walk all again.
List<std::string> parts_of(const std::string& pattern) {
  List<std::string> parts;
  for (const std::string& part : split(pattern, "/")) {
    const bool again = part == "**" && !parts.empty() && parts.back() == "**";
    if (!part.empty() && part != "." && !again) parts.push_back(part);
  }
  if (!parts.empty() && parts.back() == "**") parts.push_back("*");
  return parts;
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
                                 const std::string& pattern, bool hidden,
                                 List<std::string>* unread) {
  Walk walk{host, parts_of(pattern), hidden};
  descend(walk, starts_with(pattern, "/") ? "/" : folder, 0);
  sort_unique(walk.found);
  sort_unique(walk.unread);
  if (unread != nullptr) *unread = walk.unread;
  return walk.found;
}

}  // namespace tcs
