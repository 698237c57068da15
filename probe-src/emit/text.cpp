// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"

namespace tcs {
namespace {

constexpr size_t kWidth = 100;

// What is not broken: a word, or one wide character with the marks that cling to it.
struct Atom {
  std::string text;
  bool apart;  // a space before it
};

// No line begins with these, and none ends with those.
bool clings_to_last(std::string_view c) {
  return contains(std::string_view("，。；：、）！？》」”"), c);
}
bool clings_to_next(std::string_view c) {
  return contains(std::string_view("（《「“"), c);
}

List<Atom> atoms_of(const std::string& text) {
  List<Atom> out;
  bool apart = false, whole = false;  // whole: what comes next belongs to the last one
  for (size_t i = 0; i < text.size();) {
    const size_t length = std::max<size_t>(utf8_length(std::string_view(text).substr(i)), 1);
    const std::string c = text.substr(i, length);
    i += length;
    if (c == " ") {
      apart = true;
      whole = false;
      continue;
    }
    const bool wide = length > 1;
    const bool joins = !apart && !out.empty() && (whole || (wide && clings_to_last(c)));
    if (joins)
      out.back().text += c;
    else
      out.push_back({c, apart && !out.empty()});
    apart = false;
    whole = !wide || clings_to_next(c);
    if (wide || i >= text.size()) continue;
    // The next letter of a word goes on with it; a wide character does not, unless it clings.
    const size_t next = utf8_length(std::string_view(text).substr(i));
    if (next > 1) whole = false;
  }
  return out;
}

// Lines of at most `first` and then `width` columns; a longer word keeps its own line, so that a
// path can be copied.
List<std::string> wrap(const std::string& text, size_t width, size_t first = 0) {
  List<std::string> lines;
  for (const Atom& atom : atoms_of(text)) {
    const size_t room = lines.size() == 1 && first != 0 ? first : width;
    if (!lines.empty() &&
        display_width(lines.back()) + (atom.apart ? 1 : 0) + display_width(atom.text) <= room)
      lines.back() += cat(atom.apart ? " " : "", atom.text);
    else
      lines.push_back(atom.text);
  }
  if (lines.empty()) lines.add();
  return lines;
}

// `lead` before the first line, as many spaces before the others.
void paragraph(std::string& out, const std::string& lead, const std::string& text) {
  const size_t width = display_width(lead);
  const List<std::string> lines = wrap(text, kWidth - width);
  for (size_t i = 0; i < lines.size(); ++i)
    out += cat(i ? std::string(width, ' ') : lead, lines[i], "\n");
}

using Cells = List<std::string>;

size_t longest_word(const std::string& text) {
  size_t longest = 0;
  for (const Atom& atom : atoms_of(text)) longest = std::max(longest, display_width(atom.text));
  return longest;
}

// Column widths: as wide as the content, the widest cut until the row fits; one whose words (paths
// aside) would not fit any more only when there is no other.
List<size_t> widths_of(const List<Cells>& rows) {
  const size_t count = rows[0].size();
  List<size_t> widths(count, 0), least(count, 0);
  for (const auto& cells : rows)
    for (size_t i = 0; i < count; ++i) {
      widths[i] = std::max(widths[i], display_width(cells[i]));
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

// Of cells that are said already.
std::string table_text(const List<Cells>& rows);

std::string evidence_text(const List<Evidence>& evidence, Language language) {
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
  row({said("layer", language), said("has", language), said("needs", language),
       said("from", language)});
  for (const auto& e : evidence) row(e);
  return table_text(rows);
}

std::string table_text(const List<Cells>& rows) {
  std::string out;
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
        const size_t used = display_width(cell);
        cell.append(used < widths[i] ? widths[i] - used : 0, ' ');
        text += cat(i ? "   " : " ", cell);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  }
  return out;
}

// "note" and what parts it from what it heads.
std::string label(const char* word, Language language) {
  return cat(said(word, language), language == Language::English ? ": " : "：");
}

}  // namespace

std::string columns_text(const List<List<std::string>>& raw, Language language) {
  List<Cells> rows = raw;
  for (Cells& cells : rows)
    for (std::string& cell : cells) cell = said(cell, language);
  return table_text(rows);
}

std::string finding_text(const Finding& finding, Language language) {
  std::string out;
  const Finding shown = said(finding, language);
  const std::string head =
      cat(said(name_of(finding.severity), language),
          label(cat("[", finding.code(), " ", finding.slug, "]").c_str(), language));
  const List<std::string> lines = wrap(head + shown.message, kWidth - 6, kWidth - 2);
  for (size_t i = 0; i < lines.size(); ++i) out += cat(i ? "      " : "  ", lines[i], "\n");
  if (!shown.evidence.empty()) {
    out += "  \n";  // CMake re-wraps after an empty line, not after two spaces
    out += evidence_text(shown.evidence, language);
    out += "  \n";
  }
  for (const auto& note : shown.notes) paragraph(out, "  " + label("note", language), note);
  for (const auto& help : shown.help) paragraph(out, "  " + label("help", language), help);
  out += cat("  ", label("more", language), "tcstack explain ", finding.code(), "\n");
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

void not_judged(const List<const Finding*>& findings, Language language, std::string& out) {
  List<std::string> facts, codes;
  for (const Finding* finding : findings) {
    for (const auto& fact : finding->missing) add_once(facts, fact);
    add_once(codes, finding->code());
  }
  if (facts.empty()) return;
  out +=
      cat("  ", label("unknown", language),
          said("the recording lacks facts, and what they decide was not judged", language), "\n");
  paragraph(out, cat("    ", label("lacks", language)), said(by_object(facts), language));
  out += cat(
      "    ", label("more", language),
      said(cat("tcstack explain ", codes[0], "; --format json says what each decides"), language),
      "\n\n");
}

}  // namespace

std::string report_text(const Report& report, const Facts& facts, const Plan& plan,
                        Language language) {
  std::string out;
  List<const Finding*> lacking;
  for (const auto& finding : report.findings) {
    if (in_short(finding, report, facts))
      lacking.push_back(&finding);
    else
      out += finding_text(finding, language) + "\n";
  }
  not_judged(lacking, language, out);
  const std::string table = availability_text(facts, plan, language);
  if (!table.empty()) out += table + "\n";
  return out + summary_line(report, facts, plan, language) + "\n";
}

}  // namespace tcs
