// SPDX-License-Identifier: Apache-2.0
// Each state of a driver: which finding tells it, how heavy it is, what it stands for and what it
// advises. Machines are JSON, as they are recorded.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"
#include "findings/finding.h"
#include "tables/tables.h"

using namespace tcs;

namespace {

constexpr const char* kNative = R"({"targets": ["native"]})";
constexpr const char* kElsewhere = R"({"targets": ["8.0"]})";
constexpr const char* kRun = R"({"purpose": "run"})";
constexpr const char* kNoGpu = R"("devices": {"state": "none", "list": []}, )";
constexpr const char* kOnBus = R"("host": {"nvidia_pci": ["0000:01:00.0 10de:2704"]}, )";
constexpr const char* kBoard =
    R"("devices": {"state": "measured", "list": [{"index": 0, "name": "NVIDIA A100", "cc": "8.0",
        "visible": true}]}, )";

Report run(const std::string& members, const std::string& request = "{}") {
  List<std::string> unknown;
  const Result<Facts> facts =
      read_facts(cat(R"({"schema": "torch-cuda-stack/facts/1", )", members, "}"), unknown);
  const Result<Request> asked = read_request(request, unknown);
  INFO(members);
  REQUIRE(facts);
  REQUIRE(asked);
  REQUIRE(unknown.empty());
  const Plan plan = make_plan(*facts, *asked);
  return judge(RuleInput{*facts, *asked, plan}, {});
}

std::string driver(const std::string& members) {
  return cat(R"("driver": {)", members, "}");
}
std::string code(int number) {
  return driver(cat(R"("state": "error", "error": {"code": )", number, "}"));
}
std::string failure(const char* kind) {
  return driver(cat(R"("state": "error", "failure": {"kind": ")", kind, R"("})"));
}

// "error 212": of devices, driver, environment and the probe, without what is not known.
std::string said(const Report& report) {
  List<std::string> words;
  for (const Finding& f : report.findings)
    if (f.id < 300 ? f.id % 100 != 90 : f.layer == Layer::Environment || f.id == 920)
      words.push_back(cat(name_of(f.severity), " ", f.id));
  return join(words, ", ");
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}
std::string help_of(const Report& report, int id) {
  const Finding* f = find(report, id);
  return f ? join(f->help, "\n") : "";
}
bool stands_for(const Report& report, int id, const char* other) {
  const Finding* f = find(report, id);
  return f && contains(f->consequences, std::string(other));
}

struct Row {
  const char* what;
  std::string members, request;
  const char* said;
};
void check(const List<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(said(run(row.members, row.request)) == row.said);
  }
}

}  // namespace

TEST_CASE("each code of the table names a finding that there is, once, and says what to do") {
  int last = 0;
  for (const DriverErrorRow& row : driver_error_rows()) {
    INFO(row.code);
    CHECK(row.code > last);
    last = row.code;
    REQUIRE(find_row(cat(row.finding)));
    CHECK(find_row(cat(row.finding))->layer == Layer::Driver);
    CHECK_FALSE(std::string_view(row.meaning).empty());
    CHECK_FALSE(std::string_view(row.help).empty());
  }
}

TEST_CASE("a driver that answers an error is an error here and a warning for other machines") {
  struct Answer {
    int code, id;
  };
  for (const Answer& row :
       {Answer{802, 212}, Answer{805, 213}, Answer{808, 213}, Answer{46, 214}, Answer{214, 215},
        Answer{700, 215}, Answer{999, 208}, Answer{500, 208}, Answer{4711, 208}, Answer{2, 214}}) {
    INFO(row.code);
    for (const char* request : {"{}", kNative, kRun})
      CHECK(said(run(code(row.code), request)) == cat("error ", row.id));
    CHECK(said(run(code(row.code), kElsewhere)) == cat("warning ", row.id));
    const Report report = run(code(row.code));
    CHECK(contains(find(report, row.id)->message, cat("answers ", row.code)));
  }
}

