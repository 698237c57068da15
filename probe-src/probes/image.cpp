// SPDX-License-Identifier: Apache-2.0
// Does this image load and run on that device? Images of the kernel in kernels/image_probe.cu,
// which writes a number that only it knows: nonce ^ code. Stands alone, asked by device, code
// (__CUDA_ARCH__ * 16 of the image) and file:
//   c++ -std=c++17 image.cpp -o image -ldl && echo "0 14400 probe.cubin" | ./image
// tcstack holds the same code (TCS_NO_PROBE_MAIN), in the child that asks the driver (image.h).
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "answer.h"
#include "image.h"

namespace tcs_image_probe {

using tcs_probe::bind, tcs_probe::member;

// Of cuda.h (the driver API is stable): no CUDA header is needed to build this.
using Result = int;
using Device = int;
using Pointer = unsigned long long;
using Handle = struct Opaque*;
constexpr int most_devices = 64;  // those that can be tried
constexpr size_t most_bytes = 8u << 20;

struct Api {
  Result (*get)(Device*, int) = nullptr;
  Result (*retain)(Handle*, Device) = nullptr;
  Result (*release)(Device) = nullptr;
  Result (*current)(Handle) = nullptr;
  Result (*load)(Handle*, const void*) = nullptr;
  Result (*unload)(Handle) = nullptr;
  Result (*function)(Handle*, Handle, const char*) = nullptr;
  Result (*allocate)(Pointer*, size_t) = nullptr;
  Result (*set)(Pointer, unsigned, size_t) = nullptr;
  Result (*copy)(void*, Pointer, size_t) = nullptr;
  Result (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**) = nullptr;
  Result (*wait)() = nullptr;
};

bool bind_all(void* library, Api& api) {
  bind(library, "cuDeviceGet", api.get);
  bind(library, "cuDevicePrimaryCtxRetain", api.retain);
  bind(library, "cuDevicePrimaryCtxRelease_v2", api.release);
  bind(library, "cuCtxSetCurrent", api.current);
  bind(library, "cuModuleLoadData", api.load);
  bind(library, "cuModuleUnload", api.unload);
  bind(library, "cuModuleGetFunction", api.function);
  bind(library, "cuMemAlloc_v2", api.allocate);
  bind(library, "cuMemsetD32_v2", api.set);
  bind(library, "cuMemcpyDtoH_v2", api.copy);
  bind(library, "cuLaunchKernel", api.launch);
  bind(library, "cuCtxSynchronize", api.wait);
  return api.get && api.retain && api.release && api.current && api.load && api.unload &&
         api.function && api.allocate && api.set && api.copy && api.launch && api.wait;
}

// A device's primary context, kept from one image to the next.
struct Held {
  Device device = 0;
  Handle context = nullptr;
  Pointer memory = 0;
};

struct Tried {
  Result error = 0;            // of the step
  const char* step = nullptr;  // that failed; null: it ran
  bool reached = false;        // the device was there to try it
  unsigned value = 0;
};

class Trial {
 public:
  Trial(const Api& api, bool able) : api_(api), able_(able) {}

  Tried run(int index, const std::string& image, unsigned nonce) {
    Tried out;
    if (!able_ && !did(out, "dlsym", -1)) return out;
    Held& held = held_[index];
    if (!hold(index, held, out)) return out;
    out.reached = true;
    Handle module = nullptr;
    if (!did(out, "cuModuleLoadData", api_.load(&module, image.c_str()))) return out;
    const bool ran = launch(module, held.memory, nonce, out);
    if (ran) did(out, "cuModuleUnload", api_.unload(module));
    if (!ran) drop(held);  // after a fault its context answers nothing but that fault
    return out;
  }

 private:
  static bool did(Tried& out, const char* step, Result error) {
    if (error == 0) return true;
    out.error = error;
    out.step = step;
    return false;
  }

