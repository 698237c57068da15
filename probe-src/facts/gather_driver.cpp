// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/driver.h"
#include "facts/driver_files.h"
#include "facts/probe_answer.h"

namespace tcs {
namespace {

// CUresult values of cuInit, from cuda.h.
constexpr int result_ok = 0;
constexpr int result_not_initialized = 3;
constexpr int result_stub = 34;
constexpr int result_no_device = 100;
constexpr int result_mismatch = 803;
constexpr int result_compat_refused = 804;
constexpr int result_unknown = 999;

Device describe_device(const Json& row) {
  Device device;
  int number = 0;
  if (int_of(row, "index", number)) device.index = Fact<int>(number, "cuDeviceGet");
  device.name = text_of(row, "name", "cuDeviceGetName");
  device.uuid = text_of(row, "uuid", "cuDeviceGetUuid");
  device.integrated = flag_of(row, "integrated", "cuDeviceGetAttribute");
  device.mig = flag_of(row, "mig", "cuDeviceGetName");
  device.visible = Flag(true, "cuDeviceGetCount");  // the driver shows no others
  device.cc = capability_of(row, "cuDeviceGetAttribute");
  device.compute_mode = compute_mode_of(row, "cuDeviceGetAttribute");
  if (int_of(row, "error", number)) {
    device.reason = cat("the driver answered error ", number, " when asked for its capability");
    device.state = Text("error", "cuDeviceGetAttribute");
  } else if (!device.cc.known())
    device.reason = "the driver did not tell its compute capability";
  return device;
}

void no_device(const Host& host, const char* why, DeviceFacts& devices) {
  std::string visible;
  devices.state = Text("none", "cuInit");
  devices.list_known = true;
  devices.reason = why;
  if (host.env("CUDA_VISIBLE_DEVICES", visible))
    devices.reason += cat("; CUDA_VISIBLE_DEVICES=", visible);
}

// The driver starts, and does not tell its devices.
void no_count(const Json& answer, Facts& facts) {
  const char* const call = "cuDeviceGetCount";
  DriverFacts& driver = facts.driver;
  int code = 0;
  if (int_of(answer, "count_error", code)) {
    driver.error_code = Fact<int>(code, call);
    driver.error_call = Text(call);
    driver.reason = cat("cuDeviceGetCount answered ", code);
  } else if (const Json* count = answer.find("count")) {
    driver.reason = cat("cuDeviceGetCount counts ", tail(count->text, 20), " devices");
    driver.failure = {Text("output", call), Text(driver.reason, call)};
  } else {
    facts.devices.reason = "the driver has no cuDeviceGetCount";
    return;
  }
  driver.state = Text("error", call);
}

void learn_devices(const Host& host, const Json& answer, Facts& facts) {
  DeviceFacts& devices = facts.devices;
  const Json* list = answer.find("devices");
  if (list == nullptr || !list->is(Json::Kind::Array)) return no_count(answer, facts);
  if (list->items.empty()) return no_device(host, "the driver shows no device", devices);
  for (const Json& row : list->items) devices.list.push_back(describe_device(row));
  devices.list_known = true;
  devices.state = Text("measured", "cuDeviceGetCount");
}

// What cuInit's answer means, given what the kernel shows.
void judge_init(const Host& host, int code, Facts& facts) {
  DriverFacts& driver = facts.driver;
  const char* state = "error";
  driver.reason = cat("cuInit answered ", code);
  if (code == result_stub) {
    state = "stub";
    driver.reason = "the libcuda.so.1 that loads is the toolkit's stub for linking";
  } else if (code == result_mismatch) {
    state = "mismatch";
    driver.reason = cat("parts of the driver are of different releases (libcuda ",
                        driver.libcuda.empty() ? "?" : driver.libcuda[0].version.or_else("?"),
                        ", kernel module ", driver.kernel_module.or_else("?"), ")");
  } else if (code == result_compat_refused) {
    driver.reason = "this board does not take the forward-compatibility libcuda that loads";
  } else if (!kernel_part_present(host) && (code == result_no_device || code == result_unknown ||
                                            code == result_not_initialized)) {
    state = "no-kernel-module";
    driver.reason +=
        "; there is no /proc/driver/nvidia and no /sys/module/nvidia: the kernel module is not "
        "loaded";
  } else if (code == result_no_device) {
    state = "ok";
    driver.reason.clear();
    no_device(host, "cuInit answered 100 (no device) although the kernel module is loaded",
              facts.devices);
  } else if (driver.kernel_module.known() &&
             host.stat("/dev/nvidia-uvm").type == FileStat::Type::Missing) {
    driver.reason += "; /dev/nvidia-uvm is missing: the kernel module nvidia_uvm is not loaded";
  }
  driver.state = Text(state, "cuInit");
}

// One that does not load, or is not there.
void no_start(const Json& answer, DriverFacts& driver) {
  const std::string why = text_of(answer, "load_error", "").or_else("no reason given");
  const bool absent = starts_with(why, "libcuda.so.1: cannot open shared object file: No such");
  driver.state = Text(absent ? "absent" : "error", "dlopen(\"libcuda.so.1\")");
  driver.reason =
      absent ? "no libcuda.so.1 in the loader's reach" : "libcuda.so.1 does not load: " + why;
  if (!absent) driver.failure = {Text("load", "dlopen"), Text(tail(why, 400), "dlerror")};
}

void learn_answer(const Host& host, const Json& answer, Facts& facts) {
  DriverFacts& driver = facts.driver;
  int number = 0;
  if (int_of(answer, "version", number) && number >= 1000)
    driver.cuda = Text(cat(number / 1000, '.', number % 1000 / 10), "cuDriverGetVersion");
  int code = -1;
  const bool initialised = int_of(answer, "init", code);
  if (Text path = text_of(answer, "libcuda", ""); path.known()) {
    LibCuda& lib = driver.libcuda.add();
    lib = describe_libcuda(host, facts.host, path.value());
    lib.path.from = "dladdr";
    lib.role = Text("loaded", "dlopen(\"libcuda.so.1\")");
    if (code == result_stub) lib.kind = Text("stub", "cuInit");
    if (!driver.version.known()) driver.version = lib.version;
  }
  if (!initialised) return no_start(answer, driver);
  driver.error_code = Fact<int>(code, "cuInit");
  driver.error_call = Text("cuInit");
  if (code != result_ok) return judge_init(host, code, facts);
  driver.state = Text("ok", "cuInit");
  learn_devices(host, answer, facts);
}

// `outcome`: without the probe's answer.
void no_answer(const Outcome& outcome, DriverFacts& driver) {
  driver.state = Text("error", "driver probe");
  const std::string printed(trim(outcome.err));
  std::string said = outcome.ok()
                         ? cat("its answer cannot be read: \"", tail(trim(outcome.out), 200), '"')
                         : outcome.describe();
  if (!printed.empty()) said += cat("; it printed \"", tail(printed, 200), '"');
  driver.reason = cat("the driver probe", outcome.ok() ? ": " : " ended without an answer: ", said);
  if (outcome.state == Outcome::State::NotStarted) return;
  driver.failure.kind = Text(outcome.state == Outcome::State::TimedOut    ? "hang"
                             : outcome.state == Outcome::State::Signalled ? "crash"
                                                                          : "output",
                             outcome.describe());
  driver.failure.text = Text(said, "driver probe");
}

// The child that hung or crashed did not say which libcuda.so.1 it had: the loader's first.
void guess_loaded(DriverFacts& driver) {
  if (!driver.failure.kind.known() || driver.failure.kind.is("load") || driver.libcuda.empty())
    return;
  LibCuda& first = driver.libcuda[0];
  for (const char* from : {"LD_LIBRARY_PATH", "ld.so.cache", "default folders"})
    if (first.role.is("other") && first.path.from == from)
      first.role = Text("loaded", "the loader's order");
}

}  // namespace

Outcome first_answer(Talk& child, int& left_ms) {
  Outcome outcome;
  if (!child.ask("", left_ms, outcome.out)) return child.end();
  outcome.state = Outcome::State::Exited;
  return outcome;
}

// What the user set for the compiler in the driver would answer in place of the driver, or leave
// what it made in the user's cache.
Command driver_command(const Host& host, const Inputs& in) {
  Command command;
  command.argv = {host.self(), "--driver-probe"};
  command.timeout_ms = in.timeout_ms;
  command.output_limit = 1u << 20;
  command.unset_env = {"CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_JIT",
                       "CUDA_DISABLE_JIT"};
  command.set_env["CUDA_CACHE_DISABLE"] = "1";
  return command;
}

DriverChild start_driver(Host& host, const Inputs& in) {
  DriverChild child;
  if (in.cross_compiling) return child;
  Command command;
  command.timeout_ms = child.left_ms = in.timeout_ms;
  command.output_limit = 1u << 20;
  command.argv = {host.self(), "--nvml-probe"};
  child.nvml = host.talk(command);
  child.talk = host.talk(driver_command(host, in));
  return child;
}

void learn_driver(Host& host, const Outcome& outcome, Facts& facts) {
  DriverFacts& driver = facts.driver;
  learn_kernel_module(host, driver);
  driver.version = driver.kernel_module;
  Json answer;
  if (read_answer(outcome, "tcs-driver/1", answer))
    learn_answer(host, answer, facts);
  else
    no_answer(outcome, driver);
  find_other_libcuda(host, facts.host, driver.libcuda);
  guess_loaded(driver);
  learn_nodes(host, driver);  // after libcuda, which makes nodes that are missing
  if (!facts.devices.state.known() && facts.devices.reason.empty())
    facts.devices.reason = driver.reason;
}

void gather_driver(Host& host, const Inputs& in, DriverChild& child, Facts& facts) {
  if (in.cross_compiling) {
    facts.driver.reason = facts.devices.reason = "cross-compiling: this machine is not asked";
    return;
  }
  learn_driver(host, first_answer(*child.talk, child.left_ms), facts);
  if (!facts.driver.state.is("ok")) child.talk.reset();
}

}  // namespace tcs
