// SPDX-License-Identifier: Apache-2.0
// GitHub Flavored Markdown (its specification): tables, and blocks of code for what is copied.
#include "base/text.h"
#include "formats/formats.h"

namespace tcs {
namespace {

// Text as it stands, in a line or a cell: what Markdown or HTML gives a meaning to is escaped.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (contains(std::string_view("\\`*_[]<>|~&"), std::string_view(&c, 1))) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string row(const List<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += cat(" ", plain(cell), " |");
  return out + "\n";
}

std::string evidence(const Finding& shown, Language language) {
  if (shown.evidence.empty()) return "";
  std::string out = row({said("layer", language), said("has", language), said("needs", language),
                         said("from", language)}) +
                    "| --- | --- | --- | --- |\n";
  for (const Evidence& e : shown.evidence) out += row({e.layer, e.has, e.needs, e.from});
  return out + "\n";
}

std::string section(const Finding& f, Language language) {
  const Finding shown = said(f, language);
  std::string out = cat("### ", plain(said(name_of(f.severity), language)), ": ", plain(f.code()),
                        " ", plain(f.slug), "\n\n", plain(shown.message)) +
                    "\n\n" + evidence(shown, language);
  for (const std::string& note : shown.notes)
    out += cat("- ", plain(said("note", language)), ": ", plain(note), "\n");
  for (const std::string& help : shown.help)
    out += cat("- ", plain(said("help", language)), ": ", plain(help), "\n");
  return out + "\n";
}

// Notes are told in one line: a check without a GPU has some that nobody has to act on.
std::string notes_line(const Report& report) {
  List<std::string> codes;
  for (const Finding& f : report.findings)
    if (f.severity == Severity::Note) codes.push_back(cat(f.code(), " ", f.slug));
  return codes.empty() ? "" : cat("Notes: ", plain(join(codes, ", ")), "\n\n");
}

}  // namespace

std::string markdown(const FormInput& in) {
  std::string out;
  for (const Checked& judged : in.judged) {
    const std::string line = summary_line(judged.report, judged.facts, judged.plan, in.language);
    const std::string of = judged.machine.empty() ? "" : cat(judged.machine, ": ");
    out += cat("## ", plain(said(of, Language::English)), plain(line), "\n\n");
    for (const Finding& f : judged.report.findings)
      if (f.severity != Severity::Note) out += section(f, in.language);
    out += notes_line(judged.report);
  }
  return out;
}

}  // namespace tcs
