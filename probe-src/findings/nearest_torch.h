// SPDX-License-Identifier: Apache-2.0
// Which of PyTorch's own builds (tables/torch_releases.def) would fit this machine. Advice only.
#pragma once
#include "findings/nearest_toolkit.h"

namespace tcs {

struct TorchWanted {
  List<Sm> sms;        // it must have machine code for these
  int cuda_major = 0;  // of the toolkit that compiles, 0 = any
  int loose = 0;       // 1: Python and the host compiler may change, 2: the driver too
};

// The same minor release as the one that is here, else the newest; null where none fits or where
// the table holds nothing: its images are those of Linux.
const TorchRow* nearest_torch(const RuleInput& in, const TorchWanted& wanted);

// What a PyTorch here has to serve: the visible devices, and the targets that were named.
List<Sm> to_serve(const RuleInput& in);

// "-DTorchCudaStack_TOOLKIT=/opt/cuda", "a toolkit of CUDA 11.8 and g++-11 as its host compiler".
std::string toolkit_words(const NearestToolkit& nearest);
std::string torch_named(const TorchRow& row);  // "PyTorch 2.7.1 for CUDA 12.8"
// ", in Python 3.10 to 3.13, with GCC 9 or newer", where those that are here do not do.
std::string torch_needs(const RuleInput& in, const TorchRow& row);
// "pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu128"
std::string install_line(const TorchRow& row, const Facts& facts);

// "PyTorch 2.7.1 for CUDA 12.8, which serves 12.0: pip install ...", with what else has to change
// for it where the toolkit, Python, the host compiler or (at loose 2) the driver does not go with
// any; "" where there is none.
std::string torch_way(const RuleInput& in, const List<Sm>& sms, int loose = 2);
const TorchRow* torch_advised(const RuleInput& in, const List<Sm>& sms);  // the one that it names
// Where torch_way() knows none: the builds of others, or from source.
std::string torch_elsewhere(const RuleInput& in, const List<Sm>& sms);
// "6.1 with PyTorch ..., or 12.0 with PyTorch ...": a PyTorch for each, "" where one has none.
std::string torch_for_each(const RuleInput& in, const List<Sm>& sms);

// What compiles the headers of that release, "GCC 9 or newer"; "" where the host compiler here
// does or is not known. torch_cxx.cpp
std::string compiler_for(const RuleInput& in, const Version& torch);

}  // namespace tcs
