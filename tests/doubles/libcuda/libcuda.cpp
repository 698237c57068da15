// SPDX-License-Identifier: Apache-2.0
// A double of libcuda.so.1: answers what the environment variable TCS_FAKE_CUDA says, and judges
// the images that it is given by reading them (../README.md). Built also with TCS_FAKE_MINIMAL
// (nothing but cuInit), TCS_FAKE_EMPTY (no function at all) and TCS_FAKE_STUB (the link stub: 34 to
// all).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>

#include "mask.h"
#include "rules.h"

// Hidden functions are not there for who asks for them by name.
#ifdef TCS_FAKE_EMPTY
#define TCS_FIRST_CALL extern "C"
#else
#define TCS_FIRST_CALL TCS_DOUBLE_CALL
#endif
#if defined(TCS_FAKE_EMPTY) || defined(TCS_FAKE_MINIMAL)
#define TCS_CALL extern "C"
#else
#define TCS_CALL TCS_DOUBLE_CALL
#endif

namespace tcs_double {
namespace {

constexpr int not_initialized = 3, invalid_value = 1, stub_library = 34, device_unavailable = 46;
constexpr int no_device = 100, invalid_device = 101, invalid_context = 201, invalid_handle = 400;
constexpr int not_found = 500, illegal_address = 700, last_sticky = 720, unknown_error = 999;

struct Module {
  Image image;
  int device = 0;
};
struct Function {
  Module* module = nullptr;
};
struct Context {
  int retained = 0;
  int sticky = 0;  // the error after which nothing works in it any more
};

struct Driver {
  Script script = read_script("TCS_FAKE_CUDA", "cuInit");
  std::vector<Device> shown = visible_devices(script.devices);
  std::map<int, Context> contexts;
  std::map<void*, size_t> memory;
  bool initialised = false;
  int cuda() const { return script.version.empty() ? 12080 : atoi(script.version.c_str()); }
  const Device* device(int number) const {
    return number >= 0 && number < static_cast<int>(shown.size())
               ? &shown[static_cast<size_t>(number)]
               : nullptr;
  }
};
Driver& driver() {
  static Driver one;
  return one;
}

thread_local int current = -1;  // the device of this thread's context

std::string board(const Device& device) {
  return std::to_string(device.board);
}

// What any call but cuInit, cuDriverGetVersion and cuGetErrorName begins with.
int begin(const char* call, const std::string& subject = "") {
#ifdef TCS_FAKE_STUB
  static_cast<void>(call);
  static_cast<void>(subject);
  return stub_library;
#else
  const int error = act(driver().script, call, subject);
  if (error != 0) return error;
  return driver().initialised ? 0 : not_initialized;
#endif
}

int begin(const char* call, int number) {
  const Device* device = driver().device(number);
  const int error = begin(call, device != nullptr ? board(*device) : "");
  if (error != 0) return error;
  return device != nullptr ? 0 : invalid_device;
}

// Of calls in a context. Its first error of the kind that breaks a context stays.
int in_context(const char* call, const std::string& subject = "") {
  const int error = begin(call, subject);
  if (error == not_initialized || error == stub_library) return error;
  if (current < 0 || driver().contexts[current].retained == 0) return invalid_context;
  int& sticky = driver().contexts[current].sticky;
  if (sticky == 0 && error >= illegal_address && error <= last_sticky) sticky = error;
  return sticky != 0 ? sticky : error;
}

int init() {
  const Driver& now = driver();
  log_call("cuInit");
  if (now.script.noise) {
    printf("{\"probe\":\"tcs-driver/1\",\"init\":0}\nNo CUDA devices found.\n");
    fflush(stdout);
  }
#ifdef TCS_FAKE_STUB
  return stub_library;
#else
  const int error = act(now.script, "cuInit");
  if (error != 0) return error;
  if (now.script.init != 0) return now.script.init;
  return now.shown.empty() && getenv("CUDA_VISIBLE_DEVICES") != nullptr ? no_device : 0;
#endif
}

int attribute(const Device& device, int number) {
  switch (number) {
    case 18:  // integrated
      return device.integrated;
    case 20:  // compute mode
      return device.compute_mode;
    case 33:  // PCI bus
      return device.board + 1;
    case 75:
      return device.major;
    case 76:
      return device.minor;
    default:
      return 0;
  }
}

int retain_error(const Device& device) {
  if (device.lost || device.reset || device.error) return unknown_error;
  return device.compute_mode == 2 || device.busy ? device_unavailable : 0;
}

int load(Module*& out, const void* data) {
  bool fat = false;
  const std::vector<Image> images = read_images(data, fat);
  const Device* device = driver().device(current);
  if (device == nullptr) return in_context("cuModuleLoadData");
  int error = 0;
  const Image* chosen = &images[0];
  if (fat)
    chosen = choose(images, *device, driver().cuda(), driver().script.no_jit, error);
  else
    error = load_error(*chosen, *device, driver().cuda(), driver().script.no_jit);
  const std::string name = chosen != nullptr ? chosen->name() : "fatbin";
  log_call("cuModuleLoadData " + name + " on " + board(*device));
  if (const int scripted = in_context("cuModuleLoadData", name)) return scripted;
  if (error == 0) out = new Module{*chosen, current};
  return error;
}

// "Runs" tcs_image_probe: writes what the image that was loaded would.
int launch(const Function& function, void** arguments) {
  const Image& image = function.module->image;
  if (const int error = in_context("cuLaunchKernel", image.name())) return error;
  if (arguments == nullptr || function.module->device != current) return invalid_value;
  void* out = nullptr;
  unsigned nonce = 0;
  memcpy(&out, arguments[0], sizeof out);
  memcpy(&nonce, arguments[1], sizeof nonce);
  unsigned value = nonce ^ image.code;
  if (!image.has_code) value = 0;
  if (says_wrong(driver().script, image.name())) value ^= 0x10u;
  if (driver().memory.count(out) == 0) {
    driver().contexts[current].sticky = illegal_address;
    return 0;  // as on a device: the launch is taken, the next call tells
  }
  memcpy(out, &value, sizeof value);
  return 0;
}

bool holds(void* address, size_t bytes) {
  const auto found = driver().memory.find(address);
  return found != driver().memory.end() && bytes <= found->second;
}

void* pointer(unsigned long long address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

struct ErrorName {
  int code;
  const char* name;
};
const ErrorName error_names[] = {
    {0, "CUDA_SUCCESS"},
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace
}  // namespace tcs_double

using namespace tcs_double;  // NOLINT: the entry points are those of C

TCS_FIRST_CALL int cuInit(unsigned) {
  const int error = init();
  driver().initialised = error == 0;
  return error;
}

TCS_CALL int cuDriverGetVersion(int* out) {
#ifdef TCS_FAKE_STUB
  *out = 0;
  return stub_library;
#else
  if (const int error = act(driver().script, "cuDriverGetVersion")) return error;
  *out = driver().cuda();
  return *out != 0 ? 0 : stub_library;
#endif
}

TCS_CALL int cuGetErrorName(int code, const char** out) {
  for (const ErrorName& one : error_names) {
    if (one.code != code) continue;
    *out = one.name;
    return 0;
  }
  *out = nullptr;
  return invalid_value;
}

TCS_CALL int cuDeviceGetCount(int* out) {
  if (const int error = begin("cuDeviceGetCount")) return error;
  const Driver& now = driver();
  *out = now.script.claimed == -1 ? static_cast<int>(now.shown.size()) : now.script.claimed;
  return 0;
}

TCS_CALL int cuDeviceGet(int* out, int index) {
  if (const int error = begin("cuDeviceGet", index)) return error;
  *out = index;
  return 0;
}

TCS_CALL int cuDeviceGetName(char* out, int size, int number) {
  if (const int error = begin("cuDeviceGetName", number)) return error;
  snprintf(out, static_cast<size_t>(size), "%s", driver().device(number)->name.c_str());
  return 0;
}

TCS_CALL int cuDeviceGetAttribute(int* out, int which, int number) {
  if (const int error = begin("cuDeviceGetAttribute", number)) return error;
  if (driver().device(number)->error) return unknown_error;
  *out = attribute(*driver().device(number), which);
  return 0;
}

// The first form tells a MIG instance's board, the second the instance.
TCS_CALL int cuDeviceGetUuid(unsigned char* out, int number) {
  if (const int error = begin("cuDeviceGetUuid", number)) return error;
  Device device = *driver().device(number);
  device.instance = -1;
  device.uuid_bytes(out);
  return 0;
}

TCS_CALL int cuDeviceGetUuid_v2(unsigned char* out, int number) {
  if (const int error = begin("cuDeviceGetUuid_v2", number)) return error;
  driver().device(number)->uuid_bytes(out);
  return 0;
}

TCS_CALL int cuDevicePrimaryCtxRetain(void** out, int number) {
  if (const int error = begin("cuDevicePrimaryCtxRetain", number)) return error;
  if (const int error = retain_error(*driver().device(number))) return error;
  Context& context = driver().contexts[number];
  ++context.retained;
  *out = &context;
  return 0;
}

TCS_CALL int cuDevicePrimaryCtxRelease_v2(int number) {
  if (const int error = begin("cuDevicePrimaryCtxRelease_v2", number)) return error;
  Context& context = driver().contexts[number];
  if (context.retained == 0) return invalid_context;
  if (--context.retained == 0) context.sticky = 0;
  return 0;
}

TCS_CALL int cuCtxSetCurrent(void* context) {
  if (const int error = begin("cuCtxSetCurrent")) return error;
  if (context == nullptr) {
    current = -1;
    return 0;
  }
  for (const auto& one : driver().contexts) {
    if (&one.second != context) continue;
    current = one.first;
    return 0;
  }
  return invalid_context;
}

TCS_CALL int cuModuleLoadData(void** out, const void* data) {
  if (const int error = driver().initialised ? 0 : begin("cuModuleLoadData")) return error;
  if (current < 0) return invalid_context;
  Module* module = nullptr;
  const int error = load(module, data);
  if (error == 0) *out = module;
  return error;
}

TCS_CALL int cuModuleUnload(void* module) {
  if (const int error = in_context("cuModuleUnload")) return error;
  delete static_cast<Module*>(module);
  return 0;
}

TCS_CALL int cuModuleGetFunction(void** out, void* module, const char* name) {
  Module* one = static_cast<Module*>(module);
  if (const int error = in_context("cuModuleGetFunction", one->image.name())) return error;
  if (!one->image.has_kernel(name)) return not_found;
  static std::map<Module*, Function> functions;
  functions[one].module = one;
  *out = &functions[one];
  return 0;
}

TCS_CALL int cuMemAlloc_v2(unsigned long long* out, size_t bytes) {
  if (const int error = in_context("cuMemAlloc_v2")) return error;
  void* memory = calloc(1, bytes);
  driver().memory[memory] = bytes;
  *out = reinterpret_cast<uintptr_t>(memory);
  return 0;
}

TCS_CALL int cuMemFree_v2(unsigned long long address) {
  if (const int error = in_context("cuMemFree_v2")) return error;
  if (driver().memory.erase(pointer(address)) == 0) return invalid_value;
  free(pointer(address));
  return 0;
}

TCS_CALL int cuMemsetD32_v2(unsigned long long address, unsigned value, size_t count) {
  if (const int error = in_context("cuMemsetD32_v2")) return error;
  if (!holds(pointer(address), count * sizeof value)) return invalid_value;
  for (size_t i = 0; i < count; ++i)
    memcpy(static_cast<char*>(pointer(address)) + i * sizeof value, &value, sizeof value);
  return 0;
}

TCS_CALL int cuMemcpyDtoH_v2(void* out, unsigned long long address, size_t bytes) {
  if (const int error = in_context("cuMemcpyDtoH_v2")) return error;
  if (!holds(pointer(address), bytes)) return invalid_value;
  memcpy(out, pointer(address), bytes);
  return 0;
}

TCS_CALL int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx,
                            unsigned by, unsigned bz, unsigned, void*, void** arguments, void**) {
  if (function == nullptr) return invalid_handle;
  if (x * y * z == 0 || bx * by * bz == 0) return invalid_value;
  return launch(*static_cast<Function*>(function), arguments);
}

TCS_CALL int cuCtxSynchronize() {
  return in_context("cuCtxSynchronize");
}
