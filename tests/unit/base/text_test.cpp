// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/bytes.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/version.h"

using namespace tcs;

TEST_CASE("split leaves out empty parts, lines_of keeps empty lines") {
  CHECK(split(";8.6; 9.0;;", "; ") == List<std::string>{"8.6", "9.0"});
  CHECK(split("", ";").empty());
  CHECK(lines_of("a\r\n\nb") == List<std::string>{"a", "", "b"});
}

TEST_CASE("a number is the whole text and within its bound") {
  uint64_t n = 7;
  CHECK(parse_number("0", 9, n));
  CHECK(n == 0);
  CHECK(parse_number("18446744073709551615", UINT64_MAX, n));
  CHECK(n == UINT64_MAX);
  CHECK_FALSE(parse_number("18446744073709551616", UINT64_MAX, n));
  CHECK_FALSE(parse_number("10", 9, n));
  CHECK_FALSE(parse_number("", 9, n));
  CHECK_FALSE(parse_number("1 ", 9, n));
  CHECK_FALSE(parse_number("-1", 9, n));
  CHECK(n == UINT64_MAX);
}

TEST_CASE("the tail of what a child printed shows no control characters") {
  CHECK(tail("  abc\x1b[31m\n", 100) == "abc?[31m");
  CHECK(tail("a\xFF\xC3\xA4\xC3", 100) == "a?\xC3\xA4?");
  CHECK(tail("0123456789", 4) == "...6789");
}

TEST_CASE("replace_all does not replace in what it put there") {
  CHECK(replace_all("aaa", "a", "aa") == "aaaaaa");
  CHECK(replace_all("abc", "", "x") == "abc");
}

TEST_CASE("edit distance counts insertions, deletions, changes and swaps") {
  CHECK(edit_distance("native", "natvie") == 1);
  CHECK(edit_distance("native", "antvie") == 2);
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
}

TEST_CASE("releases compare number by number") {
  CHECK(Version::parse("12.4") < Version::parse("12.10"));
  CHECK(Version::parse("535.261.03") >= Version::parse("525.60.13"));
  CHECK(Version::parse("13") == Version::parse("13.0.0"));
  CHECK_FALSE(Version::parse("").known());
  CHECK_FALSE(Version::parse("garbage").known());
}

TEST_CASE("what follows the numbers of a release is kept, not compared") {
  Version v = Version::parse("2.7.0.dev20250310+cu124");
  CHECK(v.dotted() == "2.7.0");
  CHECK(v.rest == ".dev20250310+cu124");
  CHECK(v.major_minor() == "2.7");
  CHECK(Version::parse("2.3.0+cu121") == Version::parse("2.3.0"));
  CHECK(Version::parse("2.6.0a0+gitabc").rest == "a0+gitabc");
  CHECK(Version::parse("99999999999.1").known() == false);
}

TEST_CASE("a view answers only for what is wholly inside") {
  const char data[] = {1, 2, 3, 4};
  Bytes bytes(data, 4);
  uint32_t word = 0;
  CHECK(bytes.read(0, word));
  CHECK(word == 0x04030201u);
  CHECK_FALSE(bytes.read(1, word));
  CHECK_FALSE(bytes.read(UINT64_MAX, word));
  Bytes sub;
  CHECK(bytes.sub(4, 0, sub));
  CHECK_FALSE(bytes.sub(5, 0, sub));
  CHECK_FALSE(bytes.sub(2, UINT64_MAX, sub));
  uint64_t sum = 0;
  CHECK_FALSE(checked_add(UINT64_MAX, 1, sum));
  CHECK_FALSE(checked_mul(UINT64_MAX / 2, 3, sum));
}

TEST_CASE("the nearest word is at most two letters away, whatever its case") {
  const List<std::string> words = {"probe", "plan", "images"};
  CHECK(closest("prob", words) == "probe");
  CHECK(closest("PLAN", words) == "plan");
  CHECK(closest("quux", words).empty());
  CHECK(closest("quux", words, 9) == "plan");
  CHECK(closest(std::string(5000, 'x'), words, 9999).empty());
  CHECK(did_you_mean("image", words) == "; did you mean images?");
  CHECK(did_you_mean("quux", words).empty());
}

TEST_CASE("what is no printable ASCII is shown as its bytes") {
  CHECK(ascii("sm_90 (\x1b[1m)") == "sm_90 (\\x1b[1m)");
  CHECK(ascii("a\nb\x7f") == "a\\x0ab\\x7f");
  CHECK(ascii("\xff\xc3\xa9") == "\\xff\\xc3\\xa9");
}
