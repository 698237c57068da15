// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "machine.h"
#include "tables/tables.h"

using namespace tcs;
using Kind = PlanIssue::Kind;

namespace {

// torch 2.15.0: each of 476 fat binaries holds the six, few hold more; libtorch_cuda_linalg.so is
// MAGMA's (read from the wheel, 2026-11).
void add_torch_215(Facts& facts) {
  add_torch(
      facts, "2.15.0+cu132",
      {{"sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", 415},
       {"sm_75 sm_80 sm_86 sm_90 sm_100 sm_100a sm_103f sm_120", 57},
       {"sm_75 sm_80 sm_86 sm_90 sm_90a sm_100 sm_120", 2},
       {"sm_75 sm_80 sm_86 sm_90 sm_90a sm_100 sm_100a sm_103f sm_120", 1},
       {"sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103f sm_120 sm_120a sm_121a", 1}});
  add_torch(facts, "2.15.0+cu132", {{"sm_80 sm_86 sm_90 sm_100 sm_120", 99}});
}

// torch 1.13.1: 271 fat binaries with several architectures (50 with 3.5 in place of 3.7), 31 with
// one.
void add_torch_113(Facts& facts) {
  add_torch(facts, "1.13.1",
            {{"sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86", 221},
             {"sm_35 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86", 50},
             {"sm_70", 3},
             {"sm_75", 4},
             {"sm_80", 16},
             {"sm_86", 8}});
}

}  // namespace

TEST_CASE("without a GPU and without a target the plan is PyTorch's own architectures") {
  Facts facts = with_nvcc("13.2.78", kNvcc130);
  add_torch_215(facts);
  facts.devices.state = std::string("none");
  Plan plan = make_plan(facts, Request());
  CHECK(torch_list(plan).text == "7.5;8.0;8.6;9.0;10.0;12.0");
  CHECK(issue_of(plan, Kind::DefaultTargets) != nullptr);
  CHECK(issue_of(plan, Kind::Empty) == nullptr);
  CHECK(plan.complete);
  CHECK_FALSE(plan.by_user);
  CHECK(plan.gencodes[0].reason == "PyTorch 2.15.0+cu132 has sm_75");
  CHECK(plan.targets.size() == 6);
}

TEST_CASE("PyTorch 1.13's own architectures leave out 3.5, which serves a part of its kernels") {
  Facts facts = with_nvcc("11.8.89", kNvcc118);
  add_torch_113(facts);
  CHECK(torch_list(make_plan(facts, target_request({"torch"}))).text ==
        "3.7;5.0;6.0;7.0;7.5;8.0;8.6");
}

TEST_CASE("PyTorch's architectures that nvcc does not build are left out with a note") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch(facts, "2.7.1", {{"sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", 378}});
  Plan plan = make_plan(facts, Request());
  CHECK(shown(plan) == "75:75 80:80 86:86 90:90");
  REQUIRE(issue_of(plan, Kind::NameCut) != nullptr);
  CHECK(issue_of(plan, Kind::NameCut)->detail ==
        "nvcc 13.0.88 does not build 5.0 6.0 7.0 of PyTorch 2.7.1");
}

TEST_CASE("a PyTorch for one architecture, with PTX, is mirrored whole") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch(facts, "2.11.0", {{"sm_86 compute_86", 300}, {"sm_86", 3}});
  CHECK(shown(make_plan(facts, Request())) == "86:86 86:ptx");
}

TEST_CASE("a PyTorch known by a bare list of images is taken at its plain ones") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  facts.torch.state = std::string("found");
  facts.torch.images = List<std::string>{"sm_80", "sm_90", "sm_90a", "sm_103f", "sm_120"};
  CHECK(shown(make_plan(facts, Request())) == "80:80 90:90 120:120");
}

TEST_CASE("counts without sets give the same architectures") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  facts.torch.state = std::string("found");
  TorchLibrary library;
  library.coverage = {{"sm_80", 476, 476}, {"sm_90", 476, 476}, {"sm_103f", 59, 59}};
  facts.torch.libraries.push_back(library);
  CHECK(shown(make_plan(facts, Request())) == "80:80 90:90");
}

