// SPDX-License-Identifier: Apache-2.0
// What nvcc answered when it was asked to build single images, and devices when they were asked to
// run them: 341, 922, and what follows from them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

// A PyTorch 2.6 of CUDA 12.4 and an nvcc 12.4; `more`: members of the one device.
Facts machine(const std::string& device, const std::string& probes, const std::string& builds = "",
              const std::string& driver = R"("version": "550.54.15", "cuda": "12.4")") {
  const std::string text =
      cat(R"({"schema": "torch-cuda-stack/facts/1", "devices": {"state": "measured", "list": [)",
          R"({"index": 0, "visible": true, )", device, R"(, "image_probe": [)", probes,
          R"(]}]}, "driver": {"state": "ok", )", driver,
          R"(}, "toolkits": {"selected": 0, "list": [{"root": "/opt/cuda-12.4",)",
          R"("version": "12.4", "builds": [)", builds,
          R"(]}]}, "torch": {"state": "found", "version": "2.6.0+cu124", "flavour": "cuda",)",
          R"("cuda": "12.4", "images": ["sm_50", "sm_80", "sm_86", "sm_90"]}})");
  List<std::string> unknown;
  Result<Facts> facts = read_facts(text, unknown);
  REQUIRE(facts);
  return *facts;
}

const char* const kRtx = R"("name": "NVIDIA GeForce RTX 3090", "cc": "8.6")";
const char* const kH100 = R"("name": "NVIDIA H100", "cc": "9.0")";
const char* const kOrin = R"("name": "Orin", "cc": "8.7")";

std::string answer(const std::string& image, const std::string& result, int error = 0,
                   const std::string& step = "cuModuleLoadData") {
  return cat(R"({"image": ")", image, R"(", "result": ")", result, R"(", "step": ")", step,
             R"(", "error": )", error, "}");
}

std::string build(const std::string& image, const std::string& result, const std::string& text) {
  return cat(R"({"image": ")", image, R"(", "result": ")", result, R"(", "text": ")", text,
             R"("})");
}

Report judged(const Facts& facts, const std::string& list = "", const std::string& target = "") {
  Request request;
  if (!list.empty()) request.arch_list = Text(list);
  request.targets_known = !target.empty();
  if (!target.empty()) request.targets = split(target, ";");
  const Plan plan = make_plan(facts, request);
  return judge({facts, request, plan}, {});
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

std::string all_of(const Finding* f) {
  return f ? cat(f->message, " | ", join(f->notes, " | "), " | ", join(f->help, " | ")) : "";
}

std::string severity(const Finding* f) {
  return f ? name_of(f->severity) : "";
}

}  // namespace

TEST_CASE(
    "an image that nvcc lists and does not build is an error which quotes the line that tells") {
  const std::string text =
      "#$ _NVVM_BRANCH_=nvvm\\n#$ cicc t.cu\\nptxas t.ptx, line 9; fatal   : Unsupported .version";
  Facts facts = machine(kRtx, "",
                        build("sm_86", "refused", text) + "," + build("sm_90", "refused", text) +
                            "," + build("sm_80", "built", ""));
  Report report = judged(facts, "8.0;8.6;9.0");
  const Finding* f = find(report, 341);
  REQUIRE(f);
  CHECK(f->severity == Severity::Error);
  CHECK(f->message ==
        "nvcc 12.4 says that it builds sm_86 sm_90, and a small kernel for them does not compile");
  CHECK(f->notes[0] == "it said: ptxas t.ptx, line 9; fatal   : Unsupported .version");
  // What is not in the plan is no matter.
  CHECK_FALSE(find(judged(facts, "8.0"), 341));
  // The same but for the architecture's name is one cause; another text is another.
  facts.toolkits.list[0].builds[0].text = Text("ptxas fatal   : Value 'sm_86' is not defined");
  facts.toolkits.list[0].builds[1].text = Text("ptxas fatal   : Value 'sm_90' is not defined");
  report = judged(facts, "8.6;9.0");
  CHECK(std::count_if(report.findings.begin(), report.findings.end(),
                      [](const Finding& one) { return one.id == 341; }) == 1);
  facts.toolkits.list[0].builds[1].text = Text("nvcc error   : 'ptxas' died due to signal 11");
  report = judged(facts, "8.6;9.0");
  CHECK(std::count_if(report.findings.begin(), report.findings.end(),
                      [](const Finding& one) { return one.id == 341; }) == 2);
}

