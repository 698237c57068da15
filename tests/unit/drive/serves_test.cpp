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

TEST_CASE("a row has two short names and the largest GeForce, and columns stand below each other") {
  const std::string text = served(Build("8.0;8.6"));
  CHECK(row(text, "8.0") == "  8.0    A30, A100                                     sm_80");
  CHECK(row(text, "8.6") == "  8.6    A2, A10, GeForce RTX 3090                     sm_86");
  CHECK(row(text, "8.9") == "  8.9    L2, L4, GeForce RTX 4090                      sm_86");
  CHECK(starts_with(text, "This PyTorch will be of sm_80, sm_86\nand run on\n\n"));
  CHECK(contains(text, "  not on 3.0 GeForce GTX 770, 3.2 Jetson TK1, 3.5 GeForce GTX 780, 3.7 "));
  CHECK(contains(text, " 6.1 GeForce GTX 1080, 6.2 Jetson TX2, 7.0 Tesla V100, "));
  CHECK(contains(text, " 7.5 GeForce RTX 2080, 9.0 H100, "));
  CHECK(ends_with(text, " 12.0 GeForce RTX 5090, 12.1 DGX Spark\n"));
}

TEST_CASE(
    "the nearest of the code that fits best serves a GPU, in whatever order it is asked for") {
  for (const char* list : {"8.0;8.6", "8.6;8.0"}) {
    const std::string text = served(Build(list));
    CHECK(ends_with(row(text, "8.9"), " sm_86"));
    CHECK(ends_with(row(text, "8.0"), " sm_80"));
  }
  CHECK(ends_with(row(served(Build("8.0;8.7+PTX")), "8.9"), " sm_80"));
}

TEST_CASE("PTX that GPUs to come can use is the newest that is for all of them") {
  CHECK(ends_with(row(served(Build("8.0+PTX;9.0+PTX")), "newer"), " compute_90 (PTX)"));
  CHECK(ends_with(row(served(Build("9.0+PTX;8.0+PTX")), "newer"), " compute_90 (PTX)"));
  CHECK(contains(row(served(Build("9.0a+PTX")), "newer"), "nothing: 9.0+PTX in the list"));
  for (const char* list : {"8.0+PTX;9.0", "9.0;8.0+PTX"}) {
    CHECK(ends_with(row(served(Build(list)), "newer"), " compute_80 (PTX)"));
    CHECK(contains(served(Build(list)), "is translated"));
  }
  for (const char* list : {"8.0;9.0", "9.0;8.0"})
    CHECK(contains(row(served(Build(list)), "newer"), "nothing: 9.0+PTX in the list"));
}

TEST_CASE(
    "a capability has one row, whatever suffix its code has, and also where no GPU is known") {
  const std::string text = served(Build("8.8;9.0a"));
  CHECK(row(text, "9.0a").empty());
  CHECK_FALSE(row(text, "8.8").empty());
}

TEST_CASE("where everything is served nothing is left out") {
  Build build("3.0+PTX");
  build.facts = with_nvcc("10.2.89", "30 35 37 50 52 60 61 70 72 75");
  CHECK_FALSE(contains(served(build), "not on"));
  for (const std::string& line : lines_of(served(build)))
    CHECK(line.find("GeForce") == line.rfind("GeForce"));
  CHECK(contains(served(build), "a driver of CUDA 10.2 or newer"));
}

TEST_CASE("what is too long for a line goes on below its first word") {
  const std::string text = served(Build("12.0"));
  const List<std::string> lines = lines_of(text.substr(text.find("  not on")));
  REQUIRE(lines.size() > 2);
  for (size_t i = 1; i < lines.size(); ++i) {
    CHECK(starts_with(lines[i], "         "));
    CHECK(ends_with(lines[i - 1], ","));
    const std::string first = split(lines[i].substr(9), ",")[0] + ",";
    CHECK(lines[i - 1].size() + 1 + first.size() > 100);
  }
  CHECK_FALSE(ends_with(std::string(trim(text)), ","));
}
