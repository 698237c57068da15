// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

// A GPU without kernel images in PyTorch: one error; and nvcc a minor apart: one warning.
Facts machine() {
  Facts f;
  f.origin = "replayed";
  Device device;
  device.name = Text("NVIDIA GeForce RTX 5060");
  device.cc = Text("12.0");
  f.devices.state = Text("measured");
  f.devices.list_known = true;
  f.devices.list.push_back(device);
  f.driver.state = Text("ok");
  f.driver.version = Text("580.95.05");
  f.driver.cuda = Text("13.0");
  Toolkit toolkit;
  toolkit.version = Text("12.4");
  f.toolkits.list_known = true;
  f.toolkits.list.push_back(toolkit);
  f.toolkits.selected = Fact<int>(0);
  f.host_compiler.id = Text("GNU");
  f.host_compiler.version = Text("12.2.0");
  f.torch.state = Text("found");
  f.torch.version = Text("2.3.0+cu121");
  f.torch.flavour = Text("cuda");
  f.torch.cuda = Text("12.1");
  f.torch.images = Names({"sm_80", "sm_86", "sm_90"});
  return f;
}

Report run(const Facts& facts, const Policy& policy = {}, const Request& request = {}) {
  Plan plan = make_plan(facts, request);
  return judge(RuleInput{facts, request, plan}, policy);
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

}  // namespace

TEST_CASE("an error fails, and findings are sorted by weight") {
  Facts facts = machine();
  facts.host.glibc = Text("2.41");
  Report report = run(facts);
  CHECK(report.outcome == "fail");
  REQUIRE(report.findings.size() >= 2);
  CHECK(report.findings[0].id == 601);
  CHECK(report.findings[1].id == 403);
}

TEST_CASE("a toolkit's trouble with a target is silent where PyTorch itself lacks it") {
  Report report = run(machine());
  CHECK(find(report, 916) == nullptr);
  CHECK(find(report, 912) == nullptr);
}

TEST_CASE("an allowed error is a note and does not fail") {
  Policy policy;
  policy.allow = {"torch-lacks-device-image", "303"};
  Report report = run(machine(), policy);
  CHECK(report.outcome == "warn");
  CHECK(find(report, 912));  // what PyTorch's error had hidden is said now
  REQUIRE(find(report, 601));
  CHECK(find(report, 601)->severity == Severity::Note);
}

TEST_CASE("no allowed finding turns an empty plan into ok") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("6.1");
  facts.toolkits.list[0].version = Text("13.0");
  facts.torch.cuda = Text("13.0");
  struct Row {
    const char *list, *targets, *allow;
  };
  for (const Row& row :
       {Row{"6.1", "", "TCS901"}, Row{"8.0,8.6", "", "TCS906"}, Row{"99.9", "", "TCS905,TCS908"},
        Row{"", "native", "TCS601"}, Row{"", "native", "TCS601,TCS916"},
        Row{"", "native", "TCS601,TCS916,TCS908"}}) {
    INFO(row.list << " " << row.targets << " allow " << row.allow);
    Request request;
    if (*row.list) request.arch_list = Text(row.list);
    request.targets_known = *row.targets != 0;
    if (request.targets_known) request.targets = {row.targets};
    Policy policy;
    policy.allow = split(row.allow, ",");
    CHECK(make_plan(facts, request).gencodes.empty());
    CHECK(run(facts, policy, request).outcome == "fail");
  }
  facts.devices = DeviceFacts();
  facts.devices.state = Text("none");
  Request native;
  native.targets_known = true;
  native.targets = {"native"};
  Policy policy;
  policy.allow = {"TCS101"};
  CHECK(find(run(facts, policy, native), 908)->severity == Severity::Error);
  policy = {};
  policy.components = {Layer::Toolkit};
  CHECK(run(facts, policy, native).outcome == "fail");
}

TEST_CASE("an allowed target that nvcc cannot build leaves the others to build") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  facts.toolkits.list[0].version = Text("13.0");
  facts.torch.cuda = Text("13.0");
  facts.torch.images = Names({"sm_61", "sm_86"});
  Request request;
  request.targets_known = true;
  request.targets = {"6.1", "8.6"};
  CHECK(run(facts, {}, request).outcome == "fail");
  Policy policy;
  policy.allow = {"TCS916"};
  CHECK(run(facts, policy, request).outcome == "ok");
}

