// SPDX-License-Identifier: Apache-2.0
// The table of images: what nvcc builds, PyTorch holds and devices run.
#include <catch2/catch_test_macros.hpp>

#include "base/json.h"
#include "base/text.h"
#include "emit/emit.h"
#include "emit/plan_cmake.h"
#include "facts/facts_io.h"

using namespace tcs;

namespace {

const char* const kMachine = R"({"schema": "torch-cuda-stack/facts/1",
  "devices": {"state": "measured", "list": [
    {"index": 0, "name": "NVIDIA H100", "cc": "9.0", "visible": true,
     "image_probe": [{"image": "sm_90", "result": "runs"},
                     {"image": "compute_90", "result": "refused", "error": 222, "step": "cuModuleLoadData"}]},
    {"index": 1, "name": "NVIDIA H100", "cc": "9.0", "visible": true,
     "image_probe": [{"image": "sm_90", "result": "runs"},
                     {"image": "compute_90", "result": "refused", "error": 222}]},
    {"index": 2, "name": "NVIDIA L40S", "cc": "8.9", "visible": true}]},
  "toolkits": {"selected": 0, "list": [{"version": "12.4", "builds": [
    {"image": "sm_90", "result": "built"}, {"image": "compute_90", "result": "built"},
    {"image": "sm_90a", "result": "refused", "text": "one\nptxas fatal   : no sm_90a"},
    {"image": "sm_120", "result": "wrong", "text": "sm_90"}]}]},
  "torch": {"state": "found", "flavour": "cuda", "images": ["sm_80", "sm_86", "sm_90", "sm_90a", "compute_90"],
    "libraries": [{"name": "libtorch_cuda.so", "sets": [
      {"images": ["sm_80", "sm_86", "sm_90"], "count": 270},
      {"images": ["sm_80", "sm_90", "compute_90"], "count": 1},
      {"images": ["sm_80", "sm_86"], "count": 9},
      {"images": ["sm_90a"], "count": 5}]}]}})";

Facts facts_of(const std::string& text) {
  List<std::string> unknown;
  Result<Facts> facts = read_facts(text, unknown);
  REQUIRE(facts);
  return *facts;
}

Plan plan_of(const Facts& facts, const char* list) {
  Request request;
  request.arch_list = Text(list);
  return make_plan(facts, request);
}

std::string json_row(const Json& rows, const char* arch) {
  for (const Json& row : rows.items)
    if (row.find("arch")->text == arch) return write_json(row, 0);
  return "";
}

std::string value_in(const std::string& cmake, const std::string& name) {
  const size_t at = cmake.find("set(" + name + " [");
  if (at == std::string::npos) return "not set";
  const size_t from = cmake.find("[", cmake.find("[", at) + 1) + 1;
  return cmake.substr(from, cmake.find("]", from) - from);
}

}  // namespace

TEST_CASE("the table tells what was measured from what is predicted, one column a kind of device") {
  const Facts facts = facts_of(kMachine);
  const std::string text = availability_text(facts, plan_of(facts, "9.0+PTX;9.0a;8.6"));
  CHECK(replace_all(text, "  \n", "\n") ==
        R"(  images: what nvcc builds, PyTorch holds and devices run; (in brackets: not tried)

    image        nvcc                torch               devices 0-1: NVIDIA       device 2: NVIDIA
                                                         H100, compute 9.0         L40S, compute 8.9
    sm_86        (listed)            in full             (not for it)              (should run)
    sm_89        (listed)            by sm_86            (not for it)              (should run)
    sm_90        built               271 of 280          runs                      (not for it)
    compute_90   built               PTX                 refused: 222              (not for it)
                                                         UNSUPPORTED_PTX_VERSION
    sm_90a       refused: ptxas      by sm_90, 271 of    (should run)              (not for it)
                 fatal : no sm_90a   280
    sm_120       wrong image         by compute_90       (not for it)              (not for it)

)");
}

TEST_CASE("a recording in which nothing was built or tried has no table in its text") {
  Facts facts = facts_of(kMachine);
  for (Device& device : facts.devices.list) device.image_probe.clear();
  facts.toolkits.list[0].builds.clear();
  CHECK(availability_text(facts, plan_of(facts, "9.0")).empty());
  CHECK(availability_json(facts, plan_of(facts, "9.0")).items.size() == 2);  // 8.9 is here
}

TEST_CASE("counts of fat binaries whose sum no int holds are added up all the same") {
  Facts facts = facts_of(kMachine);
  for (TorchLibrary& library : facts.torch.libraries) {
    library.sets.clear();
    for (int i = 0; i < 3; ++i) {
      ImageSet set;
      set.images = {"sm_80", "sm_90"};
      set.count = 2147483647;
      library.sets.push_back(set);
    }
  }
  const Json rows = availability_json(facts, plan_of(facts, "9.0"));
  CHECK(contains(json_row(rows, "sm_90"), "\"torch_all\":6442450941"));
}

