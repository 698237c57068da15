// SPDX-License-Identifier: Apache-2.0
// "Workflow commands for GitHub Actions": %, CR and LF are escaped in a message, and : and , in a
// property as well.
#include "base/text.h"
#include "formats/formats.h"

namespace tcs {
namespace {

constexpr size_t kShown = 10;  // of each kind, of one step

std::string data(const std::string& text) {
  return replace_all(replace_all(replace_all(text, "%", "%25"), "\r", "%0D"), "\n", "%0A");
}

std::string property(const std::string& text) {
  return replace_all(replace_all(data(text), ":", "%3A"), ",", "%2C");
}

struct Annotation {
  std::string title, message;
};

Annotation annotation(const Finding& f, const Checked& judged, Language language) {
  const Finding shown = said(f, language);
  std::string text = shown.message;
  for (const Evidence& e : shown.evidence)
    text += cat("\n", e.layer, ": ", e.has, e.needs.empty() ? "" : cat(" (", e.needs, ")"));
  for (const std::string& help : shown.help) text += cat("\n", said("help", language), ": ", help);
  const std::string of =
      judged.machine.empty() ? "" : cat(" (", said(judged.machine, Language::English), ")");
  return {cat(f.code(), " ", f.slug, of), text};
}

std::string commands(const char* kind, const List<Annotation>& all, const FormInput& in) {
  std::string out, rest;
  const size_t shown = all.size() > kShown ? kShown - 1 : all.size();
  const std::string place =
      in.file.empty() ? "" : cat("file=", property(in.file), ",line=", in.line, ",");
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < shown)
      out += cat("::", kind, " ", place, "title=", property(all[i].title),
                 "::", data(all[i].message), "\n");
    else
      rest += "\n" + all[i].title;
  }
  if (!rest.empty())
    out += cat("::", kind, " ", place, "title=", all.size() - shown,
               " more::", data(rest.substr(1)), "\n");
  return out;
}

}  // namespace

std::string github_commands(const FormInput& in) {
  List<Annotation> errors, warnings, notices;
  std::string summary;
  for (const Checked& judged : in.judged) {
    for (const Finding& f : judged.report.findings) {
      if (f.severity == Severity::Note) continue;
      const bool fails = judged.report.outcome == "fail" && reaches(f, in.policy);
      List<Annotation>& to = fails ? errors : f.severity == Severity::Unknown ? notices : warnings;
      to.push_back(annotation(f, judged, in.language));
    }
    summary += summary_line(judged.report, judged.facts, judged.plan, in.language) + "\n";
  }
  return cat(commands("error", errors, in), commands("warning", warnings, in),
             commands("notice", notices, in), summary);
}

}  // namespace tcs
