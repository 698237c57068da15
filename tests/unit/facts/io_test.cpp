// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"

using namespace tcs;

namespace {

std::string with(const std::string& members) {
  return cat("{\"schema\": \"torch-cuda-stack/facts/1\"", members.empty() ? "" : ",\n ", members,
             "}");
}

std::string refusal(const std::string& text) {
  List<std::string> unknown;
  Result<Facts> facts = read_facts(text, unknown);
  REQUIRE_FALSE(facts);
  return facts.error().str();
}

Facts read(const std::string& members) {
  List<std::string> unknown;
  Result<Facts> facts = read_facts(with(members), unknown);
  INFO((facts ? "" : facts.error().str()));
  REQUIRE(facts);
  CHECK(unknown.empty());
  return *facts;
}

}  // namespace

TEST_CASE("absent and null are unknown, an empty list is known to be empty") {
  Facts facts = read("\"torch\": {\"version\": null}, \"toolkits\": {\"list\": []}");
  CHECK_FALSE(facts.torch.version.known());
  CHECK_FALSE(facts.torch.state.known());
  CHECK(facts.toolkits.list_known);
  CHECK_FALSE(facts.devices.list_known);
  CHECK(facts.origin == "replayed");
}

TEST_CASE("the origin of each fact is kept in the object's from") {
  const std::string text = with(
      "\"toolkits\": {\"list\": [{\"version\": \"12.4\", \"from\": {\"version\": \"nvcc "
      "--version\"}}], "
      "\"selected\": 0}");
  List<std::string> unknown;
  Result<Facts> facts = read_facts(text, unknown);
  REQUIRE(facts);
  CHECK(facts->toolkit()->version.from == "nvcc --version");
  Result<Facts> again = read_facts(write_json(facts_to_json(*facts)), unknown);
  REQUIRE(again);
  CHECK(again->toolkit()->version.from == "nvcc --version");
  CHECK(unknown.empty());
}

TEST_CASE("members that the schema does not have are collected with their place") {
  List<std::string> unknown;
  Result<Facts> facts = read_facts(
      with("\"devices\": {\"list\": [{\"name\": \"A\",\n  \"colour\": 1}]}, \"weather\": {}"),
      unknown);
  REQUIRE(facts);
  REQUIRE(unknown.size() == 2);
  CHECK(unknown[0] == "devices.list[0].colour (line 3, column 13)");
  CHECK(unknown[1].find("weather (line 3") == 0);
}

TEST_CASE(
    "a wrong type is refused with the member, what was found, what was expected and the place") {
  CHECK(refusal(with("\"torch\": {\"version\": 2.3}")) ==
        "line 2, column 23: torch.version: found number, expected a string");
  CHECK(contains(refusal(with("\"torch\": []")), "torch: found array, expected an object"));
  CHECK(contains(refusal(with("\"devices\": {\"list\": [3]}")), "devices.list[0]: found number"));
  CHECK(contains(refusal(with("\"devices\": {\"list\": [{\"visible\": 1}]}")),
                 "devices.list[0].visible: found number, expected true or false"));
  CHECK(contains(refusal(with("\"torch\": {\"images\": [\"sm_80\", 8]}")),
                 "torch.images[1]: found number"));
  CHECK(contains(refusal(with("\"environment\": {\"A\": null}")), "environment.A: found null"));
  CHECK(contains(refusal("[]"), "the document: found array, expected an object"));
}

TEST_CASE("a value outside the schema's words is refused with the words") {
  CHECK(contains(refusal(with("\"driver\": {\"state\": \"fine\"}")),
                 "driver.state: found 'fine', expected one of ok, absent, no-kernel-module"));
  CHECK(contains(refusal(with("\"origin\": \"dreamt\"")), "origin: found 'dreamt'"));
  CHECK(contains(refusal(with("\"devices\": {\"list\": [{\"cc\": \"86\"}]}")),
                 "'86' is not a compute capability like 8.6"));
  CHECK(contains(refusal(with("\"torch\": {\"images\": [\"8.6\"]}")),
                 "torch.images[0]: '8.6' is not an image like sm_86"));
  CHECK(contains(refusal(with("\"driver\": {\"error\": {\"code\": -3}}")),
                 "driver.error.code: found -3, expected a whole number"));
}

TEST_CASE("another schema, a selection outside the list and a repeated member are refused") {
  CHECK(contains(refusal("{\"schema\": \"torch-cuda-stack/facts/2\"}"),
                 "expected 'torch-cuda-stack/facts/1'"));
  CHECK(refusal("{}") == "line 1, column 1: schema: missing, expected 'torch-cuda-stack/facts/1'");
  CHECK(contains(refusal("{\"schema\": null}"), "schema: found '', expected"));
  CHECK(contains(refusal(with("\"toolkits\": {\"list\": [], \"selected\": 0}")),
                 "toolkits.selected: found 0, but toolkits.list has 0 entries"));
  List<std::string> unknown;
  CHECK(read_facts(with("\"toolkits\": {\"selected\": 1}"), unknown));  // into an unknown list
  CHECK(contains(refusal(with("\"origin\": \"measured\", \"origin\": \"measured\"")), "origin"));
}

TEST_CASE("a request is read with its defaults, and its words are checked") {
  List<std::string> unknown;
  Result<Request> request = read_request("{}", unknown);
  REQUIRE(request);
  CHECK(request->purpose == "extension");
  CHECK_FALSE(request->targets_known);
  request = read_request("{\"targets\": [\"native\"], \"arch_list\": \"8.6\"}", unknown);
  REQUIRE(request);
  CHECK(request->targets_known);
  CHECK(request->arch_list.is("8.6"));
  request = read_request("{\"purpose\": \"fun\"}", unknown);
  REQUIRE_FALSE(request);
  CHECK(contains(request.error().text, "expected one of extension, pytorch-source, run"));
}

TEST_CASE("a long value in a message is cut") {
  const std::string digits(5000, '9'), text(5000, 'x');
  for (const std::string& members : {cat("\"toolkits\": {\"selected\": ", digits, "}"),
                                     cat("\"driver\": {\"state\": \"", text, "\"}"),
                                     cat("\"devices\": {\"list\": [{\"cc\": \"", text, "\"}]}"),
                                     cat("\"torch\": {\"images\": [\"", text, "\"]}")}) {
    const std::string said = refusal(with(members));
    CHECK(said.size() < 250);
    CHECK(contains(said, "..."));
  }
}

TEST_CASE("a list that no machine can have is refused with its place") {
  std::string many;
  for (int i = 0; i < 1025; ++i) many += i ? ", {}" : "{}";
  CHECK(refusal(with(cat("\"devices\": {\"list\": [", many, "]}"))) ==
        "line 2, column 22: devices.list: found 1025 entries, expected at most 1024");
  many.erase(0, 4);
  read(cat("\"devices\": {\"list\": [", many, "]}"));
}

TEST_CASE("from may be unknown, and holds text") {
  read("\"torch\": {\"from\": null}");
  CHECK(contains(refusal(with("\"torch\": {\"from\": []}")), "torch.from: found array"));
  CHECK(contains(refusal(with("\"torch\": {\"from\": {\"version\": 1}}")),
                 "torch.from.version: found number, expected a string"));
  CHECK(contains(refusal(with("\"torch\": {\"reason\": 1}")), "torch.reason: found number"));
}
