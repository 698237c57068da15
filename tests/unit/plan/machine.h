// SPDX-License-Identifier: Apache-2.0
// Machines and requests for the planner's tests.
#pragma once
#include <string>

#include "base/list.h"
#include "base/text.h"
#include "plan/plan.h"

// `ptxas --help` of these releases (PyPI packages, 2026-11), as digits.
inline const char* const kNvcc118 = "35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90";
inline const char* const kNvcc124 = "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a";
inline const char* const kNvcc128 =
    "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a 101 101a 120 120a";
inline const char* const kNvcc130 =
    "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a "
    "121f";
inline const char* const kNvcc135 =
    "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a "
    "120f 121 121a 121f";

// Only the release of nvcc is known.
inline tcs::Facts with_nvcc_release(const std::string& version) {
  tcs::Facts facts;
  tcs::Toolkit toolkit;
  toolkit.version = tcs::Text(version, "nvcc --version");
  facts.toolkits.list_known = true;
  facts.toolkits.list.push_back(toolkit);
  facts.toolkits.selected = 0;
  return facts;
}

// nvcc said what it builds.
inline tcs::Facts with_nvcc(const std::string& version, const std::string& digits) {
  tcs::Facts facts = with_nvcc_release(version);
  tcs::List<std::string> names;
  for (const std::string& d : tcs::split(digits, " ")) {
    names.push_back("sm_" + d);
    names.push_back("compute_" + d);
  }
  facts.toolkits.list[0].archs = tcs::Names(names, "nvcc --list-gpu-code");
  return facts;
}

inline void add_device(tcs::Facts& facts, const std::string& cc, const std::string& name = "GPU") {
  tcs::Device device;
  device.index = static_cast<int>(facts.devices.list.size());
  device.name = name;
  device.cc = tcs::Text(cc, "cuDeviceGetAttribute");
  device.visible = true;
  facts.devices.state = std::string("measured");
  facts.devices.list_known = true;
  facts.devices.list.push_back(device);
}

// A torch with fat binaries given as "images x count" rows, e.g. {"sm_75 sm_80", 476}.
struct SetRow {
  const char* images;
  int count;
};
inline void add_torch(tcs::Facts& facts, const std::string& version,
                      const tcs::List<SetRow>& rows) {
  facts.torch.state = std::string("found");
  facts.torch.version = version;
  facts.torch.flavour = std::string("cuda");
  tcs::TorchLibrary library;
  library.name = std::string("libtorch_cuda.so");
  for (const SetRow& row : rows) {
    tcs::ImageSet set;
    set.images = tcs::split(row.images, " ");
    set.count = row.count;
    library.sets.push_back(set);
  }
  facts.torch.libraries.push_back(library);
}

inline tcs::Request list_request(const std::string& list, const std::string& dialect = "torch") {
  tcs::Request request;
  request.arch_list = tcs::Text(list, "TORCH_CUDA_ARCH_LIST (environment)");
  request.arch_dialect = dialect;
  return request;
}

inline tcs::Request target_request(const tcs::List<std::string>& targets) {
  tcs::Request request;
  request.targets_known = true;
  request.targets = targets;
  request.targets_from = "TorchCudaStack_TARGETS";
  return request;
}

// "80:80 80:ptx 90a:90a": virtual and real of each image.
inline std::string shown(const tcs::Plan& plan) {
  tcs::List<std::string> parts;
  for (const tcs::Gencode& g : plan.gencodes) {
    parts.push_back(g.virt.digits() + ":" + (g.ptx ? std::string("ptx") : g.real.digits()));
  }
  return tcs::join(parts, " ");
}

inline const tcs::PlanIssue* issue_of(const tcs::Plan& plan, tcs::PlanIssue::Kind kind) {
  for (const tcs::PlanIssue& issue : plan.issues) {
    if (issue.kind == kind) return &issue;
  }
  return nullptr;
}
