// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "emit/emit.h"
#include "facts/facts_io.h"

using namespace tcs;

namespace pages {
namespace {

const char* const kGenerated = "from probe-src/findings/table by the target write-pages";

std::string page_name(const RuleRow& row) {
  return cat("TCS", row.id, "-", row.slug, ".md");
}

std::string link(const RuleRow& row) {
  return cat("[TCS", row.id, " ", row.slug, "](", page_name(row), ")");
}

// Between backticks nothing is special; elsewhere these would be.
std::string escaped(const std::string& text) {
  std::string out;
  bool code = false, in_word = false;  // an underscore within a word is one
  for (char c : text) {
    if (c == '`') code = !code;
    if (!code && (c == '<' || c == '*' || c == '|' || (c == '_' && !in_word))) out += '\\';
    out += c;
    in_word = c != '_' && std::isalnum(static_cast<unsigned char>(c));
  }
  return out;
}

std::string without_trailing_blanks(const std::string& text) {
  std::string out;
  for (std::string line : lines_of(text)) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string first_sentence(const std::string& prose) {
  const std::string text = replace_all(prose, "\n", " ");
  for (size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1))
    if (at < 3 || text.substr(at - 3, 3) != "e.g") return text.substr(0, at + 1);
  return text;
}

// The findings of `TCS_SILENCES` rows: what the cause silences, or what silences the consequence.
std::string silenced(int id, bool as_cause) {
  static const std::pair<int, int> rows[] = {
#define TCS_SILENCES(cause, consequence) {cause, consequence},
#include "findings/table.def"
  };
  std::string out;
  std::vector<int> ids;
  for (const auto& [cause, consequence] : rows)
    if ((as_cause ? cause : consequence) == id) ids.push_back(as_cause ? consequence : cause);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (int other : ids) out += cat(out.empty() ? "" : ", ", link(*find_row(cat(other))));
  return out;
}

// Rows of docs/troubles.md that name the finding: what is seen, and what to do first.
std::string troubles(const RuleRow& row) {
  std::string out;
  const std::string code = cat("TCS", row.id);
  for (const std::string& line : lines_of(read_source("docs/troubles.md"))) {
    if (!starts_with(line, "| ") || !contains(line, code)) continue;
    const std::string kept = replace_all(line, "\\|", "\x01");
    const List<std::string> cells = split(kept, "|");
    if (cells.size() != 3 || !contains(cells[1], code)) continue;
    const std::string text = cat("| ", trim(cells[0]), " | ", trim(cells[2]), " |\n");
    out += replace_all(text, "\x01", "\\|");
  }
  return out;
}

std::string page(const RuleRow& row) {
  const Explained text = parts_of(row.explain);
  std::string out = cat("# TCS", row.id, ": ", row.slug, "\n\nLayer: ", name_of(row.layer),
                        ". Usually: ", name_of(row.severity), ".\n\n", escaped(text.prose), "\n");
  out += "\n## See it yourself\n\n```text\n";
  for (const auto& command : text.commands) out += command + "\n";
  out += "```\n\n## Ways out\n\n| way out | its cost |\n| --- | --- |\n";
  for (const Way& way : text.ways)
    out += cat("| ", escaped(way.text), " | ", escaped(way.cost), " |\n");
  if (row.severity != Severity::Note && row.id != 908)  // that one is never accepted
    out += cat("\nTo accept it: `-DTorchCudaStack_ALLOW=TCS", row.id,
               "`, or `tcstack check --allow TCS", row.id, "`; it is a note then.\n");
  out += cat("\n## Example\n\n```text\n", example_of(row), "```\n");
  const std::string seen = troubles(row);
  if (!seen.empty())
    out += cat("\n## Messages that it stands behind\n\n| you see | do first |\n| --- | --- |\n",
               replace_all(seen, "](findings/", "]("));
  const std::string causes = silenced(row.id, false), consequences = silenced(row.id, true);
  if (!causes.empty() || !consequences.empty()) out += "\n## Beside other findings\n";
  if (!causes.empty())
    out += cat("\nLeft out where one of these explains it and weighs no less: ", causes, ".\n");
  if (!consequences.empty())
    out += cat("\nIt explains these, which are left out then: ", consequences, ".\n");
  return out + cat("\n---\n`tcstack explain TCS", row.id, "` prints the same. Made ", kGenerated,
                   ". [All findings](README.md)\n");
}

std::string index() {
  std::string out =
      "# Findings\n\nOne page for each finding: what it means, how to see it yourself, ways out "
      "with "
      "their costs,\nan example. `tcstack explain TCS601` prints the same, `tcstack explain` alone "
      "this list.\n[troubles.md](../troubles.md) goes from a message to its finding.\n";
  const char* layer = "";
  std::vector<const RuleRow*> rows;
  for (const RuleRow& row : registry()) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const RuleRow* a, const RuleRow* b) {
    return a->layer != b->layer ? a->layer < b->layer : a->id < b->id;
  });
  for (const RuleRow* row : rows) {
    if (layer != std::string_view(name_of(row->layer))) {
      layer = name_of(row->layer);
      out += cat("\n## ", layer, "\n\n| finding | usually | in short |\n| --- | --- | --- |\n");
    }
    out += cat("| ", link(*row), " | ", name_of(row->severity), " | ",
               escaped(first_sentence(parts_of(row->explain).prose)), " |\n");
  }
  return out + cat("\n---\nMade ", kGenerated, ".\n");
}

}  // namespace

