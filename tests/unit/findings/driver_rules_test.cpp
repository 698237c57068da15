// SPDX-License-Identifier: Apache-2.0
// Devices and drivers: machines that are in trouble and such that only look like it.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

// A machine in good order: everything of it speaks CUDA `cuda`.
Facts machine(const char* gpu, const char* cc, const char* cuda) {
  Facts f;
  f.origin = "replayed";
  f.host.os = Text("linux");
  f.host.arch = Text("x86_64");
  f.host.wsl = Flag(false);
  Device device;
  device.index = Fact<int>(0);
  device.name = Text(gpu);
  device.cc = Text(cc);
  device.mig = Flag(false);
  f.devices.state = Text("measured");
  f.devices.list_known = true;
  f.devices.list.push_back(device);
  Toolkit toolkit;
  toolkit.root = Text("/opt/cuda");
  toolkit.version = Text(cuda);
  f.toolkits.list_known = true;
  f.toolkits.list.push_back(toolkit);
  f.toolkits.selected = Fact<int>(0);
  f.torch.state = Text("found");
  f.torch.version = Text("2.9.0");
  f.torch.flavour = Text("cuda");
  f.torch.cuda = Text(cuda);
  f.torch.images = Names({"sm_50", "sm_60", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87",
                          "sm_90", "sm_100", "sm_110", "sm_120"});
  f.driver.state = Text("ok");
  return f;
}

Facts geforce(const char* cuda) {
  return machine("NVIDIA GeForce RTX 3090", "8.6", cuda);
}
Facts a100(const char* cuda) {
  return machine("NVIDIA A100-SXM4-80GB", "8.0", cuda);
}
Facts orin(const char* l4t, const char* cuda) {
  Facts f = machine("Orin", "8.7", cuda);
  f.host.arch = Text("aarch64");
  f.host.jetson_l4t = Text(l4t);
  return f;
}

Facts with_driver(Facts f, const char* version, const char* cuda = "") {
  if (*version) f.driver.version = Text(version);
  if (*cuda) f.driver.cuda = Text(cuda);
  return f;
}
Facts with_code(Facts f, int code) {
  f.driver.state = Text("error");
  f.driver.error_code = Fact<int>(code);
  return f;
}
Facts with_state(Facts f, const char* state) {
  f.driver.state = *state ? Text(state) : Text();
  return f;
}
Facts with_libcuda(Facts f, const char* path, const char* version = "", bool loaded = true) {
  LibCuda lib;
  lib.path = Text(path);
  if (*version) lib.version = Text(version);
  lib.role = Text(loaded ? "loaded" : "other");
  f.driver.libcuda.push_back(lib);
  return f;
}
Facts without_devices(Facts f) {
  f.devices = DeviceFacts();
  f.devices.state = Text("none");
  f.devices.list_known = true;
  return f;
}
Facts devices_unknown(Facts f) {
  f.devices = DeviceFacts();
  return f;
}
Facts on(const char* system, Facts f) {
  if (std::string_view(system) == "windows") f.host.os = Text("windows");
  if (std::string_view(system) == "wsl") f.host.wsl = Flag(true);
  return f;
}

Request native() {
  Request request;
  request.targets_known = true;
  request.targets = {"native"};
  return request;
}
Request elsewhere() {
  Request request;
  request.targets_known = true;
  request.targets = {"8.0"};
  return request;
}
Request ptx_only() {
  Request request = native();
  request.arch_list = Text("8.0+PTX", "TORCH_CUDA_ARCH_LIST");
  return request;
}

