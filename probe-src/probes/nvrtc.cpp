// SPDX-License-Identifier: Apache-2.0
// What an NVRTC library says about itself, as one JSON object on stdout.
// Stands alone: c++ -std=c++17 nvrtc.cpp -o nvrtc -ldl && ./nvrtc /usr/local/cuda/lib64/libnvrtc.so
// tcstack holds the same code and runs itself as a child for it, built with TCS_NO_PROBE_MAIN.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <string>

namespace tcs_nvrtc_probe {

// Of nvrtc.h: no CUDA header is needed to build this. The last two are there from CUDA 11.2 on.
using Version = int (*)(int* major, int* minor);
using Count = int (*)(int* count);
using Archs = int (*)(int* archs);
constexpr int most_archs = 256;  // a count above it is garbage

template <class F>
F bind(void* library, const char* symbol) {
  F function = nullptr;
  void* address = dlsym(library, symbol);
  if (address != nullptr) memcpy(&function, &address, sizeof function);
  return function;
}

// The loader's words, which must stay JSON.
std::string quoted(const char* text) {
  std::string out = "\"";
  for (const char* p = text; p != nullptr && *p != 0; ++p) {
    const unsigned char c = static_cast<unsigned char>(*p);
    if (c == '"' || c == '\\') out += '\\';
    out += c >= 0x20 && c < 0x7f ? *p : '?';
  }
  return out + '"';
}

// "75,80,90"; "" where it does not say.
std::string archs_of(void* library) {
  const Count count_of = bind<Count>(library, "nvrtcGetNumSupportedArchs");
  const Archs list_of = bind<Archs>(library, "nvrtcGetSupportedArchs");
  int count = 0, archs[most_archs] = {};
  if (count_of == nullptr || list_of == nullptr || count_of(&count) != 0) return {};
  if (count < 1 || count > most_archs || list_of(archs) != 0) return {};
  std::string out;
  for (int i = 0; i < count; ++i) out += (i != 0 ? "," : "") + std::to_string(archs[i]);
  return out;
}

std::string describe(const char* path) {
  std::string json = "{\"probe\":\"tcs-nvrtc/1\"";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return json + ",\"load_error\":" + quoted(dlerror());
  int major = 0, minor = 0;
  const Version version = bind<Version>(library, "nvrtcVersion");
  if (version != nullptr && version(&major, &minor) == 0)
    json += ",\"version\":\"" + std::to_string(major) + '.' + std::to_string(minor) + '"';
  const std::string archs = archs_of(library);
  return archs.empty() ? json : json + ",\"archs\":[" + archs + ']';
}

}  // namespace tcs_nvrtc_probe

int nvrtc_probe_main(const char* path) {
  // What a library prints on stdout must not mix with the answer.
  const int answer = dup(STDOUT_FILENO);
  if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 3;
  const std::string json = tcs_nvrtc_probe::describe(path) + "}\n";
  const bool sent = write(answer, json.data(), json.size()) == static_cast<ssize_t>(json.size());
  _exit(sent ? 0 : 3);  // its exit handlers have nothing to add
}

#ifndef TCS_NO_PROBE_MAIN
int main(int argc, char** argv) {
  return nvrtc_probe_main(argc > 1 ? argv[1] : "libnvrtc.so");
}
#endif
