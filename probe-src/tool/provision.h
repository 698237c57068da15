// SPDX-License-Identifier: Apache-2.0
// TorchCudaStack_PROVISION: where the toolkit of PyTorch's CUDA release is not there, it comes from
// PyPI.
#pragma once
#include <string>

#include "facts/gather.h"

namespace tcs {

// Where PROVISION is on, and the toolkit that `facts` have chosen is not of PyTorch's release: one
// is brought into `folder` (once; then it is there), and `facts` name it. Nothing comes in the
// place of one that the user named. What is done, or why nothing is, goes to stderr. False: it
// could not be had.
bool provision_toolkit(Host& host, const Inputs& in, const std::string& folder, Facts& facts);

}  // namespace tcs