Report run(const Facts& facts, const Request& request = {}) {
  const Plan plan = make_plan(facts, request);
  return judge(RuleInput{facts, request, plan}, {});
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

// "error 204, note 209": what is said of devices and driver.
std::string said(const Report& report) {
  List<std::string> words;
  for (const Finding& f : report.findings)
    if (f.layer == Layer::Device || f.layer == Layer::Driver)
      words.push_back(cat(name_of(f.severity), " ", f.id));
  return join(words, ", ");
}

std::string text_of(const Report& report, int id) {
  const Finding* f = find(report, id);
  if (!f) return "";
  std::string all = f->message;
  for (const auto& row : f->evidence) all += cat("\n", row.has, " | ", row.needs, " | ", row.from);
  for (const auto& line : f->notes) all += "\nnote: " + line;
  for (const auto& line : f->help) all += "\nhelp: " + line;
  return all;
}

struct Row {
  const char* what;
  Facts facts;
  Request request;
  const char* said;
};

void check(const List<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(said(run(row.facts, row.request)) == row.said);
  }
}

}  // namespace

TEST_CASE("a driver is judged by the floor of the CUDA major, in Linux numbers") {
  check({
      {"12.0 runs all of CUDA 12", with_driver(geforce("12.9"), "525.60.13", "12.0"), {}, ""},
      {"so does a newer one, for CUDA 11",
       with_driver(geforce("11.1"), "580.95.05", "13.0"),
       {},
       ""},
      {"the last of CUDA 11", with_driver(geforce("12.1"), "520.61.05", "11.8"), {}, "error 204"},
      {"before the floor inside its branch",
       with_driver(geforce("11.3"), "450.51.06", "11.0"),
       {},
       "error 204"},
      {"at that floor", with_driver(geforce("11.3"), "450.80.02", "11.0"), {}, ""},
      {"a wheel of CUDA 13", with_driver(geforce("13.0"), "575.57.08", "12.9"), {}, "error 204"},
      {"for other machines", with_driver(geforce("13.0"), "575.57.08", "12.9"), elsewhere(),
       "warning 204"},
      {"only what it speaks is known", with_driver(geforce("12.1"), "", "11.4"), {}, "error 204"},
      {"the same, and enough", with_driver(geforce("12.9"), "", "12.0"), {}, ""},
      {"without a known state",
       with_state(with_driver(geforce("12.1"), "470.57.02", "11.4"), ""),
       {},
       "error 204, unknown 290"},
      {"before CUDA 11 a minor counts",
       with_driver(machine("Tesla V100-SXM2-16GB", "7.0", "10.2"), "418.87.00", "10.1"),
       {},
       "error 204"},
      {"and is enough",
       with_driver(machine("Tesla V100-SXM2-16GB", "7.0", "10.1"), "418.87.00", "10.1"),
       {},
       ""},
  });
}

TEST_CASE("a driver that was not asked is foretold by its branch, and what it speaks is missed") {
  const Report old = run(with_driver(geforce("12.1"), "470.223.02"));
  CHECK(said(old) == "error 204");
  CHECK(contains(text_of(old, 204), "CUDA 11.4 | >= 525.60.13 | table, branch 470"));
  const Report fits = run(with_driver(geforce("12.4"), "535.104.05"));
  CHECK(said(fits) == "unknown 290");
  CHECK(find(fits, 290)->missing == List<std::string>{"driver.cuda"});
  const Report ptx =
      run(with_driver(machine("NVIDIA H100 PCIe", "9.0", "12.4"), "535.261.03"), ptx_only());
  CHECK(contains(text_of(ptx, 205), "CUDA 12.2 | >= CUDA 12.4 | table, branch 535"));
  // What a branch newer than the table speaks is not known.
  CHECK(said(run(with_driver(machine("NVIDIA H100 PCIe", "9.0", "13.5"), "620.10.01"),
                 ptx_only())) == "unknown 290");
}

TEST_CASE("its own answer counts before the table") {
  check({
      {"an old libcuda on a new kernel driver",
       with_driver(geforce("12.1"), "535.104.05", "11.4"),
       {},
       "error 204"},
      {"it speaks more than its branch",
       with_driver(a100("13.0"), "535.104.05", "13.0"),
       {},
       "note 209"},
  });
}

