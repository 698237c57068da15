// SPDX-License-Identifier: Apache-2.0
// Every report of a made machine keeps to the form of the messages and of the JSON.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"
#include "generate.h"

using namespace tcs;
using namespace props;

namespace {

bool plain_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= 32 && c < 127); });
}

// A word that is longer than a line's room stays whole, so that a path can be copied.
bool fits_line(const std::string& line) {
  if (line.size() <= 100) return true;
  size_t longest = 0;
  for (const std::string& word : split(line, " ")) longest = std::max(longest, word.size());
  return longest > 70;
}

// The same in Chinese: what comes from outside is escaped, the rest is whole characters.
std::string wrong_chinese(const Finding& f) {
  const std::string text = finding_text(f, Language::Chinese);
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i));
    if (length == 0) return "is no UTF-8 in Chinese";
    if (text.compare(i, 2, "{0") == 0 || text.compare(i, 2, "{1") == 0)
      return "holds a placeholder in Chinese";
    i += length;
  }
  for (const std::string& line : lines_of(text)) {
    size_t longest = 0;
    for (const std::string& word : split(line, " ")) longest = std::max(longest, word.size());
    if (display_width(line) > 100 && longest <= 70)
      return "has a line of more than 100 columns in Chinese";
  }
  return "";
}

std::string wrong_form(const Finding& f) {
  const std::string text = finding_text(f);
  const RuleRow* row = find_row(f.code());
  if (!row || std::string(row->slug) != f.slug) return "is not registered";
  if (row->layer != f.layer) return "is of another layer than registered";
  if (f.message.empty()) return "has no message";
  if (f.message.back() == '.') return "ends with a full stop";
  if (f.severity != Severity::Note && f.help.empty()) return "has no help";
  if (!f.help.empty() && starts_with(f.help[0], "or ")) return "begins its help with 'or'";
  if (f.severity == Severity::Unknown && f.id % 100 >= 90 && f.missing.empty())
    return "names no missing fact";
  for (size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '{' && text[i + 1] >= '0' && text[i + 1] <= '9') return "holds a placeholder";
  if (!plain_ascii(text)) return "is not ASCII";
  for (const std::string& line : lines_of(text))
    if (!fits_line(line)) return "has a line of more than 100 columns";
  return wrong_chinese(f);
}

std::string wrong_report(const Judged& all) {
  const Report& report = all.report;
  bool warning = false, error = false, unknown = false;
  for (const Finding& f : report.findings) {
    if (const std::string wrong = wrong_form(f); !wrong.empty()) return f.code() + " " + wrong;
    warning = warning || f.severity == Severity::Warning;
    error = error || f.severity == Severity::Error;
    unknown = unknown || f.severity == Severity::Unknown;
  }
  if (report.outcome != (error ? "fail" : warning ? "warn" : "ok"))
    return "the outcome is " + report.outcome;
  if (report.complete == unknown) return "complete and unknown findings";
  const List<std::string> lines = lines_of(all.text());
  if (!plain_ascii(all.text())) return "the summary is not ASCII";
  if (lines.empty() ||
      !starts_with(lines[lines.size() - (lines.back().empty() ? 2 : 1)], "TorchCudaStack: "))
    return "the summary is not one line";
  const Result<Json> json = parse_json(all.json());
  if (!json) return "JSON that does not parse";
  if (json->find("findings")->items.size() != report.findings.size()) return "JSON lacks findings";
  return "";
}

}  // namespace

TEST_CASE("each report of a made machine keeps to the form") {
  Failures failures;
  const unsigned seed = first_seed(), count = machines_wanted(1000);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    const Machine machine = odd_machine(dice);
    const Judged all = judged(machine);
    INFO(machine.text());
    REQUIRE(all.refused == "");
    const std::string wrong = wrong_report(all);
    if (wrong.empty()) continue;
    failures.add(
        cat("FORM: ", wrong), machine,
        [&](const Machine& less) { return wrong_report(judged(less)) == wrong; },
        cat("TCS_SEED=", seed + i));
  }
  CHECK(failures.none());
}

TEST_CASE("what a made machine holds is the same after it was written and read again") {
  const unsigned seed = first_seed(), count = machines_wanted(1000);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    const Machine machine = odd_machine(dice);
    const Judged once = judged(machine);
    Machine again = machine;
    again.facts = facts_to_json(once.facts);
    INFO(machine.text());
    REQUIRE(judged(again).json() == once.json());
    REQUIRE(write_json(facts_to_json(judged(again).facts)) == write_json(again.facts));
  }
}

TEST_CASE("made machines bring each finding about, and each severity") {
  std::set<int> seen;
  std::set<Severity> severities;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    Dice dice(seed);
    for (const Finding& f : judged(odd_machine(dice)).report.findings) {
      seen.insert(f.id);
      severities.insert(f.severity);
    }
  }
  std::string never;
  for (const RuleRow& row : registry())
    if (!seen.count(row.id)) never += cat(" ", row.id, "-", row.slug);
  INFO("never seen:" << never);
  CHECK(severities.size() == 4);
  CHECK(seen.size() * 10 >= registry().size() * 8);
}

namespace {

// The members in the second column of the table of objects in docs/facts.md; what is in round
// brackets are values and explanations.
std::set<std::string> documented_members() {
  std::ifstream stream(cat(TCS_SOURCE_DIR, "/docs/facts.md"));
  std::set<std::string> out;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (!starts_with(line, "|")) inside = false;
    if (starts_with(line, "| object | members |")) inside = true;
    const List<std::string> cells = split(line, "|");
    if (!inside || cells.size() < 2) continue;
    int depth = 0;
    std::string word, cell = cells[1];
    bool quoted = false;
    for (char c : cell) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == '`' && depth == 0) {
        if (quoted) out.insert(word);
        quoted = !quoted;
        word.clear();
      } else if (quoted) {
        word += c;
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("made machines hold every member that docs/facts.md has") {
  std::set<std::string> held;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    for (const Spot& spot : parts_in(odd_machine(dice).facts))
      held.insert(spot.name.substr(spot.name.rfind('.') + 1));
  }
  const std::set<std::string> documented = documented_members();
  CHECK(documented.size() > 50);
  for (const std::string& member : documented) {
    INFO(member);
    CHECK(held.count(member) == 1);
  }
}
