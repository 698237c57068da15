// SPDX-License-Identifier: Apache-2.0
// A source tree of PyTorch and its build folder, by each way that a list is asked for.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

struct Source {
  Facts facts;
  Request request;

  Source() {
    Toolkit t;
    t.root = Text("/opt/cuda");
    t.version = t.headers = t.ptxas = t.cicc = t.cudart = Text("12.4");
    t.origin = Text("CUDA_HOME");
    t.layout = Text("default");
    t.missing = Names(List<std::string>{});
    facts.origin = "replayed";
    facts.host.os = Text("linux");
    facts.host.glibc = Text("2.35");
    facts.toolkits.list_known = true;
    facts.toolkits.list.push_back(t);
    facts.toolkits.selected = Fact<int>(0);
    facts.toolkits.on_path = Text("12.4");
    facts.host_compiler.id = Text("GNU");
    facts.host_compiler.version = Text("12.2.0");
    facts.torch.state = Text("absent");
    facts.tree.state = Text("found");
    facts.tree.version = Text("2.6.0");
    facts.tree.era = Text("setup.py");
    facts.tree.cuda_min = Text("11.0");
    facts.tree.gcc_min = Text("9.3");
    facts.tree.build.path = Text("/pt/build");
    facts.tree.build.list = Text("8.0;8.6");
    facts.tree.build.compiler = Text("none");
    request.purpose = "pytorch-source";
    request.arch_list = Text("9.0", "TORCH_CUDA_ARCH_LIST (environment)");
  }
  Source& list(const char* text, const char* from = "TORCH_CUDA_ARCH_LIST (environment)") {
    request.arch_list = Text(text, from);
    return *this;
  }
  Report report() const {
    const Plan plan = make_plan(facts, request);
    return judge(RuleInput{facts, request, plan}, Policy{});
  }
  const Finding* find(const Report& report, int id) const {
    for (const Finding& f : report.findings)
      if (f.id == id) return &f;
    return nullptr;
  }
  bool says(int id) const { return find(report(), id) != nullptr; }
};

constexpr const char* kVariable = "TORCH_CUDA_ARCH_LIST (CMake variable)";

}  // namespace

TEST_CASE("a build folder of another list is found out, and both are named") {
  const Source source;
  const Report report = source.report();
  const Finding* f = source.find(report, 924);
  REQUIRE(f != nullptr);
  CHECK(f->severity == Severity::Error);
  CHECK(f->message ==
        "PyTorch's build folder is configured for sm_80 sm_86, while sm_90 is asked for");
  CHECK(contains(f->help, "have it configured anew: rm /pt/build/CMakeCache.txt"));
}

TEST_CASE("lists are compared by what they mean") {
  for (const char* same : {"8.0;8.6", "8.6 8.0", "sm_80;8.0;86", "8.0; 8.6;"})
    CHECK_FALSE(Source().list(same).says(924));
  for (const char* other : {"8.0", "8.0;8.6+PTX", "8.0;8.6;9.0", "Ampere"})
    CHECK(Source().list(other).says(924));
}

TEST_CASE("in a configure CMake's variable counts, unless it hides another list of now") {
  CHECK_FALSE(Source().list("9.0", kVariable).says(924));  // -D of this very configure
  CHECK_FALSE(Source().list("8.0;8.6", kVariable).says(924));
  Source hidden;
  hidden.list("8.0;8.6", kVariable).facts.environment["TORCH_CUDA_ARCH_LIST"] = "9.0";
  CHECK(hidden.says(924));
  hidden.facts.environment["TORCH_CUDA_ARCH_LIST"] = "8.6 8.0";
  CHECK_FALSE(hidden.says(924));
  hidden.list("9.0", kVariable);
  CHECK_FALSE(hidden.says(924));
}

TEST_CASE("what the tree's parser has no word for is in no list, and is not missed there") {
  Source source;
  source.facts.toolkits.list[0].version = Text("12.9");
  source.list("9.0;12.0f").facts.tree.build.list = Text("9.0");
  CHECK_FALSE(source.says(924));
  source.facts.tree.version = Text("2.15.0a0");
  CHECK(source.says(924));
}

TEST_CASE("without a list in the cache the flags of its files count, where they stay") {
  Source source;
  source.facts.tree.build.list = Text("none");
  CHECK(source.says(925));
  source.facts.tree.build.gencodes = Names({"arch=compute_90,code=sm_90"});
  CHECK_FALSE(source.says(924));
  CHECK_FALSE(source.says(925));
  source.facts.tree.build.gencodes = Names({"arch=compute_80,code=sm_80"});
  CHECK(source.says(924));
  source.facts.tree.build.gencodes = Names(List<std::string>{});  // this configure writes them
  CHECK_FALSE(source.says(924));
}

TEST_CASE("no build folder, no tree, another purpose: nothing is said") {
  Source source;
  source.facts.tree.build.path = Text("none");
  for (int id : {323, 411, 924, 925}) CHECK_FALSE(source.says(id));
  source.facts.tree.build.path = Text();
  CHECK(source.says(925));
  source.facts.tree = TreeFacts();
  CHECK(source.says(925));
  source.facts.tree.state = Text("absent");
  CHECK_FALSE(source.says(925));
  Source extension;
  extension.request.purpose = "extension";
  extension.facts.tree.cuda_min = Text("13.0");
  for (int id : {323, 411, 924, 925}) CHECK_FALSE(extension.says(id));
}

TEST_CASE("what the tree's CMake stops below is refused, and the very release is not") {
  Source source;
  source.facts.tree.build.path = Text("none");
  source.facts.tree.cuda_min = Text("12.6");
  CHECK(source.says(323));
  source.facts.tree.cuda_min = Text("12.4");
  CHECK_FALSE(source.says(323));
  source.facts.tree.gcc_min = Text("12.3");
  CHECK(source.says(411));
  source.facts.host_compiler.id = Text("Clang");
  CHECK_FALSE(source.says(411));
}

TEST_CASE("a toolkit that would do is of what the sources take") {
  Source source;
  source.facts.tree.build.path = Text("none");
  source.facts.tree.cuda_min = Text("12.6");
  const Report report = source.report();
  const Finding* f = source.find(report, 323);
  REQUIRE(f != nullptr);
  REQUIRE_FALSE(f->help.empty());
  CHECK(contains(f->help[0], "install CUDA toolkit 12.6"));
}

TEST_CASE("a build folder keeps its nvcc when CUDACXX names another one") {
  Source source;
  source.facts.tree.build.path = Text("none");
  source.facts.toolkits.list[0].origin = Text("TREE_CUDA_COMPILER");
  CHECK_FALSE(source.says(306));
  Toolkit other = source.facts.toolkits.list[0];
  other.root = Text("/opt/cuda-12.8");
  other.version = Text("12.8");
  other.origin = Text("CUDACXX");
  source.facts.toolkits.list.push_back(other);
  CHECK(source.says(306));
  source.facts.toolkits.list[0].origin = Text("TREE_CUDA_COMPILER, CUDACXX");
  source.facts.toolkits.list[1].origin = Text("PATH");
  CHECK_FALSE(source.says(306));
}

TEST_CASE("a source build without a GPU, a list or targets stops, whatever is installed") {
  Source source;
  source.request.arch_list = Text();
  source.facts.devices.state = Text("none");
  source.facts.torch.state = Text("found");
  source.facts.torch.flavour = Text("cuda");
  source.facts.torch.version = Text("2.6.0");
  source.facts.torch.images = Names({"sm_80", "sm_90"});
  CHECK(source.says(908));
  CHECK(make_plan(source.facts, source.request).gencodes.empty());
}
