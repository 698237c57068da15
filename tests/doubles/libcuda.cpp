// SPDX-License-Identifier: Apache-2.0
// A double of libcuda.so.1: answers what the environment variable TCS_FAKE_CUDA says. Words are
// separated by ';':
//   init=100            cuInit's answer (0)
//   version=12080       cuDriverGetVersion's number; 0 = it refuses (12080)
//   device=8.6,NAME     one more device; a third part "integrated" or "error" describes it
//   count=N             cuDeviceGetCount's answer, whatever devices there are
//   hang  crash  noise  in cuInit: never return, read address 0, print on stdout
// CUDA_VISIBLE_DEVICES is obeyed as by NVIDIA's (numbers only): devices in that order up to the
// first number that names none; error 100 from cuInit where none is left. Built also with
// TCS_FAKE_MINIMAL (nothing but cuInit) and TCS_FAKE_EMPTY (no function at all).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TCS_FAKE_EMPTY
namespace {

constexpr int most_devices = 16;

struct Device {
  int major, minor;
  char name[96];
  bool integrated, error;
};

struct Script {
  int init = 0;
  int version = 12080;
  bool hang = false, crash = false, noise = false;
  int count = 0;
  int claimed = -1;
  Device devices[most_devices] = {};
};

void add_device(Script& script, const char* text) {
  if (script.count == most_devices) return;
  Device& device = script.devices[script.count++];
  char kind[16] = "";
  sscanf(text, "%d.%d,%95[^,;],%15s", &device.major, &device.minor, device.name, kind);
  device.integrated = strcmp(kind, "integrated") == 0;
  device.error = strcmp(kind, "error") == 0;
}

void obey_mask(Script& script) {
  const char* mask = getenv("CUDA_VISIBLE_DEVICES");
  if (mask == nullptr) return;
  const Script all = script;
  script.count = 0;
  for (char* end = nullptr; script.count < most_devices; mask = end + 1) {
    const long index = strtol(mask, &end, 10);
    if (end == mask || index < 0 || index >= all.count) break;
    script.devices[script.count++] = all.devices[index];
    if (*end != ',') break;
  }
  if (script.count == 0 && script.init == 0) script.init = 100;
}

Script read_script() {
  Script script;
  const char* text = getenv("TCS_FAKE_CUDA");
  if (text == nullptr) return script;
  char copy[4096];
  snprintf(copy, sizeof copy, "%s", text);
  char* place = nullptr;
  for (char* word = strtok_r(copy, ";", &place); word != nullptr;
       word = strtok_r(nullptr, ";", &place)) {
    if (strncmp(word, "init=", 5) == 0) script.init = atoi(word + 5);
    if (strncmp(word, "version=", 8) == 0) script.version = atoi(word + 8);
    if (strncmp(word, "device=", 7) == 0) add_device(script, word + 7);
    if (strncmp(word, "count=", 6) == 0) script.claimed = atoi(word + 6);
    if (strcmp(word, "hang") == 0) script.hang = true;
    if (strcmp(word, "crash") == 0) script.crash = true;
    if (strcmp(word, "noise") == 0) script.noise = true;
  }
  obey_mask(script);
  return script;
}

const Script script = read_script();

}  // namespace

extern "C" int cuInit(unsigned) {
  if (script.noise) {
    printf("{\"probe\":\"tcs-driver/1\",\"init\":0}\nNo CUDA devices found.\n");
    fflush(stdout);
  }
  while (script.hang) sleep(1);
  if (script.crash) *static_cast<volatile int*>(nullptr) = 1;
  return script.init;
}

#ifndef TCS_FAKE_MINIMAL
extern "C" int cuDriverGetVersion(int* out) {
  *out = script.version;
  return script.version != 0 ? 0 : 34;
}
extern "C" int cuDeviceGetCount(int* out) {
  *out = script.claimed == -1 ? script.count : script.claimed;
  return 0;
}
extern "C" int cuDeviceGet(int* out, int index) {
  *out = index;
  return index >= 0 && index < script.count ? 0 : 101;
}
extern "C" int cuDeviceGetName(char* out, int size, int device) {
  snprintf(out, static_cast<size_t>(size), "%s", script.devices[device].name);
  return 0;
}
extern "C" int cuDeviceGetAttribute(int* out, int attribute, int device) {
  const Device& one = script.devices[device];
  if (one.error) return 999;
  *out = attribute == 75   ? one.major
         : attribute == 76 ? one.minor
         : attribute == 18 ? one.integrated
                           : 0;
  return 0;
}
extern "C" int cuDeviceGetUuid_v2(unsigned char* out, int device) {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<unsigned char>(device * 16 + i);
  return 0;
}
#endif
#endif