TEST_CASE("a visible GPU is the default target, and gets machine code of its own") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch_215(facts);
  add_device(facts, "8.9", "NVIDIA L4");
  Plan plan = make_plan(facts, Request());
  CHECK(shown(plan) == "89:89");
  CHECK(plan.gencodes[0].reason == "device 0 (NVIDIA L4) is 8.9");
  REQUIRE(plan.targets.size() == 1);
  CHECK(plan.targets[0].device == 0);
  CHECK(plan.issues.empty());
}

TEST_CASE("several GPUs: each capability once, all devices as reasons") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_device(facts, "12.0", "A");
  add_device(facts, "9.0", "B");
  add_device(facts, "12.0", "A");
  Plan plan = make_plan(facts, target_request({"native"}));
  CHECK(shown(plan) == "90:90 120:120");
  CHECK(plan.gencodes[1].reason == "device 0 (A) is 12.0; device 2 (A) is 12.0");
  CHECK(plan.targets.size() == 3);
}

TEST_CASE("a hidden GPU is no target") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_device(facts, "8.6");
  add_device(facts, "9.0");
  facts.devices.list[0].visible = false;
  CHECK(shown(make_plan(facts, target_request({"native"}))) == "90:90");
}

TEST_CASE("native without a visible device is refused, as target and in a list") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  facts.devices.state = std::string("none");
  for (const Request& request : {target_request({"native"}), list_request("native")}) {
    Plan plan = make_plan(facts, request);
    CHECK(plan.gencodes.empty());
    CHECK(issue_of(plan, Kind::NoVisibleDevice) != nullptr);
    CHECK(issue_of(plan, Kind::Empty) != nullptr);
  }
}

TEST_CASE("a device without a capability is said to be unknown") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_device(facts, "9.0");
  add_device(facts, "9.0");
  facts.devices.list[1].cc = Text();
  Plan plan = make_plan(facts, Request());
  CHECK(shown(plan) == "90:90");
  CHECK(issue_of(plan, Kind::UnknownDevice) != nullptr);
  CHECK_FALSE(plan.complete);
}

TEST_CASE("a GPU newer than nvcc gets the nearest older code of its major") {
  Facts facts = with_nvcc("12.8.93", kNvcc128);
  add_device(facts, "12.1", "NVIDIA GB10");
  Plan plan = make_plan(facts, Request());
  CHECK(shown(plan) == "120:120");
  const PlanIssue* issue = issue_of(plan, Kind::NearestArch);
  REQUIRE(issue != nullptr);
  CHECK(issue->token == "12.1");
  CHECK(issue->range_begin == "12.9");
  CHECK(issue->detail == "sm_120 code runs on it");
}

TEST_CASE("a GPU of a major that nvcc lacks gets PTX of the newest plain architecture") {
  Facts facts = with_nvcc("12.4.131", kNvcc124);
  add_device(facts, "12.0", "NVIDIA GeForce RTX 5090");
  Plan plan = make_plan(facts, Request());
  CHECK(shown(plan) == "90:ptx");
  CHECK(issue_of(plan, Kind::NearestArch) != nullptr);
}

TEST_CASE("a GPU that no table knows is planned by rule") {
  Facts facts = with_nvcc("13.5.37", kNvcc135);
  add_device(facts, "13.0");
  CHECK(shown(make_plan(facts, Request())) == "121:ptx");
  add_device(facts, "12.7");
  CHECK(shown(make_plan(facts, Request())) == "121:121 121:ptx");
  CHECK(shown(make_plan(facts, target_request({"14.0"}))) == "121:ptx");
}

TEST_CASE("an Orin that nvcc does not know gets PTX, not desktop code") {
  Facts facts = with_nvcc("11.1", "70 75 80 86");
  add_device(facts, "8.7", "Orin");
  CHECK(shown(make_plan(facts, Request())) == "86:ptx");
}

