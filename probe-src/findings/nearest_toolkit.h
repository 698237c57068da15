// SPDX-License-Identifier: Apache-2.0
// Which toolkit would fit: one that is on this machine, and one of NVIDIA's releases.
#pragma once
#include "findings/rules/common.h"

namespace tcs {

struct NearestToolkit {
  const Toolkit* here = nullptr;  // on this machine, not the one in use; fits in all respects
  int release = 0;                // by the tables (1208); 0: none builds all that is asked for
  std::string from_pypi;          // how it comes from there, "" where it does not
  bool refused = false;           // that does not take the host compiler here ...
  std::string compiler;           // ... but this one
  std::string torch;              // which one to take, where it is not of PyTorch's CUDA major
};

// Builds what is asked for and `more`, is of PyTorch's CUDA and takes the host compiler here. A
// toolkit of PyTorch's own release is the nearest, then the next newer one, then the newest.
// `sound`: none that is known to fail with what is here.
NearestToolkit nearest_toolkit(const RuleInput& in, const List<Sm>& more = {}, bool sound = false);

// As report_words(); at most eight words, since {8} is the root of the toolkit here and {9} what to
// install: the lines of TCS_HELP_TOOLKIT (table/toolkit.def).
Finding& report_toolkit(List<Finding>& out, int id, List<std::string> words,
                        const NearestToolkit& nearest);

// The oldest nvcc that has the C++ level of PyTorch's headers, 1200; 0 where that is no matter.
int nvcc_of_headers(const RuleInput& in);

}  // namespace tcs
