// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"
#include "emit/forms.h"

using namespace tcs;

namespace {

Plan plan_of(const std::string& list) {
  Facts facts;
  facts.origin = "replayed";
  Toolkit toolkit;
  toolkit.version = Text("13.0");
  facts.toolkits.list_known = true;
  facts.toolkits.list.push_back(toolkit);
  facts.toolkits.selected = Fact<int>(0);
  Request request;
  request.arch_list = Text(list);
  return make_plan(facts, request);
}

std::string form(const Plan& plan, const char* name) {
  std::string out, note;
  REQUIRE(plan_form(plan, name, out, note));
  return out;
}

}  // namespace

TEST_CASE("a finding is printed as a line, a table, notes, helps and where to read more") {
  Finding f = make_finding(601, "PyTorch 2.3.0+cu121 has no kernel image that runs on sm_90");
  f.evidence.push_back(
      {"device", "NVIDIA GeForce RTX 5060, compute 12.0", "", "cuDeviceGetAttribute"});
  f.evidence.push_back({"torch", "sm_80 sm_90", "", ".nv_fatbin of libtorch_cuda.so"});
  f.notes.push_back("there is no PTX");
  f.help.push_back("install another");
  CHECK(finding_text(f) ==
        "  error[TCS601 torch-lacks-device-image]: PyTorch 2.3.0+cu121 has no kernel image that "
        "runs on "
        "sm_90\n"
        "  \n"
        "    layer    has                                     from\n"
        "    device   NVIDIA GeForce RTX 5060, compute 12.0   cuDeviceGetAttribute\n"
        "    torch    sm_80 sm_90                             .nv_fatbin of libtorch_cuda.so\n"
        "  \n"
        "  note: there is no PTX\n"
        "  help: install another\n"
        "  more: tcstack explain TCS601\n");
}

TEST_CASE("a finding in Chinese has the same lines, and a character takes two columns") {
  Finding f = make_finding(605, "");
  f.words = {"PyTorch 2.6.0+cu124", "6.0", "50", "271", "libtorch_cuda.so", "", "y"};
  word(f);
  f.evidence.push_back({"device", "Tesla P100, compute 6.0", "a working nvcc", "not loaded"});
  f.evidence.push_back({"host-compiler", "\xe4\xb8\xad", "", "PATH"});
  CHECK(finding_text(f, Language::Chinese) ==
        "  警告[TCS605 torch-images-in-part]：PyTorch 2.6.0+cu124 在 libtorch_cuda.so 的 271 "
        "个胖二进制 "
        "(fat\n"
        "      binary) 中，有 50 个含有 6.0 的内核映像\n"
        "  \n"
        "    层           现有                       需要          来源\n"
        "    设备         Tesla P100，计算能力 6.0   可用的 nvcc   未加载\n"
        "    主机编译器   \\xe4\\xb8\\xad                             PATH\n"
        "  \n"
        "  说明：其余的核函数在首次启动时失败（错误 209）\n"
        "  建议：若遇到该错误：使用全部为 6.0 构建的 PyTorch\n"
        "  详见：tcstack explain TCS605\n");
}

TEST_CASE("a line of Chinese breaks between any two characters, never before a mark or in a word") {
  Finding f = make_finding(604, "");
  f.words = {"PyTorch", ""};
  word(f);
  for (size_t length = 40; length < 80; ++length) {
    f.notes = {};
    f.help = {};
    f.words[0] = std::string(length, 'x');
    f.message = "";
    word(f);
    for (const std::string& line : lines_of(finding_text(f, Language::Chinese))) {
      INFO(line);
      CHECK(display_width(line) <= 100);
      CHECK_FALSE(starts_with(trim(line), "，"));
    }
  }
}

TEST_CASE("the last line is said in Chinese, part by part") {
  Report report;
  report.outcome = "warn";
  report.complete = false;
  CHECK(summary_line(report, Facts(), plan_of("8.6"), Language::Chinese) ==
        "TorchCudaStack: 8.6; 驱动未知; nvcc 未知; torch 未知 - 警告, 有一部分没有检查");
}

