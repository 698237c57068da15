// SPDX-License-Identifier: Apache-2.0
// Bytes out: every function is pure and deterministic.
#pragma once
#include <string>

#include "base/json.h"
#include "base/list.h"
#include "facts/facts.h"
#include "findings/finding.h"
#include "plan/plan.h"
#include "readers/images.h"

namespace tcs {

std::string finding_text(const Finding& finding);  // indent 2, 100 columns
std::string report_text(const Report& report, const Facts& facts, const Plan& plan);
Json report_json(const Report& report, const Facts& facts, const Plan& plan);
Json plan_json(const Plan& plan);
std::string summary_line(const Report& report, const Facts& facts, const Plan& plan);

std::string images_table(const List<ImageList>& lists);
// One file that `tcstack images` was given: what it holds, or why that could not be read.
struct ImageResult {
  std::string path;
  Result<ImageList> list;
};
Json images_json(const List<ImageResult>& files);  // schema torch-cuda-stack/images/1

// A CMake bracket argument whose content is exactly `text`.
std::string cmake_quote(const std::string& text);

}  // namespace tcs
