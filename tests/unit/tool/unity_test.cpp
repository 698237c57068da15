// SPDX-License-Identifier: Apache-2.0
// tcstack-core is compiled from unity/*.cpp alone: a source that neither names is missing at a
// stranger's first configure, while every build of this repository still has it.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/text.h"

using namespace tcs;
namespace fs = std::filesystem;

namespace {

const fs::path kSources = fs::path(TCS_SOURCE_DIR) / "probe-src";

// How often each source is included.
std::map<std::string, int> included() {
  std::map<std::string, int> out;
  for (const auto& unit : fs::directory_iterator(kSources / "unity")) {
    std::ifstream stream(unit.path());
    for (std::string line; std::getline(stream, line);)
      if (starts_with(line, "#include \"") && ends_with(line, ".cpp\""))
        ++out[line.substr(10, line.size() - 11)];
  }
  return out;
}

}  // namespace

TEST_CASE("the two units of the core name every source once, and only sources that are there") {
  std::map<std::string, int> times = included();
  REQUIRE(times.size() > 50);
  for (const auto& entry : fs::recursive_directory_iterator(kSources)) {
    const std::string name = fs::relative(entry.path(), kSources).generic_string();
    // Not of the core: the units themselves, the programs that it runs, what the full tool has
    // more.
    bool aside = false;
    for (const char* folder : {"unity/", "probes/", "drive/", "formats/", "full/"})
      aside = aside || starts_with(name, folder);
    if (entry.path().extension() != ".cpp" || aside) continue;
    INFO(name);
    CHECK(times[name] == 1);
    times.erase(name);
  }
  for (const auto& [name, count] : times) {
    INFO(name << " is not there, and is included " << count << " times");
    CHECK(false);
  }
}