TEST_CASE("text from outside cannot break a line or reach the terminal's controls") {
  Finding f = make_finding(602, "a\nb\x1b[31m");
  f.evidence.push_back({"arch", "\xff\xfe", "8.6", "\xef\xbc\x98\xff"});
  const std::string text = finding_text(f);
  CHECK(contains(text, "]: a b\\x1b[31m\n"));
  CHECK(contains(text, "arch    \\xff\\xfe   8.6     \\xef\\xbc\\x98\\xff\n"));
}

TEST_CASE("wide tables are wrapped inside their columns") {
  Finding f = make_finding(601, "m");
  std::string many;
  for (int i = 0; i < 40; ++i) many += "sm_90 ";
  f.evidence.push_back({"torch", many, "sm_120", "somewhere"});
  for (const std::string& line : lines_of(finding_text(f))) CHECK(line.size() <= 100);
}

TEST_CASE("a path longer than the line keeps its own line") {
  const std::string path(140, 'p');
  Finding f = make_finding(601, "m");
  f.help.push_back("look at " + path + " first");
  CHECK(contains(finding_text(f), path));
}

TEST_CASE("what a recording lacks is one paragraph, unless it is what fails") {
  Facts facts;
  facts.origin = "replayed";
  Report report;
  report.outcome = "warn";
  report.findings.push_back(make_finding(303, "a warning"));
  for (int id : {290, 590}) {
    report.findings.push_back(make_finding(id, "the facts lack something"));
    report.findings.back().missing = {cat("fact", id)};
  }
  const std::string text = report_text(report, facts, Plan());
  CHECK(contains(text, "warning[TCS303"));
  CHECK(contains(text, "    lacks: fact290, fact590\n"));
  CHECK_FALSE(contains(text, "unknown[TCS290"));
  report.findings[1].missing = {"extensions", "a.list[].x", "b.c", "a.list[].y", "libraries"};
  CHECK(contains(report_text(report, facts, Plan()),
                 "    lacks: extensions, libraries, fact590, a.list[].{x, y}, b.c\n"));
  facts.origin = "measured";
  CHECK(contains(report_text(report, facts, Plan()), "unknown[TCS290"));
  facts.origin = "replayed";
  report.findings.erase(report.findings.begin());
  report.outcome = "fail";
  CHECK(contains(report_text(report, facts, Plan()), "unknown[TCS590"));
}

TEST_CASE("what a recording saw is told in full although the facts behind it are missing") {
  Facts facts;
  facts.origin = "replayed";
  Report report;
  report.outcome = "ok";
  report.findings.push_back(make_finding(216, "the driver did not answer in time"));
  report.findings.back().missing = {"driver.error.code"};
  const std::string text = report_text(report, facts, Plan());
  CHECK(contains(text, "unknown[TCS216 driver-hangs]: the driver did not answer in time\n"));
  CHECK_FALSE(contains(text, "the recording lacks facts"));
}

TEST_CASE("a row without origins has no such column") {
  Finding f = make_finding(601, "m");
  f.evidence.push_back({"torch", "sm_90", "sm_120", ""});
  CHECK(contains(finding_text(f), "    layer   has     needs\n"));
}

TEST_CASE("a bracket argument holds any text") {
  CHECK(cmake_quote("a;b") == "[[a;b]]");
  CHECK(cmake_quote("a]]b") == "[=[a]]b]=]");
  CHECK(cmake_quote("a]") == "[=[a]]=]");
  CHECK(cmake_quote("x]=]y]]") == "[==[x]=]y]]]==]");
  CHECK(cmake_quote("\nx") == "[[\n\nx]]");
}

