// SPDX-License-Identifier: Apache-2.0
// The machines beside this file, and the two pages that they prove: docs/beliefs.md and
// docs/troubles.md. A machine's `expect` holds an outcome and patterns over its findings; a pattern
// is one or more of severity, id and layer: "error", "warning TCS303", "error torch".
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "emit/emit.h"
#include "facts/facts_io.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

using Words = std::set<std::string>;

struct Expect {
  std::string outcome;
  std::vector<std::string> has, lacks, says;
};
struct Machine {
  std::string id;
  std::string about;  // a belief's heading, or the letter of a kind of trouble
  Facts facts;
  Request request;
  Expect expect;
};

std::string read_text(const std::string& path) {
  std::ifstream stream(path);
  INFO(path);
  REQUIRE(stream);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> strings(const Json& object, const char* name) {
  std::vector<std::string> out;
  if (const Json* list = object.find(name))
    for (const Json& item : list->items) out.push_back(item.text);
  return out;
}

Expect read_expect(const Json& json) {
  for (const auto& member : json.members)
    CHECK(Words{"outcome", "decides", "has", "lacks", "says"}.count(member.first) == 1);
  Expect expect;
  expect.outcome = json.find("outcome")->text;
  expect.has = strings(json, "has");
  expect.lacks = strings(json, "lacks");
  expect.says = strings(json, "says");
  if (const Json* decides = json.find("decides"))
    expect.has.insert(expect.has.begin(), decides->text);
  return expect;
}

Machine load(const std::filesystem::path& path, const char* about) {
  INFO(path.string());
  Result<Json> document = parse_json(read_text(path.string()));
  REQUIRE(document);
  Machine machine;
  machine.id = document->find("id")->text;
  machine.about = document->find(about)->text;
  CHECK(machine.id == path.stem().string());
  CHECK_FALSE(document->find("source")->text.empty());
  List<std::string> unknown;
  Result<Facts> facts = read_facts(write_json(*document->find("facts")), unknown);
  Result<Request> request = read_request(write_json(*document->find("request")), unknown);
  REQUIRE(facts);
  REQUIRE(request);
  CHECK(unknown.empty());
  machine.facts = *facts;
  machine.request = *request;
  machine.expect = read_expect(*document->find("expect"));
  return machine;
}

std::vector<Machine> load_all(const char* folder, const char* about) {
  std::vector<Machine> out;
  const std::filesystem::path root = cat(TCS_SOURCE_DIR, "/tests/beliefs/", folder);
  for (const auto& file : std::filesystem::directory_iterator(root))
    out.push_back(load(file.path(), about));
  return out;
}

const std::vector<Machine>& beliefs() {
  static const std::vector<Machine> all = load_all("machines", "belief");
  return all;
}

const std::vector<Machine>& troubles() {
  static const std::vector<Machine> all = load_all("troubles", "kind");
  return all;
}

// "error TCS601 torch", as patterns are matched against.
std::string tag(const Finding& f) {
  return cat(name_of(f.severity), " ", f.code(), " ", name_of(f.layer));
}

bool matches(const std::string& pattern, const Finding& f) {
  const List<std::string> words = split(tag(f), " ");
  for (const std::string& word : split(pattern, " "))
    if (!contains(words, word)) return false;
  return true;
}

bool any(const Report& report, const std::string& pattern) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& f) { return matches(pattern, f); });
}

std::string all_words(const Report& report) {
  std::string out;
  for (const Finding& f : report.findings) {
    out += f.message + "\n";
    for (const auto& note : f.notes) out += note + "\n";
    for (const auto& help : f.help) out += help + "\n";
  }
  return out;
}

