// SPDX-License-Identifier: Apache-2.0
// A build on a machine with nvcc 13.0 at /cuda, told of a list of architectures.
#pragma once
#include <string>

#include "drive/drive.h"
#include "plan/machine.h"

struct Build {
  tcs::Facts facts = with_nvcc("13.0.88", kNvcc130);
  tcs::Request request;
  tcs::StringMap users;
  std::string root = "/cuda", host_compiler, gate;
  tcs::List<std::string> named;

  explicit Build(const std::string& list) {
    facts.origin = "replayed";
    request.arch_list = tcs::Text(list, "TORCH_CUDA_ARCH_LIST (environment)");
    facts.host.cores = tcs::Fact<int>(8);
    facts.host.memory_mib = tcs::Fact<int>(64 << 10);
  }
  tcs::Plan plan() const { return make_plan(facts, request); }
  tcs::Drive drive() const {
    const tcs::Plan made = plan();
    return make_drive(
        tcs::DriveInput{facts, request, made, users, root, host_compiler, gate, named});
  }
};

// "" where it is not there.
inline tcs::BuildSetting find(const tcs::List<tcs::BuildSetting>& settings, const char* name) {
  for (const tcs::BuildSetting& one : settings)
    if (one.name == name) return one;
  return {};
}
inline std::string environment(const Build& build, const char* name) {
  return find(build.drive().environment, name).value;
}
inline std::string cache(const Build& build, const char* name) {
  return find(build.drive().cache, name).value;
}