TEST_CASE("each form of the plan is quoted for its reader") {
  Plan plan = plan_of("8.0;9.0+PTX");
  CHECK(form(plan, "torch-list") == "8.0;9.0+PTX\n");
  CHECK(form(plan, "cmake-architectures") == "80-real;90-real;90-virtual\n");
  CHECK(form(plan, "cmake") ==
        "set(TORCH_CUDA_ARCH_LIST [[8.0;9.0+PTX]])\n"
        "set(CMAKE_CUDA_ARCHITECTURES [[80-real;90-real;90-virtual]])\n");
  CHECK(contains(form(plan, "gencode"), "-gencode=arch=compute_90,code=compute_90"));
  Result<Json> flags = parse_json(trim(form(plan, "cpp-extension")));
  REQUIRE(flags);
  CHECK(flags->items.size() == 3);
  std::string out, note;
  CHECK_FALSE(plan_form(plan, "yaml", out, note));
}

TEST_CASE("every form says what its lists cannot say") {
  const char* const kList = "12.0f;8.6(8.0);9.0a+PTX";
  const Plan plan = plan_of(kList);
  std::string out, note;
  for (const char* form : {"cmake", "cmake-architectures"}) {
    REQUIRE(plan_form(plan, form, out, note));
    CHECK(
        contains(note, "CMAKE_CUDA_ARCHITECTURES cannot say -gencode=arch=compute_80,code=sm_86"));
  }
  for (const char* form : {"json", "gencode", "cpp-extension"}) {
    REQUIRE(plan_form(plan, form, out, note));
    CHECK(note.empty());
  }
}

TEST_CASE("a list that can say nothing is left out, and CMake's is OFF") {
  const Plan plan = plan_of("8.6(8.0)");
  CHECK(form(plan, "cmake-architectures").empty());
  CHECK(contains(form(plan, "cmake"), "set(CMAKE_CUDA_ARCHITECTURES [[OFF]])"));
}

TEST_CASE("the status line tells code for 8.6 from code of 8.0 for 8.6") {
  const std::string line = summary_line(Report(), Facts(), plan_of("8.6;8.6(8.0);9.0+PTX"));
  CHECK(contains(line, "TorchCudaStack: 8.6(8.0) 8.6 9.0+PTX; "));
}

TEST_CASE("the report in JSON has the members of its schema") {
  Facts facts;
  Plan plan = plan_of("8.6");
  Report report;
  report.outcome = "ok";
  report.findings.push_back(make_finding(910, "m"));
  Json json = report_json(report, facts, plan);
  CHECK(json.find("schema")->text == "torch-cuda-stack/report/1");
  CHECK(json.find("outcome")->text == "ok");
  CHECK(json.find("complete")->boolean);
  const Json& finding = json.find("findings")->items[0];
  CHECK(finding.find("id")->text == "TCS910");
  CHECK(finding.find("slug")->text == "default-targets");
  CHECK(finding.find("layer")->text == "arch");
  CHECK(finding.find("severity")->text == "note");
  CHECK(json.find("plan")->is(Json::Kind::Object));
  CHECK(json.find("coverage")->is(Json::Kind::Array));
}

TEST_CASE("success is one line") {
  Facts facts;
  facts.driver.state = Text("ok");
  facts.driver.version = Text("580.95");
  facts.driver.cuda = Text("13.0");
  Toolkit toolkit;
  toolkit.version = Text("13.0.88");
  facts.toolkits.list_known = true;
  facts.toolkits.list.push_back(toolkit);
  facts.toolkits.selected = Fact<int>(0);
  facts.torch.state = Text("found");
  facts.torch.version = Text("2.11.0+cu130");
  facts.torch.cuda = Text("13.0");
  facts.devices.list.add();
  Report report;
  report.outcome = "ok";
  CHECK(summary_line(report, facts, plan_of("9.0")) ==
        "TorchCudaStack: 9.0 on 1 device; driver 580.95 (CUDA 13.0); nvcc 13.0.88; torch "
        "2.11.0+cu130 "
        "- ok");
  report.complete = false;
  CHECK(ends_with(summary_line(report, facts, plan_of("9.0")), "- ok, not all of it checked"));
}
