// SPDX-License-Identifier: Apache-2.0
#include "plan/intersect.h"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <vector>

#include "machine.h"
#include "plan/grammar.h"

using namespace tcs;

namespace {

const Facts kNvcc13 = with_nvcc("13.0.88", kNvcc130);

// The needs of a plan that is a list of the user's, with targets beside it.
PlanNeeds listed(const std::string& list, const List<std::string>& targets = {}) {
  PlanNeeds needs;
  for (const std::string& word : split(list, "; ")) {
    for (const ArchToken& token : parse_arch_list(word, "torch").tokens) {
      if (token.cubin) needs.images.push_back(Image{token.real, false});
      if (token.ptx) needs.images.push_back(Image{token.virt, true});
    }
  }
  for (const std::string& target : targets) {
    Sm sm;
    REQUIRE(parse_sm_dotted(target, sm));
    needs.targets.push_back(sm);
  }
  return needs;
}

PlanNeeds planned(const Facts& facts, const Request& request) {
  const Plan plan = make_plan(facts, request);
  PlanNeeds needs;
  for (const Gencode& g : plan.gencodes) needs.images.push_back(g.image());
  for (const Target& t : plan.targets) needs.targets.push_back(t.sm);
  needs.by_user = plan.by_user;
  return needs;
}

std::string unserved(const Intersection& found) {
  List<std::string> out;
  for (const auto& row : found.unserved) out.push_back(row.first);
  return join(out, " ");
}

Intersection cross(const std::string& archs, const PlanNeeds& needs, const Facts& facts = kNvcc13) {
  Intersection found = intersect(needs, Buildable(facts), archs);
  CAPTURE(archs);
  CHECK(found.error == "");
  return found;
}

struct Row {
  const char *plan, *archs, *list, *unserved;
};

void hold(const std::vector<Row>& rows, const Facts& facts = kNvcc13) {
  for (const Row& row : rows) {
    CAPTURE(row.plan, row.archs);
    const Intersection found = cross(row.archs, listed(row.plan), facts);
    CHECK(found.list() == row.list);
    CHECK(unserved(found) == row.unserved);
  }
}

}  // namespace

TEST_CASE("each capability of the plan gets the best that the file has for it") {
  hold({
      {"8.6;8.9;9.0;10.0;12.0+PTX", "8.0;9.0a;10.0f;12.0f", "8.0+PTX;9.0a;10.0f;12.0f", ""},
      {"10.3", "10.0a", "", "10.3"},
      {"10.3", "10.0f", "10.0f", ""},
      {"10.3", "10.0", "10.0", ""},
      {"10.3", "10.0;10.3;10.0f;10.3f;10.3a", "10.3a", ""},
      {"10.3", "10.0;10.3;10.0f;10.3f", "10.3f", ""},
      {"10.3", "10.0;10.3", "10.3", ""},
      {"12.1", "12.0a", "", "12.1"},
      {"12.1", "12.0f", "12.0f", ""},
      {"12.1", "12.0", "12.0", ""},
      {"9.0", "9.0a", "9.0a", ""},
      {"9.0", "sm_90a", "9.0a", ""},
      {"9.0", "9.0a;9.0", "9.0a", ""},
      {"8.0;8.6;8.9", "8.6", "8.6", "8.0"},
      {"8.6", "8.6(8.0)", "8.6(8.0)", ""},
      {"8.6", "Ampere", "8.6", ""},
      {"8.6;9.0", "Ampere", "8.6+PTX", ""},
  });
}

TEST_CASE("the table of docs/kernel-archs.md holds") {
  std::ifstream in(TCS_SOURCE_DIR "/docs/kernel-archs.md");
  REQUIRE(in);
  const Facts nvcc128 = with_nvcc("12.8.93", kNvcc128);
  size_t rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (!starts_with(line, "| `")) continue;
    const List<std::string> cells = split(line, "|");
    REQUIRE(cells.size() >= 4);
    std::string words[4];
    for (size_t i = 0; i < 4; ++i) {
      const size_t first = cells[i].find('`');
      if (first == std::string::npos) continue;
      words[i] = cells[i].substr(first + 1, cells[i].find('`', first + 1) - first - 1);
    }
    hold({{words[0].c_str(), words[1].c_str(), words[2].c_str(), words[3].c_str()}},
         contains(cells[0], "12.8") ? nvcc128 : kNvcc13);
    ++rows;
  }
  CHECK(rows == 19);
}

