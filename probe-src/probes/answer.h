// SPDX-License-Identifier: Apache-2.0
// What the probes share: entry points by name, and an answer of one line of JSON.
#pragma once
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <string>

namespace tcs_probe {

template <class F>
void bind(void* library, const char* symbol, F& function) {
  void* address = dlsym(library, symbol);
  if (address != nullptr) memcpy(&function, &address, sizeof(function));
}

// Control characters become '?': a name is for reading, the answer must stay JSON. Of a path the
// bytes above ASCII are kept: they are UTF-8 or the answer is refused.
inline std::string quoted(const char* text, bool path = false) {
  std::string out = "\"";
  for (const char* p = text; *p != 0; ++p) {
    const unsigned char c = static_cast<unsigned char>(*p);
    if (c == '"' || c == '\\') out += '\\';
    out += c >= 0x20 && (c < 0x7f || (path && c > 0x7f)) ? *p : '?';
  }
  return out + '"';
}

inline void member(std::string& json, const char* name, const std::string& value) {
  if (json.back() != '{') json += ',';
  json += quoted(name) + ':' + value;
}

// The file that holds `function`.
template <class F>
void member_file(std::string& json, const char* name, F function) {
  Dl_info where;
  void* address = nullptr;
  memcpy(&address, &function, sizeof address);
  if (dladdr(address, &where) != 0 && where.dli_fname != nullptr)
    member(json, name, quoted(where.dli_fname, true));
}

// What a library prints on stdout must not mix with the answer: where that goes from now on, or -1.
inline int take_stdout() {
  const int answer = dup(STDOUT_FILENO);
  return answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -1 : answer;
}

inline bool send(int answer, const std::string& line) {
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = write(answer, line.data() + sent, line.size() - sent);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace tcs_probe
