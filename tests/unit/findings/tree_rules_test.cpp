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

namespace {

void see(Source& source, const char* capability) {
  Device device;
  device.index = Fact<int>(0);
  device.cc = Text(capability);
  device.visible = Fact<bool>(true);
  source.facts.devices.list.push_back(device);
  source.facts.devices.list_known = true;
  source.facts.devices.state = Text("measured");
}

// What was not judged, and for want of which fact.
std::string unjudged(const Source& source) {
  const Report report = source.report();
  std::string all;
  for (const Finding& f : report.findings)
    for (const std::string& note : f.notes)
      if (starts_with(note, "without ")) all += note + "\n";
  return all;
}

}  // namespace

TEST_CASE("a list that the tree has no word of asks for no GPU that is here instead") {
  Source source;
  source.facts.toolkits.list[0].version = Text("12.9");
  see(source, "9.0");
  source.list("12.0f").facts.tree.build.list = Text("9.0");
  CHECK(source.says(924));
}

TEST_CASE(
    "a list that is given just now hides none of the environment's, and a blank one is none") {
  Source source;
  source.list("9.0", kVariable).facts.environment["TORCH_CUDA_ARCH_LIST"] = "9.0";
  CHECK_FALSE(source.says(924));
  source.list("8.0;8.6", kVariable).facts.environment["TORCH_CUDA_ARCH_LIST"] = " ";
  CHECK_FALSE(source.says(924));
}

TEST_CASE("where both lists come from is in the table") {
  Source source;
  source.facts.tree.build.list = Text("8.0", "/pt/build/CMakeCache.txt");
  Report report = source.report();
  const auto rows = [&] { return source.find(report, 924)->evidence; };
  REQUIRE(rows().size() == 2);
  CHECK(rows()[0].has == "TORCH_CUDA_ARCH_LIST=8.0");
  CHECK(rows()[0].from == "/pt/build/CMakeCache.txt");
  CHECK(rows()[1].from == "TORCH_CUDA_ARCH_LIST (environment)");
  source.list("8.0", kVariable).facts.environment["TORCH_CUDA_ARCH_LIST"] = "9.0";
  report = source.report();
  CHECK(rows()[1].from == "TORCH_CUDA_ARCH_LIST (environment)");
  Source other;
  other.facts.tree.build.list = Text("none");
  other.facts.tree.build.gencodes = Names({"arch=compute_80,code=sm_80"}, "/pt/build.ninja");
  report = other.report();
  CHECK(rows()[0].has == "sm_80");
  CHECK(rows()[0].from == "/pt/build.ninja");
}

TEST_CASE("what is said of a build folder is of what it has: a list, or flags alone") {
  Source source;
  source.facts.tree.fresh = Text("CMAKE_FRESH=1");
  const auto words = [&] {
    const Report report = source.report();
    const Finding* f = source.find(report, 924);
    REQUIRE(f != nullptr);
    return cat(join(f->notes, "\n"), "\n", join(f->help, "\n"));
  };
  CHECK(contains(words(), "is silently ignored where the cache"));
  CHECK_FALSE(contains(words(), "runs cmake once and then keeps"));
  CHECK(contains(words(), "build what it has: TORCH_CUDA_ARCH_LIST=\"8.0;8.6\""));
  CHECK(contains(words(), "--cmake as a word of setup.py"));
  source.facts.tree.era = Text("scikit-build-core");
  CHECK_FALSE(contains(words(), "--cmake as a word of setup.py"));
  source.facts.tree.build.list = Text("none");
  source.facts.tree.build.gencodes = Names({"arch=compute_80,code=sm_80"});
  CHECK_FALSE(contains(words(), "is silently ignored where the cache"));
  CHECK(contains(words(), "runs cmake once and then keeps"));
  CHECK_FALSE(contains(words(), "build what it has"));
}

TEST_CASE("a build folder of a list that this nvcc refuses is another, and said to be that") {
  Source source;
  source.facts.tree.build.list = Text("12.0");
  const Report report = source.report();
  const Finding* f = source.find(report, 924);
  REQUIRE(f != nullptr);
  CHECK(contains(f->message, "is configured for what nvcc refuses, while sm_90"));
  CHECK_FALSE(contains(join(f->help, "\n"), "build what it has"));
}

TEST_CASE("to build what a folder has is advised where that is built, and serves the targets") {
  const auto advised = [](const char* kept, const char* target) {
    Source source;
    source.facts.tree.build.list = Text(kept);
    source.request.targets = {target};
    source.request.targets_known = true;
    const Report report = source.report();
    const Finding* f = source.find(report, 924);
    REQUIRE(f != nullptr);
    return contains(join(f->help, "\n"), cat("build what it has: TORCH_CUDA_ARCH_LIST=\"", kept));
  };
  CHECK(advised("8.0;8.6", "8.6"));
  CHECK(advised("8.0+PTX", "9.0"));
  CHECK_FALSE(advised("8.0;8.6", "9.0"));
  CHECK_FALSE(advised("8.0;12.0", "8.0"));
  CHECK_FALSE(advised("nonsense", "8.0"));
}

