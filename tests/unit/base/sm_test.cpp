// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "base/sm.h"

using namespace tcs;

static Sm dotted(const char* text) {
  Sm sm;
  REQUIRE(parse_sm_dotted(text, sm));
  return sm;
}

TEST_CASE("capabilities sort by number, not as text") {
  CHECK(dotted("9.0") < dotted("10.0"));
  CHECK(dotted("9.0") < dotted("9.0a"));
  CHECK(dotted("9.0a") < dotted("10.0"));
  CHECK(dotted("10.0a") < dotted("10.0f"));
  CHECK(dotted("10.0f") < dotted("10.3"));
  CHECK_FALSE(dotted("12.1") < dotted("12.1"));
}

TEST_CASE("a capability is written in each of its forms") {
  Sm sm = dotted("12.0f");
  CHECK(sm.digits() == "120f");
  CHECK(sm.dotted() == "12.0f");
  CHECK(sm.real() == "sm_120f");
  CHECK(sm.virt() == "compute_120f");
  CHECK(sm.base() == dotted("12.0"));
}

TEST_CASE("the last digit is the minor: sm_103 is 10.3") {
  Image image;
  REQUIRE(parse_image("sm_103f", image));
  CHECK(image.sm == dotted("10.3f"));
  CHECK_FALSE(image.ptx);
  REQUIRE(parse_image("compute_75", image));
  CHECK(image.ptx);
  CHECK(image.str() == "compute_75");
}

TEST_CASE("what is no capability is refused") {
  Sm sm;
  for (const char* text : {"", ".", "8", "8.", ".6", "8.66", "8.6b", "8.6aa", "8.6 ", "a", "9.0A",
                           "-8.6", "8,6", "1000.0", "99999999999.0"}) {
    INFO(text);
    CHECK_FALSE(parse_sm_dotted(text, sm));
  }
  for (const char* text : {"", "9", "9a", "sm_90", "90b", "99999", "9 0"}) {
    INFO(text);
    CHECK_FALSE(parse_sm_digits(text, sm));
  }
  Image image;
  for (const char* text : {"sm90", "sm_", "sm_9", "compute_", "lto_90", "sm_90af"}) {
    INFO(text);
    CHECK_FALSE(parse_image(text, image));
  }
}