TEST_CASE("the call that failed is named, and one after cuInit is no failed start") {
  const std::string later =
      R"("state": "error", "error": {"code": 999, "call": "cuDeviceGetCount"})";
  CHECK(find(run(driver(later)), 208)->message ==
        "the driver starts, and then fails: cuDeviceGetCount answers 999 (CUDA_ERROR_UNKNOWN)");
  CHECK(find(run(code(999)), 208)->message ==
        "the driver does not start: cuInit answers 999 (CUDA_ERROR_UNKNOWN)");
}

TEST_CASE("a driver that does not answer is not known to be bad, unless its GPU was asked for") {
  for (const auto& [kind, id] :
       {std::make_pair("hang", 216), std::make_pair("crash", 217), std::make_pair("output", 920)}) {
    INFO(kind);
    const Report report = run(failure(kind));
    CHECK(said(report) == cat("unknown ", id));
    CHECK_FALSE(report.complete);
    CHECK(report.outcome == "ok");
    CHECK(said(run(failure(kind), kNative)) == cat("error ", id));
    CHECK(said(run(failure(kind), kRun)) == cat("error ", id));
    // In an old recording nothing tells the three apart.
    CHECK(stands_for(run(failure(kind)), id, id == 920 ? "TCS216" : "TCS920"));
  }
  CHECK(said(run(driver(R"("state": "error", "reason": "no answer in 30 s")"))) == "unknown 920");
  CHECK(said(run(failure("load"))) == "error 218");
  CHECK(said(run(failure("load"), kElsewhere)) == "warning 218");
}

TEST_CASE("no device is told by what the machine has: GPUs on the bus, a mask, or none") {
  const std::string none = cat(kNoGpu, driver(R"("state": "ok", "error": {"code": 100})"));
  check(
      {{"nothing on the bus is known", none, "{}", "note 102"},
       {"a GPU on the bus", kOnBus + none, "{}", "note 219"},
       {"a GPU on the bus, native", kOnBus + none, kNative, "error 219"},
       {"no GPU on the bus, native", R"("host": {"nvidia_pci": []}, )" + none, kNative,
        "error 101"},
       {"a mask hides it", cat(R"("environment": {"CUDA_VISIBLE_DEVICES": "-1"}, )", kOnBus, none),
        kNative, "error 101"},
       {"GPUs are listed all the same", kBoard + code(100), "{}", "error 219"},
       {"nobody lists any", code(100), "{}", "note 219"}});
  CHECK(stands_for(run(kOnBus + none, kNative), 219, "TCS101"));
}

TEST_CASE("closed and missing device nodes are why a driver answers 100 or 999") {
  auto with = [](int answer, const char* board, const char* control, const char* more = "") {
    return cat(kNoGpu, R"("driver": {"state": "error", "error": {"code": )", answer,
               R"(}, "nodes": [{"path": "/dev/nvidia0", "state": ")", board,
               R"("}, {"path": "/dev/nvidiactl", "state": ")", control, R"("}])", more, "}");
  };
  const char* const loaded = R"(, "kernel_module": "550.54.15")";
  check(
      {{"denied, 999", with(999, "denied", "denied"), "{}", "error 220"},
       {"denied, 304, other machines", with(304, "ok", "denied"), kElsewhere, "warning 220"},
       {"denied, no device", with(100, "denied", "ok"), "{}", "note 220"},
       {"denied, no device, native", with(100, "denied", "ok"), kNative, "error 220"},
       {"all open", with(999, "ok", "ok"), "{}", "error 208"},
       {"missing, and the module is loaded", with(999, "ok", "missing", loaded), "{}", "error 221"},
       {"missing, and nobody knows of a module", with(999, "missing", "missing"), "{}",
        "error 208"},
       {"802 has another cause", with(802, "denied", "denied"), "{}", "error 212"}});
  CHECK(stands_for(run(with(999, "denied", "denied")), 220, "TCS208"));
  CHECK(stands_for(run(with(100, "denied", "ok"), kNative), 220, "TCS101"));
}

