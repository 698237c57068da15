// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "plan/plan.h"

using namespace tcs;

namespace {

Image image(const std::string& text) {
  Image out;
  REQUIRE(parse_image(text, out));
  return out;
}

Sm cc(const std::string& text) {
  Sm out;
  REQUIRE(parse_sm_dotted(text, out));
  return out;
}

Fit fit(const std::string& name, const std::string& device) {
  return fits(image(name), cc(device));
}

}  // namespace

TEST_CASE("8.6 code runs on 8.9 but 8.9 code not on 8.6") {
  CHECK(fit("sm_86", "8.9") == Fit::Native);
  CHECK(fit("sm_89", "8.6") == Fit::None);
}

TEST_CASE("a 12.0 device is not served by a 9.0 cubin") {
  CHECK(fit("sm_90", "12.0") == Fit::None);
  CHECK(fit("sm_100", "12.0") == Fit::None);
  CHECK(fit("compute_90", "12.0") == Fit::Jit);
}

TEST_CASE("plain PTX serves every later capability and no earlier one") {
  CHECK(fit("compute_80", "8.0") == Fit::Jit);
  CHECK(fit("compute_80", "8.7") == Fit::Jit);
  CHECK(fit("compute_103", "11.0") == Fit::Jit);
  CHECK(fit("compute_80", "13.0") == Fit::Jit);
  CHECK(fit("compute_90", "8.9") == Fit::None);
}

TEST_CASE("an 'a' target serves its own capability only, as code and as PTX") {
  CHECK(fit("sm_100a", "10.0") == Fit::Native);
  CHECK(fit("sm_100a", "10.3") == Fit::None);
  CHECK(fit("compute_90a", "9.0") == Fit::Jit);
  CHECK(fit("compute_90a", "10.0") == Fit::None);
}

TEST_CASE("an 'f' target serves its family") {
  for (const char* member : {"10.0", "10.3", "10.7"}) CHECK(fit("sm_100f", member) == Fit::Native);
  CHECK(fit("sm_100f", "11.0") == Fit::None);
  CHECK(fit("sm_100f", "10.1") == Fit::None);  // Thor under CUDA 12 is not in the family
  CHECK(fit("sm_103f", "10.0") == Fit::None);
  CHECK(fit("compute_120f", "12.1") == Fit::Jit);
  CHECK(fit("compute_120f", "13.0") == Fit::None);
}

TEST_CASE("a capability that no table has is judged by rule") {
  CHECK(fit("sm_120", "12.9") == Fit::Native);
  CHECK(fit("sm_120f", "12.9") == Fit::Native);
  CHECK(fit("sm_130", "13.2") == Fit::Native);
  CHECK(fit("sm_130a", "13.2") == Fit::None);
}

TEST_CASE("Tegra and desktop parts of one major are only across") {
  CHECK(fit("sm_80", "8.7") == Fit::CrossTegra);
  CHECK(fit("sm_87", "8.9") == Fit::CrossTegra);
  CHECK(fit("sm_70", "7.2") == Fit::CrossTegra);
  CHECK(fit("sm_87", "8.7") == Fit::Native);
  CHECK(is_tegra(cc("8.7")));
  CHECK(is_tegra(cc("5.3")));
  CHECK_FALSE(is_tegra(cc("8.9")));
  CHECK_FALSE(is_tegra(cc("13.0")));
}

TEST_CASE("the best of several images decides, PTX before a guess across Tegra") {
  List<Image> images = {image("sm_80"), image("compute_80")};
  CHECK(best_fit(images, cc("8.6")) == Fit::Native);
  CHECK(best_fit(images, cc("8.7")) == Fit::Jit);
  CHECK(best_fit(images, cc("7.5")) == Fit::None);
  CHECK(best_fit({}, cc("8.6")) == Fit::None);
}