void check_verdict(const Machine& m) {
  const Plan plan = make_plan(m.facts, m.request);
  const Report report = judge(RuleInput{m.facts, m.request, plan}, Policy{});
  std::string found;
  for (const Finding& f : report.findings) found += tag(f) + "; ";
  INFO(m.id << " (" << m.about << "): " << found);
  CHECK(report.outcome == m.expect.outcome);
  for (const auto& pattern : m.expect.has)
    if (!any(report, pattern)) FAIL_CHECK("misses " << pattern);
  for (const auto& pattern : m.expect.lacks)
    if (any(report, pattern)) FAIL_CHECK("must not have " << pattern);
  const std::string words = all_words(report);
  for (const auto& said : m.expect.says)
    if (!contains(words, said)) FAIL_CHECK("does not say " << said);
}

Words ids_in(const std::string& text) {
  Words out;
  for (size_t at = text.find("TCS"); at != std::string::npos; at = text.find("TCS", at + 3)) {
    const std::string id = text.substr(at, 6);
    if (id.size() == 6 &&
        std::all_of(id.begin() + 3, id.end(), [](char c) { return c >= '0' && c <= '9'; }))
      out.insert(id);
  }
  return out;
}

// A page's sections: what follows "## ", to the lines under it that start with `mark`.
std::map<std::string, std::string> sections(const char* page, const char* mark) {
  std::map<std::string, std::string> out;
  std::string heading;
  bool in_mark = false;
  for (const std::string& line : lines_of(read_text(cat(TCS_SOURCE_DIR, "/docs/", page)))) {
    if (starts_with(line, "## ")) {
      heading = line.substr(3);
      CHECK(out.emplace(heading, "").second);
    }
    in_mark = starts_with(line, mark) || (in_mark && !line.empty());
    if (in_mark && !heading.empty()) out[heading] += line + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("no verdict follows the folklore") {
  for (const Machine& machine : beliefs()) check_verdict(machine);
}

TEST_CASE("every kind of trouble that users report has its finding") {
  for (const Machine& machine : troubles()) check_verdict(machine);
}

TEST_CASE("every belief of docs/beliefs.md has a machine, and every machine its belief") {
  const auto pages = sections("beliefs.md", "TorchCudaStack: ");
  for (const auto& [heading, answer] : pages) {
    INFO(heading);
    Words found, named;
    int machines = 0;
    for (const Machine& machine : beliefs()) {
      if (machine.about != heading) continue;
      ++machines;
      for (const auto& pattern : machine.expect.has) found.merge(ids_in(pattern));
      for (const auto& pattern : machine.expect.lacks) named.merge(ids_in(pattern));
    }
    CHECK(machines > 0);
    const Words answered = ids_in(answer);
    CHECK_FALSE(answer.empty());
    CHECK(std::includes(answered.begin(), answered.end(), found.begin(), found.end()));
    named.insert(found.begin(), found.end());
    CHECK(std::includes(named.begin(), named.end(), answered.begin(), answered.end()));
  }
  for (const Machine& machine : beliefs()) {
    INFO(machine.id << ": " << machine.about);
    CHECK(pages.count(machine.about) == 1);
  }
}

TEST_CASE("each row of docs/troubles.md names findings that a machine of its kind has") {
  const auto pages = sections("troubles.md", "|");
  Words letters;
  for (const auto& [heading, table] : pages) {
    INFO(heading);
    const std::string letter = heading.substr(0, 1);
    CHECK(heading.substr(1, 2) == ". ");
    letters.insert(letter);
    Words decided;
    int machines = 0;
    for (const Machine& machine : troubles()) {
      if (machine.about != letter) continue;
      ++machines;
      decided.merge(ids_in(machine.expect.has[0]));
    }
    CHECK(machines >= 2);
    CHECK(ids_in(table) == decided);
  }
  CHECK(letters.size() == 26);
}

TEST_CASE("the pages name only findings that exist") {
  for (const char* page : {"beliefs.md", "troubles.md"})
    for (const std::string& id : ids_in(read_text(cat(TCS_SOURCE_DIR, "/docs/", page)))) {
      INFO(page << ": " << id);
      CHECK(find_row(id) != nullptr);
    }
}
