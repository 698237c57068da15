// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/gather.h"
#include "facts/redact.h"

namespace tcs {
namespace {

// PRETTY_NAME of os-release(5), quotes off.
Text distribution(const Host& host) {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    Result<std::string> text = host.read(path, 65536);
    if (!text) continue;
    for (const std::string& line : lines_of(*text)) {
      if (!starts_with(line, "PRETTY_NAME=")) continue;
      std::string_view value = trim(std::string_view(line).substr(12));
      if (value.size() >= 2 && value.front() == value.back() &&
          (value[0] == '"' || value[0] == '\''))
        value = value.substr(1, value.size() - 2);
      if (!value.empty()) return Text(std::string(value), path);
    }
  }
  return {};
}

// "# R36 (release), REVISION: 4.3, GCID: ..." -> "36.4.3"
Text tegra_release(const Host& host) {
  const char* const path = "/etc/nv_tegra_release";
  Result<std::string> text = host.read(path, 65536);
  if (!text) return {};
  List<std::string> words = split(*text, " ,\n");
  if (words.size() < 5 || words[0] != "#" || words[1].size() < 2 || words[1][0] != 'R') return {};
  for (size_t i = 2; i + 1 < words.size(); ++i)
    if (words[i] == "REVISION:") {
      std::string release = cat(words[1].substr(1), '.', words[i + 1]);
      if (Version::parse(release).rest.empty()) return Text(release, path);
    }
  return {};
}

}  // namespace

bool variable_matters(const std::string& name) {
  if (names_a_secret(name)) return false;
  for (const char* prefix :
       {"CUDA", "NVCC_", "TORCH_", "CUDNN_", "NCCL_ROOT", "Torch_", "Python_", "CMAKE_CUDA_",
        "NVIDIA_VISIBLE", "NVIDIA_REQUIRE", "NVIDIA_DISABLE_REQUIRE", "NVIDIA_DRIVER_CAPABILITIES"})
    if (starts_with(name, prefix)) return true;
  for (const char* exact : {"LD_LIBRARY_PATH",
                            "LIBRARY_PATH",
                            "LD_PRELOAD",
                            "CPATH",
                            "CPLUS_INCLUDE_PATH",
                            "PATH",
                            "VIRTUAL_ENV",
                            "CONDA_PREFIX",
                            "PYTHONPATH",
                            "PYTHONHOME",
                            "PYTHONNOUSERSITE",
                            "PYTHONUSERBASE",
                            "CC",
                            "CXX",
                            "CXXFLAGS",
                            "MAX_JOBS",
                            "FORCE_CUDA",
                            "USE_CUDA",
                            "CMAKE_PREFIX_PATH",
                            "NVHPC_ROOT",
                            "CMAKE_ARGS",
                            "PIP_NO_BUILD_ISOLATION",
                            "VLLM_ENABLE_CUDA_COMPATIBILITY"})
    if (name == exact) return true;
  return false;
}

void gather_host(Host& host, Facts& facts) {
  HostFacts& out = facts.host;
  const SystemNames names = host.system();
  auto learn = [](Text& fact, const std::string& value, const char* from) {
    if (!value.empty()) fact = Text(value, from);
  };
  learn(out.os, lower(names.os), "uname");
  learn(out.arch, names.arch, "uname");
  learn(out.kernel, names.kernel, "uname");
  learn(out.glibc, names.glibc, "gnu_get_libc_version");
  const std::string release = lower(names.kernel);
  if (!release.empty())
    out.wsl = Flag(contains(release, "microsoft") || contains(release, "wsl"), "uname");
  out.distro = distribution(host);
  out.jetson_l4t = tegra_release(host);
  for (const auto& variable : host.environment())
    if (variable_matters(variable.first)) facts.environment[variable.first] = variable.second;
}

}  // namespace tcs