TEST_CASE("in Windows and WSL the driver's release is one of Windows") {
  check({
      {"below 528.33", on("windows", with_driver(geforce("12.4"), "526.98")), {}, "error 204"},
      {"WSL, below 452.39", on("wsl", with_driver(geforce("11.8"), "452.06")), {}, "error 204"},
      {"WSL, CUDA 12.2 by its branch",
       on("wsl", with_driver(geforce("12.9"), "537.13", "12.2")),
       {},
       ""},
      {"two parts in Linux", with_driver(geforce("12.4"), "525.89", "12.0"), {}, ""},
      {"a release of Linux in WSL",
       on("wsl", with_driver(geforce("12.4"), "525.85.12", "12.0")),
       {},
       ""},
  });
  const std::string text = text_of(run(on("wsl", with_driver(geforce("12.4"), "516.94"))), 204);
  CHECK(contains(text, "help: update the Windows driver to 528.33"));
  CHECK(contains(text, "this driver runs PyTorch "));
  CHECK_FALSE(contains(text, "cuda-compat"));
}

TEST_CASE("Jetson's driver is that of its L4T") {
  check({
      {"JetPack 5 and CUDA 12, by its release alone: there is an upgrade",
       orin("35.4.1", "12.6"),
       {},
       "warning 204, unknown 290"},
      {"JetPack 5 and CUDA 12, as it answers",
       with_driver(orin("35.4.1", "12.6"), "", "11.4"),
       {},
       "error 204"},
      {"JetPack 5 and CUDA 13", orin("35.4.1", "13.0"), {}, "error 204"},
      {"JetPack 5 with the upgrade of CUDA 11.8",
       with_driver(orin("35.4.1", "11.8"), "", "11.8"),
       {},
       ""},
      {"JetPack 5 with compat", with_driver(orin("35.4.1", "12.2"), "", "12.2"), {}, "note 209"},
      {"JetPack 6 and CUDA 13", with_driver(orin("36.4.3", "13.0"), "540.4.0"), {}, "error 204"},
      {"JetPack 6 and a minor more",
       with_driver(orin("36.3.0", "12.6"), "540.3.0", "12.2"),
       {},
       ""},
      {"JetPack 7.2", with_driver(orin("39.2.0", "13.0"), "", "13.2"), {}, ""},
  });
  const std::string six = text_of(run(orin("36.4.3", "13.0")), 204);
  CHECK(contains(six, "the driver of L4T 36.4.3 is too old for CUDA 13"));
  CHECK(contains(six, "help: update to JetPack 7.2 or newer"));
  CHECK_FALSE(contains(six, "580"));
  CHECK_FALSE(contains(six, "cuda-compat"));
  // Thor's driver calls itself 580.00, which is no build before the floor of a desktop.
  Facts thor = with_driver(machine("NVIDIA Thor", "11.0", "13.0"), "580.00", "13.0");
  thor.host.jetson_l4t = Text("38.2.1");
  CHECK(said(run(thor)) == "");
  thor.driver.cuda = Text();
  CHECK(find(run(thor), 204) == nullptr);
}

TEST_CASE("PTX needs a driver as new as its toolkit, where nothing else fits") {
  const Facts h100 = with_driver(machine("NVIDIA H100 PCIe", "9.0", "12.9"), "535.261.03", "12.2");
  check({{"the plan's PTX", h100, ptx_only(), "error 205"},
         {"a list with machine code too", h100, native(), ""},
         {"12.6 writes the PTX of 12.5",
          with_driver(machine("NVIDIA H100 PCIe", "9.0", "12.6"), "555.42.06", "12.5"), ptx_only(),
          ""}});
  Facts torch = with_driver(machine("NVIDIA B200", "10.0", "12.4"), "535.261.03", "12.2");
  torch.torch.images = Names({"sm_80", "sm_90", "compute_90"});
  Request request;
  request.purpose = "run";
  const Report report = run(torch, request);
  CHECK(said(report) == "error 205");
  CHECK(contains(text_of(report, 205), "take a PyTorch with machine code"));
  CHECK_FALSE(contains(text_of(report, 205), "to the list"));
}

