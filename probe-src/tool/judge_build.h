// SPDX-License-Identifier: Apache-2.0
// What the verbs that work for a build on this machine share (configure, run): from its facts to
// plan and findings, and the root of the toolkit that the build is given.
#pragma once
#include <string>

#include "facts/driver.h"
#include "findings/finding.h"
#include "plan/plan.h"
#include "tool/settings.h"

namespace tcs {

// Recorded facts when FACTS names a file, else this machine's.
Result<Facts> obtain_facts(Host& host, const Inputs& in, DriverChild& child);

struct JudgedBuild {
  Request request;
  Plan plan;
  Report report;  // its outcome is `fail` where the plan is empty, whatever is allowed
};
// Builds, and tries on the devices, the images of the plan (probe_plan), adds what was learnt to
// `facts`, and judges.
JudgedBuild judge_build(Host& host, const Inputs& in, const Request& request, const Policy& policy,
                        DriverChild& child, Facts& facts);

// Where in the user's cache the links that complete the chosen toolkit lie: one folder for each
// PyTorch whose headers are among them, since another build may be reading them. "": none is
// chosen.
std::string farm_folder(const std::string& cache, const Facts& facts);

// The chosen toolkit, or `farm`, the folder of links that completes it where it needs to be; "" of
// recorded facts and where none is chosen. A farm that cannot be laid leaves the real root, with a
// note on stderr.
std::string toolkit_root(Host& host, const Facts& facts, std::string farm,
                         const std::string& cache);

}  // namespace tcs