TEST_CASE("a file with another image than was asked for is an error, and the plan keeps the list") {
  const Facts facts = machine(kRtx, "", build("sm_86", "wrong", "the object holds sm_52"));
  const Report report = judged(facts, "8.6");
  CHECK(contains(all_of(find(report, 341)), "the file that it wrote does not hold it"));
  CHECK(contains(all_of(find(report, 341)), "the object holds sm_52"));
  Request request;
  request.arch_list = Text("8.6");
  CHECK(make_plan(facts, request).gencodes.size() == 1);
}

TEST_CASE("an image that was to be built and is neither built nor refused is unknown, not good") {
  Facts facts = machine(kRtx, "", R"({"image": "sm_86"})");
  facts.toolkits.list[0].reason = "images were not built: that took too long";
  const std::string said = all_of(find(judged(facts, "8.6"), 392));
  CHECK(contains(said, "whether nvcc builds the images"));
  CHECK(contains(said, "that took too long"));
}

TEST_CASE("where the toolkit or the host compiler compiles nothing, that is the one cause") {
  Facts facts = machine(kRtx, "", build("sm_86", "refused", "nvcc fatal   : broken"));
  facts.toolkits.list[0].works = Flag(false);
  for (const char* kind : {"ptxas", "host-compiler", "host-compiler-run", "crash"}) {
    facts.toolkits.list[0].failure.kind = Text(kind);
    const Report report = judged(facts);
    INFO(kind);
    CHECK_FALSE(find(report, 341));
    CHECK(report.outcome == "fail");
  }
}

TEST_CASE("each way to say no is told in its own words, with the name of the error and the call") {
  struct Row {
    const char* result;
    int error;
    const char* message;
    const char* note;
    const char* help;
  };
  for (const Row& row :
       {Row{"refused", 209,
            "sm_86 is refused by NVIDIA GeForce RTX 3090, compute 8.6: 209 "
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "(cuModuleLoadData)", "dmesg"},
        Row{"refused", 46, "46 CUDA_ERROR_DEVICE_UNAVAILABLE", "exclusive", "nvidia-smi"},
        Row{"wrong", 0, "sm_86 computes a wrong value on NVIDIA GeForce RTX 3090, compute 8.6",
            "is not what its code writes", "dmesg"},
        Row{"crash", 0, "sm_86 crashes on", "ended by itself", "dmesg"},
        Row{"hang", 0, "sm_86 hangs on", "did not come back", "TorchCudaStack_TIMEOUT"}}) {
    INFO(row.result << " " << row.error);
    const Report report = judged(machine(kRtx, answer("sm_86", row.result, row.error)));
    const Finding* f = find(report, 922);
    CHECK(severity(f) == "error");
    REQUIRE(f);
    CHECK(contains(f->message, row.message));
    CHECK(contains(join(f->notes, " | "), row.note));
    CHECK(contains(join(f->help, " | "), row.help));
    // PyTorch's own sm_86 is the same code to this device, and the plan was right.
    for (int id : {601, 909, 911}) CHECK_FALSE(find(report, id));
  }
}

