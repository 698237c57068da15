// SPDX-License-Identifier: Apache-2.0
// Every finding has a machine that triggers it and one that comes close (tests/machines), and an
// explain text; every printed line keeps to the form of the messages.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "emit/emit.h"
#include "facts/facts_io.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

struct Machine {
  Facts facts;
  Request request;
  Plan plan;
  std::string outcome;
  std::vector<std::string> ids;
};

Machine load(const std::string& name) {
  const std::string path = cat(TCS_SOURCE_DIR, "/tests/machines/", name, ".json");
  INFO(path);
  std::ifstream stream(path);
  REQUIRE(stream);
  std::stringstream text;
  text << stream.rdbuf();
  Result<Json> document = parse_json(text.str());
  REQUIRE(document);
  CHECK(document->find("id")->text == name);
  CHECK_FALSE(document->find("source")->text.empty());
  Machine machine;
  List<std::string> unknown;
  Result<Facts> facts = read_facts(write_json(*document->find("facts")), unknown);
  Result<Request> request = read_request(write_json(*document->find("request")), unknown);
  REQUIRE(facts);
  REQUIRE(request);
  CHECK(unknown.empty());
  machine.facts = *facts;
  machine.request = *request;
  machine.plan = make_plan(machine.facts, machine.request);
  machine.outcome = document->find("expect")->find("outcome")->text;
  for (const Json& id : document->find("expect")->find("ids")->items)
    machine.ids.push_back(id.text);
  return machine;
}

Report judged(const Machine& m) {
  return judge(RuleInput{m.facts, m.request, m.plan}, Policy{});
}

std::vector<std::string> ids_of(const Report& report) {
  std::vector<std::string> ids;
  for (const Finding& f : report.findings) ids.push_back(f.code());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Cause and consequence of each row of the table.
std::vector<std::pair<int, int>> silences() {
  return {
#define TCS_SILENCES(cause, consequence) {cause, consequence},
#include "findings/table.def"
  };
}

// Is it silenced by what follows from it?
bool reaches_itself(int id) {
  std::vector<int> reached = {id};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const auto& [cause, consequence] : silences()) {
      if (cause != reached[i]) continue;
      if (consequence == id) return true;
      if (std::find(reached.begin(), reached.end(), consequence) == reached.end())
        reached.push_back(consequence);
    }
  return false;
}

bool plain_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= 32 && c < 127); });
}

void check_lines(const std::string& text) {
  INFO(text);
  CHECK(plain_ascii(text));
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 100);
}

void check_form(const Finding& f) {
  INFO(f.code() << ": " << f.message);
  CHECK_FALSE(f.message.empty());
  CHECK(f.message.back() != '.');
  CHECK_FALSE(contains(f.message, "please"));
  CHECK_FALSE(contains(f.message, "illegal"));
  CHECK((f.severity == Severity::Note || !f.help.empty()));
  CHECK((f.help.empty() || !starts_with(f.help[0], "or ")));
  check_lines(finding_text(f));
}

}  // namespace

TEST_CASE("every finding has a machine that triggers it and one that does not") {
  for (const RuleRow& row : registry()) {
    const std::string code = cat("TCS", row.id);
    for (const char* kind : {"hit", "near"}) {
      const std::string name = cat(row.id, "-", row.slug, "-", kind);
      INFO(name);
      Machine machine = load(name);
      Report report = judged(machine);
      const std::vector<std::string> ids = ids_of(report);
      CHECK(ids == machine.ids);
      CHECK(report.outcome == machine.outcome);
      CHECK((std::find(ids.begin(), ids.end(), code) != ids.end()) ==
            (std::string_view(kind) == "hit"));
      for (const Finding& f : report.findings) check_form(f);
      CHECK(plain_ascii(summary_line(report, machine.facts, machine.plan)));
    }
  }
}

TEST_CASE("no finding is silenced by its own consequence, so that the first cause is always told") {
  for (const auto& [cause, consequence] : silences()) {
    INFO(cause << " silences " << consequence);
    CHECK(find_row(cat(cause)) != nullptr);
    CHECK(find_row(cat(consequence)) != nullptr);
    CHECK_FALSE(reaches_itself(cause));
  }
}

TEST_CASE("one cause is one error: no machine made for a finding shows two") {
  for (const RuleRow& row : registry()) {
    Report report = judged(load(cat(row.id, "-", row.slug, "-hit")));
    INFO(row.slug);
    CHECK(std::count_if(report.findings.begin(), report.findings.end(),
                        [](const Finding& f) { return f.severity == Severity::Error; }) <= 1);
  }
}

TEST_CASE("every finding has an explain text of 8 to 20 lines with a way to see it and ways out") {
  for (const RuleRow& row : registry()) {
    const std::string text = row.explain;
    INFO(row.slug);
    check_lines(text);
    CHECK(lines_of(text).size() >= 8);
    CHECK(lines_of(text).size() <= 20);
    CHECK(contains(text, "\nSee it yourself:\n"));
    CHECK(contains(text, "\nWays out:\n"));
  }
}

TEST_CASE("numbers and slugs of findings are unique, and the hundreds name the layer") {
  const std::vector<std::pair<int, Layer>> layers = {
      {1, Layer::Device},  {2, Layer::Driver}, {3, Layer::Toolkit}, {4, Layer::HostCompiler},
      {5, Layer::Runtime}, {6, Layer::Torch},  {7, Layer::Python},  {8, Layer::Environment}};
  for (const RuleRow& row : registry()) {
    INFO(row.slug);
    int same = 0;
    for (const RuleRow& other : registry())
      same += other.id == row.id || std::string_view(other.slug) == row.slug;
    CHECK(same == 1);
    for (const auto& [hundred, layer] : layers)
      CHECK((row.id / 100 != hundred || row.layer == layer));
    CHECK(find_row(cat("TCS", row.id)) == &row);
    CHECK(find_row(cat(row.id)) == &row);
    CHECK(find_row(row.slug) == &row);
  }
  CHECK(find_row("TCS999") == nullptr);
}

TEST_CASE("what a machine holds is the same after it was written and read again") {
  for (const RuleRow& row : registry()) {
    Machine machine = load(cat(row.id, "-", row.slug, "-hit"));
    List<std::string> unknown;
    const std::string once = write_json(facts_to_json(machine.facts));
    Result<Facts> again = read_facts(once, unknown);
    REQUIRE(again);
    CHECK(write_json(facts_to_json(*again)) == once);
    CHECK(unknown.empty());
  }
}
