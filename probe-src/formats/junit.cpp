// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "formats/formats.h"

namespace tcs {
namespace {

// What is said holds no control characters but line ends, which an attribute would lose.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

struct Case {
  std::string text, message;
  bool failed = false, skipped = false;
};

Case case_of(const RuleRow& row, const Checked& judged, const FormInput& in) {
  Case out;
  for (const Finding& f : judged.report.findings) {
    if (f.id != row.id) continue;
    if (out.message.empty()) out.message = said(f, in.language).message;
    out.text += finding_text(f, in.language);
    const bool fails = judged.report.outcome == "fail" && reaches(f, in.policy);
    out.failed = out.failed || fails;
    out.skipped = out.skipped || f.severity == Severity::Unknown;
  }
  out.skipped = out.skipped && !out.failed;
  return out;
}

std::string element(const char* name, const std::string& attributes, const std::string& text) {
  return cat("      <", name, attributes, ">", xml(text), "</", name, ">\n");
}

struct Suite {
  std::string cases;
  int tests = 0, failures = 0, skipped = 0;
};

Suite suite_of(const Checked& judged, const FormInput& in) {
  Suite out;
  for (const RuleRow& row : registry()) {
    const Case one = case_of(row, judged, in);
    const std::string code = make_finding(row.id, "").code();
    out.cases += cat("    <testcase classname=\"tcstack.", name_of(row.layer), "\" name=\"", code,
                     " ", row.slug, "\"");
    ++out.tests;
    out.failures += one.failed;
    out.skipped += one.skipped;
    if (one.text.empty()) {
      out.cases += "/>\n";
      continue;
    }
    const std::string message = cat(" message=\"", xml(one.message), "\"");
    out.cases += ">\n";
    if (one.failed)
      out.cases += element("failure", cat(message, " type=\"", code, "\""), one.text);
    else if (one.skipped)
      out.cases += element("skipped", message, one.text);
    else
      out.cases += element("system-out", "", one.text);
    out.cases += "    </testcase>\n";
  }
  return out;
}

std::string counts(const Suite& of) {
  return cat(" tests=\"", of.tests, "\" failures=\"", of.failures, "\" errors=\"0\" skipped=\"",
             of.skipped, "\"");
}

}  // namespace

std::string junit_xml(const FormInput& in) {
  std::string suites;
  Suite all;
  for (const Checked& judged : in.judged) {
    const Suite one = suite_of(judged, in);
    all.tests += one.tests;
    all.failures += one.failures;
    all.skipped += one.skipped;
    const std::string name =
        judged.machine.empty() ? "tcstack" : said(judged.machine, Language::English);
    suites += cat("  <testsuite name=\"", xml(name), "\"", counts(one), ">\n", one.cases,
                  element("system-out", "",
                          summary_line(judged.report, judged.facts, judged.plan, in.language))
                      .substr(2),
                  "  </testsuite>\n");
  }
  return cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tcstack\"",
             counts(all), ">\n", suites, "</testsuites>\n");
}

}  // namespace tcs