TEST_CASE("what the driver would take instead decides how heavy a refused image is") {
  struct Row {
    const char* list;
    const char* probes;  // image=result
    const char* native;  // severity of 922 for targets native, "" = none
    const char* note;
  };
  const Row rows[] = {
      {"8.0;8.6", "sm_86=refused sm_80=runs", "warning", "sm_80 runs there in its place"},
      {"8.0;8.6", "sm_86=refused", "warning", "sm_80 should run in its place, untried"},
      {"8.6+PTX", "sm_86=refused compute_86=runs", "warning", "compute_86 runs there"},
      {"8.6+PTX", "sm_86=refused compute_86=refused", "error", ""},
      // It falls back only from what it refuses.
      {"8.0;8.6", "sm_86=wrong sm_80=runs", "error", ""},
      {"8.6+PTX", "sm_86=crash compute_86=runs", "error", ""},
      {"8.6+PTX", "sm_86=hang", "error", ""},
      // What is not needed may say no.
      {"8.6+PTX", "sm_86=runs compute_86=refused", "", ""},
      {"8.6;9.0", "sm_86=runs sm_90=refused", "", ""},
      {"8.6;9.0", "sm_86=runs sm_90=crash", "", ""},
      // One that takes the process with it, or all the time, is told.
      {"8.0;8.6", "sm_86=runs sm_80=crash", "warning", "sm_86 runs there in its place"},
      {"8.6+PTX", "sm_86=runs compute_86=hang", "warning", "sm_86 runs there in its place"},
      // An answer to one image tells nothing of another.
      {"8.6", "sm_80=refused", "", ""},
  };
  for (const Row& row : rows) {
    INFO(row.list << " " << row.probes);
    List<std::string> probes;
    for (const std::string& one : split(row.probes, " "))
      probes.push_back(answer(one.substr(0, one.find('=')), one.substr(one.find('=') + 1), 209));
    Facts facts = machine(kRtx, join(probes, ","));
    facts.torch.images = Names({"sm_50"});
    const Report report = judged(facts, row.list, "native");
    CHECK(severity(find(report, 922)) == row.native);
    CHECK(contains(all_of(find(report, 922)), row.note));
    CHECK_FALSE(find(report, 909));
    // What was not tried and decides is named.
    const bool untried = contains(row.note, "untried");
    bool named = false;
    if (const Finding* unknown = find(report, 190))
      named = contains(unknown->missing, std::string("devices.list[].image_probe"));
    CHECK(named == untried);
  }
}

TEST_CASE("an image that was to be tried and got no answer is unknown, not good") {
  const std::string open = R"({"image": "sm_86", "error": 2, "step": "cuMemAlloc_v2"})";
  const std::string what = "whether the images run";
  const Report report = judged(machine(kRtx, open), "8.6");
  CHECK(contains(all_of(find(report, 190)), what));
  CHECK(contains(all_of(find(report, 190)), "cuMemAlloc_v2 answers 2 CUDA_ERROR_OUT_OF_MEMORY"));
  // Another that runs there is enough, and what does not fit does not matter.
  for (const char* more : {"sm_80", "sm_90"}) {
    Facts facts = machine(kRtx, open + "," + answer(more, "runs"));
    if (more[3] == '9') facts.devices.list[0].image_probe[0].image = Text("sm_75");
    CHECK_FALSE(contains(all_of(find(judged(facts, "8.0;8.6;9.0"), 190)), what));
  }
}

TEST_CASE("a list that was written for other machines makes a refused image a warning") {
  Facts facts = machine(kRtx, answer("sm_86", "refused", 209));
  facts.torch.images = Names({"sm_80"});
  CHECK(severity(find(judged(facts, "8.6"), 922)) == "warning");
  CHECK(severity(find(judged(facts, "8.6", "native"), 922)) == "error");
  // Code of an older member of the family: the device's own is the way out.
  facts.devices.list[0].image_probe[0].image = Text("sm_80");
  CHECK(contains(all_of(find(judged(facts, "8.0"), 922)), "add 8.6 to the list"));
}

TEST_CASE(
    "boards of one kind are one finding, and where some of them run it names those that do not") {
  Facts facts = machine(kRtx, answer("sm_86", "refused", 209));
  for (int i = 1; i < 4; ++i) {
    facts.devices.list.push_back(facts.devices.list[0]);
    facts.devices.list.back().index = Fact<int>(i);
  }
  Report report = judged(facts);
  CHECK(
      find(report, 922)->message ==
      "sm_86 is refused by NVIDIA GeForce RTX 3090, compute 8.6: 209 CUDA_ERROR_NO_BINARY_FOR_GPU");
  for (int i : {0, 1, 3})
    facts.devices.list[static_cast<size_t>(i)].image_probe[0].result = Text("runs");
  report = judged(facts);
  CHECK(contains(find(report, 922)->message,
                 "is refused by device 2 (NVIDIA GeForce RTX 3090, compute 8.6)"));
}