TEST_CASE("each answer of the driver has its finding") {
  struct Answer {
    int code;
    const char *said, *text;
  };
  const Facts good = with_driver(geforce("12.4"), "550.54.15", "12.4");
  for (const Answer& row : {Answer{3, "error 208", "CUDA_ERROR_NOT_INITIALIZED"},
                            Answer{34, "error 202", "stub"},
                            Answer{35, "error 204", "error 35"},
                            Answer{36, "error 210", "newer minor release"},
                            Answer{46, "warning 214", "exclusive"},
                            Answer{100, "error 219", "listed here by other means"},
                            Answer{101, "error 208", "CUDA_VISIBLE_DEVICES"},
                            Answer{221, "error 210", "ptxjitcompiler"},
                            Answer{222, "error 210", "PTX was written by a newer CUDA"},
                            Answer{227, "error 210", "container format"},
                            Answer{304, "error 208", "/dev/nvidia*"},
                            Answer{214, "error 215", "ECC"},
                            Answer{719, "error 215", "Xid"},
                            Answer{802, "error 212", "fabric"},
                            Answer{803, "error 206", "803"},
                            Answer{804, "error 207", "804"},
                            Answer{805, "error 213", "MPS"},
                            Answer{810, "error 213", "MPS"},
                            Answer{999, "error 208", "nvidia_uvm"},
                            Answer{4711, "error 208", "cuInit answers 4711"}}) {
    INFO(row.code);
    const Report report = run(with_code(good, row.code));
    CHECK(said(report) == row.said);
    REQUIRE_FALSE(report.findings.empty());
    CHECK(contains(text_of(report, report.findings[0].id), row.text));
    // The same where the state is said to be another, or is not known.
    Facts facts = with_code(good, row.code);
    facts.driver.state = Text("ok");
    CHECK(said(run(facts)) == row.said);
  }
  const Facts behind =
      with_driver(machine("NVIDIA H100 PCIe", "9.0", "12.9"), "535.261.03", "12.2");
  CHECK(said(run(with_code(behind, 222), ptx_only())) == "error 205");
}

TEST_CASE("no device is a note, and an error where one was asked for") {
  const Facts none = without_devices(with_driver(geforce("12.4"), "550.54.15", "12.4"));
  const Facts unknown = devices_unknown(with_driver(geforce("12.4"), "550.54.15", "12.4"));
  check({{"none", none, {}, "note 102"},
         {"none, native", none, native(), "error 101"},
         {"none, and the driver says so", with_code(none, 100), {}, "note 102"},
         {"native, and the driver says so", with_code(none, 100), native(), "error 101"},
         {"only the driver says so", with_code(unknown, 100), {}, "unknown 190, note 219"},
         {"native, only the driver says so", with_code(unknown, 100), native(),
          "error 219, unknown 190"},
         {"nobody knows", unknown, {}, "unknown 190"},
         {"nobody knows, other targets", unknown, elsewhere(), "unknown 190"}});
}

TEST_CASE(
    "a driver that is absent or not loaded is a note, and an error where a GPU was asked for") {
  Facts absent = devices_unknown(with_state(geforce("12.4"), "absent"));
  Facts asleep = devices_unknown(with_driver(geforce("12.4"), "450.51.05"));
  asleep.driver.state = Text("no-kernel-module");
  asleep.driver.error_code = Fact<int>(100);
  asleep.devices.reason = "cuInit answered 100";
  check({{"absent", absent, {}, "note 201"},
         {"absent, native", absent, native(), "error 201"},
         {"not loaded", asleep, {}, "note 203"},
         {"not loaded, native", asleep, native(), "error 203"}});
  // That it is too old as well is a consequence until it is loaded.
  CHECK(contains(join(find(run(asleep), 203)->consequences, " "), "TCS204"));
}

