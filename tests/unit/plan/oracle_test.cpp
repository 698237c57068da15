// SPDX-License-Identifier: Apache-2.0
// fits() against tests/oracles/nvlink-cubin-compat.json: what nvlink of five releases linked, pair
// by pair. Nothing is left out: each case counts its pairs, and those in which the two differ stand
// in a table here with their reason.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "plan/plan.h"

using namespace tcs;

namespace {

using Set = std::set<std::string>;
using Rows = std::map<std::string, Set>;  // target -> cubins that nvlink links for it

// In the order of the releases.
const std::vector<std::pair<std::string, Rows>>& oracle() {
  static const auto all = [] {
    std::ifstream file(TCS_SOURCE_DIR "/tests/oracles/nvlink-cubin-compat.json");
    std::stringstream text;
    text << file.rdbuf();
    Result<Json> json = parse_json(text.str());
    REQUIRE(json);
    std::vector<std::pair<std::string, Rows>> out;
    for (const auto& release : json->find("releases")->members) {
      out.emplace_back(release.first, Rows{});
      for (const auto& row : release.second.members)
        for (const Json& cubin : row.second.items) out.back().second[row.first].insert(cubin.text);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return Version::parse(a.first) < Version::parse(b.first);
    });
    return out;
  }();
  return all;
}

Sm sm(const std::string& digits) {
  Sm out;
  REQUIRE(parse_sm_digits(digits, out));
  return out;
}

Fit predicted(const std::string& cubin, const std::string& device) {
  return fits(Image{sm(cubin), false}, sm(device).base());
}

// Each architecture of a release has a row, so the rows' names are its cubins as well.
Set devices_of(const Rows& rows) {
  Set out;
  for (const auto& row : rows) out.insert(sm(row.first).base().digits());
  return out;
}

// From 13.2 on the row of 90 leaves out 90a, which the device loads: a device's row is the union.
Set accepted_by(const Rows& rows, const std::string& device) {
  Set out;
  for (const char* suffix : {"", "a", "f"}) {
    auto row = rows.find(device + suffix);
    if (row != rows.end()) out.insert(row->second.begin(), row->second.end());
  }
  return out;
}

bool knows(const Rows& rows, const std::string& architecture) {
  return rows.find(architecture) != rows.end();
}

// Where fits() answers neither yes nor no, by design: NVIDIA's guides say that machine code does
// not pass between desktop and Tegra parts; nvlink says so too up to 13.1, and takes it from 13.2
// on (CUDA 13.2 unified Orin with the rest); on devices both was reported. So it is a warning
// there, and a device that is present is asked.
struct Border {
  const char* device;
  const char* cubins;
};
const Border kBorder[] = {
    {"53", "50 52"},     // Jetson TX1, Nano
    {"62", "60 61"},     // Jetson TX2
    {"72", "70"},        // Jetson Xavier
    {"75", "72"},        // its code on desktop parts
    {"87", "80 86"},     // Jetson Orin
    {"88", "80 86 87"},  // 87 is a Tegra part too, and each takes only its own
    {"89", "87 88"},
};

bool across(const std::string& cubin, const std::string& device) {
  for (const Border& row : kBorder) {
    const List<std::string> cubins = split(row.cubins, " ");
    if (device == row.device && std::find(cubins.begin(), cubins.end(), cubin) != cubins.end())
      return true;
  }
  return false;
}

bool unified(const std::string& release) {
  return !(Version::parse(release) < Version::parse("13.2"));
}

struct Count {
  int pairs = 0, across = 0;
};

// One pair, and whether it is one of the exceptions.
void compare(const std::string& release, const std::string& cubin, const std::string& device,
             bool accepted, Count& count) {
  INFO("nvlink " << release << ": sm_" << cubin << " on " << device << ", accepted " << accepted);
  const Fit answer = predicted(cubin, device);
  ++count.pairs;
  CHECK((answer == Fit::CrossTegra) == across(cubin, device));
  if (answer != Fit::CrossTegra) {
    CHECK((answer == Fit::Native) == accepted);
    return;
  }
  ++count.across;
  CHECK(accepted == unified(release));  // the era
}

}  // namespace

TEST_CASE("runs or does not run: 1356 pairs of five releases of nvlink, 39 of them across Tegra") {
  const std::map<std::string, Count> expected = {{"11.8.89", {256, 9}},
                                                 {"12.4.131", {210, 9}},
                                                 {"13.0.88", {276, 7}},
                                                 {"13.2.78", {276, 7}},
                                                 {"13.5.37", {338, 7}}};
  REQUIRE(oracle().size() == expected.size());
  Count all;
  for (const auto& [release, rows] : oracle()) {
    Count count;
    for (const std::string& device : devices_of(rows)) {
      const Set accepted = accepted_by(rows, device);
      for (const auto& cubin : rows)
        compare(release, cubin.first, device, accepted.count(cubin.first) != 0, count);
    }
    INFO("nvlink " << release);
    CHECK(count.pairs == expected.at(release).pairs);
    CHECK(count.across == expected.at(release).across);
    all.pairs += count.pairs;
    all.across += count.across;
  }
  CHECK(all.pairs == 1356);
  CHECK(all.across == 39);
}

TEST_CASE(
    "runs or does not run: each pair by the newest release that knows the device and the cubin") {
  Set devices, cubins;
  for (const auto& release : oracle()) {
    const Set here = devices_of(release.second);
    devices.insert(here.begin(), here.end());
    for (const auto& row : release.second) cubins.insert(row.first);
  }
  Count count;
  int never_asked = 0;
  for (const std::string& device : devices)
    for (const std::string& cubin : cubins) {
      auto newest = std::find_if(oracle().rbegin(), oracle().rend(), [&](const auto& release) {
        return knows(release.second, device) && knows(release.second, cubin);
      });
      if (newest == oracle().rend()) {
        // No release built for both: they are of different generations.
        INFO("sm_" << cubin << " on " << device);
        CHECK(predicted(cubin, device) == Fit::None);
        ++never_asked;
        continue;
      }
      const bool accepted = accepted_by(newest->second, device).count(cubin) != 0;
      compare(newest->first, cubin, device, accepted, count);
    }
  CHECK(count.pairs + never_asked == static_cast<int>(devices.size() * cubins.size()));
  CHECK(count.pairs == 566);
  CHECK(count.across == 13);
  CHECK(never_asked == 262);
}

// The other direction, row by row as nvlink was asked: what any row takes runs on its device, and
// what a row refuses runs there only where another row of the same device takes it.
TEST_CASE("runs or does not run: no row of nvlink takes what is predicted not to run") {
  int pairs = 0, across_taken = 0;
  List<std::string> only_in_another_row;
  for (const auto& [release, rows] : oracle())
    for (const auto& [target, taken] : rows) {
      const std::string device = sm(target).base().digits();
      for (const auto& row : rows) {
        const std::string& cubin = row.first;
        INFO("nvlink " << release << " -arch=sm_" << target << ": sm_" << cubin);
        const Fit answer = predicted(cubin, device);
        ++pairs;
        if (taken.count(cubin) != 0) {
          CHECK(answer != Fit::None);
          across_taken += answer == Fit::CrossTegra;
        } else if (answer == Fit::Native) {
          CHECK(unified(release));
          CHECK(cubin == device + "a");  // code of exactly this device, not to be linked with less
          CHECK(rows.at(device + "a").count(cubin) == 1);
          only_in_another_row.push_back(cat(target, "-", cubin));
        }
      }
    }
  CHECK(pairs == 2215);
  CHECK(across_taken == 14);
  CHECK(only_in_another_row.size() == 24);
}
