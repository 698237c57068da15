// SPDX-License-Identifier: Apache-2.0
// A check in the forms that other programs read: `tcstack check --format FORM` of the full tool.
// Pure; what comes from outside is escaped by each form's own rules.
#pragma once
#include <string>

#include "emit/emit.h"

namespace tcs {

struct FormInput {
  const List<Checked>& judged;
  const Policy& policy;
  Language language = Language::English;
  // The place that asked, which an annotation points to. "" = none is known.
  std::string file;
  int line = 1;
};

// JUnit XML as Jenkins and GitLab read it: a test suite for each machine, in it a test case for
// each finding that there is. Failed: it reaches the policy; skipped: a fact is not known.
std::string junit_xml(const FormInput& in);
// SARIF 2.1.0 (OASIS), one run. An unknown finding is of kind "open".
std::string sarif_json(const FormInput& in);
// Workflow commands of GitHub Actions: ::error file=...::. At most ten of each kind, as many as are
// shown of one step.
std::string github_commands(const FormInput& in);
// GitHub's Markdown, for a step's summary or a comment.
std::string markdown(const FormInput& in);

}  // namespace tcs
