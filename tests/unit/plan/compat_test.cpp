// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
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

// What nvlink said: each cubin (nvcc -cubin -rdc=true -arch=sm_X) given to nvlink -arch=sm_T of the
// same release; accepted = exit 0 without a warning. Measured 2026-11 with 11.8.89, 12.4.131,
// 13.0.88, 13.2.78 and 13.5.37. A device's row is the union of X, Xa and Xf: from 13.2 on the row
// of 90 refuses 90a although the device loads it.
struct NvlinkRow {
  const char* device;
  const char* accepted;
};
struct Nvlink {
  const char* release;
  bool unified;  // 13.2 and later mix desktop and Tegra
  const char* cubins;
  List<NvlinkRow> rows;
};

const List<Nvlink>& nvlink() {
  static const List<Nvlink> all = {
      {"11.8.89",
       false,
       "35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90",
       {{"35", "35"},
        {"37", "35 37"},
        {"50", "50"},
        {"52", "50 52"},
        {"53", "53"},
        {"60", "60"},
        {"61", "60 61"},
        {"62", "62"},
        {"70", "70"},
        {"72", "72"},
        {"75", "70 75"},
        {"80", "80"},
        {"86", "80 86"},
        {"87", "87"},
        {"89", "80 86 89"},
        {"90", "90"}}},
      {"12.4.131",
       false,
       "50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a",
       {{"50", "50"},
        {"52", "50 52"},
        {"53", "53"},
        {"60", "60"},
        {"61", "60 61"},
        {"62", "62"},
        {"70", "70"},
        {"72", "72"},
        {"75", "70 75"},
        {"80", "80"},
        {"86", "80 86"},
        {"87", "87"},
        {"89", "80 86 89"},
        {"90", "90 90a"}}},
      {"13.0.88",
       false,
       "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a "
       "121f",
       {{"75", "75"},
        {"80", "80"},
        {"86", "80 86"},
        {"87", "87"},
        {"88", "88"},
        {"89", "80 86 89"},
        {"90", "90 90a"},
        {"100", "100 100a 100f"},
        {"103", "100 100f 103 103a 103f"},
        {"110", "110 110a 110f"},
        {"120", "120 120a 120f"},
        {"121", "120 120f 121 121a 121f"}}},
      {"13.2.78",
       true,
       "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a "
       "121f",
       {{"75", "75"},
        {"80", "80"},
        {"86", "80 86"},
        {"87", "80 86 87"},
        {"88", "80 86 87 88"},
        {"89", "80 86 87 88 89"},
        {"90", "90 90a"},
        {"100", "100 100a 100f"},
        {"103", "100 100f 103 103a 103f"},
        {"110", "110 110a 110f"},
        {"120", "120 120a 120f"},
        {"121", "120 120f 121 121a 121f"}}},
      {"13.5.37",
       true,
       "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a "
       "120f 121 121a 121f",
       {{"75", "75"},
        {"80", "80"},
        {"86", "80 86"},
        {"87", "80 86 87"},
        {"88", "80 86 87 88"},
        {"89", "80 86 87 88 89"},
        {"90", "90 90a"},
        {"100", "100 100a 100f"},
        {"103", "100 100f 103 103a 103f"},
        {"107", "100 100f 103 103f 107 107a 107f"},
        {"110", "110 110a 110f"},
        {"120", "120 120a 120f"},
        {"121", "120 120f 121 121a 121f"}}},
  };
  return all;
}

}  // namespace

TEST_CASE("fits agrees with every answer of nvlink from 11.8 to 13.5") {
  for (const Nvlink& release : nvlink()) {
    for (const NvlinkRow& row : release.rows) {
      List<std::string> accepted = split(row.accepted, " ");
      for (const std::string& cubin : split(release.cubins, " ")) {
        Sm device;
        REQUIRE(parse_sm_digits(row.device, device));
        INFO("nvlink " << release.release << ": sm_" << cubin << " for sm_" << row.device);
        bool linked = std::find(accepted.begin(), accepted.end(), cubin) != accepted.end();
        Fit answer = fits(image("sm_" + cubin), device);
        if (answer == Fit::CrossTegra) {
          CHECK(linked == release.unified);
        } else {
          CHECK(linked == (answer == Fit::Native));
        }
      }
    }
  }
}

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