TEST_CASE("where another function of this kind loses the kernels, they are kept") {
  hold({
      {"12.1", "12.0f", "12.0f", ""},
      {"9.0a", "9.0a", "9.0a", ""},
      {"9.0a", "9.0", "9.0a", ""},
      {"10.0a", "10.0f", "10.0f", ""},
      {"10.3a", "10.0f", "10.0f", ""},
      {"12.0a", "12.0f", "12.0f", ""},
      {"12.0f", "12.0a", "12.0a", "12.1"},
      {"12.1", "12.0;12.1", "12.1", ""},
      {"10.3", "10.0;10.3", "10.3", ""},
      {"11.0", "10.1a", "11.0a", ""},
      {"8.0;8.6;9.0;9.0a", "8.0;8.6;9.0a", "8.0;8.6;9.0a", ""},
      {"8.9;12.0", "8.0;8.9;9.0;10.0;12.0", "8.9;12.0", ""},
      {"12.0f", "12.1a", "12.1a", "12.0"},
      {"10.0a;10.3", "10.0", "10.0;10.0a", ""},
      {"10.0a;10.3a", "10.0f", "10.0f", ""},
      {"12.0a;12.1a", "12.0f", "12.0f", ""},
      {"12.0a;12.1", "12.0", "12.0;12.0a", ""},
      {"12.1;12.0", "12.0f", "12.0f", ""},
      {"12.0", "12.1f", "", "12.0"},
  });
}

TEST_CASE("the plan's own suffix is kept for code that is written for the plain architecture") {
  hold({
      {"9.0a", "9.0", "9.0a", ""},
      {"9.0;9.0a", "9.0", "9.0", ""},
      {"12.0f", "12.0", "12.0f", ""},
      {"10.0a;10.3", "10.0", "10.0;10.0a", ""},
      {"10.0a", "9.0+PTX", "90-virtual", ""},
      {"8.6;9.0a", "8.6;8.9;9.0", "8.6;9.0a", ""},
  });
}

TEST_CASE("an f image of the plan stands for each member of its family") {
  const Intersection found = cross("10.3a;12.0f", listed("10.0f;12.0f"));
  CHECK(found.list() == "10.3a;12.0f");
  CHECK(unserved(found) == "10.0 10.7");
  CHECK(found.plan.gencodes[1].reason == "12.0 12.1");
}

TEST_CASE("PTX for GPUs to come is that of a plain architecture, never of an a or f") {
  hold({
      {"9.0+PTX", "9.0a", "9.0a", "compute_90"},
      {"90-virtual", "9.0a", "", "compute_90"},
      {"90-virtual", "8.0", "80-virtual", ""},
      {"90-virtual", "9.0", "90-virtual", ""},
      {"90-virtual", "10.0", "", "compute_90"},
      {"9.0+PTX", "8.0;9.0a", "80-virtual;9.0a", ""},
      {"8.0+PTX;12.0+PTX", "8.0;9.0", "8.0+PTX;90-virtual", ""},
      {"12.0+PTX", "12.0f+PTX", "12.0f", "compute_120"},
  });
  const Intersection none = cross("9.0a", listed("90-virtual"));
  CHECK(none.unserved[0].second == "PTX of 'a' and 'f' architectures serves no GPU to come");
}

TEST_CASE("PTX serves a capability where the file offers it, or the plan asked for it") {
  hold({
      {"9.0", "8.0", "", "9.0"},
      {"9.0", "8.0+PTX", "80-virtual", ""},
      {"9.0", "8.0+PTX;8.6+PTX", "86-virtual", ""},
      {"9.0;8.0", "8.0+PTX", "8.0+PTX", ""},
      {"9.0+PTX", "8.0", "80-virtual", ""},
  });
  CHECK(cross("8.0", listed("9.0")).unserved[0].second ==
        "sm_80 does not run there; 8.0+PTX would");
}