TEST_CASE("cuda-compat serves where the GPU takes it") {
  const char* compat = "/usr/local/cuda-13.0/compat/libcuda.so.1";
  const Facts server = with_driver(a100("13.0"), "535.104.05", "12.2");
  const Facts desktop = with_driver(geforce("13.0"), "535.104.05", "12.2");
  check({
      {"a data-centre GPU, compat loads",
       with_libcuda(server, compat, "580.65.06"),
       {},
       "note 209"},
      {"compat is there and does not load",
       with_libcuda(server, compat, "580.65.06", false),
       {},
       "error 204"},
      {"a compat that is too old itself",
       with_libcuda(server, "/usr/local/cuda-12.4/compat/libcuda.so.1", "550.54.15"),
       {},
       "error 204"},
      {"compat does not help a GeForce",
       with_libcuda(desktop, compat, "580.65.06"),
       {},
       "error 204, note 209"},
      {"refused", with_code(with_libcuda(desktop, compat, "580.65.06"), 804), {}, "error 207"},
      {"foretold on a GeForce",
       with_state(with_libcuda(desktop, compat, "580.65.06"), ""),
       {},
       "error 207, unknown 290"},
      {"not foretold on a data-centre GPU",
       with_state(with_libcuda(server, compat, "580.65.06"), ""),
       {},
       "unknown 290, note 209"},
  });
  Facts unnamed = with_state(with_libcuda(server, compat, "580.65.06"), "");
  unnamed.devices.list[0].name = Text();
  CHECK(contains(join(find(run(unnamed), 190)->missing, " "), "devices.list[].name"));
  const std::string help = text_of(run(with_libcuda(server, compat, "580.65.06", false)), 204);
  CHECK(contains(help, "put /usr/local/cuda-13.0/compat first on LD_LIBRARY_PATH"));
  CHECK_FALSE(contains(text_of(run(desktop), 204), "cuda-compat"));
}

TEST_CASE("a stub is named by its folder, wherever it is seen") {
  const char* stub = "/opt/cuda/lib64/stubs/libcuda.so.1";
  const char* real = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
  const Facts f = with_driver(geforce("12.4"), "550.54.15", "12.4");
  check(
      {{"state", with_state(f, "stub"), {}, "error 202"},
       {"only its path tells", with_state(with_libcuda(f, stub), ""), {}, "error 202, unknown 290"},
       {"it does not load",
        with_libcuda(with_libcuda(f, real, "550.54.15"), stub, "", false),
        {},
        ""},
       {"for other machines", with_state(f, "stub"), elsewhere(), "warning 202"}});
  const Report report =
      run(with_code(with_libcuda(with_libcuda(f, stub), real, "550.54.15", false), 34));
  CHECK(contains(text_of(report, 202), "take /opt/cuda/lib64/stubs out"));
  CHECK(contains(text_of(report, 202), "libcuda.so.1 is in /usr/lib/x86_64-linux-gnu"));
}

TEST_CASE(
    "user part and kernel module of two releases are foretold, and an answer overrules that") {
  Facts f = with_driver(geforce("12.1"), "525.85.12", "12.0");
  f.driver.kernel_module = Text("535.104.05");
  check({{"unknown state", with_state(f, ""), {}, "error 206, unknown 290"},
         {"it works", f, {}, "note 209"},
         {"it says so", with_code(f, 803), {}, "error 206"}});
  f.driver.version = Text("535.104");
  CHECK(said(run(f)) == "");
}

