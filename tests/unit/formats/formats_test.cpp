// SPDX-License-Identifier: Apache-2.0
// What tests/schema/formats_test.py does not meet on a recorded machine.
#include "formats/formats.h"

#include <catch2/catch_test_macros.hpp>

#include "base/text.h"

using namespace tcs;

namespace {

Finding finding(int id, Severity severity, const std::string& message) {
  Finding f = make_finding(id, message);
  f.severity = severity;
  return f;
}

struct Input {
  List<Checked> judged;
  Policy policy;
  explicit Input(const List<Finding>& findings, const char* outcome = "fail") {
    Checked one;
    one.report.findings = findings;
    one.report.outcome = outcome;
    judged.push_back(one);
  }
  FormInput form(Language language = Language::English) const {
    return {judged, policy, language, "CMakeLists.txt", 4};
  }
};

int count(const std::string& text, const std::string& part) {
  int out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

}  // namespace

TEST_CASE("of more than ten annotations of a kind nine are shown and the others named") {
  List<Finding> findings;
  for (int id = 201; id <= 212; ++id) findings.push_back(finding(id, Severity::Error, "no driver"));
  const std::string text = github_commands(Input(findings).form());
  CHECK(count(text, "::error file=CMakeLists.txt,line=4,title=TCS") == 9);
  CHECK(contains(text,
                 "title=3 more::TCS210 driver-call-fails%0ATCS211 driver-lacks-device%0ATCS212"));
  while (findings.size() > 10) findings.pop_back();
  CHECK(count(github_commands(Input(findings).form()), "::error ") == 10);
}

TEST_CASE("what was allowed is no annotation, and no failed test") {
  const Input in(
      {finding(303, Severity::Note, "minor"), finding(490, Severity::Unknown, "not known")}, "ok");
  const std::string text = github_commands(in.form());
  CHECK_FALSE(contains(text, "TCS303"));
  CHECK(contains(
      text, "::notice file=CMakeLists.txt,line=4,title=TCS490 unknown-host-compiler::not known\n"));
  CHECK(contains(junit_xml(in.form()), "failures=\"0\" errors=\"0\" skipped=\"1\""));
}

TEST_CASE("an unknown fact that fails the policy is an error, and a failed test") {
  Input in({finding(490, Severity::Unknown, "not known")});
  in.policy.fail_on = Severity::Unknown;
  CHECK(starts_with(github_commands(in.form()), "::error "));
  CHECK(contains(junit_xml(in.form()), "failures=\"1\" errors=\"0\" skipped=\"0\""));
}

TEST_CASE("two findings of one id are one test case with both texts") {
  const Input in({finding(902, Severity::Error, "one"), finding(902, Severity::Error, "two")});
  const std::string text = junit_xml(in.form());
  CHECK(count(text, "<failure ") == 1);
  CHECK(contains(text, "]: one\n"));
  CHECK(contains(text, "]: two\n"));
}

TEST_CASE("the forms that people read speak the language that is asked for") {
  const Input in({finding(602, Severity::Error, "there is no PyTorch here")});
  for (const std::string& text :
       {github_commands(in.form(Language::Chinese)), markdown(in.form(Language::Chinese)),
        junit_xml(in.form(Language::Chinese))}) {
    CAPTURE(text);
    CHECK(contains(text, "这里没有 PyTorch"));
  }
  CHECK_FALSE(contains(sarif_json(in.form(Language::Chinese)), "这里"));
}
