// SPDX-License-Identifier: Apache-2.0
// What `tcstack explain` and docs/findings have of a finding, from the table of findings and its
// hit machine.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "findings/texts.h"

namespace pages {

struct Way {
  std::string text;
  std::string cost;
};
// The parts of an explain text.
struct Explained {
  std::string prose;                  // meaning and why
  std::vector<std::string> commands;  // of 'See it yourself', as written, without the indent
  std::vector<Way> ways;
};
Explained parts_of(const std::string& explain);

// What is printed of the finding on its hit machine, without the last line.
std::string example_of(const tcs::RuleRow& row, tcs::Language language = tcs::Language::English);

// Path below the source folder -> text: probe-src/findings/examples.def, docs/findings and the
// same below zh.
std::map<std::string, std::string> all_files();

std::string read_source(const std::string& path);  // "" where there is none

}  // namespace pages