TEST_CASE("a GPU older than nvcc builds for has no architecture") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_device(facts, "6.1", "NVIDIA GeForce GTX 1080");
  Plan plan = make_plan(facts, Request());
  CHECK(plan.gencodes.empty());
  const PlanIssue* issue = issue_of(plan, Kind::NoArch);
  REQUIRE(issue != nullptr);
  CHECK(issue->range_end == "12.9");
  CHECK(issue->detail == "device 0 (NVIDIA GeForce GTX 1080) is 6.1");
}

TEST_CASE("targets may be capabilities, GPU names and architecture names") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  Plan plan = make_plan(facts, target_request({"RTX 4090", "9.0a", "A100-SXM4-80GB", "12.0+PTX"}));
  CHECK(shown(plan) == "80:80 89:89 90a:90a 120:120 120:ptx");
  CHECK(plan.targets.size() == 4);
  CHECK(plan.gencodes[1].reason == "target GeForce RTX 4090 (TorchCudaStack_TARGETS, by name)");
  CHECK(shown(make_plan(facts, target_request({"Hopper"}))) == "90:90 90:ptx");
  CHECK(make_plan(facts, target_request({"Ampere"})).targets.size() == 2);
}

TEST_CASE("a target may be a part of a GPU's name that tells the capability") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  const std::pair<const char*, const char*> names[] = {
      {"4090", "89:89"},    {"a100", "80:80"}, {"rtx pro 6000 blackwell", "120:120"},
      {"2080 ti", "75:75"}, {"Orin", "87:87"}, {"NVIDIA A100-SXM4-80GB MIG 1g.10gb", "80:80"}};
  for (const auto& [name, images] : names) {
    INFO(name);
    const Plan plan = make_plan(facts, target_request({name}));
    CHECK(shown(plan) == images);
    REQUIRE(plan.targets.size() == 1);
    CHECK(plan.targets[0].from == cat("the table of GPU names, ", kTablesDate));
  }
  // Numbers and names of architectures come first.
  CHECK(shown(make_plan(facts, target_request({"100"}))) == "100:100");
  CHECK(shown(make_plan(facts, target_request({"Ada"}))) == "89:89 89:ptx");
  CHECK(issue_of(make_plan(facts, target_request({"409"})), Kind::Nonsense) != nullptr);
}

TEST_CASE("a name that GPUs of several capabilities have is refused with them") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  const std::pair<const char*, const char*> names[] = {
      {"RTX 5000",
       "it may be Quadro RTX 5000 (7.5), RTX 5000 Ada Generation (8.9), RTX PRO 5000 "
       "Blackwell (12.0)"},
      {"5000",
       "it may be Quadro RTX 5000 (7.5), RTX 5000 Ada Generation (8.9), RTX PRO 5000 "
       "Blackwell (12.0)"},
      {"Titan", "it may be GTX TITAN"},
      {"GeForce GT 1030", "it may be GeForce GT 1030 (3.0), GeForce GT 1030 (6.1)"}};
  for (const auto& [name, detail] : names) {
    INFO(name);
    const Plan plan = make_plan(facts, target_request({name}));
    CHECK(plan.gencodes.empty());
    CHECK(plan.targets.empty());
    const PlanIssue* issue = issue_of(plan, Kind::UnknownName);
    REQUIRE(issue != nullptr);
    CHECK(issue->token == name);
    CHECK(issue->corrected.empty());
    CHECK((issue->detail == detail || name == std::string("Titan")));
  }
}

TEST_CASE("a list takes no GPU name, whole or in part, and is given the capability") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  for (const char* name : {"RTX4090", "RTX 4090", "4090", "GeForce RTX 4090"}) {
    INFO(name);
    const Plan plan = make_plan(facts, list_request(name));
    CHECK(plan.gencodes.empty());
    CHECK(plan.issues[0].corrected == "8.9");
    CHECK(plan.issues[0].detail == "GeForce RTX 4090 is a GPU; its capability is 8.9");
  }
  const Plan plan = make_plan(facts, list_request("RTX 5000"));
  CHECK(plan.issues[0].corrected.empty());
  CHECK(starts_with(plan.issues[0].detail, "it may be Quadro RTX 5000 (7.5), "));
}