TEST_CASE("nouveau is why NVIDIA's kernel module is not loaded, and Secure Boot may be") {
  const std::string asleep = driver(R"("state": "no-kernel-module", "error": {"code": 100})");
  const std::string nouveau = R"("host": {"nouveau": true}, )" + asleep;
  check({{"nouveau", nouveau, "{}", "note 222"},
         {"nouveau, native", nouveau, kNative, "error 222"},
         {"none", R"("host": {"nouveau": false}, )" + asleep, kNative, "error 203"},
         {"no driver at all", R"("host": {"nouveau": true}, )" + driver(R"("state": "absent")"),
          kNative, "error 201"}});
  CHECK(stands_for(run(nouveau), 222, "TCS203"));
  CHECK(contains(help_of(run(R"("host": {"secure_boot": true}, )" + asleep, kNative), 203),
                 "mokutil"));
  CHECK_FALSE(contains(help_of(run(asleep, kNative), 203), "mokutil"));
}

TEST_CASE("from Blackwell on a GPU needs the open kernel module, before Turing the other one") {
  auto module = [](const char* kind, const char* board) {
    return cat(R"("host": {"nvidia_pci": ["0000:01:00.0 10de:)", board, R"("]}, )", kNoGpu,
               R"("driver": {"state": "ok", "error": {"code": 100}, "module_kind": ")", kind,
               R"("})");
  };
  check({{"RTX 5090, proprietary", module("proprietary", "2b85"), "{}", "error 223"},
         {"GB10, proprietary", module("proprietary", "2E12"), "{}", "error 223"},
         {"RTX 5090, open", module("open", "2b85"), kNative, "error 219"},
         {"RTX 4080, proprietary", module("proprietary", "2704"), kNative, "error 219"},
         {"an A100 works beside a 5090 that does not",
          cat(R"("host": {"nvidia_pci": ["0000:01:00.0 10de:20b2", "0000:02:00.0 10de:2b85"]}, )",
              kBoard, driver(R"("state": "ok", "module_kind": "proprietary")")),
          "{}", "warning 223"}});
  const std::string pascal =
      R"("devices": {"state": "declared", "list": [{"name": "Tesla P100", "cc": "6.0",
         "visible": true}]}, )";
  const char* const open =
      R"("state": "error", "version": "560.31.02", "error": {"code": 100}, "module_kind": "open")";
  CHECK(said(run(pascal + driver(open))) == "error 211");
}

TEST_CASE("a lost board is a warning among healthy ones, and the cause of a driver that fails") {
  auto boards = [](const char* first, const char* second) {
    return cat(R"("devices": {"state": "measured", "list": [
        {"index": 0, "name": "NVIDIA H100", "cc": "9.0", "visible": true, )",
               first, R"(}, {"index": 1, "name": "NVIDIA H100", "cc": "9.0", "visible": true, )",
               second, "}]}, ");
  };
  const char *ok = R"("state": "ok")", *lost = R"("state": "lost")",
             *closed = R"("compute_mode": "prohibited")";
  const std::string works = driver(R"("state": "ok")");
  check({{"one of two", boards(ok, lost) + works, "{}", "warning 105"},
         {"both", boards(lost, lost) + works, "{}", "error 105"},
         {"both, other machines", boards(lost, lost) + works, kElsewhere, "warning 105"},
         {"it takes the driver with it", boards(ok, lost) + code(999), "{}", "error 105"},
         {"it hangs the driver", boards(ok, lost) + failure("hang"), kNative, "error 105"},
         {"one is closed", boards(ok, closed) + works, "{}", "warning 106"},
         {"both are closed", boards(closed, closed) + works, "{}", "warning 106"},
         {"both are closed, and one is to run", boards(closed, closed) + works, kRun, "error 106"},
         {"exclusive is no trouble", boards(R"("compute_mode": "exclusive-process")", ok) + works,
          "{}", ""},
         {"46 is told by itself", boards(closed, closed) + code(46), "{}", "warning 214"}});
  CHECK(contains(find(run(boards(ok, lost) + works), 105)->message, "NVIDIA H100 (1) is"));
  CHECK(stands_for(run(boards(ok, lost) + code(999)), 105, "TCS208"));
}

