// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "base/json.h"
#include "base/text.h"

using namespace tcs;

static std::string refusal(std::string_view text) {
  Result<Json> json = parse_json(text);
  REQUIRE_FALSE(json);
  return json.error().str();
}

TEST_CASE("JSON text comes back as it went in") {
  const char* text =
      "{\"a\":[1,-0.5e+10,true,false,null],\"b\":{\"c\":\"\\\"\\\\\\n\\t\\u0001 \xC3\xA4 "
      "\xF0\x9F\x98\x80\"},"
      "\"\":[]}";
  Result<Json> json = parse_json(text);
  REQUIRE(json);
  CHECK(write_json(*json, 0) == text);
  Result<Json> again = parse_json(write_json(*json, 2));
  REQUIRE(again);
  CHECK(write_json(*again, 0) == text);
}

TEST_CASE("escapes become characters") {
  Result<Json> json = parse_json("\"\\u0041\\u00e4\\ud83d\\ude00\\/\\b\\f\\r\"");
  REQUIRE(json);
  CHECK(json->text == "A\xC3\xA4\xF0\x9F\x98\x80/\b\f\r");
}

TEST_CASE("an error names line, column and what stands there") {
  CHECK(refusal("{\n  \"a\": 1,\n  \"a\": 2}") ==
        "line 3, column 3: the member \"a\" stands twice in this object");
  CHECK(refusal("[1,]") == "line 1, column 4: expected a value, found ']'");
  CHECK(refusal("{\"a\" 1}") == "line 1, column 6: expected ':' after \"a\", found '1'");
  CHECK(refusal("[1 2]") == "line 1, column 4: expected ',' or ']', found '2'");
  CHECK(refusal("") == "line 1, column 1: expected a value, found the end of the text");
  CHECK(refusal("{} x") == "line 1, column 4: text after the end of the JSON value");
}

TEST_CASE("what is not JSON is refused") {
  auto text = GENERATE(as<std::string>{}, "nul", "NaN", "Infinity", "-Infinity", "-", "1e+", "0x1",
                       "[1,]", "{\"a\"}", "/* c */ 1", "01", "1.", "+1", ".5", "1e", "'a'", "\"a",
                       "\"\\x\"", "\"\t\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
                       "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF5\x80\x80\x80\"", "// c\n1", "[",
                       "{", "{\"a\":1,}", "\xEF\xBB\xBF{}");
  INFO(text);
  CHECK_FALSE(parse_json(text));
}

TEST_CASE("deep nesting and huge text are refused, not followed") {
  std::string deep(100000, '[');
  CHECK(contains(refusal(deep), "nested deeper than 64"));
  JsonLimits limits;
  limits.bytes = 10;
  Result<Json> json = parse_json("[1,2,3,4,5,6]", limits);
  REQUIRE_FALSE(json);
  CHECK(contains(json.error().text, "at most 10"));
  limits = JsonLimits{};
  limits.values = 3;
  CHECK_FALSE(parse_json("[1,2,3,4]", limits));
}

TEST_CASE("bytes that are not UTF-8 are written as the replacement character") {
  CHECK(write_json(Json(std::string("a\xFF"
                                    "b")),
                   0) ==
        "\"a\xEF\xBF\xBD"
        "b\"");
}

TEST_CASE("values know where they began") {
  Result<Json> json = parse_json("{\n \"a\": [10,\n  20]}");
  REQUIRE(json);
  CHECK(json->find("a")->items[1].place() == "line 3, column 3");
  CHECK(json->find("b") == nullptr);
}

TEST_CASE("a repeated member is found in an object of any size, and its name is shown as text") {
  CHECK(refusal("{\"\\u001b\": 1, \"\\u001b\": 1}") ==
        "line 1, column 15: the member \"\\x1b\" stands twice in this object");
  std::string many = "{";
  for (int i = 0; i < 20000; ++i) many += cat("\"member ", i, "\": 1,\n");
  CHECK(parse_json(many + "\"last\": 1}"));
  for (int i : {0, 17, 31, 32, 33, 19999})
    CHECK(contains(refusal(cat(many, "\"member ", i, "\": 1}")),
                   cat("line 20001, column 1: the member \"member ", i, "\" stands twice")));
  CHECK(refusal(cat("{\"", std::string(1000, 'x'), "\" 1}")).size() < 150);
}

TEST_CASE("numbers keep their text, whatever their size; a leading zero is refused") {
  const std::string digits(1000, '7');
  CHECK(parse_json(digits)->text == digits);
  CHECK(parse_json("1e999999")->text == "1e999999");
  CHECK(refusal("[0, 012]") == "line 1, column 8: a number with a leading zero");
  CHECK(refusal("-00") == "line 1, column 4: a number with a leading zero");
}