TEST_CASE("a GPU name that no table has is refused whole, with the nearest") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  Plan plan = make_plan(facts, target_request({"GeForce RTX 4091"}));
  const PlanIssue* issue = issue_of(plan, Kind::UnknownName);
  REQUIRE(issue != nullptr);
  CHECK(issue->token == "GeForce RTX 4091");
  CHECK(issue->corrected == "GeForce RTX 4090");
  CHECK(issue->detail ==
        "the nearest that are known: GeForce RTX 4090 (8.9), GeForce RTX 3090 "
        "(8.6), GeForce RTX 4050 (8.9)");
  CHECK(issue_of(make_plan(facts, target_request({"fleet:machines.json"})), Kind::UnknownName)
            ->detail == "this version reads no fleet files");
}

TEST_CASE("a target that is nothing is refused") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  CHECK(issue_of(make_plan(facts, target_request({"RTX 9999"})), Kind::UnknownName) != nullptr);
  CHECK(issue_of(make_plan(facts, target_request({"99.9"})), Kind::Nonsense) != nullptr);
  CHECK(issue_of(make_plan(facts, target_request({"8.0,8.6"})), Kind::Malformed) != nullptr);
}

TEST_CASE("the user's list is the plan, and the targets are what it is judged against") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_device(facts, "12.0");
  Request request = list_request("8.6");
  Plan plan = make_plan(facts, request);
  CHECK(plan.by_user);
  CHECK(shown(plan) == "86:86");
  CHECK(plan.list_from == "TORCH_CUDA_ARCH_LIST (environment)");
  REQUIRE(plan.targets.size() == 1);
  CHECK(plan.targets[0].sm.dotted() == "12.0");

  request.targets_known = true;
  request.targets = {"9.0", "Ampere", "RTX 3060"};
  plan = make_plan(facts, request);
  CHECK(shown(plan) == "86:86");
  CHECK(plan.targets.size() == 3);
}

TEST_CASE("a list without targets and without a GPU is judged against nothing") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch_215(facts);
  CHECK(make_plan(facts, list_request("8.6")).targets.empty());
}

TEST_CASE("two lists that differ are named both; PTX alone makes no difference") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  Request request = list_request("8.6;9.0");
  request.other_list = Text("86;90", "CUDAARCHS (environment)");
  request.other_dialect = "cmake";
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) == nullptr);
  request.other_list = Text("75", "CUDAARCHS (environment)");
  Plan plan = make_plan(facts, request);
  const PlanIssue* issue = issue_of(plan, Kind::ListsDiffer);
  REQUIRE(issue != nullptr);
  CHECK(issue->token == "8.6;9.0");
  CHECK(issue->detail == "75");
  CHECK(issue->where == "TORCH_CUDA_ARCH_LIST (environment)");
  CHECK(issue->other_where == "CUDAARCHS (environment)");
  CHECK(shown(plan) == "86:86 90:90");
}

TEST_CASE("a list that a build tree keeps is held against the environment's") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  Request request = list_request("8.6");
  request.arch_list.from = "TORCH_CUDA_ARCH_LIST (CMake variable)";
  facts.environment["TORCH_CUDA_ARCH_LIST"] = "8.6 ";
  facts.environment["CUDAARCHS"] = "86-real";
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) == nullptr);
  facts.environment["TORCH_CUDA_ARCH_LIST"] = "9.0";
  const Plan plan = make_plan(facts, request);
  const PlanIssue* issue = issue_of(plan, Kind::ListsDiffer);
  REQUIRE(issue != nullptr);
  CHECK(issue->token == "8.6");
  CHECK(issue->detail == "9.0");
  CHECK(issue->other_where == "TORCH_CUDA_ARCH_LIST (environment)");
  CHECK(shown(plan) == "86:86");
  // A question on the command line is no setting of the build tree.
  request.arch_list.from = "--arch-list";
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) == nullptr);
  // What an empty variable says is nothing.
  request.arch_list.from = "TORCH_CUDA_ARCH_LIST (CMake variable)";
  facts.environment["TORCH_CUDA_ARCH_LIST"] = "";
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) == nullptr);
}

