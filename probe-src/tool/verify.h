// SPDX-License-Identifier: Apache-2.0
// Is what was built what was planned? Design: every planned image is in every fat binary that the
// target itself compiled; images of linked archives are listed, not judged; the CUDA libraries
// needed are those that torch loads.
#pragma once
#include <string>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

struct VerifyRequest {
  List<std::string> files;
  std::string plan;       // path of a plan.json; "" when `images` says it
  std::string images;     // "sm_80;compute_90": wanted before those of the plan
  std::string objects;    // path of a list of the target's own objects; "" = the files are judged
  std::string facts;      // path of a facts.json; "" = needed libraries are not judged
  std::string targets{};  // "8.6;9.0+PTX": wanted before those of the plan, after `images`
  bool rest = false;      // `objects` are what is left of a target: they need hold no device code
};

// status 0 holds, 1 does not, 2 bad input; `text` for standard output (0) or error (1, 2).
struct Verdict {
  int status = 0;
  std::string text;
};
Verdict verify(const Host& host, const VerifyRequest& request);

}  // namespace tcs
