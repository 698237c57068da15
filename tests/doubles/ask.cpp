// SPDX-License-Identifier: Apache-2.0
// ask FILE...: gives each image to each device of the libcuda.so.1 that loads, runs tcs_image_probe
// and prints "device file call error value" (the call that failed, or "runs"). It uses the driver's
// interface alone, so that the double's answers are seen without the product.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

void* library = nullptr;

// Calls `name`; a function that is not there answers -1.
template <class... Types>
int call(const char* name, Types... arguments) {
  void* address = dlsym(library, name);
  if (address == nullptr) return -1;
  int (*function)(Types...) = nullptr;
  memcpy(&function, &address, sizeof address);
  return function(arguments...);
}

struct Answer {
  const char* step = "runs";
  int error = 0;
  unsigned value = 0;
};

bool failed(Answer& answer, const char* step, int error) {
  if (error == 0) return false;
  answer.step = step;
  answer.error = error;
  return true;
}

Answer run(void* module) {
  constexpr unsigned nonce = 0x5eed5eedu;
  Answer answer;
  void* function = nullptr;
  unsigned long long memory = 0;
  const char* kernel = "tcs_image_probe";
  if (failed(answer, "get", call("cuModuleGetFunction", &function, module, kernel))) return answer;
  if (failed(answer, "allocate", call("cuMemAlloc_v2", &memory, size_t{4}))) return answer;
  call("cuMemsetD32_v2", memory, 0u, size_t{1});
  unsigned given = nonce;
  void* arguments[] = {&memory, &given};
  void* none = nullptr;
  int error = call("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, none,
                   static_cast<void**>(arguments), static_cast<void**>(none));
  if (failed(answer, "launch", error)) return answer;
  if (failed(answer, "wait", call("cuCtxSynchronize"))) return answer;
  void* out = &answer.value;
  if (failed(answer, "copy", call("cuMemcpyDtoH_v2", out, memory, size_t{4}))) return answer;
  answer.value ^= nonce;
  call("cuMemFree_v2", memory);
  return answer;
}

Answer try_image(const std::string& image) {
  Answer answer;
  void* module = nullptr;
  const void* data = image.c_str();
  if (failed(answer, "load", call("cuModuleLoadData", &module, data))) return answer;
  answer = run(module);
  call("cuModuleUnload", module);
  return answer;
}

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int count, char** files) {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  int devices = 0;
  if (library == nullptr || call("cuInit", 0u) != 0 || call("cuDeviceGetCount", &devices) != 0)
    return 1;
  for (int device = 0; device < devices; ++device) {
    void* context = nullptr;
    if (call("cuDevicePrimaryCtxRetain", &context, device) != 0) return 1;
    if (call("cuCtxSetCurrent", context) != 0) return 1;
    for (int i = 1; i < count; ++i) {
      const Answer answer = try_image(contents(files[i]));
      printf("%d %s %s %d %u\n", device, files[i], answer.step, answer.error, answer.value);
    }
  }
}
