// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/driver.h"
#include "memory_host.h"

using namespace tcs;

namespace {

void ask(MemoryHost& host, const Inputs& in, Facts& facts) {
  DriverChild child = start_driver(host, in);
  gather_driver(host, in, child, facts);
}

Facts gather(MemoryHost& host, const std::string& answer, const Inputs& in = {}) {
  host.on_run = [answer](const Command& command) {
    if (command.argv[1] == "--nvml-probe") return MemoryHost::exits(1);
    CHECK(command.argv == List<std::string>{"/self/tcstack", "--driver-probe"});
    return MemoryHost::exits(0, answer);
  };
  Facts facts;
  ask(host, in, facts);
  return facts;
}

std::string answer(const std::string& members) {
  return "{\"probe\":\"tcs-driver/1\"," + members + "}\n";
}

void load_kernel_module(MemoryHost& host, const std::string& release) {
  host.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + release +
      "  Tue Jan  7 08:00:00 UTC 2025\nGCC version:  gcc version 12.2.0\n";
  host.files["/dev/nvidiactl"] = "";
  host.files["/dev/nvidia0"] = "";
  host.files["/dev/nvidia-uvm"] = "";
}

}  // namespace

TEST_CASE("a working driver: its releases and each device") {
  MemoryHost host;
  load_kernel_module(host, "570.86.10");
  host.files["/usr/lib/libcuda.so.570.86.10"] = "";
  host.links["/usr/lib/libcuda.so.1"] = "libcuda.so.570.86.10";
  Facts facts = gather(
      host,
      answer(
          "\"libcuda\":\"/usr/lib/libcuda.so.1\",\"version\":12080,\"init\":0,\"devices\":["
          "{\"index\":0,\"cc\":\"12.0\",\"integrated\":false,\"name\":\"NVIDIA GeForce RTX 5060\","
          "\"mig\":false,\"uuid\":\"GPU-00112233-4455-6677-8899-aabbccddeeff\"},"
          "{\"index\":1,\"error\":999}]"));
  CHECK(facts.driver.state.is("ok"));
  CHECK(facts.driver.version.is("570.86.10"));
  CHECK(facts.driver.kernel_module.is("570.86.10"));
  CHECK(facts.driver.cuda.is("12.8"));
  CHECK(facts.driver.error_code.is(0));
  REQUIRE(facts.driver.libcuda.size() == 1);
  CHECK(facts.driver.libcuda[0].version.is("570.86.10"));
  CHECK(facts.driver.libcuda[0].role.is("loaded"));
  CHECK(facts.driver.libcuda[0].kind.is("driver"));
  CHECK(facts.devices.state.is("measured"));
  REQUIRE(facts.devices.list.size() == 2);
  CHECK(facts.devices.list[0].cc.is("12.0"));
  CHECK(facts.devices.list[0].name.is("NVIDIA GeForce RTX 5060"));
  CHECK(facts.devices.list[0].visible.is(true));
  CHECK(facts.devices.list[0].integrated.is(false));
  CHECK_FALSE(facts.devices.list[1].cc.known());
  CHECK(facts.devices.list[1].reason ==
        "the driver answered error 999 when asked for its capability");
}

TEST_CASE("no libcuda.so.1 is absent, one that does not load is an error") {
  MemoryHost host;
  Facts facts = gather(
      host, answer("\"load_error\":\"libcuda.so.1: cannot open shared object file: No such file or "
                   "directory\""));
  CHECK(facts.driver.state.is("absent"));
  CHECK_FALSE(facts.devices.state.known());
  CHECK(facts.devices.reason == "no libcuda.so.1 in the loader's reach");
  facts = gather(host, answer("\"load_error\":\"/usr/lib/libcuda.so.1: file too short\""));
  CHECK(facts.driver.state.is("error"));
  CHECK(facts.driver.reason == "libcuda.so.1 does not load: /usr/lib/libcuda.so.1: file too short");
}