TEST_CASE("nothing is served across the border between Tegra and other parts but by PTX") {
  hold({
      {"8.7", "8.0", "", "8.7"},
      {"8.7", "8.0+PTX", "80-virtual", ""},
      {"8.7", "8.7", "8.7", ""},
      {"8.9", "8.7", "", "8.9"},
      {"8.6;8.7;8.9", "8.0", "8.0", "8.7"},
  });
  CHECK(cross("8.0", listed("8.7")).unserved[0].second ==
        "sm_80 is not sure to run across the border to Tegra; 8.0+PTX would");
}

TEST_CASE("what this nvcc does not build gives way to the next, or is the reason") {
  const Facts nvcc128 = with_nvcc("12.8.93", kNvcc128);
  hold(
      {
          {"12.0", "12.0f;12.0a", "12.0a", ""},
          {"12.0", "12.1;12.0", "12.0", ""},
          {"12.0", "12.1(12.0)", "", "12.0"},
      },
      nvcc128);
  CHECK(cross("12.1", listed("12.0"), nvcc128).unserved[0].second ==
        "none of the file's architectures runs there");
  CHECK(cross("9.0a", listed("9.0"), with_nvcc("11.8.89", "80 90")).unserved[0].second ==
        "nvcc 11.8.89 does not build 9.0a");
}

TEST_CASE("where nvcc has no f its a stands in for that capability, and it is said") {
  const Facts nvcc128 = with_nvcc("12.8.93", kNvcc128);
  hold(
      {
          {"12.0", "12.0f", "12.0a", ""},
          {"12.0", "12.0f;12.0", "12.0a", ""},
          {"12.0a", "12.0f", "12.0a", ""},
          {"9.0;12.0a", "9.0a;12.0f", "9.0a;12.0a", ""},
          {"10.0", "10.0f;12.0f", "10.0a", ""},
          {"10.1", "11.0f", "10.1a", ""},
          {"12.0+PTX", "12.0f", "12.0a", "compute_120"},
      },
      nvcc128);
  CHECK(cross("9.0a;12.0f", listed("12.0"), nvcc128).notes ==
        List<std::string>{"12.0f is 12.0a for nvcc 12.8.93"});
  CHECK(cross("9.0a;12.0f", listed("9.0"), nvcc128).notes.empty());
  const PlanNeeds spark = planned(nvcc128, target_request({"12.1"}));
  CHECK(cross("12.0f", spark, nvcc128).unserved[0].second ==
        "sm_120a runs on 12.0 alone; 12.0f is 12.0a for nvcc 12.8.93");
}

TEST_CASE("10.1 of CUDA 12 is 11.0 of CUDA 13, and it is said") {
  const Intersection found = cross("10.1a;10.1f", listed("11.0"));
  CHECK(found.list() == "11.0a");
  CHECK(found.notes == List<std::string>{"10.1a is 11.0a for nvcc 13.0.88"});
  CHECK(cross("10.1", listed("11.0+PTX")).notes ==
        List<std::string>{"10.1 is 11.0 for nvcc 13.0.88"});
  const Facts nvcc128 = with_nvcc("12.8.93", kNvcc128);
  CHECK(cross("11.0a", listed("10.1"), nvcc128).list() == "10.1a");
  CHECK(cross("10.1a", listed("10.1"), nvcc128).notes.empty());
}

TEST_CASE("a plan by targets is for them, not for the images that stand in for them") {
  const Facts nvcc128 = with_nvcc("12.8.93", kNvcc128);
  const PlanNeeds needs = planned(nvcc128, target_request({"12.1"}));
  REQUIRE(needs.images == List<Image>{Image{Sm{12, 0, 0}, false}});
  CHECK(cross("12.0a", needs, nvcc128).plan.gencodes.empty());
  CHECK(cross("12.0", needs, nvcc128).list() == "12.0");
}

TEST_CASE("devices count beside the user's list where the list serves them") {
  CHECK(cross("8.6", listed("8.0", {"8.6"})).list() == "8.6");
  CHECK(cross("8.6;9.0a", listed("8.6", {"9.0"})).list() == "8.6");
}