TEST_CASE("a container without its host's GPU is told as that, by what the host shows in it") {
  auto in = [](const char* container, const char* state, const char* more) {
    return cat(R"("host": {"container": ")", container, R"("}, "driver": {"state": ")", state,
               R"(")", more, "}");
  };
  const char* const module = R"(, "kernel_module": "550.54.15")";
  check({{"docker", in("docker", "absent", module), "{}", "note 813"},
         {"docker, native", in("docker", "absent", module), kNative, "error 813"},
         {"the host may have none", in("docker", "absent", ""), kNative, "error 201"},
         {"no container", in("none", "absent", module), kNative, "error 201"}});
  for (const auto& [container, start] :
       {std::make_pair("docker", "--gpus all"), std::make_pair("podman", "nvidia.com/gpu=all"),
        std::make_pair("kubernetes", "nvidia.com/gpu: 1"), std::make_pair("lxc", "lxc config")}) {
    CHECK(contains(help_of(run(in(container, "absent", module)), 813), start));
    CHECK(contains(help_of(run(in(container, "absent", ""), kNative), 201), start));
  }
  CHECK(stands_for(run(in("docker", "absent", module)), 813, "TCS201"));
}

TEST_CASE("nobody in WSL or on a Jetson is told to install a desktop driver or to load a module") {
  for (const char* host : {R"("wsl": true)", R"("jetson": {"l4t": "36.4.3"})"})
    for (const std::string& state :
         {driver(R"("state": "absent")"), driver(R"("state": "no-kernel-module")"), code(100),
          code(999), code(3), failure("load"), failure("hang")}) {
      const Report report = run(cat(R"("host": {)", host, "}, ", state), kNative);
      REQUIRE_FALSE(report.findings.empty());
      const std::string help = help_of(report, report.findings[0].id);
      INFO(help);
      for (const char* wrong : {"install the NVIDIA driver", "modprobe", "nvidia_uvm", "the whole"})
        CHECK_FALSE(contains(help, wrong));
    }
  // Of a container in WSL the libcuda that the runtime put in is no stray driver.
  const Report inside = run(cat(
      R"("host": {"wsl": true, "container": "docker"}, "driver": {"state": "error",
         "error": {"code": 999}, "libcuda": [{"path": "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
         "role": "loaded", "kind": "container"}]})"));
  CHECK_FALSE(contains(help_of(inside, 208), "remove the Linux driver"));
}

TEST_CASE("what NVML answers is shown beside a driver that fails") {
  const Report report = run(driver(
      R"("state": "error", "error": {"code": 999}, "nvml": {"state": "error", "error_code": 15})"));
  bool shown = false;
  for (const Evidence& row : find(report, 208)->evidence)
    shown = shown || row.has == "NVML answers 15: a GPU is lost";
  CHECK(shown);
}

TEST_CASE(
    "a GPU that is known and taken keeps no build from going on, and a program from running") {
  for (const int busy : {46, 2})
    check({{"a build", kBoard + code(busy), "{}", "warning 214"},
           {"a build for it", kBoard + code(busy), kNative, "warning 214"},
           {"a program", kBoard + code(busy), kRun, "error 214"},
           {"which GPU is not known", code(busy), kNative, "error 214"}});
  CHECK(contains(help_of(run(kBoard + code(46)), 214), "nvidia-smi -c 0"));
  CHECK_FALSE(contains(help_of(run(kBoard + code(2)), 214), "nvidia-smi -c 0"));
}

TEST_CASE("a mask that hides every GPU is why none is shown, whatever else is not known") {
  for (const char* mask : {"", "-1", "none"}) {
    const std::string hidden = cat(R"("environment": {"CUDA_VISIBLE_DEVICES": ")", mask, R"("}, )");
    check({{mask, hidden + code(100), kNative, "error 101"},
           {"boards that do not say it", hidden + R"("devices": {"list": [{}]})", kNative,
            "error 101"},
           {mask, hidden + code(100), "{}", "note 102"},
           {mask, hidden + driver(R"("state": "ok")"), kNative, "error 101"},
           {mask, hidden + code(999), kNative, "error 208"}});
  }
  check({{"one that names a GPU", R"("environment": {"CUDA_VISIBLE_DEVICES": "0"}, )" + code(100),
          kNative, "error 219"}});
}