TEST_CASE("flags that are all that is asked for are no other list, whatever a list could say") {
  Source source;
  source.facts.toolkits.list[0].version = Text("12.9");
  source.list("9.0;12.0f").facts.tree.build.list = Text("none");
  source.facts.tree.build.gencodes =
      Names({"arch=compute_90,code=sm_90", "arch=compute_120f,code=sm_120f"});
  CHECK_FALSE(source.says(924));
}

TEST_CASE("what is not known of a tree, its folder or its compilers is named, each once") {
  const struct {
    void (*forget)(Source&);
    const char* fact;
  } rows[] = {
      {[](Source& s) { s.facts.tree = TreeFacts(); }, "tree.state"},
      {[](Source& s) { s.facts.tree.build.path = Text(); }, "tree.build.path"},
      {[](Source& s) { s.facts.tree.build.list = Text(); }, "tree.build.list"},
      {[](Source& s) { s.facts.tree.build.list = Text("none"); }, "tree.build.gencodes"},
      {[](Source& s) { s.facts.tree.cuda_min = Text(); }, "tree.cuda_min"},
      {[](Source& s) { s.facts.tree.gcc_min = Text(); }, "tree.gcc_min"},
  };
  for (const auto& row : rows) {
    Source source;
    row.forget(source);
    const Report report = source.report();
    const Finding* f = source.find(report, 925);
    REQUIRE(f != nullptr);
    CHECK(f->missing == List<std::string>{row.fact});
  }
  Source source;
  source.facts.toolkits.list[0].version = Text();
  CHECK(contains(unjudged(source), "whether PyTorch's sources take this nvcc"));
  CHECK(contains(unjudged(source), "without toolkits.list[].archs it was not judged whether its"));
  source.facts.toolkits.selected = Fact<int>();
  CHECK(contains(unjudged(source), "without toolkits.selected it was not judged whether its"));
  source.facts.toolkits.list.clear();
  CHECK_FALSE(contains(unjudged(source), "whether its build folder"));
  for (const bool version : {true, false}) {
    Source host;
    (version ? host.facts.host_compiler.version : host.facts.host_compiler.id) = Text();
    CHECK(contains(unjudged(host), cat("without host_compiler.", version ? "version" : "id",
                                       " it was not judged whether PyTorch's sources take it")));
  }
}

TEST_CASE("a refused toolkit is told with the tree's release, where that is known") {
  Source source;
  source.facts.tree.cuda_min = Text("12.6", "/pt/cmake/public/cuda.cmake");
  Report report = source.report();
  const auto finding = [&] { return *source.find(report, 323); };
  CHECK(finding().message ==
        "the sources of PyTorch 2.6.0 take CUDA 12.6 or newer, and this build uses nvcc 12.4");
  REQUIRE(finding().evidence.size() == 2);
  CHECK(finding().evidence[0].needs == ">= 12.6");
  CHECK(finding().evidence[1].from == "/pt/cmake/public/cuda.cmake");
  source.facts.tree.version = Text();
  report = source.report();
  CHECK(contains(finding().message, "the sources of PyTorch take CUDA"));
  source.facts.toolkits.list[0].layout = Text("clang");
  CHECK_FALSE(source.says(323));
  Source broken;
  Toolkit& toolkit = broken.facts.toolkits.list[0];
  toolkit.version = Text();
  toolkit.works = Fact<bool>(false);
  toolkit.failure.kind = Text("start");
  CHECK_FALSE(contains(unjudged(broken), "whether PyTorch's sources take this nvcc"));
}

TEST_CASE("a newer host compiler is offered where this nvcc takes one that is new enough") {
  const auto help = [](const char* oldest, const char* spare) {
    Source source;
    source.facts.tree.gcc_min = Text(oldest);
    if (spare) source.facts.toolkits.list[0].spare_host_compiler = Text(spare);
    const Report report = source.report();
    const Finding* f = source.find(report, 411);
    REQUIRE(f != nullptr);
    return join(f->help, "\n");
  };
  for (const char* oldest : {"12.3", "13"}) {
    CHECK(contains(help(oldest, nullptr), "as CUDAHOSTCXX: g++-13"));
    CHECK_FALSE(contains(help(oldest, nullptr), "install GCC"));
  }
  for (const char* spare :
       {"/opt/g++/clang++-18", "/usr/bin/clang++-18", "/usr/bin/g++", "/usr/bin/g++-11"}) {
    CHECK(contains(help("12.3", spare), "install GCC 12.3 or newer"));
    CHECK_FALSE(contains(help("12.3", spare), "name a newer one"));
  }
  CHECK(contains(help("14", nullptr), "install GCC 14 or newer"));
  CHECK_FALSE(contains(help("14", nullptr), "name a newer one"));
}