std::string read_source(const std::string& path) {
  std::ifstream stream(cat(TCS_SOURCE_DIR, "/", path));
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Explained parts_of(const std::string& explain) {
  const std::string see = "\nSee it yourself:\n", out = "\nWays out:\n";
  const size_t at = explain.find(see), to = explain.find(out);
  Explained parts;
  if (at == std::string::npos || to == std::string::npos || to < at) return parts;
  parts.prose = std::string(trim(explain.substr(0, at)));
  for (const auto& line : lines_of(explain.substr(at + see.size(), to - at - see.size())))
    if (!line.empty()) parts.commands.push_back(starts_with(line, "  ") ? line.substr(2) : line);
  for (const auto& line : lines_of(explain.substr(to + out.size()))) {
    if (line.empty()) continue;
    const std::string text = starts_with(line, "  ") ? line.substr(2) : line;
    const size_t gap = text.find("  ");
    if (gap == std::string::npos)
      parts.ways.push_back({text, ""});
    else
      parts.ways.push_back({text.substr(0, gap), std::string(trim(text.substr(gap)))});
  }
  return parts;
}

std::string example_of(const RuleRow& row) {
  const std::string path = cat("tests/machines/", row.id, "-", row.slug, "-hit.json");
  Result<Json> document = parse_json(read_source(path));
  if (!document) return {};
  List<std::string> unknown;
  Result<Facts> facts = read_facts(write_json(*document->find("facts")), unknown);
  Result<Request> request = read_request(write_json(*document->find("request")), unknown);
  if (!facts || !request) return {};
  const Plan plan = make_plan(*facts, *request);
  const Report report = judge(RuleInput{*facts, *request, plan}, Policy{});
  for (const Finding& finding : report.findings) {
    if (finding.id != row.id) continue;
    const std::string text = without_trailing_blanks(finding_text(finding));
    return text.substr(0, text.find("  more: tcstack explain"));
  }
  return {};
}

std::map<std::string, std::string> all_files() {
  std::map<std::string, std::string> files;
  std::string examples = cat("// SPDX-License-Identifier: Apache-2.0\n// Made ", kGenerated,
                             ": what is printed on tests/machines/*-hit.json.\n");
  for (const RuleRow& row : registry()) {
    examples += cat("TCS_EXAMPLE(", row.id, ", R\"TXT(", example_of(row), ")TXT\")\n");
    files[cat("docs/findings/", page_name(row))] = page(row);
  }
  files["probe-src/findings/examples.def"] = examples + "#undef TCS_EXAMPLE\n";
  files["docs/findings/README.md"] = index();
  return files;
}

}  // namespace pages
