// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "host/host.h"

namespace tcs {

std::string Host::env_or(const Piece& name, const Piece& fallback) const {
  std::string value;
  return cat(env(cat(name), value) ? value : fallback);
}

std::string path_join(std::string_view a, std::string_view b) {
  if (a.empty() || starts_with(b, "/")) return std::string(b);
  return ends_with(a, "/") ? cat(a, b) : cat(a, "/", b);
}

std::string path_join(const std::string& a, const char* b) {
  return path_join(std::string_view(a), std::string_view(b));
}
std::string path_join(const std::string& a, const std::string& b) {
  return path_join(std::string_view(a), std::string_view(b));
}

std::string path_parent(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string path_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string find_program(const Host& host, const std::string& name, const std::string& path) {
  for (const std::string& folder : split(path, ":")) {
    std::string candidate = path_join(folder, name);
    FileStat stat = host.stat(candidate);
    if (stat.is_file() && stat.executable) return candidate;
  }
  return {};
}

std::string Outcome::describe() const {
  switch (state) {
    case State::Exited:
      return cat("exit status ", code);
    case State::Signalled: {
      const char* name = code == 11  ? " (SIGSEGV)"
                         : code == 6 ? " (SIGABRT)"
                         : code == 9 ? " (SIGKILL)"
                         : code == 4 ? " (SIGILL)"
                         : code == 7 ? " (SIGBUS)"
                                     : "";
      return cat("killed by signal ", code, name);
    }
    case State::TimedOut:
      return cat("no answer in ", (ms + 500) / 1000, " s");
    case State::NotStarted:
      return cat("could not be started: ", why);
  }
  return {};
}

}  // namespace tcs