TEST_CASE("boards in MIG mode without an instance are told how to get one") {
  auto mig = [](const char* more) {
    return cat(R"("devices": {"state": "measured", "list": [{"name": "NVIDIA A100", "cc": "8.0",
        "visible": false, "mig": )",
               more, "}]}, ", code(100));
  };
  CHECK(contains(help_of(run(mig("true"), kNative), 101), "mig -cgi"));
  CHECK_FALSE(contains(help_of(run(mig("false"), kNative), 101), "mig -cgi"));
  const std::string shown = R"("devices": {"state": "measured", "list": [{"name": "NVIDIA A100",
      "cc": "8.0", "visible": true, "mig": true}]}, )" +
                            code(100);
  CHECK(contains(help_of(run(shown, kNative), 219), "mig -cgi"));
}

TEST_CASE("what a refused libcuda needs is read from the loader's words") {
  for (const auto& [words, advice] :
       {std::make_pair("libcuda.so.1: file too short", "torn"),
        std::make_pair("libcuda.so.1: invalid ELF header", "torn"),
        std::make_pair("wrong ELF class: ELFCLASS32", "32 bits"),
        std::make_pair("version `GLIBC_2.38' not found", "newer C library"),
        std::make_pair("libx.so: cannot open shared object file: No such file", "is missing")}) {
    const Report report = run(
        driver(cat(R"("state": "error", "failure": {"kind": "load", "text": ")", words, R"("})")));
    INFO(words);
    CHECK(contains(find(report, 218)->help[0], advice));
  }
  const Report inside = run(
      R"("host": {"container": "docker"}, "driver": {"state": "error", "failure": {"kind": "load",
         "text": "libx.so: cannot open shared object file: No such file"}})");
  CHECK(contains(find(inside, 218)->help[0], "NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
}

TEST_CASE("how a program that asked the driver ended is told") {
  const Report report = run(driver(R"("state": "error", "failure": {"kind": "crash",
      "text": "killed by signal 11 (SIGSEGV); it printed \"Xid 31\""})"));
  CHECK(find(report, 217)->notes[0] ==
        "the program that asked it: killed by signal 11 (SIGSEGV); it printed \"Xid 31\"");
}

TEST_CASE("a mismatch names the libcuda that fits, and in a container none is told to reboot") {
  const char* const loaded = R"("state": "mismatch", "kernel_module": "535.183.01", "libcuda": [
      {"path": "/opt/conda/lib/libcuda.so.1", "role": "loaded", "version": "570.133.20"})";
  const char* const fits =
      R"(, {"path": "/usr/lib/libcuda.so.1", "role": "other", "version": "535.183.01"})";
  const char* const docker = R"("host": {"container": "docker"}, )";
  const std::string help = help_of(run(driver(cat(loaded, fits, "]"))), 206);
  CHECK(contains(help, "find /usr/lib/libcuda.so.1"));
  CHECK_FALSE(contains(help, "reboot"));
  CHECK(contains(help_of(run(driver(cat(loaded, "]"))), 206), "reboot"));
  const std::string inside = help_of(run(docker + driver(cat(loaded, "]"))), 206);
  CHECK(contains(inside, "image's own libcuda.so.1"));
  CHECK_FALSE(contains(inside, "reboot"));
  // Another answer than 803 may come of it too.
  const Report other = run(driver(R"("state": "error", "version": "550.163.01",
      "kernel_module": "535.183.01", "error": {"code": 999})"));
  CHECK(contains(find(other, 208)->notes[0], "the kernel module of 535.183.01"));
}

TEST_CASE("a machine that was recorded in Windows is told nothing of Linux's driver") {
  for (const std::string& state : {driver(R"("state": "absent")"), code(999), code(803)}) {
    const Report report = run(R"("host": {"os": "windows"}, )" + state, kNative);
    REQUIRE_FALSE(report.findings.empty());
    const Finding& f = report.findings[0];
    const std::string help = join(f.help, "\n");
    INFO(help);
    CHECK(contains(help, "Windows"));
    for (const char* wrong : {"modprobe", "nvidia_uvm", "dmesg", "libcuda.so.1"})
      CHECK_FALSE(contains(help, wrong));
  }
}

TEST_CASE(
    "a container that was given no compute part of the driver is told which variable gives it") {
  const Report report = run(
      R"("host": {"container": "docker"}, "environment": {"NVIDIA_DRIVER_CAPABILITIES": "utility"},
         "driver": {"state": "absent", "kernel_module": "550.54.15"})");
  CHECK(contains(help_of(report, 813), "NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
}