TEST_CASE("error 222 is a driver that is too old for the PTX, measured") {
  const char* old_driver = R"("version": "535.104.05", "cuda": "12.2")";
  const std::string probe = answer("compute_80", "refused", 222);
  Facts facts = machine(kH100, probe, "", old_driver);
  facts.torch.images = Names({"sm_90"});
  Report report = judged(facts, "8.0+PTX", "native");
  REQUIRE(find(report, 205));
  CHECK(contains(all_of(find(report, 205)),
                 "measured: compute_80 was tried on the device, which refused it: 222 "
                 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
  CHECK_FALSE(find(report, 922));
  CHECK_FALSE(find(report, 909));
  // Machine code that serves it makes the PTX no matter.
  CHECK_FALSE(find(judged(facts, "9.0;8.0+PTX", "native"), 205));
  // A driver that says it reads such PTX, and does not: its answer counts.
  facts = machine(kH100, probe, "", R"("version": "570.10.10", "cuda": "12.8")");
  report = judged(facts, "8.0+PTX", "native");
  CHECK_FALSE(find(report, 205));
  CHECK(contains(all_of(find(report, 922)), "written by a newer CUDA than this driver reads"));
}

TEST_CASE("a compiler of PTX that is missing or switched off has words of its own") {
  Facts facts = machine(kH100, answer("compute_80", "refused", 221));
  CHECK(contains(all_of(find(judged(facts, "8.0+PTX", "native"), 922)),
                 "libnvidia-ptxjitcompiler.so is missing"));
  facts.devices.list[0].image_probe[0].error = Fact<int>(223);
  CHECK(contains(all_of(find(judged(facts, "8.0+PTX", "native"), 922)), "is switched off"));
  facts.environment["CUDA_DISABLE_PTX_JIT"] = "1";
  const Report report = judged(facts, "8.0+PTX", "native");
  CHECK(find(report, 804));
  CHECK_FALSE(find(report, 922));
}

TEST_CASE("across the desktop/Tegra border the device's answer decides, both ways") {
  Facts facts = machine(kOrin, answer("sm_80", "runs"));
  facts.torch.images = Names({"sm_80"});
  for (int id : {611, 601, 909, 911, 922}) CHECK_FALSE(find(judged(facts, "8.0"), id));
  facts.devices.list[0].image_probe[0].result = Text("refused");
  facts.devices.list[0].image_probe[0].error = Fact<int>(209);
  const Report report = judged(facts, "8.0");
  CHECK_FALSE(find(report, 922));  // no rule promised it
  CHECK(
      contains(all_of(find(report, 909)), "sm_80 was tried on the device, which refused it: 209"));
  CHECK(contains(all_of(find(report, 909)), "add 8.7 to the list"));
  CHECK(contains(all_of(find(report, 601)), "sm_80 was tried on the device"));
}

TEST_CASE("a board that is lost or closed is the cause of what it refuses") {
  Facts facts = machine(kRtx, answer("sm_86", "refused", 46));
  facts.devices.list.push_back(facts.devices.list[0]);
  facts.devices.list[1].index = Fact<int>(1);
  facts.devices.list[1].image_probe[0].result = Text("runs");
  for (const char* state : {"lost", "error", "reset-required"}) {
    facts.devices.list[0].state = Text(state);
    const Report report = judged(facts);
    CHECK(find(report, 105));
    CHECK_FALSE(find(report, 922));
  }
  facts.devices.list[0].state = Text("ok");
  facts.devices.list[0].compute_mode = Text("prohibited");
  CHECK(find(judged(facts), 106));
  CHECK_FALSE(find(judged(facts), 922));
  // Code that crashes on another board is another cause.
  facts.devices.list[1].image_probe[0].result = Text("crash");
  CHECK(severity(find(judged(facts), 922)) == "error");
}

TEST_CASE("an extension with code that a device refuses follows from that") {
  Facts facts = machine(kRtx, answer("sm_86", "crash"));
  Extension extension;
  extension.name = Text("flash_attn");
  extension.images = Names({"sm_86"});
  extension.role = Text("neighbour");
  facts.extensions_known = true;
  facts.extensions.push_back(extension);
  const Report report = judged(facts);
  CHECK_FALSE(find(report, 609));
  REQUIRE(find(report, 922));
  CHECK(contains(find(report, 922)->consequences, std::string("TCS609")));
}
