// SPDX-License-Identifier: Apache-2.0
// One gatherer per layer: asks the Host, fills its part of Facts. A gatherer never fails: what it
// cannot learn stays unknown with a reason.
#pragma once
#include <string>

#include "facts/facts.h"
#include "host/host.h"

namespace tcs {

// Inputs that narrow the search, by their CMake names (docs/internals.md), beside the environment.
struct Inputs {
  StringMap set;
  int timeout_ms = 30000;
  std::string work_dir;   // where a probe may be compiled; "" = nothing is compiled
  std::string cache_dir;  // the user's cache of answers; "" = none
  bool cross_compiling = false;
  const std::string* find(const std::string& name) const { return set.find(name); }
};

// Variables whose value changes what is chosen, built or loaded. Others are nobody's business.
bool variable_matters(const std::string& name);

void gather_host(Host& host, Facts& facts);                      // gather_host.cpp
void gather_python(Host& host, const Inputs& in, Facts& facts);  // gather_python.cpp
void gather_torch(Host& host, const Inputs& in,
                  Facts& facts);  // gather_torch.cpp: torch, libraries
void gather_toolkits(Host& host, const Inputs& in,
                     Facts& facts);  // gather_toolkits.cpp: toolkits, host_compiler
// Of SOURCE_DIR a source tree of PyTorch, of BINARY_DIR its build folder (gather_tree.cpp).
void gather_tree(const Host& host, const Inputs& in, Facts& facts);
bool is_pytorch_tree(const Host& host, const std::string& folder);
// All of them and the driver (driver.h), in an order that lets later ones use earlier facts
// (toolkits need torch.cuda). `child`: the driver's, kept to try images.
struct DriverChild;
Facts gather_all(Host& host, const Inputs& in, DriverChild& child);
Facts gather_all(Host& host, const Inputs& in);

// Completes a toolkit that lacks lib64 or unversioned libraries with links under `dir`; returns the
// root to use (`dir` or the toolkit's own). `torchs`: where PyTorch's packages have the headers and
// libraries of CUDA's other libraries; what the toolkit lacks of them is taken from there.
Result<std::string> lay_link_farm(Host& host, const Toolkit& toolkit, const std::string& dir,
                                  const std::string& torchs = {});  // link_farm.cpp

}  // namespace tcs
