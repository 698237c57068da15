// SPDX-License-Identifier: Apache-2.0
// `tcstack intersect` as a build calls it: bad documents and words are 2, nothing left is 1.
#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "tool/verbs.h"

using namespace tcs;

namespace {

int status(const std::string& plan, const List<std::string>& more) {
  MemoryHost host;
  host.files["/plan.json"] = plan;
  List<std::string> args{"--plan", "/plan.json"};
  args.append(more);
  return verb_intersect(host, args);
}

const char* const kPlan =
    R"({"images": [{"image": "sm_90"}], "targets": [{"target": "9.0"}], "by_user": true,
        "nvcc": "12.8.93", "nvcc_archs": ["sm_90", "compute_90"]})";

}  // namespace

TEST_CASE("what the plan needs is 0, nothing of it is 1") {
  for (const char* form : {"cmake", "json"}) {
    CHECK(status(kPlan, {"--archs", "9.0;10.0f", "--format", form}) == 0);
    CHECK(status(kPlan, {"--archs", "10.0f", "--format", form}) == 1);
  }
}

TEST_CASE("what the plan's nvcc does not build is not chosen") {
  CHECK(status(kPlan, {"--archs", "9.0a"}) == 1);
  CHECK(status(R"({"images": [{"image": "sm_90"}], "targets": []})", {"--archs", "9.0a"}) == 0);
}

TEST_CASE("what is no plan, no architecture or no option is bad input") {
  for (const char* plan :
       {"", "[]", "{}", R"({"images": [], "targets": []})", R"({"images": {}, "targets": []})",
        R"({"images": [{"image": "90"}], "targets": []})", R"({"images": [1], "targets": []})"})
    CHECK(status(plan, {"--archs", "9.0"}) == 2);
  CHECK(status(kPlan, {"--archs", "9.0b"}) == 2);
  CHECK(status(kPlan, {"--archs", ""}) == 2);
  CHECK(status(kPlan, {}) == 2);
  CHECK(status(kPlan, {"--archs", "9.0", "--format", "xml"}) == 2);
  CHECK(status(kPlan, {"--archs", "9.0", "word"}) == 2);
  MemoryHost host;
  CHECK(verb_intersect(host, {"--plan", "/none.json", "--archs", "9.0"}) == 2);
}