TEST_CASE("report.json has each device's answer, and the prediction beside it") {
  const Facts facts = facts_of(kMachine);
  const Json rows = availability_json(facts, plan_of(facts, "9.0+PTX"));
  CHECK(
      json_row(rows, "sm_90") ==
      R"({"arch":"sm_90","nvcc":"built","torch":"part","torch_served":271,"torch_all":280,"devices":[{"index":0,"result":"runs","predicted":"cubin"},{"index":1,"result":"runs","predicted":"cubin"},{"index":2,"predicted":"none"}]})");
  CHECK(
      json_row(rows, "compute_90") ==
      R"({"arch":"compute_90","nvcc":"built","torch":"ptx","devices":[{"index":0,"result":"refused","error":222,"error_name":"CUDA_ERROR_UNSUPPORTED_PTX_VERSION","step":"cuModuleLoadData","predicted":"ptx"},{"index":1,"result":"refused","error":222,"error_name":"CUDA_ERROR_UNSUPPORTED_PTX_VERSION","predicted":"ptx"},{"index":2,"predicted":"none"}]})");
  CHECK(
      json_row(rows, "sm_90a") ==
      R"({"arch":"sm_90a","nvcc":"refused","nvcc_said":"one\nptxas fatal   : no sm_90a","torch":"served","torch_by":"sm_90","torch_served":271,"torch_all":280,"devices":[{"index":0,"predicted":"cubin"},{"index":1,"predicted":"cubin"},{"index":2,"predicted":"none"}]})");
  CHECK(
      json_row(rows, "sm_89") ==
      R"({"arch":"sm_89","nvcc":"listed","torch":"served","torch_by":"sm_86","torch_served":280,"torch_all":280,"devices":[{"index":0,"predicted":"none"},{"index":1,"predicted":"none"},{"index":2,"predicted":"cubin"}]})");
}

TEST_CASE("PyTorch's share of an image is that of the devices which it is made for") {
  struct Row {
    const char* torch;  // its members
    const char* arch;
    const char* expected;
  };
  const Row rows[] = {
      {R"("state": "absent")", "sm_86", R"("torch":"absent")"},
      {R"("state": "found", "flavour": "cpu")", "sm_86", R"("torch":"none")"},
      {R"("flavour": "cuda")", "sm_86", R"("torch":"unknown")"},
      {R"("state": "found", "flavour": "cuda")", "sm_86", R"("torch":"unknown")"},
      {R"("state": "found", "flavour": "cuda", "images": ["sm_86"])", "sm_86",
       R"("torch":"listed")"},
      {R"("state": "found", "flavour": "cuda", "images": ["sm_80"])", "sm_86",
       R"("torch":"served","torch_by":"sm_80")"},
      {R"("state": "found", "flavour": "cuda", "images": ["compute_80"])", "sm_86",
       R"("torch":"ptx","torch_by":"compute_80")"},
      {R"("state": "found", "flavour": "cuda", "images": ["sm_80"])", "sm_87",
       R"("torch":"cross-tegra","torch_by":"sm_80")"},
      {R"("state": "found", "flavour": "cuda", "images": ["sm_90"])", "sm_86", R"("torch":"none")"},
  };
  for (const Row& row : rows) {
    INFO(row.torch);
    const Facts facts = facts_of(cat(
        R"({"schema": "torch-cuda-stack/facts/1", "toolkits": {"selected": 0, "list": [{"version": "12.4", "builds": [{"image": ")",
        row.arch, R"(", "result": "built"}]}]}, "torch": {)", row.torch, "}}"));
    CHECK(contains(json_row(availability_json(facts, Plan()), row.arch), row.expected));
  }
}

TEST_CASE("CMake gets a list of the images and three variables for each") {
  const Facts facts = facts_of(kMachine);
  const Plan plan = plan_of(facts, "9.0+PTX");
  Report report;
  Policy policy;
  const std::string cmake = plan_cmake({facts, Request(), plan, report, policy, "/dir", ""});
  CHECK(value_in(cmake, "TorchCudaStack_AVAILABILITY") == "sm_89;sm_90;compute_90;sm_90a;sm_120");
  CHECK(value_in(cmake, "TorchCudaStack_sm_90_BUILDS") == "built");
  CHECK(value_in(cmake, "TorchCudaStack_sm_90_TORCH") == "part");
  CHECK(value_in(cmake, "TorchCudaStack_sm_90_DEVICES") == "runs;runs;untried-none");
  CHECK(value_in(cmake, "TorchCudaStack_compute_90_DEVICES") == "refused;refused;untried-none");
  CHECK(value_in(cmake, "TorchCudaStack_sm_90a_BUILDS") == "refused");
  CHECK(value_in(cmake, "TorchCudaStack_sm_89_BUILDS") == "listed");
}

TEST_CASE(
    "a configure that an image fails shows the table, others keep it for who asks for notes") {
  const Facts facts = facts_of(kMachine);
  const Plan plan = plan_of(facts, "9.0");
  for (int id : {341, 922, 601}) {
    Report report;
    report.outcome = "fail";
    report.findings.push_back(make_finding(id, "m"));
    Policy policy;
    const std::string cmake = plan_cmake({facts, Request(), plan, report, policy, "/dir", ""});
    const size_t table = cmake.find("images: what nvcc builds");
    REQUIRE(table != std::string::npos);
    const size_t notes = cmake.find("set(_tcs_notes");
    INFO(id);
    CHECK((table < notes) == (id != 601));
  }
}

TEST_CASE("many kinds of devices are further tables, none wider than a line") {
  Facts facts = facts_of(kMachine);
  for (int i = 0; i < 9; ++i) {
    Device device = facts.devices.list[0];
    device.index = Fact<int>(3 + i);
    device.name = Text(cat("NVIDIA Board of a longer name ", i));
    facts.devices.list.push_back(device);
  }
  const std::string text = availability_text(facts, plan_of(facts, "9.0+PTX"));
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 100);
  CHECK(contains(text, "  and 5 more kinds of devices, in report.json\n"));
  facts.devices.list.clear();
  CHECK(contains(availability_text(facts, plan_of(facts, "9.0+PTX")),
                 "no GPU is visible: nothing was run"));
}
