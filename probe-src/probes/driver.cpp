// SPDX-License-Identifier: Apache-2.0
// What the CUDA driver says about itself and its devices, as one JSON object on stdout.
// Stands alone: c++ -std=c++17 driver.cpp -o driver -ldl && ./driver
// tcstack holds the same code and runs itself as a child for it (see driver.h), built with
// TCS_NO_PROBE_MAIN.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // dladdr
#endif
#include <stdio.h>

#include "answer.h"
#ifdef TCS_NO_PROBE_MAIN
#include "image.h"
#endif

namespace tcs_driver_probe {

using tcs_probe::bind;
using tcs_probe::member;
using tcs_probe::quoted;

// Of cuda.h (the driver API is stable): no CUDA header is needed to build this.
using Result = int;
using Device = int;
struct Uuid {
  unsigned char bytes[16];
};
constexpr int attribute_integrated = 18;
constexpr int attribute_compute_mode = 20;
constexpr int attribute_major = 75;
constexpr int attribute_minor = 76;
constexpr int most_devices = 4096;  // a count above it is garbage

struct Api {
  Result (*init)(unsigned) = nullptr;
  Result (*version)(int*) = nullptr;
  Result (*count)(int*) = nullptr;
  Result (*get)(Device*, int) = nullptr;
  Result (*name)(char*, int, Device) = nullptr;
  Result (*attribute)(int*, int, Device) = nullptr;
  Result (*uuid)(Uuid*, Device) = nullptr;
};

Api bind_all(void* library) {
  Api api;
  bind(library, "cuInit", api.init);
  bind(library, "cuDriverGetVersion", api.version);
  bind(library, "cuDeviceGetCount", api.count);
  bind(library, "cuDeviceGet", api.get);
  bind(library, "cuDeviceGetName", api.name);
  bind(library, "cuDeviceGetAttribute", api.attribute);
  bind(library, "cuDeviceGetUuid", api.uuid);
  bind(library, "cuDeviceGetUuid_v2", api.uuid);  // the one that tells MIG instances apart
  return api;
}

std::string uuid_text(const Uuid& uuid, bool mig) {
  std::string out = mig ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    char two[3];
    snprintf(two, sizeof two, "%02x", static_cast<unsigned>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += two;
  }
  return out;
}

// Each question stands alone: one that is refused leaves its member out and `error` says the code.
std::string describe_device(const Api& api, int index) {
  std::string json = "{";
  member(json, "index", std::to_string(index));
  Device device = 0;
  Result error = api.get != nullptr ? api.get(&device, index) : -1;
  if (error == 0 && api.attribute != nullptr) {
    int major = 0, minor = 0, integrated = 0, mode = 0;
    error = api.attribute(&major, attribute_major, device);
    if (error == 0) error = api.attribute(&minor, attribute_minor, device);
    if (error == 0)
      member(json, "cc", quoted((std::to_string(major) + '.' + std::to_string(minor)).c_str()));
    if (api.attribute(&integrated, attribute_integrated, device) == 0)
      member(json, "integrated", integrated != 0 ? "true" : "false");
    if (api.attribute(&mode, attribute_compute_mode, device) == 0)
      member(json, "compute_mode", std::to_string(mode));
  }
  char name[256] = "";
  bool mig = false;
  if (error == 0 && api.name != nullptr && api.name(name, sizeof name - 1, device) == 0) {
    member(json, "name", quoted(name));
    mig = strstr(name, " MIG ") != nullptr;
    member(json, "mig", mig ? "true" : "false");
  }
  Uuid uuid = {};
  if (error == 0 && api.uuid != nullptr && api.uuid(&uuid, device) == 0)
    member(json, "uuid", quoted(uuid_text(uuid, mig).c_str()));
  if (error != 0) member(json, "error", std::to_string(error));
  return json + '}';
}

void describe_driver(const Api& api, std::string& json) {
  if (api.init == nullptr) {
    member(json, "load_error", quoted("the library has no cuInit"));
    return;
  }
  tcs_probe::member_file(json, "libcuda", api.init);
  int version = 0;
  if (api.version != nullptr && api.version(&version) == 0 && version > 0)
    member(json, "version", std::to_string(version));
  Result init = api.init(0);
  member(json, "init", std::to_string(init));
  if (init != 0 || api.count == nullptr) return;
  int count = 0;
  Result counted = api.count(&count);
  if (counted != 0) return member(json, "count_error", std::to_string(counted));
  if (count < 0 || count > most_devices) return member(json, "count", std::to_string(count));
  std::string devices = "[";
  for (int i = 0; i < count; ++i) devices += (i != 0 ? "," : "") + describe_device(api, i);
  member(json, "devices", devices + ']');
}

}  // namespace tcs_driver_probe

int driver_probe_main() {
  // What a driver prints on stdout must not mix with the answer.
  int answer = dup(STDOUT_FILENO);
  if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 3;
  std::string json = "{";
  tcs_driver_probe::member(json, "probe", "\"tcs-driver/1\"");
  // Never "libcuda.so": that name is for linking, and may be the toolkit's stub.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    tcs_driver_probe::member(json, "load_error",
                             tcs_driver_probe::quoted(why != nullptr ? why : ""));
  } else {
    tcs_driver_probe::describe_driver(tcs_driver_probe::bind_all(library), json);
  }
  json += "}\n";
  size_t sent = 0;
  while (sent < json.size()) {
    ssize_t n = write(answer, json.data() + sent, json.size() - sent);
    if (n <= 0) return 3;
    sent += static_cast<size_t>(n);
  }
#ifdef TCS_NO_PROBE_MAIN
  // It stays to try images: cuInit may take seconds, and is called once.
  if (json.find("\"init\":0") != std::string::npos) try_images(library, STDIN_FILENO, answer);
#endif
  _exit(0);  // a driver's exit handlers have hung and crashed processes that had their answer
}

#ifndef TCS_NO_PROBE_MAIN
int main() {
  return driver_probe_main();
}
#endif
