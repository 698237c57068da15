// SPDX-License-Identifier: Apache-2.0
#include "base/string_map.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace tcs;

namespace {

std::string names_of(const StringMap& map) {
  std::string out;
  for (const auto& item : map) out += item.first + item.second;
  return out;
}

}  // namespace

TEST_CASE("a map of strings is in the order of its names, whatever they came in as") {
  StringMap map = {{"B", "2"}, {"AB", "1"}, {"C", "3"}, {"A", "0"}};
  CHECK(names_of(map) == "A0AB1B2C3");
  map["B"] = "5";
  map["BA"] = "6";
  map["\xff"] = "";  // bytes above 127 come last
  CHECK(names_of(map) == "A0AB1B5BA6C3\xff");
  CHECK(map.size() == 6);
}

TEST_CASE("a name that is not in a map of strings is not found, and asking does not make it") {
  StringMap map;
  CHECK(map.empty());
  CHECK_FALSE(map.find("A"));
  map["B"];
  CHECK_FALSE(map.find("A"));
  CHECK_FALSE(map.find("C"));
  REQUIRE(map.find("B"));
  CHECK(map.find("B")->empty());
  CHECK(map.size() == 1);
}

TEST_CASE("what is erased from a map of strings is gone, the rest stays") {
  StringMap map = {{"A", "1"}, {"B", "2"}, {"C", "3"}};
  map.erase("B");
  map.erase("D");
  CHECK(names_of(map) == "A1C3");
  map.clear();
  CHECK(map.empty());
}
