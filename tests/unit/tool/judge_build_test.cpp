// SPDX-License-Identifier: Apache-2.0
#include "tool/judge_build.h"

#include <catch2/catch_test_macros.hpp>

#include "base/text.h"

using namespace tcs;

namespace {
Facts machine(const char* torch, const char* cuda, const char* layout = "pip") {
  Facts facts;
  Toolkit t;
  t.root = Text("/v/nvidia/cu13");
  t.version = Text("13.2.78");
  t.layout = Text(layout);
  facts.toolkits.list.push_back(t);
  facts.toolkits.selected = 0;
  facts.torch.state = Text("found");
  facts.torch.root = Text(torch);
  facts.torch.cuda = Text(cuda);
  return facts;
}
}  // namespace

TEST_CASE("each PyTorch that completes a toolkit has links of its own in the cache") {
  const auto folder = [](const Facts& facts) { return farm_folder("/c", facts); };
  const std::string one = folder(machine("/s/torch", "13.2"));
  CHECK(starts_with(one, "/c/toolkits/"));
  CHECK(folder(machine("/s/torch", "13.2")) == one);
  CHECK(folder(machine("/t/torch", "13.2")) != one);
  // One that adds nothing to the toolkit needs none of its own.
  const std::string alone = folder(machine("/s/torch", "12.8"));
  CHECK(alone != one);
  CHECK(folder(machine("/t/torch", "12.8")) == alone);
  CHECK(folder(machine("/t/torch", "13.2", "distribution")) == alone);
  CHECK(folder(machine("/v/torch", "13.2")) == alone);
  CHECK(folder(Facts()).empty());
}
