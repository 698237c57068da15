// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"

using namespace tcs;

namespace {

Facts read(const std::string& members) {
  List<std::string> unknown;
  Result<Facts> facts =
      read_facts(cat("{\"schema\": \"torch-cuda-stack/facts/1\", ", members, "}"), unknown);
  REQUIRE(facts);
  return *facts;
}

}  // namespace

TEST_CASE("a release that names none is unknown, and the object says why") {
  for (const char* text : {"cu118", "CUDA 11.8", "x", "none"}) {
    const Facts facts = read(cat("\"torch\": {\"cuda\": \"", text, "\", \"reason\": \"by hand\"}"));
    CHECK_FALSE(facts.torch.cuda.known());
    CHECK(facts.torch.reason == cat("by hand; cuda '", text, "' names no release"));
  }
  CHECK(read("\"torch\": {\"cuda\": \"11.8\"}").torch.cuda.is("11.8"));
  CHECK(read("\"torch\": {\"cuda\": \"12\"}").torch.cuda.is("12"));
  CHECK_FALSE(read("\"host\": {\"glibc\": \"new\"}").host.glibc.known());
}

TEST_CASE("where the minor decides, a major alone is no release") {
  CHECK_FALSE(read("\"driver\": {\"cuda\": \"12\"}").driver.cuda.known());
  const Facts facts = read(
      "\"toolkits\": {\"list\": [{\"version\": \"12\", \"ptxas\": \"12\", \"cicc\": \"12.4\"}]}");
  CHECK(facts.toolkits.list[0].version.known());
  CHECK_FALSE(facts.toolkits.list[0].ptxas.known());
  CHECK(facts.toolkits.list[0].cicc.known());
}

TEST_CASE("a blank text tells nothing") {
  const Facts facts = read(
      "\"devices\": {\"list\": [{\"uuid\": \"\", \"name\": \" \"}]}, \"environment\": {\"A\": "
      "\"\"}");
  CHECK_FALSE(facts.devices.list[0].uuid.known());
  CHECK_FALSE(facts.devices.list[0].name.known());
  CHECK(facts.environment.find("A"));
}
