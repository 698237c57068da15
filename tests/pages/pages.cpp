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

std::string first_sentence(const std::string& prose, const std::string& stop) {
  const std::string text = replace_all(prose, "\n", " ");
  for (size_t at = text.find(stop); at != std::string::npos; at = text.find(stop, at + 1))
    if (at < 3 || text.substr(at - 3, 3) != "e.g")
      return std::string(trim(text.substr(0, at + stop.size())));
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

// What a page says around the texts of the tables.
struct PageWords {
  const char *folder, *layer, *usually, *see, *ways, *ways_head, *accept, *example, *messages,
      *messages_head, *beside, *left_out, *explains, *end, *index, *index_head, *made, *stop;
};
const PageWords kEnglishWords = {
    "docs/findings/",
    "Layer: ",
    ". Usually: ",
    "See it yourself",
    "Ways out",
    "| way out | its cost |",
    "To accept it: `-DTorchCudaStack_ALLOW={0}`, or `tcstack check --allow {0}`; it is a note "
    "then.",
    "Example",
    "Messages that it stands behind",
    "| you see | do first |",
    "Beside other findings",
    "Left out where one of these explains it and weighs no less: {0}.",
    "It explains these, which are left out then: {0}.",
    "`tcstack explain {0}` prints the same. Made {1}. [All findings](README.md)",
    "# Findings\n\nOne page for each finding: what it means, how to see it yourself, ways out "
    "with "
    "their costs,\nan example. `tcstack explain TCS601` prints the same, `tcstack explain` alone "
    "this list.\n[troubles.md](../troubles.md) goes from a message to its finding.\n",
    "| finding | usually | in short |",
    "from probe-src/findings/table by the target write-pages",
    ". "};
const PageWords kChineseWords = {
    "docs/findings/zh/",
    "层：",
    "。通常为：",
    "自己查看",
    "解决办法",
    "| 办法 | 代价 |",
    "若要放行：`-DTorchCudaStack_ALLOW={0}`，或 `tcstack check --allow {0}`；之后它只是说明。",
    "示例",
    "",
    "",
    "与其他结论的关系",
    "若下列之一能解释它，且严重程度不低于它，则不再报告它：{0}。",
    "它能解释下列结论，这时不再报告它们：{0}。",
    "`tcstack explain {0} --lang zh` 打印同样的内容。由目标 write-pages {1}。[全部结论](README.md)",
    "# 结论\n\n每条结论一页：含义、如何自己查看、解决办法及其代价、示例。"
    "`tcstack explain TCS601 --lang zh` 打印同样的内容，\n"
    "只写 `tcstack explain` 则打印列表。用语见 [zh.md](../../zh.md)。"
    "[English](../README.md)\n",
    "| 结论 | 通常为 | 简述 |",
    "从 probe-src/findings/zh 生成",
    "。"};
const PageWords& words_of(Language language) {
  return language == Language::English ? kEnglishWords : kChineseWords;
}

std::string filled(const char* text, const std::string& first, const std::string& second = {}) {
  return replace_all(replace_all(text, "{0}", first), "{1}", second);
}

// Lines of Chinese are parted where they end, which is within a sentence: a space would show.
std::string unwrapped(const std::string& prose) {
  return spaced(replace_all(prose, "\n", " "));
}

std::string page(const RuleRow& row, Language language) {
  const PageWords& words = words_of(language);
  const bool english = language == Language::English;
  const std::string code = cat("TCS", row.id);
  const Explained text = parts_of(explain_text(row.id, language));
  std::string out =
      cat("# ", code, english ? ": " : "：", row.slug, "\n\n", words.layer,
          said(name_of(row.layer), language), words.usually, said(name_of(row.severity), language),
          trim(words.stop), "\n\n", escaped(english ? text.prose : unwrapped(text.prose)), "\n");
  out += cat("\n## ", words.see, "\n\n```text\n");
  for (const auto& command : text.commands) out += command + "\n";
  out += cat("```\n\n## ", words.ways, "\n\n", words.ways_head, "\n| --- | --- |\n");
  for (const Way& way : text.ways)
    out += cat("| ", escaped(way.text), " | ", escaped(way.cost), " |\n");
  if (row.severity != Severity::Note && row.id != 908)  // that one is never accepted
    out += cat("\n", filled(words.accept, code), "\n");
  out += cat("\n## ", words.example, "\n\n```text\n", example_of(row, language), "```\n");
  const std::string seen = english ? troubles(row) : "";
  if (!seen.empty())
    out += cat("\n## ", words.messages, "\n\n", words.messages_head, "\n| --- | --- |\n",
               replace_all(seen, "](findings/", "]("));
  const std::string causes = silenced(row.id, false), consequences = silenced(row.id, true);
  if (!causes.empty() || !consequences.empty()) out += cat("\n## ", words.beside, "\n");
  if (!causes.empty()) out += cat("\n", filled(words.left_out, causes), "\n");
  if (!consequences.empty()) out += cat("\n", filled(words.explains, consequences), "\n");
  return out + cat("\n---\n", filled(words.end, code, words.made), "\n");
}

std::string index(Language language) {
  const PageWords& words = words_of(language);
  std::string out = words.index;
  std::string layer;
  std::vector<const RuleRow*> rows;
  for (const RuleRow& row : registry()) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const RuleRow* a, const RuleRow* b) {
    return a->layer != b->layer ? a->layer < b->layer : a->id < b->id;
  });
  for (const RuleRow* row : rows) {
    if (layer != name_of(row->layer)) {
      layer = name_of(row->layer);
      out +=
          cat("\n## ", said(layer, language), "\n\n", words.index_head, "\n| --- | --- | --- |\n");
    }
    const std::string prose = parts_of(explain_text(row->id, language)).prose;
    const std::string text = language == Language::English ? prose : unwrapped(prose);
    out += cat("| ", link(*row), " | ", said(name_of(row->severity), language), " | ",
               escaped(first_sentence(text, words.stop)), " |\n");
  }
  return out + (language == Language::English
                    ? cat("\n---\nMade ", words.made, ".\n")
                    : cat("\n---\n由目标 write-pages ", words.made, "。\n"));
}

}  // namespace

