// SPDX-License-Identifier: Apache-2.0
// A double of libnvidia-ml.so.1: answers what TCS_FAKE_NVML says (../README.md); the boards are
// those of TCS_FAKE_CUDA where it names none. NVML knows no mask: it shows all. Built also with
// TCS_FAKE_OLD_NVML: without what came with MIG.
#include <stdio.h>
#include <string.h>

#include <map>

#include "../script.h"

namespace tcs_double {
namespace {

// nvmlReturn_t, of nvml.h.
constexpr int uninitialized = 1, invalid_argument = 2, not_supported = 3, not_found = 6;
constexpr int insufficient_size = 7, gpu_is_lost = 15, reset_required = 16;
constexpr size_t most_instances = 7;

struct Nvml {
  Script script = read_script("TCS_FAKE_NVML", "nvmlInit_v2");
  int users = 0;
  std::map<std::pair<int, int>, Device> instances;  // handles must stay where they are
  Nvml() {
    if (script.devices.empty()) script.devices = read_script("TCS_FAKE_CUDA", "").devices;
  }
};
Nvml& nvml() {
  static Nvml one;
  return one;
}

int begin(const char* call, const Device* device = nullptr) {
  const std::string subject = device != nullptr ? std::to_string(device->board) : "";
  if (const int error = act(nvml().script, call, subject)) return error;
  if (nvml().users == 0) return uninitialized;
  if (device != nullptr && device->lost) return gpu_is_lost;
  return 0;
}

// Of questions that a board which wants a reset does not answer.
int begin_running(const char* call, const Device* device) {
  if (const int error = begin(call, device)) return error;
  return device->reset ? reset_required : 0;
}

int put(char* out, unsigned size, const std::string& text) {
  if (text.size() + 1 > size) return insufficient_size;
  snprintf(out, size, "%s", text.c_str());
  return 0;
}

struct Pci {  // nvmlPciInfo_t
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem;
  char text[32];
};

const char* const error_texts[] = {
    "Success",
    "Uninitialized",
    "Invalid Argument",
    "Not Supported",
    "Insufficient Permissions",
    "Already Initialized",
    "Not Found",
    "Insufficient Size",
    "Insufficient External Power",
    "Driver Not Loaded",
    "Timeout",
    "Interrupt Request Issue",
    "NVML Shared Library Not Found",
    "Function Not Found",
    "Corrupted infoROM",
    "GPU is lost",
    "GPU requires reset",
    "Operating System refused the request",
    "Driver/library version mismatch",
};

}  // namespace
}  // namespace tcs_double

using namespace tcs_double;  // NOLINT: the entry points are those of C

TCS_DOUBLE_CALL int nvmlInit_v2() {
  log_call("nvmlInit_v2");
  if (nvml().script.noise) printf("NVML: no devices were found\n");
  if (const int error = act(nvml().script, "nvmlInit_v2")) return error;
  if (nvml().script.init != 0) return nvml().script.init;
  ++nvml().users;
  return 0;
}

TCS_DOUBLE_CALL int nvmlShutdown() {
  if (const int error = begin("nvmlShutdown")) return error;
  --nvml().users;
  return 0;
}

TCS_DOUBLE_CALL const char* nvmlErrorString(int code) {
  const int known = static_cast<int>(sizeof error_texts / sizeof *error_texts);
  return code >= 0 && code < known ? error_texts[code] : "Unknown Error";
}

TCS_DOUBLE_CALL int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  if (const int error = begin("nvmlSystemGetDriverVersion")) return error;
  const std::string& version = nvml().script.version;
  return put(out, size, version.empty() ? "580.95.05" : version);
}

TCS_DOUBLE_CALL int nvmlDeviceGetCount_v2(unsigned* out) {
  if (const int error = begin("nvmlDeviceGetCount_v2")) return error;
  *out = static_cast<unsigned>(nvml().script.devices.size());
  if (nvml().script.claimed != -1) *out = static_cast<unsigned>(nvml().script.claimed);
  return 0;
}

TCS_DOUBLE_CALL int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** out) {
  if (index >= nvml().script.devices.size()) return invalid_argument;
  Device* device = &nvml().script.devices[index];
  if (const int error = begin("nvmlDeviceGetHandleByIndex_v2", device)) return error;
  *out = device;
  return 0;
}

TCS_DOUBLE_CALL int nvmlDeviceGetName(Device* device, char* out, unsigned size) {
  if (const int error = begin("nvmlDeviceGetName", device)) return error;
  return put(out, size, device->name);
}

TCS_DOUBLE_CALL int nvmlDeviceGetUUID(Device* device, char* out, unsigned size) {
  if (const int error = begin("nvmlDeviceGetUUID", device)) return error;
  return put(out, size, device->uuid());
}

TCS_DOUBLE_CALL int nvmlDeviceGetComputeMode(Device* device, int* out) {
  if (const int error = begin_running("nvmlDeviceGetComputeMode", device)) return error;
  *out = device->compute_mode;
  return 0;
}

#ifndef TCS_FAKE_OLD_NVML
TCS_DOUBLE_CALL int nvmlDeviceGetCudaComputeCapability(Device* device, int* major, int* minor) {
  if (const int error = begin_running("nvmlDeviceGetCudaComputeCapability", device)) return error;
  *major = device->major;
  *minor = device->minor;
  return 0;
}

TCS_DOUBLE_CALL int nvmlDeviceGetMigMode(Device* device, unsigned* now, unsigned* pending) {
  if (const int error = begin_running("nvmlDeviceGetMigMode", device)) return error;
  if (device->major < 8) return not_supported;
  *now = *pending = device->mig;
  return 0;
}

TCS_DOUBLE_CALL int nvmlDeviceGetMaxMigDeviceCount(Device* device, unsigned* out) {
  if (const int error = begin_running("nvmlDeviceGetMaxMigDeviceCount", device)) return error;
  *out = device->mig ? most_instances : 0;
  return 0;
}

TCS_DOUBLE_CALL int nvmlDeviceGetMigDeviceHandleByIndex(Device* device, unsigned index,
                                                        Device** out) {
  if (const int error = begin_running("nvmlDeviceGetMigDeviceHandleByIndex", device)) return error;
  if (index >= device->instances.size())
    return index < most_instances ? not_found : invalid_argument;
  const int number = static_cast<int>(index);
  Device& instance = nvml().instances[{device->board, number}];
  instance = device->mig_instance(number);
  *out = &instance;
  return 0;
}

TCS_DOUBLE_CALL int nvmlDeviceGetPciInfo_v3(Device* device, Pci* out) {
  if (const int error = begin("nvmlDeviceGetPciInfo_v3", device)) return error;
  memset(out, 0, sizeof *out);
  out->bus = static_cast<unsigned>(device->board) + 1;
  snprintf(out->text, sizeof out->text, "00000000:%02X:00.0", out->bus);
  snprintf(out->legacy, sizeof out->legacy, "0000:%02X:00.0", out->bus);
  return 0;
}
#endif
