// SPDX-License-Identifier: Apache-2.0
// What is judged stays judged: the same findings from a redacted recording, for every recorded
// machine.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "facts/facts_io.h"
#include "facts/redact.h"
#include "findings/finding.h"
#include "plan/plan.h"

using namespace tcs;

namespace {

// Ids, severities and what is planned.
std::string verdict(const std::string& facts_text, const Request& request) {
  List<std::string> unknown, said;
  Result<Facts> facts = read_facts(facts_text, unknown);
  INFO((facts ? "" : facts.error().str()));
  REQUIRE(facts);
  const Plan plan = make_plan(*facts, request);
  const Report report = judge(RuleInput{*facts, request, plan}, Policy{});
  for (const Finding& f : report.findings)
    said.push_back(cat(f.code(), " ", static_cast<int>(f.severity)));
  sort_few(said);
  for (const auto& image : plan.gencodes) said.push_back(image.flag());
  return join(said, "\n");
}

void check_machine(std::string facts, const Request& request) {
  const Identity own = {{"/home/alice"}, {"alice"}, {"box3"}};
  Result<Json> full = parse_json(facts);
  REQUIRE(full);
  const std::string out = write_json(redact(*full, own));
  CHECK(verdict(out, request) == verdict(facts, request));
  CHECK_FALSE(contains(out, "alice"));
}

}  // namespace

TEST_CASE("a redacted recording has the findings of the full one") {
  size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(cat(TCS_SOURCE_DIR, "/tests/machines"))) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    Result<Json> document = parse_json(text.str());
    REQUIRE(document);
    List<std::string> unknown;
    Result<Request> request = read_request(write_json(*document->find("request")), unknown);
    REQUIRE(request);
    const std::string facts = write_json(*document->find("facts"));
    check_machine(facts, *request);
    // The same machine with all its software below a home.
    check_machine(replace_all(replace_all(facts, "\"/opt/", "\"/home/alice/opt/"), "\"/usr/local/",
                              "\"/home/alice/local/"),
                  *request);
    ++seen;
  }
  CHECK(seen > 50);
}