TEST_CASE("a libcuda.so.1 that the loader does not reach is named") {
  MemoryHost host;
  host.files["/usr/lib/wsl/lib/libcuda.so.1"] = "";
  Facts facts =
      gather(host, answer("\"load_error\":\"libcuda.so.1: cannot open shared object file: "
                          "No such file or directory\""));
  CHECK(facts.driver.state.is("absent"));
  REQUIRE(facts.driver.libcuda.size() == 1);
  CHECK(facts.driver.libcuda[0].path.is("/usr/lib/wsl/lib/libcuda.so.1"));
  CHECK(facts.driver.libcuda[0].role.is("other"));
  CHECK(facts.driver.libcuda[0].kind.is("wsl"));
  CHECK_FALSE(facts.driver.version.known());
}

TEST_CASE("cuInit 100 and 999 without a kernel module are not loaded, with one they are not") {
  for (const char* code : {"100", "999", "3"}) {
    MemoryHost host;
    host.files["/d/libcuda.so.535.261.03"] = "";
    host.links["/d/libcuda.so.1"] = "libcuda.so.535.261.03";
    Facts facts = gather(
        host,
        answer(std::string("\"libcuda\":\"/d/libcuda.so.1\",\"version\":12020,\"init\":") + code));
    CHECK(facts.driver.state.is("no-kernel-module"));
    CHECK(facts.driver.version.is("535.261.03"));
    CHECK_FALSE(facts.driver.kernel_module.known());
    CHECK(facts.driver.cuda.is("12.2"));
    CHECK_FALSE(facts.devices.state.known());
  }
  MemoryHost host;
  load_kernel_module(host, "535.261.03");
  host.variables["CUDA_VISIBLE_DEVICES"] = "";
  Facts facts = gather(host, answer("\"init\":100"));
  CHECK(facts.driver.state.is("ok"));
  CHECK(facts.devices.state.is("none"));
  CHECK(facts.devices.list_known);
  CHECK(facts.devices.reason.find("CUDA_VISIBLE_DEVICES=") != std::string::npos);

  host.files.erase("/dev/nvidia-uvm");
  facts = gather(host, answer("\"init\":999"));
  CHECK(facts.driver.state.is("error"));
  CHECK(facts.driver.reason ==
        "cuInit answered 999; /dev/nvidia-uvm is missing: the kernel module nvidia_uvm is not "
        "loaded");
}

TEST_CASE("stub, mismatch and a refused compat library are told apart") {
  MemoryHost host;
  host.files["/usr/local/cuda/lib64/stubs/libcuda.so"] = "";
  host.links["/l/libcuda.so.1"] = "/usr/local/cuda/lib64/stubs/libcuda.so";
  Facts facts = gather(host, answer("\"libcuda\":\"/l/libcuda.so.1\",\"init\":34"));
  CHECK(facts.driver.state.is("stub"));
  CHECK(facts.driver.libcuda[0].kind.is("stub"));
  CHECK_FALSE(facts.driver.version.known());

  load_kernel_module(host, "550.163.01");
  host.files["/u/libcuda.so.535.261.03"] = "";
  host.links["/u/libcuda.so.1"] = "libcuda.so.535.261.03";
  facts = gather(host, answer("\"libcuda\":\"/u/libcuda.so.1\",\"init\":803"));
  CHECK(facts.driver.state.is("mismatch"));
  CHECK(facts.driver.version.is("550.163.01"));
  CHECK(facts.driver.reason ==
        "parts of the driver are of different releases (libcuda 535.261.03, kernel module "
        "550.163.01)");

  host.files["/usr/local/cuda/compat/libcuda.so.575.57.08"] = "";
  facts = gather(
      host, answer("\"libcuda\":\"/usr/local/cuda/compat/libcuda.so.575.57.08\",\"init\":804"));
  CHECK(facts.driver.state.is("error"));
  CHECK(facts.driver.error_code.is(804));
  CHECK(facts.driver.libcuda[0].kind.is("compat"));
  CHECK(facts.driver.libcuda[0].version.is("575.57.08"));
}