TEST_CASE("fail-on never reports and does not fail") {
  Policy policy;
  policy.never = true;
  Facts facts = machine();
  facts.host.glibc = Text("2.41");
  Report report = run(facts, policy);
  CHECK(report.outcome == "warn");
  CHECK(find(report, 601)->severity == Severity::Error);
}

TEST_CASE("fail-on warning fails on a warning") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  CHECK(run(facts).outcome == "warn");
  Policy policy;
  policy.fail_on = Severity::Warning;
  CHECK(run(facts, policy).outcome == "fail");
}

TEST_CASE("unknown makes the report incomplete, and fails only when it is asked to") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  facts.toolkits.list[0].version = Text("12.1");
  facts.torch.images = Names();
  Report report = run(facts);
  CHECK(report.outcome == "ok");
  CHECK_FALSE(report.complete);
  CHECK(find(report, 691));
  Policy policy;
  policy.fail_on = Severity::Unknown;
  CHECK(run(facts, policy).outcome == "fail");
}

TEST_CASE("a broken driver is a warning where the request is for other machines") {
  Facts facts = machine();
  facts.devices = DeviceFacts();
  facts.driver.state = Text("stub");
  CHECK(find(run(facts), 202)->severity == Severity::Error);
  Request request;
  request.targets_known = true;
  request.targets = {"8.6"};
  CHECK(find(run(facts, {}, request), 202)->severity == Severity::Warning);
  request.targets = {"8.6", "native"};
  CHECK(find(run(facts, {}, request), 202)->severity == Severity::Error);
}

TEST_CASE("a missing driver is a note, and an error when the purpose is to run") {
  Facts facts = machine();
  facts.devices = DeviceFacts();
  facts.driver = DriverFacts();
  facts.driver.state = Text("absent");
  CHECK(find(run(facts), 201)->severity == Severity::Note);
  Request request;
  request.purpose = "run";
  CHECK(find(run(facts, {}, request), 201)->severity == Severity::Error);
}

TEST_CASE("the user's list that misses a device is a warning, an error with native") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  Request request;
  request.arch_list = Text("9.0");
  CHECK(find(run(facts, {}, request), 909)->severity == Severity::Warning);
  request.targets_known = true;
  request.targets = {"native"};
  CHECK(find(run(facts, {}, request), 909)->severity == Severity::Error);
}

TEST_CASE("a present device's own answer decides across the desktop/Tegra border") {
  Facts facts = machine();
  Device& orin = facts.devices.list[0];
  orin.cc = Text("8.7");
  facts.torch.images = Names({"sm_80"});
  CHECK(find(run(facts), 611));
  ImageProbe probe;
  probe.image = Text("sm_80");
  probe.result = Text("runs");
  orin.image_probe = {probe};
  CHECK_FALSE(find(run(facts), 611));
  CHECK_FALSE(find(run(facts), 601));
  orin.image_probe[0].result = Text("refused");
  CHECK_FALSE(find(run(facts), 611));
  CHECK(find(run(facts), 601));
}

TEST_CASE("a host compiler limit that was read counts before the table") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  facts.host_compiler.version = Text("14.1.0");
  CHECK(find(run(facts), 401)->severity == Severity::Error);
  facts.toolkits.list[0].gcc_max = Fact<int>(14);
  CHECK_FALSE(find(run(facts), 401));
}

TEST_CASE("a compiler used in place of a refused one is a note") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  facts.host_compiler.version = Text("14.1.0");
  facts.toolkits.list[0].works = Flag(false);
  facts.toolkits.list[0].failure.kind = Text("host-compiler");
  facts.toolkits.list[0].fitting_host_compiler = Text("/usr/bin/g++-12");
  Report report = run(facts);
  CHECK(find(report, 401)->severity == Severity::Note);
  CHECK(report.outcome != "fail");
}