TEST_CASE("a plan of all architectures takes every entry that serves one") {
  const PlanNeeds needs = planned(kNvcc13, list_request("all"));
  const Intersection found = cross("8.0;9.0a;10.0f;12.0f", needs);
  CHECK(found.list() == "8.0+PTX;9.0a;10.0f;12.0f");
  CHECK(unserved(found) == "7.5");
}

TEST_CASE("where nvcc is unknown nothing is cut") {
  CHECK(cross("12.0f", listed("12.1"), Facts()).list() == "12.0f");
}

TEST_CASE("what is no architecture and a plan without images are errors") {
  const Buildable build(kNvcc13);
  auto error = [&](const char* archs) { return intersect(listed("9.0"), build, archs).error; };
  CHECK(error("9.0f") == "'9.0f' is no architecture; did you mean 9.0a?");
  CHECK(error("9,0") == "'9,0' is no architecture such as 9.0a or 8.0+PTX; did you mean 9.0?");
  CHECK(error("99.9") == "'99.9' is no architecture");
  CHECK(error("native") == "'native' names no architecture of its own");
  CHECK(error("") == "names no architecture");
  CHECK(intersect(PlanNeeds(), build, "9.0").error == "the plan has no image");
}

namespace {

// Lists of up to `most` of `words`.
List<std::string> subsets(const List<std::string>& words, size_t most) {
  List<std::string> out{""};
  for (const std::string& word : words) {
    const List<std::string> before = out;
    for (const std::string& set : before)
      if (split(set, ";").size() < most) out.push_back(set.empty() ? word : cat(set, ";", word));
  }
  out.erase(out.begin());
  return out;
}

bool runs(const Image& image, const Sm& device) {
  const Fit fit = fits(image, device);
  return fit == Fit::Native || fit == Fit::Jit;
}

// "12.1" or "compute_90", what it is said of `image` that it serves.
bool serves(const Image& image, const std::string& what) {
  Image need;
  Sm sm;
  if (parse_sm_dotted(what, sm)) return runs(image, sm);
  return parse_image(what, need) && image.ptx && image.sm.plain() && !(need.sm < image.sm);
}

}  // namespace

TEST_CASE("all that is chosen runs where it is said to, and nothing is left that an entry serves") {
  const List<std::string> files =
      subsets({"8.0", "8.0+PTX", "8.6(8.0)", "8.7", "9.0", "9.0a", "10.0", "10.0a", "10.0f", "10.3",
               "10.3f", "12.0a+PTX", "12.0f", "12.1a"},
              3);
  const List<std::string> plans = subsets(
      {"8.0", "8.6", "8.7", "9.0+PTX", "9.0a", "10.0f", "10.3", "12.0", "12.1+PTX", "12.0f"}, 2);
  const Buildable build(kNvcc13);
  size_t wrong = 0, tried = 0;
  std::string first;
  for (const std::string& plan : plans) {
    const PlanNeeds needs = listed(plan);
    for (const std::string& file : files) {
      ++tried;
      const Intersection found = intersect(needs, build, file);
      const PlanNeeds own = listed(file);
      bool good = found.error.empty();
      for (const Gencode& g : found.plan.gencodes) {
        good = good && !g.reason.empty() && build.can(g);
        for (const std::string& what : split(g.reason, " ")) good = good && serves(g.image(), what);
      }
      for (const auto& row : found.unserved) {
        for (const Image& image : own.images) {
          const bool ptx = starts_with(row.first, "compute") && image.sm.plain();
          good = good && !serves(ptx ? Image{image.sm, true} : image, row.first);
        }
        for (const Gencode& g : found.plan.gencodes) good = good && !serves(g.image(), row.first);
      }
      for (const Image& image : needs.images) {
        const std::string what = image.ptx ? image.str() : image.sm.base().dotted();
        bool named = false;
        for (const auto& row : found.unserved) named = named || row.first == what;
        for (const Gencode& g : found.plan.gencodes)
          named = named || contains(split(g.reason, " "), what);
        good = good && named;
      }
      if (!good && first.empty()) first = cat(plan, " with ", file);
      wrong += !good;
    }
  }
  CAPTURE(first);
  CHECK(wrong == 0);
  CHECK(tried > 20000);
}