TEST_CASE("two lists are not called different where a word in them takes an unknown fact") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_device(facts, "8.6");
  Request request = list_request("native");
  request.other_list = Text("8.6", "CUDAARCHS (environment)");
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) == nullptr);
  request.other_list = Text("9.0", "CUDAARCHS (environment)");
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) != nullptr);
  facts.devices = DeviceFacts();
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) == nullptr);
  CHECK(issue_of(make_plan(facts, list_request("native")), Kind::Empty) != nullptr);
  CHECK_FALSE(make_plan(facts, list_request("native")).complete);  // unknown is not none
}

TEST_CASE("two lists may differ in what nvcc does not build") {
  const Facts facts = with_nvcc("12.4.131", kNvcc124);
  Request request = list_request("8.6;12.0");
  request.other_list = Text("8.6", "CUDAARCHS (environment)");
  CHECK(issue_of(make_plan(facts, request), Kind::ListsDiffer) != nullptr);
  CHECK(issue_of(make_plan(Facts(), request), Kind::ListsDiffer) != nullptr);
}

TEST_CASE("devices whose state nobody wrote down are devices") {
  Facts facts = with_nvcc("11.7.99", "35 37 50 52 53 60 61 62 70 72 75 80 86 87");
  add_device(facts, "8.9");
  const std::string planned = shown(make_plan(facts, Request()));
  facts.devices.state = Text();
  CHECK(shown(make_plan(facts, Request())) == planned);
  CHECK(planned == "86:86");
}

TEST_CASE("every architecture of every measured toolkit is served by its own code there") {
  struct Row {
    const char* version;
    const char* digits;
  };
  for (const Row& row :
       {Row{"11.8.89", kNvcc118}, Row{"12.4.131", kNvcc124}, Row{"12.8.93", kNvcc128},
        Row{"13.0.88", kNvcc130}, Row{"13.5.37", kNvcc135}}) {
    for (const std::string& digits : split(row.digits, " ")) {
      INFO(row.version << " " << digits);
      Sm sm;
      REQUIRE(parse_sm_digits(digits, sm));
      for (const bool asked : {true, false}) {
        const Facts facts =
            asked ? with_nvcc(row.version, row.digits) : with_nvcc_release(row.version);
        CHECK(shown(make_plan(facts, list_request(sm.dotted()))) == digits + ":" + digits);
        Facts here = facts;
        add_device(here, sm.base().dotted());
        const Plan plan = make_plan(here, Request());
        CHECK(shown(plan) == sm.base().digits() + ":" + sm.base().digits());
        CHECK(issue_of(plan, Kind::NearestArch) == nullptr);
      }
    }
  }
}

TEST_CASE("with native targets one more GPU never takes an architecture away") {
  const char* const all[] = {"3.5", "5.0", "6.1",  "7.0",  "7.2",  "7.5",  "8.0",  "8.6",  "8.7",
                             "8.9", "9.0", "10.0", "10.1", "10.3", "11.0", "12.0", "12.1", "13.0"};
  for (const char* version : {"11.8", "12.4", "12.8", "12.9", "13.0", "13.5"}) {
    for (const char* first : all) {
      Facts one = with_nvcc_release(version);
      add_device(one, first);
      for (const char* second : all) {
        INFO(version << " " << first << " " << second);
        Facts two = one;
        add_device(two, second);
        const Plan few = make_plan(one, target_request({"native"}));
        const Plan more = make_plan(two, target_request({"native"}));
        for (const Gencode& g : few.gencodes) {
          const std::string flag = g.flag();
          CHECK(std::any_of(more.gencodes.begin(), more.gencodes.end(),
                            [&](const Gencode& o) { return o.flag() == flag; }));
        }
      }
    }
  }
}