TEST_CASE("a wheel's missing libraries are one finding") {
  Facts facts = machine();
  facts.libraries_known = true;
  for (const char* name : {"libcudart.so.12", "libcublas.so.12", "libcuda.so.1"}) {
    Library lib;
    lib.soname = Text(name);
    lib.state = Text("missing");
    facts.libraries.push_back(lib);
  }
  Report report = run(facts);
  int count = 0;
  for (const Finding& f : report.findings) count += f.id == 501;
  CHECK(count == 1);
  CHECK(find(report, 501)->message.find("libcudart.so.12 and libcublas.so.12") !=
        std::string::npos);
}

TEST_CASE("coverage counts the fat binaries of several architectures in the main library") {
  // libtorch_cuda_cu.so of the 1.13.1+cu117 wheel (tcstack images): 271 of several architectures.
  Facts facts = machine();
  facts.torch.images =
      Names({"sm_35", "sm_37", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86"});
  TorchLibrary main;
  main.name = Text("libtorch_cuda_cu.so");
  main.sets = {{{"sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86"}, 50},
               {{"sm_37", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86"}, 221},
               {{"sm_70"}, 3},
               {{"sm_80"}, 16}};
  facts.torch.libraries = {main};
  facts.devices.list[0].cc = Text("3.5");
  REQUIRE(find(run(facts), 605));
  CHECK(find(run(facts), 605)->severity == Severity::Warning);
  CHECK(find(run(facts), 605)->message.find("50 of 271") != std::string::npos);
  facts.devices.list[0].cc = Text("3.7");
  CHECK_FALSE(find(run(facts), 605));
  facts.devices.list[0].cc = Text("8.9");
  CHECK_FALSE(find(run(facts), 605));

  // libtorch_cuda_linalg.so has a list of its own: a note for the device that it leaves out.
  TorchLibrary linalg;
  linalg.name = Text("libtorch_cuda_linalg.so");
  linalg.sets = {{{"sm_80", "sm_86"}, 99}};
  facts.torch.libraries.push_back(linalg);
  CHECK_FALSE(find(run(facts), 605));
  facts.devices.list[0].cc = Text("7.5");
  REQUIRE(find(run(facts), 605));
  CHECK(find(run(facts), 605)->severity == Severity::Note);
}

TEST_CASE("PyTorch's own default targets are not held against PyTorch") {
  Facts facts = machine();
  facts.devices.list.clear();
  facts.devices.state = Text("none");
  TorchLibrary main;
  main.name = Text("libtorch_cuda.so");
  main.sets = {{{"sm_80", "sm_86", "sm_90"}, 90}, {{"sm_86", "sm_90"}, 9}};
  facts.torch.libraries = {main};
  CHECK_FALSE(find(run(facts), 605));
  Request request;
  request.targets_known = true;
  request.targets = {"8.0"};
  CHECK(find(run(facts, {}, request), 605));
}

namespace {

bool says(const Finding* finding, const char* text) {
  if (!finding) return false;
  std::string all = finding->message;
  for (const auto& note : finding->notes) all += "\n" + note;
  for (const auto& help : finding->help) all += "\n" + help;
  for (const auto& row : finding->evidence)
    all += "\n" + row.layer + " " + row.has + " " + row.needs + " " + row.from;
  INFO(all);
  return contains(all, text);
}

Facts machine13(const char* cc) {
  Facts facts = machine();
  facts.host.os = Text("linux");
  facts.host.arch = Text("x86_64");
  facts.devices.list[0].cc = Text(cc);
  facts.toolkits.list[0].version = Text("13.0");
  facts.torch.version = Text("2.9.0+cu130");
  facts.torch.cuda = Text("13.0");
  facts.torch.images = Names({"sm_75", "sm_80", "sm_86", "sm_90", "sm_121a"});
  return facts;
}

Request list(const char* text) {
  Request request;
  request.arch_list = Text(text, "TORCH_CUDA_ARCH_LIST");
  return request;
}

}  // namespace

TEST_CASE("an architecture of a few releases is named with all of them") {
  Facts facts = machine13("8.6");
  facts.toolkits.list[0].version = Text("12.4");
  Report report = run(facts, {}, list("8.6;10.1"));
  const Finding* f = find(report, 902);
  CHECK(says(f, "10.1 (in 12.8 to 12.9)"));
  CHECK(says(f, "install CUDA toolkit 12.8, and PyTorch "));
}

TEST_CASE("a help offers what this nvcc builds") {
  Report report = run(machine13("6.1"), {}, list("9.0"));
  CHECK(says(find(report, 909), "nvcc 13.0 does not build 6.1"));
  CHECK(says(find(report, 909), "add 6.1 to the list, and install CUDA toolkit 12.6, and PyTorch"));
  report = run(machine13("8.6"), {}, list("9.0"));
  CHECK(says(find(report, 909), "add 8.6 to the list"));
  CHECK_FALSE(says(find(report, 909), "older entry"));
  report = run(machine13("6.1"));
  CHECK(says(find(report, 601), "TARGETS=\"8.0;8.6;9.0\""));
  report = run(machine13("8.6"), {}, list("8.6(7.0)"));
  CHECK(says(find(report, 901), "write 8.6, which this nvcc builds"));
  CHECK_FALSE(says(find(report, 901), "drop"));
  report = run(machine13("12.0"), {}, list("12.0f+PTX"));
  CHECK(says(find(report, 913), "12.0+PTX"));
  Facts cpu = machine13("8.6");
  cpu.torch.flavour = Text("xpu");
  report = run(cpu);
  CHECK(says(find(report, 603), "whl/cu130"));
  CHECK_FALSE(says(find(report, 603), "CPU"));
}

TEST_CASE("a list's trouble is told by what was written") {
  Report report = run(machine13("8.6"), {}, list("H100"));
  CHECK(says(find(report, 907), "the arch list holds 'H100', a GPU"));
  report = run(machine13("8.6"), {}, list(std::string(5000, '8').c_str()));
  CHECK(find(report, 906)->message == "the list is 5000 bytes long, the limit is 4096");
  Request targets;
  targets.targets_known = true;
  targets.targets = {"8.0,8.6"};
  targets.targets_from = "--targets";
  report = run(machine13("8.6"), {}, targets);
  CHECK(says(find(report, 906), "the targets hold '8.0,8.6'"));
  CHECK(says(find(report, 906), "target 8.0,8.6"));
  report = run(machine13("8.6"), {}, list("12"));
  CHECK(says(find(report, 905), "write \"12.0\""));
  CHECK_FALSE(find(report, 919));
}

TEST_CASE("a PyTorch whose CUDA or release is unknown leaves the report incomplete") {
  Facts facts = machine13("8.6");
  facts.torch.cuda = Text();
  facts.torch.reason = "version.py says cuda = 'thirteen'";
  Report report = run(facts);
  CHECK_FALSE(report.complete);
  CHECK(says(find(report, 690), "torch.cuda"));
  CHECK(says(find(report, 690), "thirteen"));
  facts = machine13("8.6");
  facts.torch.version = Text();
  CHECK_FALSE(run(facts).complete);
}

TEST_CASE("devices known to be none have no list, whatever stands in it") {
  Facts facts = machine13("6.1");
  facts.devices.state = Text("none");
  Report report = run(facts);
  CHECK_FALSE(find(report, 601));
  CHECK(find(report, 102));
}

TEST_CASE("a compiler that a setting names is called by its path and that setting") {
  Facts facts = machine13("8.6");
  Toolkit& t = facts.toolkits.list[0];
  t.nvcc = Text("/nope/bin/nvcc");
  t.origin = Text("TorchCudaStack_TOOLKIT");
  t.works = Flag(false);
  t.failure.kind = Text("start");
  t.failure.text = Text("/nope: No such file or directory");
  Report report = run(facts);
  REQUIRE(find(report, 305));
  CHECK(find(report, 305)->message == "/nope/bin/nvcc (TorchCudaStack_TOOLKIT) is not there");
  CHECK_FALSE(says(find(report, 305), "nvcc -c"));
  t.failure.kind = Text("output");
  t.failure.text = Text("nvcc fatal : Unknown option '--bogus'");
  facts.environment["NVCC_PREPEND_FLAGS"] = "--bogus";
  report = run(facts);
  CHECK(says(find(report, 305), "NVCC_PREPEND_FLAGS='--bogus'"));
  CHECK(says(find(report, 305), "/nope/bin/nvcc -c t.cu"));
}

TEST_CASE("a host compiler that hangs is the host compiler's finding") {
  Facts facts = machine13("8.6");
  Toolkit& t = facts.toolkits.list[0];
  t.works = Flag(false);
  t.failure.kind = Text("host-compiler-run");
  t.failure.text = Text("/opt/bad/g++ -dM -E: no answer in 3 s");
  facts.host_compiler = HostCompiler();
  facts.host_compiler.path = Text("/opt/bad/g++", "CUDAHOSTCXX");
  Report report = run(facts);
  CHECK_FALSE(find(report, 305));
  CHECK(says(find(report, 402), "does not compile with the host compiler /opt/bad/g++"));
  CHECK(says(find(report, 402), "CUDAHOSTCXX"));
  CHECK(says(find(report, 402), "no answer in 3 s"));
}

TEST_CASE("a Python used in place of the one that was named is said") {
  Facts facts = machine13("8.6");
  facts.python.state = Text("found");
  facts.python.executable = Text("/usr/bin/python3", "PATH");
  facts.python.reason =
      "VIRTUAL_ENV is /nope, which has no bin/python; used instead: /usr/bin/python3";
  Report report = run(facts);
  REQUIRE(find(report, 702));
  CHECK(find(report, 702)->severity == Severity::Warning);
  CHECK(find(report, 702)->message ==
        "the Python that VIRTUAL_ENV names cannot be used: /usr/bin/python3 is used");
  facts.torch = TorchFacts();
  facts.torch.state = Text("absent");
  report = run(facts);
  CHECK(find(report, 702)->severity == Severity::Error);
  CHECK_FALSE(find(report, 602));
}

TEST_CASE("a build tree that keeps its compiler says so, whichever setting names another") {
  for (const char* setting :
       {"CMAKE_CUDA_COMPILER", "TorchCudaStack_TOOLKIT", "CUDAToolkit_ROOT (variable)"}) {
    Facts facts = machine();
    facts.toolkits.list[0].origin = Text("TREE_CUDA_COMPILER");
    Toolkit named;
    named.version = Text("12.1");
    named.root = Text("/opt/cuda-12.1");
    named.origin = Text(setting);
    facts.toolkits.list.push_back(named);
    Report report = run(facts);
    INFO(setting);
    const Finding* kept = find(report, 306);
    REQUIRE(kept != nullptr);
    CHECK(kept->severity == Severity::Error);
    CHECK(contains(kept->message, cat(setting, " now names")));
    // The same one, named: nothing to say.
    facts = machine();
    facts.toolkits.list[0].origin = Text(cat("TREE_CUDA_COMPILER, ", setting));
    CHECK(find(run(facts), 306) == nullptr);
  }
}

TEST_CASE("a wrong CUDA_VISIBLE_DEVICES beside a driver that fails is told, whatever is allowed") {
  Facts facts = machine();
  facts.devices = DeviceFacts();
  facts.devices.state = Text("none");
  facts.devices.list_known = true;
  facts.driver.state = Text("error");
  facts.driver.error_code = Fact<int>(999);
  facts.environment["CUDA_VISIBLE_DEVICES"] = "7x";
  for (const char* allow : {"", "TCS208", "TCS801", "TCS208,TCS801"}) {
    INFO(allow);
    Policy policy;
    policy.allow = split(allow, ",");
    const Report report = run(facts, policy);
    CHECK((find(report, 208) || find(report, 801)));
  }
}

TEST_CASE("a cause names all that follows from it once, sorted, and never itself") {
  Facts facts = machine();
  facts.driver.state = Text("stub");
  facts.devices = DeviceFacts();
  facts.devices.state = Text("none");
  facts.devices.list_known = true;
  facts.environment["CUDA_VISIBLE_DEVICES"] = "7x";
  Request request;
  request.targets_known = true;
  request.targets = {"native"};
  const Report report = run(facts, {}, request);
  // 202 silences 801 and 101, and these 908.
  REQUIRE(find(report, 202));
  const List<std::string>& codes = find(report, 202)->consequences;
  for (const char* code : {"TCS101", "TCS801", "TCS908"}) CHECK(contains(codes, std::string(code)));
  for (const Finding& f : report.findings)
    for (size_t i = 0; i < f.consequences.size(); ++i) {
      CHECK(f.consequences[i] != f.code());
      if (i > 0) CHECK(f.consequences[i - 1] < f.consequences[i]);
    }
}

TEST_CASE("each image that a present device was asked about counts, in any order") {
  struct Row {
    const char* images;
    const char* probes;  // image=result
    const char* said;    // of PyTorch
  };
  for (const Row& row :
       {Row{"sm_86", "sm_86=refused", "error"}, Row{"sm_86", "sm_86=wrong", "error"},
        Row{"sm_86", "sm_86=crash", "error"}, Row{"sm_86", "sm_86=hang", "error"},
        Row{"sm_86", "sm_86=runs", ""}, Row{"sm_86", "sm_80=refused", ""},
        Row{"sm_80 sm_86", "sm_86=refused", "warning"}, Row{"sm_80 sm_86", "sm_86=wrong", "error"},
        Row{"sm_80 sm_86", "sm_86=refused sm_80=refused", "error"},
        Row{"sm_80 sm_86", "sm_80=refused sm_86=runs", ""},
        Row{"sm_86 compute_80", "sm_86=refused", "warning"},
        Row{"sm_86 compute_80", "sm_86=runs compute_80=refused", ""},
        Row{"compute_80", "compute_80=refused", "error"}}) {
    INFO(row.images << " " << row.probes);
    Facts facts = machine();
    facts.devices.list[0].cc = Text("8.6");
    facts.torch.images = Names(split(row.images, " "));
    List<ImageProbe> probes;
    for (const std::string& words : split(row.probes, " ")) {
      ImageProbe probe;
      probe.image = Text(words.substr(0, words.find('=')));
      probe.result = Text(words.substr(words.find('=') + 1));
      probe.error = Fact<int>(209);
      probes.push_back(probe);
    }
    List<ImageProbe> turned;
    for (size_t i = probes.size(); i > 0; --i) turned.push_back(probes[i - 1]);
    for (const auto& list : {probes, turned}) {
      facts.devices.list[0].image_probe = list;
      Request to_run;
      to_run.purpose = "run";
      const Report report = run(facts, {}, to_run);
      const Finding* f = find(report, 922);
      CHECK((f ? name_of(f->severity) : "") == std::string(row.said));
      CHECK(find(report, 601) == nullptr);  // what follows from it
    }
  }
  // Across the desktop/Tegra border: what was not tried keeps what is foretold of it.
  Facts facts = machine();
  Device& orin = facts.devices.list[0];
  orin.cc = Text("8.7");
  ImageProbe probe;
  probe.image = Text("sm_80");
  probe.result = Text("refused");
  orin.image_probe = {probe};
  facts.torch.images = Names({"sm_80", "sm_86"});
  CHECK(find(run(facts), 611));
  CHECK_FALSE(find(run(facts), 601));
}

TEST_CASE("code of its own that a device refused is an error of the plan and of the list") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.6");
  ImageProbe probe;
  probe.image = Text("sm_86");
  probe.result = Text("refused");
  probe.error = Fact<int>(209);
  facts.devices.list[0].image_probe = {probe};
  Request native;
  native.targets_known = true;
  native.targets = {"native"};
  Request both = native;
  both.arch_list = Text("8.6");
  for (const Request& request : {native, both}) {
    Report report = run(facts, {}, request);
    REQUIRE(find(report, 922));
    CHECK(find(report, 922)->severity == Severity::Error);
    CHECK(says(find(report, 922), "209 CUDA_ERROR_NO_BINARY_FOR_GPU"));
    CHECK_FALSE(says(find(report, 922), "add 8.6"));
    CHECK(find(report, 909) == nullptr);
    // Of PyTorch's code as well: one error, and no other PyTorch is the way out.
    Facts torch = facts;
    torch.torch.images = Names({"sm_86"});
    report = run(torch, {}, request);
    CHECK(find(report, 601) == nullptr);
    REQUIRE(find(report, 922));
    CHECK(says(find(report, 922), "look at `nvidia-smi`"));
    CHECK_FALSE(says(find(report, 922), "install a PyTorch"));
  }
  CHECK(find(run(facts, {}, list("8.6")), 922)->severity == Severity::Warning);
  CHECK_FALSE(find(run(facts, {}, list("8.6+PTX 8.0+PTX")), 909));
}