  bool hold(int index, Held& held, Tried& out) {
    if (held.context != nullptr) return did(out, "cuCtxSetCurrent", api_.current(held.context));
    if (!did(out, "cuDeviceGet", api_.get(&held.device, index)) ||
        !did(out, "cuDevicePrimaryCtxRetain", api_.retain(&held.context, held.device))) {
      held.context = nullptr;
      return false;
    }
    if (did(out, "cuCtxSetCurrent", api_.current(held.context)) &&
        did(out, "cuMemAlloc_v2", api_.allocate(&held.memory, sizeof(unsigned))))
      return true;
    drop(held);
    return false;
  }

  void drop(Held& held) {
    (void)api_.release(held.device);
    held = Held();
  }

  bool launch(Handle module, Pointer memory, unsigned nonce, Tried& out) {
    Handle kernel = nullptr;
    void* arguments[] = {&memory, &nonce};
    return did(out, "cuModuleGetFunction", api_.function(&kernel, module, "tcs_image_probe")) &&
           did(out, "cuMemsetD32_v2", api_.set(memory, ~nonce, 1)) &&
           did(out, "cuLaunchKernel",
               api_.launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)) &&
           did(out, "cuCtxSynchronize", api_.wait()) &&
           did(out, "cuMemcpyDtoH_v2", api_.copy(&out.value, memory, sizeof out.value));
  }

  const Api& api_;
  const bool able_;
  Held held_[most_devices];
};

bool read_file(const char* path, std::string& out) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  char buffer[16384];
  ssize_t n = -1;
  out.clear();
  while (file >= 0 && out.size() < most_bytes && (n = read(file, buffer, sizeof buffer)) > 0)
    out.append(buffer, static_cast<size_t>(n));
  if (file >= 0) close(file);
  return n == 0 && !out.empty();
}

unsigned fresh_nonce() {
  static unsigned count = 0;
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return (static_cast<unsigned>(t.tv_nsec) ^ static_cast<unsigned>(getpid()) << 16) * 2654435761u +
         ++count;
}

// `number`: of the question, from 1 on, so that no answer is taken for another's.
std::string answer_line(Trial& trial, const std::string& line, int number) {
  int index = -1, path = 0;
  unsigned code = 0;
  std::string image, json = "{\"n\":" + std::to_string(number);
  if (sscanf(line.c_str(), "%d %u %n", &index, &code, &path) != 2 || path == 0 || index < 0 ||
      index >= most_devices || !read_file(line.c_str() + path, image))
    return json + ",\"result\":\"unread\"}\n";
  const unsigned nonce = fresh_nonce();
  const Tried tried = trial.run(index, image, nonce);
  const bool failed = tried.step != nullptr, right = tried.value == (nonce ^ code);
  const char* result = failed && !tried.reached ? "unreached" : right ? "runs" : "wrong";
  member(json, "result", tcs_probe::quoted(failed && tried.reached ? "refused" : result));
  if (failed) member(json, "error", std::to_string(tried.error));
  if (failed) member(json, "step", tcs_probe::quoted(tried.step));
  if (!failed) member(json, "value", std::to_string(tried.value ^ nonce));
  return json + "}\n";
}

}  // namespace tcs_image_probe

bool try_images(void* library, int input, int answer) {
  tcs_image_probe::Api api;
  int number = 0;
  tcs_image_probe::Trial trial(api, tcs_image_probe::bind_all(library, api));
  std::string lines;
  char buffer[4096];
  for (ssize_t n; (n = read(input, buffer, sizeof buffer)) > 0;) {
    lines.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = lines.find('\n')) != std::string::npos; lines.erase(0, end + 1))
      if (!tcs_probe::send(answer,
                           tcs_image_probe::answer_line(trial, lines.substr(0, end), ++number)))
        return false;
  }
  return true;
}

#ifndef TCS_NO_PROBE_MAIN
int main() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int (*init)(unsigned) = nullptr;
  if (library != nullptr) tcs_probe::bind(library, "cuInit", init);
  if (init == nullptr || init(0) != 0) return fputs("no libcuda.so.1 that works here\n", stderr), 1;
  return try_images(library, STDIN_FILENO, STDOUT_FILENO) ? 0 : 1;
}
#endif