TEST_CASE("what torch's parser lacks is said whether nvcc builds it or not") {
  Facts facts = with_nvcc("12.4.131", kNvcc124);
  facts.torch.state = Text("found");
  facts.torch.version = Text("2.3.0");
  Facts unknown = facts;
  unknown.toolkits = ToolkitFacts();
  for (const Facts& f : {facts, unknown}) {
    const Plan plan = make_plan(f, list_request("8.6;12.0"));
    const PlanIssue* issue = issue_of(plan, Kind::TorchPythonToken);
    REQUIRE(issue != nullptr);
    CHECK(issue->token == "12.0");
    CHECK(issue->by_user);
  }
}

TEST_CASE("Auto and Common are the default targets, never a list that nvcc cannot build") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch_215(facts);
  for (const char* word : {"Auto", "Common"}) {
    Plan plan = make_plan(facts, list_request(word));
    CHECK(torch_list(plan).text == "7.5;8.0;8.6;9.0;10.0;12.0");
    REQUIRE(issue_of(plan, Kind::NotWhatNvccHas) != nullptr);
    CHECK(issue_of(plan, Kind::NotWhatNvccHas)->token == word);
  }
}

TEST_CASE("where only the release of nvcc is known the table predicts what it builds") {
  Facts facts = with_nvcc_release("12.4");
  Plan plan = make_plan(facts, list_request("9.0;12.0"));
  CHECK(shown(plan) == "90:90");
  CHECK(issue_of(plan, Kind::NotYetKnown) != nullptr);
  CHECK(plan.archs_from == "the table for CUDA 12.4");
  CHECK(make_plan(with_nvcc("12.4.131", kNvcc124), Request()).archs_from == "nvcc 12.4.131");
}

TEST_CASE("the table for a release is what that release's ptxas said") {
  const std::pair<const char*, const char*> releases[] = {{"11.8", kNvcc118},
                                                          {"12.4", kNvcc124},
                                                          {"12.8", kNvcc128},
                                                          {"13.0", kNvcc130},
                                                          {"13.5", kNvcc135}};
  for (const auto& release : releases) {
    INFO(release.first);
    for (const Sm& sm : {Sm{3, 5, 0}, Sm{6, 1, 0}, Sm{9, 0, 'a'}, Sm{10, 1, 0}, Sm{10, 7, 'f'},
                         Sm{11, 0, 0}, Sm{12, 1, 'f'}, Sm{12, 0, 0}}) {
      bool table =
          !make_plan(with_nvcc_release(release.first), list_request(sm.dotted())).gencodes.empty();
      bool nvcc = !make_plan(with_nvcc(release.first, release.second), list_request(sm.dotted()))
                       .gencodes.empty();
      CHECK(table == nvcc);
    }
  }
}

TEST_CASE("without a toolkit a list is kept, unchecked, and said to be so") {
  Plan plan = make_plan(Facts(), list_request("8.6;12.0f;99.9;9.0f"));
  CHECK(shown(plan) == "86:86 120f:120f");
  CHECK(issue_of(plan, Kind::UnknownToolkit) != nullptr);
  CHECK(issue_of(plan, Kind::Nonsense) != nullptr);
  CHECK(issue_of(plan, Kind::NoSuchSuffix) != nullptr);
  CHECK_FALSE(plan.complete);
}

TEST_CASE("where nothing is known nothing is made up") {
  Plan plan = make_plan(Facts(), Request());
  CHECK(plan.gencodes.empty());
  CHECK(issue_of(plan, Kind::UnknownTorch) != nullptr);
  CHECK(issue_of(plan, Kind::UnknownToolkit) != nullptr);
  CHECK(issue_of(plan, Kind::Empty) != nullptr);
  CHECK_FALSE(plan.complete);
}

