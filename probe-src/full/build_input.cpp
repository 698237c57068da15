// SPDX-License-Identifier: Apache-2.0
#include "full/build_input.h"

#include "base/text.h"

namespace tcs {

// Installed: <prefix>/bin/tcstack and <prefix>/share/cmake/TorchCudaStack/modules; in a build tree
// inside the checkout: modules/ in a folder above. CMake runs what it holds: nobody else's.
std::string gate_path(const Host& host) {
  const std::string named = host.env_or("TORCH_CUDA_STACK_MODULES", "");
  if (!named.empty()) {
    const std::string gate = path_join(path_join(host.cwd(), named), kGate);
    return host.stat(gate).is_file() ? gate : std::string();
  }
  std::string folder = path_parent(host.self());
  for (int up = 0; up < 5 && folder.size() > 1; ++up, folder = path_parent(folder)) {
    for (const char* modules : {"/share/cmake/TorchCudaStack/modules", "/modules"}) {
      const FileStat at = host.stat(cat(folder, modules, "/", kGate));
      const bool installed = path_name(path_parent(host.self())) == "bin" && up == 1;
      if (at.is_file() && (installed || !at.foreign)) return cat(folder, modules, "/", kGate);
    }
  }
  return {};
}

void forget_replaced(const Request& request, const Inputs& in, StringMap& users) {
  const auto forget = [&](const char* names) {
    for (const std::string& name : split(names, " ")) users.erase(name);
  };
  const Text& list = request.arch_list;
  if (list.known() && !ends_with(list.from, "(environment)"))
    forget("TORCH_CUDA_ARCH_LIST CUDAARCHS");
  for (const char* name :
       {"TOOLKIT", "CMAKE_CUDA_COMPILER", "CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR"})
    if (in.find(name)) forget("CUDA_HOME CUDA_PATH CUDACXX");
  if (in.find("CMAKE_CUDA_HOST_COMPILER")) forget("CUDAHOSTCXX NVCC_CCBIN");
}

std::string host_compiler_of(const Facts& facts, const Inputs& in) {
  const std::string* named = in.find("CMAKE_CUDA_HOST_COMPILER");
  if (named != nullptr) return *named;
  const Toolkit* toolkit = facts.toolkit();
  return toolkit != nullptr ? toolkit->fitting_host_compiler.value() : std::string();
}

}  // namespace tcs
