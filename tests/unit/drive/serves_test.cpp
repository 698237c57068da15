// SPDX-License-Identifier: Apache-2.0
// What a finished PyTorch runs on, row by row.
#include <catch2/catch_test_macros.hpp>

#include "drive/serves.h"

#include "base/text.h"
#include "drive/build_of.h"

using namespace tcs;

namespace {

std::string served(const Build& build) {
  return serves_text(build.facts, build.plan());
}

// The line of a capability, "" = there is none.
std::string row(const std::string& text, const char* capability) {
  for (const std::string& line : lines_of(text))
    if (starts_with(line, cat("  ", capability, " "))) return line;
  return {};
}

}  // namespace

TEST_CASE("each capability has the code that runs there") {
  const std::string text = served(Build("8.0;9.0+PTX"));
  CHECK(ends_with(row(text, "8.0"), " sm_80"));
  CHECK(ends_with(row(text, "8.6"), " sm_80"));
  CHECK(ends_with(row(text, "9.0"), " sm_90"));
  CHECK(ends_with(row(text, "12.0"), " compute_90 (PTX)"));
  CHECK(ends_with(row(text, "newer"), " compute_90 (PTX)"));
  CHECK(contains(row(text, "8.7"), "perhaps sm_80, across the desktop/Tegra border"));
  CHECK(row(text, "7.5").empty());
  CHECK(contains(text, "a driver of CUDA 13.0 or newer"));
  CHECK(contains(text, "not on 3.0 "));
  CHECK(contains(text, "7.5 "));
}

TEST_CASE("without PTX the GPUs to come are served by nothing") {
  const std::string text = served(Build("8.6;9.0a"));
  CHECK(contains(row(text, "newer"), "nothing: 9.0+PTX in the list would serve them"));
  CHECK(row(text, "12.0").empty());
  CHECK(ends_with(row(text, "9.0"), " sm_90a"));
  CHECK_FALSE(contains(text, "is translated"));
}

TEST_CASE("GPUs are named as people do, and nothing is wider than a screen") {
  const std::string text = served(Build("7.5;8.0;8.6;8.7;8.9;9.0;10.0;11.0;12.0+PTX"));
  CHECK(contains(row(text, "8.9"), "GeForce RTX 4090"));
  CHECK(contains(row(text, "8.0"), "A100"));
  size_t lines = 0;
  for (const std::string& line : lines_of(text)) {
    CHECK(line.size() <= 100);
    ++lines;
  }
  CHECK(lines <= 24);
  Build empty("");
  empty.facts.devices.state = Text("none");
  empty.request.purpose = "pytorch-source";
  CHECK(served(empty).empty());
}