TEST_CASE("a PyTorch that is known to be absent leaves nothing to build for, which is known too") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  facts.devices.state = Text("none");
  facts.torch.state = Text("absent");
  Request request;
  request.purpose = "pytorch-source";
  Plan plan = make_plan(facts, request);
  CHECK(plan.gencodes.empty());
  CHECK(issue_of(plan, Kind::UnknownTorch) == nullptr);
  CHECK(issue_of(plan, Kind::Empty) != nullptr);
  CHECK(plan.complete);
}

TEST_CASE("a run needs no compiler") {
  Facts facts;
  add_torch_215(facts);
  add_device(facts, "9.0");
  Request request;
  request.purpose = "run";
  Plan plan = make_plan(facts, request);
  CHECK(plan.targets.size() == 1);
  CHECK(issue_of(plan, Kind::UnknownToolkit) == nullptr);
}

TEST_CASE("what torch's Python parser does not know is said, by release") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch_215(facts);
  Plan plan = make_plan(facts, list_request("8.8;9.0;12.0f"));
  const PlanIssue* issue = issue_of(plan, Kind::TorchPythonToken);
  REQUIRE(issue != nullptr);
  CHECK(issue->token == "8.8 12.0f");
  CHECK(issue->by_user);
  facts.torch.version = std::string("2.3.0");
  add_device(facts, "12.0");
  plan = make_plan(facts, Request());
  REQUIRE(issue_of(plan, Kind::TorchPythonToken) != nullptr);
  CHECK_FALSE(issue_of(plan, Kind::TorchPythonToken)->by_user);
}

TEST_CASE("what a name of the list stands for was not written by the user") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch_215(facts);
  facts.torch.version = std::string("2.7.1");
  Plan plan = make_plan(facts, list_request("8.8;Blackwell"));
  List<const PlanIssue*> said;
  for (const PlanIssue& issue : plan.issues)
    if (issue.kind == Kind::TorchPythonToken) said.push_back(&issue);
  REQUIRE(said.size() == 2);
  CHECK(said[0]->token == "8.8");
  CHECK(said[0]->by_user);
  CHECK(said[1]->token == "10.3 12.1");
  CHECK_FALSE(said[1]->by_user);
}

TEST_CASE("the side libraries of a PyTorch without its main one give no default plan") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  add_torch_215(facts);
  facts.torch.images = Names();
  for (TorchLibrary& library : facts.torch.libraries)
    library.name = Text("libtorch_cuda_linalg.so");
  Plan plan = make_plan(facts, Request());
  CHECK(plan.gencodes.empty());
  CHECK_FALSE(plan.complete);
}

TEST_CASE("machine code by way of PTX that is gone is not itself gone") {
  Plan plan = make_plan(with_nvcc("13.0.88", kNvcc130), list_request("8.6(7.0)"));
  REQUIRE(plan.issues.size() >= 1);
  CHECK(plan.issues[0].kind == Kind::Removed);
  CHECK(plan.issues[0].corrected == "8.6");
  CHECK(contains(plan.issues[0].detail, "compute_70"));
}

TEST_CASE("a spelling that torch's Python does not read is told, though the plan takes it") {
  Facts facts;
  facts.torch.state = Text("found");
  facts.torch.version = Text("2.7.1");
  auto told = [&](const char* list, const char* dialect) {
    Request request;
    request.arch_list = Text(list);
    request.arch_dialect = dialect;
    std::string tokens;
    for (const PlanIssue& issue : make_plan(facts, request).issues)
      if (issue.kind == PlanIssue::Kind::TorchPythonToken && issue.by_user) tokens += issue.token;
    return tokens;
  };
  CHECK(told("sm_86", "torch") == "sm_86");
  CHECK(told("8.6(8.0);9.0", "torch") == "8.6(8.0)");
  CHECK(told("8.6;9.0+PTX", "torch").empty());
  CHECK(told("86;90-real", "cmake").empty());
}
