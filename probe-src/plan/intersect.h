// SPDX-License-Identifier: Apache-2.0
// Which images of one source file this plan needs: the file's architectures against the plan.
// docs/kernel-archs.md says the same for users. Pure.
//
// Needs of the plan, in this order of collecting:
// - each capability among its targets that its own images serve;
// - the capability of each image that is machine code, or PTX of an 'a' or 'f'; of an 'f' image
// each
//   member of its family. Where the plan follows targets and no list of the user's, its plain and
//   'a' machine code is there for those targets and is no need of its own;
// - each plain PTX, which is there for GPUs to come.
// What serves a capability, the best first; each by fits(), each only where nvcc builds it:
//   1. machine code of its own 'a', 2. of an 'f' of its family, 3. of the highest plain minor of
//   its major that is not above it, on the same side of the border between Tegra and the others,
//   4. PTX that the file offers (+PTX, -virtual), in the same order, 5. PTX chosen for a need of
//   PTX.
// What serves PTX of X.y: PTX of the file's highest plain architecture that is not above X.y,
// whether it offers PTX or not. PTX of 'a' and 'f' never does: it runs on no GPU to come. A plain
// entry of a capability that the plan has with a suffix alone is compiled with that suffix, where
// that serves the same: 9.0 and a plan with 9.0a give 9.0a. 10.1 and 11.0 are one architecture,
// named so by nvcc up to 12.9 and from 13.0. 12.0f is read as 12.0a where nvcc has no 'f'.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "base/list.h"
#include "plan/buildable.h"
#include "plan/plan.h"

namespace tcs {

// What of a plan counts here.
struct PlanNeeds {
  List<Image> images;
  List<Sm> targets;
  bool by_user = true;  // images are a list of the user's
};

struct Intersection {
  Plan plan;  // gencodes alone: sorted; `reason` is what each serves: "8.6 8.9 compute_120"
  List<std::pair<std::string, std::string>> unserved;  // "12.1" or "compute_90", and why
  List<std::string> notes;                             // "10.1a is 11.0a for nvcc 13.0.88"
  std::string error;  // an entry that is no architecture, or a plan without images

  List<std::string> images() const;  // "sm_90a"
  std::string list() const;          // "8.0+PTX;9.0a", "90-virtual" for PTX alone
};

// `archs`: the file's, as an arch list has them; no words that depend on the machine.
Intersection intersect(const PlanNeeds& needs, const Buildable& build, std::string_view archs);

}  // namespace tcs