std::string read_source(const std::string& path) {
  std::ifstream stream(cat(TCS_SOURCE_DIR, "/", path));
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Explained parts_of(const std::string& explain) {
  const bool english = contains(explain, "\nSee it yourself:\n");
  const std::string see = english ? "\nSee it yourself:\n" : "\n自己查看：\n",
                    out = english ? "\nWays out:\n" : "\n解决办法：\n";
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

std::string example_of(const RuleRow& row, Language language) {
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
    const std::string text = without_trailing_blanks(finding_text(finding, language));
    const std::string more = cat("tcstack explain TCS", row.id, "\n");
    return text.substr(0, text.rfind('\n', text.rfind(more)) + 1);
  }
  return {};
}

std::map<std::string, std::string> all_files() {
  std::map<std::string, std::string> files;
  for (const Language language : {Language::English, Language::Chinese}) {
    const PageWords& words = words_of(language);
    std::string examples =
        cat("// SPDX-License-Identifier: Apache-2.0\n// Made ", kEnglishWords.made,
            ": what is printed on tests/machines/*-hit.json.\n");
    for (const RuleRow& row : registry()) {
      examples += cat("TCS_EXAMPLE(", row.id, ", R\"TXT(", example_of(row, language), ")TXT\")\n");
      files[cat(words.folder, page_name(row))] = page(row, language);
    }
    files[language == Language::English ? "probe-src/findings/examples.def"
                                        : "probe-src/findings/zh/examples.def"] =
        examples + "#undef TCS_EXAMPLE\n";
    files[cat(words.folder, "README.md")] = index(language);
  }
  return files;
}

}  // namespace pages