TEST_CASE("a driver that hangs or crashes is an error with what happened") {
  MemoryHost host;
  Outcome outcome;
  outcome.state = Outcome::State::TimedOut;
  outcome.ms = 30000;
  host.on_run = [&](const Command&) { return outcome; };
  Facts facts;
  ask(host, {}, facts);
  CHECK(facts.driver.state.is("error"));
  CHECK(facts.driver.reason == "the driver probe ended without an answer: " + outcome.describe());
  outcome.state = Outcome::State::Signalled;
  outcome.code = 11;
  outcome.err = "Xid 31\n";
  Facts crashed;
  ask(host, {}, crashed);
  CHECK(crashed.driver.reason == "the driver probe ended without an answer: " + outcome.describe() +
                                     "; it printed \"Xid 31\"");
  CHECK(crashed.devices.reason == crashed.driver.reason);
}

TEST_CASE("an answer that is not the probe's is quoted, not believed") {
  for (const char* text :
       {"", "42", "{\"init\":0}", "No CUDA devices found.",
        "{\"probe\":\"tcs-driver/1\",\"init\":0", "{\"probe\":\"tcs-driver/1\"} trailing"}) {
    MemoryHost host;
    Facts facts = gather(host, text);
    CHECK(facts.driver.state.is("error"));
    CHECK(facts.driver.reason.find("the driver probe: its answer cannot be read: ") == 0);
  }
  MemoryHost host;
  Facts facts =
      gather(host, answer("\"init\":0,\"devices\":[{\"index\":-1,\"cc\":\"9.0a\",\"name\":7}]"));
  CHECK(facts.driver.state.is("ok"));
  REQUIRE(facts.devices.list.size() == 1);
  CHECK_FALSE(facts.devices.list[0].index.known());
  CHECK_FALSE(facts.devices.list[0].cc.known());
  CHECK(facts.devices.list[0].reason == "the driver did not tell its compute capability");
}

TEST_CASE("the open kernel module's text has its release too") {
  MemoryHost host;
  host.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  "
      "(dvs-builder)\n";
  CHECK(gather(host, answer("\"init\":0,\"devices\":[]")).driver.version.is("580.95.05"));
  host.files["/proc/driver/nvidia/version"] = "garbage\n";
  host.files["/sys/module/nvidia/version"] = "580.95.05\n";
  CHECK(gather(host, answer("\"init\":0,\"devices\":[]")).driver.version.is("580.95.05"));
}

TEST_CASE("a driver is not asked for another machine's build") {
  MemoryHost host;
  Inputs in;
  in.cross_compiling = true;
  Facts facts;
  ask(host, in, facts);
  CHECK(host.ran.empty());
  CHECK_FALSE(facts.driver.state.known());
  CHECK(facts.devices.reason == "cross-compiling: this machine is not asked");
}

TEST_CASE("which call failed, and how a driver failed, are facts of their own") {
  MemoryHost host;
  load_kernel_module(host, "570.86.10");
  Facts facts = gather(host, answer("\"init\":0,\"count_error\":999"));
  CHECK(facts.driver.state.is("error"));
  CHECK(facts.driver.error_code.is(999));
  CHECK(facts.driver.error_call.is("cuDeviceGetCount"));
  CHECK(facts.devices.reason == "cuDeviceGetCount answered 999");
  facts = gather(host, answer("\"init\":802"));
  CHECK(facts.driver.error_call.is("cuInit"));
  CHECK_FALSE(facts.driver.failure.kind.known());
  facts = gather(host, answer("\"init\":0,\"count\":-5"));
  CHECK(facts.driver.failure.kind.is("output"));
  CHECK(facts.driver.failure.text.is("cuDeviceGetCount counts -5 devices"));
  facts = gather(host, answer("\"load_error\":\"/l/libcuda.so.1: file too short\""));
  CHECK(facts.driver.failure.kind.is("load"));
  CHECK(facts.driver.failure.text.is("/l/libcuda.so.1: file too short"));
  facts = gather(host, "No CUDA devices found.");
  CHECK(facts.driver.failure.kind.is("output"));
  CHECK(facts.driver.failure.text.is("its answer cannot be read: \"No CUDA devices found.\""));
}

