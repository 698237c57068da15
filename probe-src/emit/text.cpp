// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"

namespace tcs {
namespace {

constexpr size_t kWidth = 100;

// Facts come from outside: what would break a line or a terminal is shown, never sent.
std::string clean(std::string_view text) {
  return ascii(replace_all(replace_all(text, "\n", " "), "\t", " "));
}

// Lines of at most `first` and then `width` columns; a longer word keeps its own line, so that a
// path can be copied.
List<std::string> wrap(const std::string& text, size_t width, size_t first = 0) {
  List<std::string> lines;
  for (const auto& word : split(text, " ")) {
    const size_t room = lines.size() == 1 && first != 0 ? first : width;
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= room)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  if (lines.empty()) lines.add();
  return lines;
}

// `lead` before the first line, as many spaces before the others.
void paragraph(std::string& out, const std::string& lead, const std::string& text) {
  std::string pad(lead.size(), ' ');
  const List<std::string> lines = wrap(clean(text), kWidth - lead.size());
  for (size_t i = 0; i < lines.size(); ++i) out += cat(i ? pad : lead, lines[i], "\n");
}

using Cells = List<std::string>;

size_t longest_word(const std::string& text) {
  size_t longest = 0;
  for (const auto& word : split(text, " ")) longest = std::max(longest, word.size());
  return longest;
}

// Column widths: as wide as the content, the widest cut until the row fits; one whose words (paths
// aside) would not fit any more only when there is no other.
List<size_t> widths_of(const List<Cells>& rows) {
  const size_t count = rows[0].size();
  List<size_t> widths(count, 0), least(count, 0);
  for (const auto& cells : rows)
    for (size_t i = 0; i < count; ++i) {
      widths[i] = std::max(widths[i], cells[i].size());
      const size_t word = longest_word(cells[i]);
      if (word <= kWidth / 3) least[i] = std::max(least[i], word);
    }
  auto total = [&] {
    size_t sum = 4 + 3 * (count - 1);
    for (size_t w : widths) sum += w;
    return sum;
  };
  while (total() > kWidth) {
    size_t* cut = nullptr;
    for (size_t i = 0; i < count; ++i)
      if (widths[i] > least[i] && (!cut || widths[i] > *cut)) cut = &widths[i];
    --*(cut ? cut : std::max_element(widths.begin(), widths.end()));
  }
  return widths;
}

std::string evidence_text(const List<Evidence>& evidence) {
  bool needs = false, from = false;
  for (const auto& e : evidence) {
    needs = needs || !e.needs.empty();
    from = from || !e.from.empty();
  }
  List<Cells> rows;
  const auto row = [&](const Evidence& e) {
    Cells cells = {e.layer, e.has};
    if (needs) cells.push_back(e.needs);
    if (from) cells.push_back(e.from);
    rows.push_back(cells);
  };
  row({"layer", "has", "needs", "from"});
  for (const auto& e : evidence) row(e);
  return columns_text(rows);
}

}  // namespace

std::string columns_text(const List<List<std::string>>& raw) {
  std::string out;
  List<Cells> rows = raw;
  for (Cells& cells : rows)
    for (std::string& cell : cells) cell = clean(cell);
  const List<size_t> widths = widths_of(rows);
  for (const auto& cells : rows) {
    List<Cells> columns;
    size_t height = 1;
    for (size_t i = 0; i < cells.size(); ++i) {
      columns.push_back(wrap(cells[i], widths[i]));
      height = std::max(height, columns.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      std::string text = "   ";
      for (size_t i = 0; i < columns.size(); ++i) {
        std::string cell = line < columns[i].size() ? columns[i][line] : "";
        cell.append(cell.size() < widths[i] ? widths[i] - cell.size() : 0, ' ');
        text += cat(i ? "   " : " ", cell);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  }
  return out;
}

std::string finding_text(const Finding& finding) {
  std::string out;
  const std::string head =
      cat("  ", name_of(finding.severity), "[", finding.code(), " ", finding.slug, "]: ");
  const List<std::string> lines =
      wrap(head.substr(2) + clean(finding.message), kWidth - 6, kWidth - 2);
  for (size_t i = 0; i < lines.size(); ++i) out += cat(i ? "      " : "  ", lines[i], "\n");
  if (!finding.evidence.empty()) {
    out += "  \n";  // CMake re-wraps after an empty line, not after two spaces
    out += evidence_text(finding.evidence);
    out += "  \n";
  }
  for (const auto& note : finding.notes) paragraph(out, "  note: ", note);
  for (const auto& help : finding.help) paragraph(out, "  help: ", help);
  out += cat("  more: tcstack explain ", finding.code(), "\n");
  return out;
}

namespace {

// A recording lacks what nobody wrote down: one paragraph, so that it does not drown the verdict.
// On a measured machine, and where they are what fails, the unknown ones are findings like others;
// so is one that says what was seen (a driver that hangs), below x90.
bool in_short(const Finding& finding, const Report& report, const Facts& facts) {
  if (finding.severity != Severity::Unknown || finding.id % 100 < 90) return false;
  return facts.origin == "replayed" &&
         (report.outcome != "fail" || report.findings[0].severity != Severity::Unknown);
}

// "driver.cuda, toolkits.list[].{layout, missing}": what stands in one object, together.
std::string by_object(const List<std::string>& facts) {
  List<std::string> objects, out;
  auto object_of = [](const std::string& fact) { return fact.substr(0, fact.rfind('.') + 1); };
  for (const auto& fact : facts) add_once(objects, object_of(fact));
  for (const auto& object : objects) {
    List<std::string> names;
    for (const auto& fact : facts)
      if (object_of(fact) == object) names.push_back(fact.substr(object.size()));
    const bool braces = names.size() > 1 && !object.empty();
    out.push_back(braces ? cat(object, "{", join(names, ", "), "}")
                         : cat(object, join(names, ", ")));
  }
  return join(out, ", ");
}

void not_judged(const List<const Finding*>& findings, std::string& out) {
  List<std::string> facts, codes;
  for (const Finding* finding : findings) {
    for (const auto& fact : finding->missing) add_once(facts, fact);
    add_once(codes, finding->code());
  }
  if (facts.empty()) return;
  out += "  unknown: the recording lacks facts, and what they decide was not judged\n";
  paragraph(out, "    lacks: ", by_object(facts));
  out += cat("    more: tcstack explain ", codes[0], "; --format json says what each decides\n\n");
}

}  // namespace

std::string report_text(const Report& report, const Facts& facts, const Plan& plan) {
  std::string out;
  List<const Finding*> lacking;
  for (const auto& finding : report.findings) {
    if (in_short(finding, report, facts))
      lacking.push_back(&finding);
    else
      out += finding_text(finding) + "\n";
  }
  not_judged(lacking, out);
  const std::string table = availability_text(facts, plan);
  if (!table.empty()) out += table + "\n";
  return out + summary_line(report, facts, plan) + "\n";
}

}  // namespace tcs
