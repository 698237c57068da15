// SPDX-License-Identifier: Apache-2.0
// Bytes out: every function is pure and deterministic.
#pragma once
#include <string>
#include <utility>

#include "base/json.h"
#include "base/list.h"
#include "facts/facts.h"
#include "findings/finding.h"
#include "findings/texts.h"
#include "plan/plan.h"
#include "readers/images.h"

namespace tcs {

// Indent 2, 100 columns.
std::string finding_text(const Finding& finding, Language language = Language::English);
std::string report_text(const Report& report, const Facts& facts, const Plan& plan,
                        Language language = Language::English);
Json report_json(const Report& report, const Facts& facts, const Plan& plan);
Json plan_json(const Plan& plan);
std::string summary_line(const Report& report, const Facts& facts, const Plan& plan,
                         Language language = Language::English);

// A machine that was judged.
struct Checked {
  std::string machine;  // the recording; "" = this machine
  Facts facts;
  Plan plan;
  Report report;
};

// Rows of cells, all of one length: indented, at most 100 columns wide.
std::string columns_text(const List<List<std::string>>& rows,
                         Language language = Language::English);

// findings/availability.h as text (empty where nothing was built or tried), in report.json, and as
// variables of CMake.
std::string availability_text(const Facts& facts, const Plan& plan,
                              Language language = Language::English);
Json availability_json(const Facts& facts, const Plan& plan);
List<std::pair<std::string, std::string>> availability_variables(const Facts& facts,
                                                                 const Plan& plan);

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