TEST_CASE("a hang and a crash keep how the program ended and the tail of what was printed") {
  struct Row {
    Outcome::State state;
    const char* kind;
  };
  for (const Row& row :
       {Row{Outcome::State::TimedOut, "hang"}, Row{Outcome::State::Signalled, "crash"}}) {
    Outcome outcome = MemoryHost::exits(11, "", std::string(5000, '.') + "Xid 31\n");
    outcome.state = row.state;
    MemoryHost host;
    Facts facts;
    learn_driver(host, outcome, facts);
    CHECK(facts.driver.failure.kind.is(row.kind));
    CHECK(facts.driver.failure.text.value().size() < 500);
    CHECK(facts.driver.failure.text.value().find("Xid 31") != std::string::npos);
    CHECK(facts.driver.failure.text.value().find(outcome.describe()) == 0);
  }
}

TEST_CASE("of a driver that crashed, the libcuda that the loader takes first is the one it had") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/opt/first:/opt/second";
  for (const char* folder : {"/opt/first", "/opt/second"})
    host.files[cat(folder, "/libcuda.so.1")] = "";
  Outcome outcome = MemoryHost::exits(11);
  outcome.state = Outcome::State::Signalled;
  Facts facts;
  learn_driver(host, outcome, facts);
  REQUIRE(facts.driver.libcuda.size() == 2);
  CHECK(facts.driver.libcuda[0].path.is("/opt/first/libcuda.so.1"));
  CHECK(facts.driver.libcuda[0].role.is("loaded"));
  CHECK(facts.driver.libcuda[1].role.is("other"));
  // One that was refused was not loaded, nor one that the loader does not know of.
  CHECK(gather(host, answer("\"load_error\":\"libcuda.so.1: file too short\""))
            .driver.libcuda[0]
            .role.is("other"));
  host.variables.clear();
  host.files.clear();
  host.files["/usr/local/cuda/compat/libcuda.so.1"] = "";
  Facts stray;
  learn_driver(host, outcome, stray);
  for (const LibCuda& lib : stray.driver.libcuda) CHECK(lib.role.is("other"));
}

TEST_CASE("a device's compute mode, and one that answers no question") {
  MemoryHost host;
  load_kernel_module(host, "570.86.10");
  Facts facts = gather(host, answer("\"init\":0,\"devices\":[{\"index\":0,\"cc\":\"9.0\","
                                    "\"compute_mode\":2},{\"index\":1,\"cc\":\"9.0\","
                                    "\"compute_mode\":7},{\"index\":2,\"error\":999}]"));
  CHECK(facts.devices.list[0].compute_mode.is("prohibited"));
  CHECK_FALSE(facts.devices.list[1].compute_mode.known());
  CHECK_FALSE(facts.devices.list[0].state.known());
  CHECK(facts.devices.list[2].state.is("error"));
}

TEST_CASE("the libcuda.so.1 that loads comes first, others are listed behind it") {
  MemoryHost host;
  load_kernel_module(host, "550.54.15");
  host.files["/usr/lib/libcuda.so.550.54.15"] = "";
  host.links["/usr/lib/libcuda.so.1"] = "libcuda.so.550.54.15";
  host.files["/usr/local/cuda-12.8/compat/libcuda.so.1"] = "";
  Facts facts =
      gather(host, answer("\"libcuda\":\"/usr/lib/libcuda.so.1\",\"init\":0,\"devices\":[]"));
  REQUIRE(facts.driver.libcuda.size() == 2);
  CHECK(facts.driver.libcuda[0].role.is("loaded"));
  CHECK(facts.driver.libcuda[1].kind.is("compat"));
  CHECK(facts.driver.module_kind.is("proprietary"));
  CHECK(facts.driver.mps.is(false));
  CHECK(facts.driver.nodes.size() == 3);
}