TEST_CASE("a Linux driver in WSL is told by the libcuda that it hides") {
  Facts f = on("wsl", with_code(with_driver(geforce("12.4"), "535.104.05"), 999));
  f = with_libcuda(f, "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "535.104.05");
  f = with_libcuda(f, "/usr/lib/wsl/lib/libcuda.so.1", "", false);
  CHECK(contains(text_of(run(f), 208),
                 "remove the Linux driver that owns /usr/lib/x86_64-linux-gnu/libcuda.so.1"));
  f.driver.libcuda[0].path = Text("/usr/lib/wsl/lib/libcuda.so.1");
  CHECK_FALSE(contains(text_of(run(f), 208), "Linux driver"));
  Facts off_path = on("wsl", devices_unknown(with_state(geforce("12.4"), "absent")));
  off_path = with_libcuda(off_path, "/usr/lib/wsl/lib/libcuda.so.1", "", false);
  CHECK(contains(text_of(run(off_path, native()), 201), "put /usr/lib/wsl/lib on LD_LIBRARY_PATH"));
}

TEST_CASE("a GPU of another maker is none of CUDA's") {
  Facts f = with_driver(machine("AMD Radeon RX 7900 XTX", "", "12.4"), "550.54.15", "12.4");
  f.devices.list[0].cc = Text();
  CHECK(said(run(f, native())) == "error 101");
  CHECK(contains(text_of(run(f, native()), 101), "no NVIDIA GPU is here, only AMD Radeon RX 7900"));
  CHECK(said(run(f)) == "note 102");
  // Beside one of NVIDIA's it does not count.
  f.devices.list.push_back(geforce("12.4").devices.list[0]);
  CHECK(said(run(f)) == "");
  f.devices.list.pop_back();
  f.devices.list[0].name = Text("NVIDIA GeForce RTX 3090");
  CHECK(said(run(f)) == "unknown 103");
}

TEST_CASE("MIG is known by its flag or by the device's name, and one that is named is enough") {
  Facts f =
      with_driver(machine("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "9.0", "12.4"), "550.54.15", "12.4");
  f.devices.list[0].mig = Flag();
  f.devices.list.push_back(f.devices.list[0]);
  CHECK(said(run(f)) == "warning 104");
  f.environment["CUDA_VISIBLE_DEVICES"] = "MIG-0ca1d7ea-1111-2222-3333-444455556666";
  CHECK(find(run(f), 104) == nullptr);
  f.environment.clear();
  f.devices.list[1].name = Text("NVIDIA H100 80GB HBM3");
  const Report unsure = run(f);
  CHECK(find(unsure, 104) == nullptr);
  CHECK(contains(join(find(unsure, 190)->missing, " "), "devices.list[].mig"));
  f.devices.list[1].mig = Flag(false);
  CHECK(said(run(f)) == "");
}

TEST_CASE("a device whose visibility is unknown is neither there nor not there") {
  Facts f = with_driver(geforce("12.4"), "550.54.15", "12.4");
  f.devices.list[0].visible = Flag();
  const Report report = run(f, native());
  CHECK(said(report) == "unknown 190");
  CHECK(find(report, 190)->missing == List<std::string>{"devices.list[].visible"});
  f.devices.list[0].visible = Flag(false);
  CHECK(said(run(f, native())) == "error 101");
}

TEST_CASE("a branch with open kernel modules only does not run Pascal, unless it does") {
  Facts f = with_driver(machine("Tesla P100-PCIE-16GB", "6.0", "12.4"), "615.43.02", "13.4");
  CHECK(said(run(f)) == "");
  f.devices.state = Text("declared");
  // It is why none is shown; beside another failure it is a hint.
  CHECK(said(run(with_code(f, 100))) == "error 211");
  CHECK(contains(find(run(with_code(f, 100)), 211)->consequences, std::string("TCS219")));
  CHECK(contains(said(run(with_code(f, 999))), "warning 211"));
  f.devices.list[0].cc = Text("7.5");
  CHECK_FALSE(contains(said(run(with_code(f, 100))), "211"));
}

TEST_CASE("a driver that fails and does not say how gave no answer, whatever the reason's words") {
  Facts f = with_state(with_driver(geforce("12.4"), "550.54.15", "12.4"), "error");
  for (const char* reason : {"", "the driver probe ended without an answer: killed by signal 11",
                             "libcuda.so.1 does not load: invalid ELF header", "it fails"}) {
    INFO(reason);
    f.driver.reason = reason;
    for (const Facts& facts : {f, devices_unknown(f)}) {
      const Report report = run(facts);
      REQUIRE(find(report, 920));
      CHECK(find(report, 920)->severity == Severity::Unknown);
      CHECK(contains(join(find(report, 920)->missing, " "), "driver.error.code"));
      CHECK(report.outcome == "ok");
      CHECK_FALSE(report.complete);
      CHECK(find(run(facts, native()), 920)->severity == Severity::Error);
    }
  }
}

TEST_CASE("a toolkit of another major than PyTorch's is told as that, and not of the driver") {
  Facts f = with_driver(geforce("12.4"), "550.54.15", "12.4");
  f.toolkits.list[0].version = Text("13.0");
  const Report report = run(f);
  CHECK(find(report, 204) == nullptr);
  REQUIRE(find(report, 302));
  CHECK(contains(find(report, 302)->consequences, std::string("TCS204")));
  f.torch = TorchFacts();
  f.torch.state = Text("absent");
  CHECK(find(run(f), 204));
  // Where both are too new it is the driver as well, and PyTorch is what needs it.
  f = with_driver(geforce("13.0"), "470.57.02", "11.4");
  f.toolkits.list[0].version = Text("12.4");
  CHECK(contains(find(run(f), 204)->message, "PyTorch"));
  CHECK_FALSE(contains(text_of(run(f), 204), "nvcc"));
}

TEST_CASE("the installed PyTorch asks nothing of the driver where PyTorch itself is built") {
  Facts f = with_driver(geforce("12.4"), "525.85.12", "12.0");
  f.torch.cuda = Text("13.0");
  Request request;
  CHECK(said(run(f, request)) == "error 204");
  request.purpose = "pytorch-source";
  CHECK(said(run(f, request)) == "");
}

TEST_CASE("803 is told by what is known of the two parts, and compat by its folder") {
  Facts f = with_code(with_driver(geforce("12.4"), ""), 803);
  CHECK(contains(text_of(run(f), 206), "of different driver releases"));
  f.driver.version = Text("550.54.15");
  CHECK(contains(text_of(run(f), 206), "is of driver 550.54.15, the kernel module of another"));
  CHECK(contains(find(run(f), 206)->help[0], "reboot"));
  Facts same = f;  // as the probe leaves it: the version is the kernel module's
  same.driver.kernel_module = Text("550.54.15");
  CHECK(find(run(same), 206)->message ==
        "libcuda.so.1 or another part of the driver is of another release than the kernel module, "
        "550.54.15");
  same = with_libcuda(same, "/usr/lib/libcuda.so.1", "550.54.15");
  CHECK(find(run(same), 206)->message ==
        "parts of the driver are of different releases, though libcuda.so.1 and the kernel module "
        "are both of 550.54.15");
  const Report compat = run(with_libcuda(f, "/usr/local/cuda-12.4/compat/libcuda.so.1"));
  CHECK(find(compat, 206)->help.size() == 1);
  CHECK(contains(find(compat, 206)->help[0], "take /usr/local/cuda-12.4/compat out of"));
  CHECK_FALSE(contains(find(compat, 206)->message, "550.54.15"));
}

TEST_CASE("on a machine without a GPU a build is told to say what it is for") {
  const Facts login = with_state(without_devices(machine("", "", "12.4")), "absent");
  CHECK(contains(find(run(login, native()), 201)->help[0], "TorchCudaStack_TARGETS"));
  Request request;
  request.purpose = "run";
  CHECK(contains(find(run(login, request), 201)->help[0], "install the NVIDIA driver"));
  const Facts gpu = with_state(geforce("12.4"), "absent");
  CHECK(contains(find(run(gpu, native()), 201)->help[0], "install the NVIDIA driver"));
}

TEST_CASE("the release that Windows' device manager spells is one of the driver") {
  // 31.0.15.5222 is 552.22, 27.21.14.5167 is 451.67: below 452.39.
  CHECK(said(run(on("windows", with_driver(geforce("12.4"), "31.0.15.5222", "12.4")))) == "");
  CHECK(said(run(on("windows", with_driver(geforce("11.8"), "27.21.14.5167")))) == "error 204");
}
