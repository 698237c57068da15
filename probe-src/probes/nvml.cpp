// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's management library says of all boards, also of those that CUDA_VISIBLE_DEVICES
// hides, as one JSON object on stdout.
// Stands alone: c++ -std=c++17 nvml.cpp -o nvml -ldl && ./nvml
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // dladdr
#endif
#include "answer.h"

namespace tcs_nvml_probe {

using tcs_probe::bind;
using tcs_probe::member;
using tcs_probe::quoted;

// Of nvml.h, whose functions with a version in their names are stable.
using Return = int;
using Handle = struct Opaque*;
constexpr unsigned most_boards = 4096;  // a count above it is garbage
constexpr unsigned text_size = 96;      // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the largest

struct Api {
  Return (*init)() = nullptr;
  Return (*driver)(char*, unsigned) = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*board)(unsigned, Handle*) = nullptr;
  Return (*name)(Handle, char*, unsigned) = nullptr;
  Return (*uuid)(Handle, char*, unsigned) = nullptr;
  Return (*compute_mode)(Handle, int*) = nullptr;
  Return (*capability)(Handle, int*, int*) = nullptr;
  Return (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
  Return (*mig_count)(Handle, unsigned*) = nullptr;
  Return (*mig_board)(Handle, unsigned, Handle*) = nullptr;
};

Api bind_all(void* library) {
  Api api;
  bind(library, "nvmlInit_v2", api.init);
  bind(library, "nvmlSystemGetDriverVersion", api.driver);
  bind(library, "nvmlDeviceGetCount_v2", api.count);
  bind(library, "nvmlDeviceGetHandleByIndex_v2", api.board);
  bind(library, "nvmlDeviceGetName", api.name);
  bind(library, "nvmlDeviceGetUUID", api.uuid);
  bind(library, "nvmlDeviceGetComputeMode", api.compute_mode);
  bind(library, "nvmlDeviceGetCudaComputeCapability", api.capability);
  bind(library, "nvmlDeviceGetMigMode", api.mig_mode);
  bind(library, "nvmlDeviceGetMaxMigDeviceCount", api.mig_count);
  bind(library, "nvmlDeviceGetMigDeviceHandleByIndex", api.mig_board);
  return api;
}

// 0 where there is no such function: what is not asked is not answered with an error.
template <class F, class... Args>
Return call(F function, Args... args) {
  return function != nullptr ? function(args...) : 0;
}

void member_text(std::string& json, const char* name, Return (*function)(Handle, char*, unsigned),
                 Handle board, Return& error) {
  char text[text_size] = "";
  const Return answered = call(function, board, text, text_size - 1);
  if (answered == 0 && *text != 0) member(json, name, quoted(text));
  if (error == 0) error = answered;
}

// The UUIDs of its MIG instances; slots may be empty.
std::string instances(const Api& api, Handle board) {
  unsigned slots = 0;
  if (api.mig_board == nullptr || call(api.mig_count, board, &slots) != 0) return "[]";
  std::string json = "[";
  for (unsigned i = 0; i < slots && i < 64; ++i) {
    Handle instance = nullptr;
    char text[text_size] = "";
    if (api.mig_board(board, i, &instance) != 0) continue;
    if (api.uuid == nullptr || api.uuid(instance, text, text_size - 1) != 0) continue;
    json += (json.size() > 1 ? "," : "") + quoted(text);
  }
  return json + ']';
}

// Each question stands alone; `error` is the first code but NVML_ERROR_NOT_SUPPORTED, 3.
std::string describe_board(const Api& api, unsigned index) {
  std::string json = "{";
  Handle board = nullptr;
  Return error = api.board != nullptr ? api.board(index, &board) : -1;
  if (error == 0) {
    member_text(json, "name", api.name, board, error);
    member_text(json, "uuid", api.uuid, board, error);
    int mode = -1, major = 0, minor = 0;
    Return answered = call(api.compute_mode, board, &mode);
    if (answered == 0 && mode >= 0) member(json, "compute_mode", std::to_string(mode));
    if (error == 0 && answered != 3) error = answered;
    if (call(api.capability, board, &major, &minor) == 0 && major > 0)
      member(json, "cc", quoted((std::to_string(major) + '.' + std::to_string(minor)).c_str()));
    unsigned mig = 0, pending = 0;
    if (call(api.mig_mode, board, &mig, &pending) != 0) mig = 0;  // most boards have no such thing
    member(json, "mig", mig != 0 ? "true" : "false");
    if (mig != 0) member(json, "instances", instances(api, board));
  }
  if (error != 0) member(json, "error", std::to_string(error));
  return json + '}';
}

void describe(const Api& api, std::string& json) {
  if (api.init == nullptr) return member(json, "load_error", quoted("it has no nvmlInit_v2"));
  tcs_probe::member_file(json, "nvml", api.init);
  Return error = api.init();
  unsigned count = 0;
  if (error == 0) {
    char version[text_size] = "";
    if (call(api.driver, version, text_size - 1) == 0 && *version != 0)
      member(json, "version", quoted(version));
    error = call(api.count, &count);
  }
  member(json, "error", std::to_string(error));
  if (error != 0 || api.count == nullptr || count > most_boards) return;
  std::string boards = "[";
  for (unsigned i = 0; i < count; ++i) boards += (i != 0 ? "," : "") + describe_board(api, i);
  member(json, "devices", boards + ']');
}

}  // namespace tcs_nvml_probe

int nvml_probe_main() {
  const int answer = tcs_probe::take_stdout();
  if (answer < 0) return 3;
  std::string json = "{\"probe\":\"tcs-nvml/1\"";
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) {
    tcs_nvml_probe::describe(tcs_nvml_probe::bind_all(library), json);
  } else {
    const char* why = dlerror();
    tcs_probe::member(json, "load_error", tcs_probe::quoted(why != nullptr ? why : "", true));
  }
  if (!tcs_probe::send(answer, json + "}\n")) return 3;
  _exit(0);  // as driver.cpp: no exit handlers
}

#ifndef TCS_NO_PROBE_MAIN
int main() {
  return nvml_probe_main();
}
#endif
