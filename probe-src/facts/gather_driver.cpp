// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/text.h"
#include "facts/driver.h"

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

bool int_of(const Json& object, const char* name, int& out) {
  const Json* value = object.find(name);
  uint64_t number = 0;
  if (value == nullptr || !value->is(Json::Kind::Number)) return false;
  if (!parse_number(value->text, 1000000, number)) return false;
  out = static_cast<int>(number);
  return true;
}

Text text_of(const Json& object, const char* name, const char* from) {
  const Json* value = object.find(name);
  if (value == nullptr || !value->is(Json::Kind::String) || value->text.empty()) return {};
  return Text(value->text, from);
}

Flag flag_of(const Json& object, const char* name, const char* from) {
  const Json* value = object.find(name);
  if (value == nullptr || !value->is(Json::Kind::Bool)) return {};
  return Flag(value->boolean, from);
}

// The release number in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Mon ..." or
// "... Open Kernel Module for x86_64  570.86.10  Release Build ...": the first word of the first
// line that is nothing but dotted numbers.
std::string kernel_module_release(const std::string& text) {
  List<std::string> lines = lines_of(text);
  if (lines.empty()) return {};
  for (const std::string& word : split(lines[0], " \t")) {
    Version version = Version::parse(word);
    if (version.numbers.size() >= 2 && version.rest.empty()) return word;
  }
  return {};
}

Text kernel_module(const Host& host) {
  const char* const proc = "/proc/driver/nvidia/version";
  const char* const sys = "/sys/module/nvidia/version";
  std::string release;
  if (Result<std::string> text = host.read(proc, 4096)) release = kernel_module_release(*text);
  if (!release.empty()) return Text(release, proc);
  if (Result<std::string> text = host.read(sys, 4096)) release = trim(*text);
  return Version::parse(release).known() ? Text(release, sys) : Text();
}

// What only a running kernel part shows, on desktop and server boards, WSL, Tegra. /dev/nvidiactl
// is no sign: libcuda itself makes that node when it runs as root, with no module loaded.
bool kernel_part_present(const Host& host) {
  for (const char* path : {"/proc/driver/nvidia/version", "/sys/module/nvidia", "/dev/dxg",
                           "/dev/nvhost-ctrl", "/dev/nvmap"})
    if (host.stat(path).type != FileStat::Type::Missing) return true;
  return false;
}

LibCuda describe_libcuda(const Host& host, const std::string& path, int code) {
  LibCuda out;
  std::string real = host.real_path(path);
  if (real.empty()) real = path;
  out.path = Text(path, "dladdr");
  out.role = Text("loaded", "dlopen(\"libcuda.so.1\")");
  std::string name(path_name(real));
  const std::string prefix = "libcuda.so.";
  if (starts_with(name, prefix)) {
    std::string release = name.substr(prefix.size());
    // "libcuda.so.1" and "libcuda.so.1.1" (WSL, Tegra) name the interface, not the release.
    if (Version::parse(release).major() > 1) out.version = Text(release, real);
  }
  const char* kind = "driver";
  if (code == result_stub || contains(real, "/stubs/"))
    kind = "stub";
  else if (contains(real, "/compat/"))
    kind = "compat";
  else if (contains(real, "/wsl/"))
    kind = "wsl";
  out.kind = Text(kind, real);
  return out;
}

Device describe_device(const Json& row) {
  Device device;
  int number = 0;
  if (int_of(row, "index", number)) device.index = Fact<int>(number, "cuDeviceGet");
  device.name = text_of(row, "name", "cuDeviceGetName");
  device.uuid = text_of(row, "uuid", "cuDeviceGetUuid");
  device.integrated = flag_of(row, "integrated", "cuDeviceGetAttribute");
  device.mig = flag_of(row, "mig", "cuDeviceGetName");
  device.visible = Flag(true, "cuDeviceGetCount");  // the driver shows no others
  Text cc = text_of(row, "cc", "cuDeviceGetAttribute");
  Sm sm;
  if (cc.known() && parse_sm_dotted(cc.value(), sm) && sm.plain() && sm.major > 0) device.cc = cc;
  if (int_of(row, "error", number))
    device.reason = cat("the driver answered error ", number, " when asked for its capability");
  else if (!device.cc.known())
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

void learn_devices(const Host& host, const Json& answer, DeviceFacts& devices) {
  const Json* list = answer.find("devices");
  int code = 0;
  if (list == nullptr || !list->is(Json::Kind::Array)) {
    devices.reason = int_of(answer, "count_error", code) ? cat("cuDeviceGetCount answered ", code)
                                                         : "the driver has no cuDeviceGetCount";
    return;
  }
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

// Where drivers lie that nobody told the loader of: WSL, containers, NixOS, Debian's alternatives.
void list_out_of_reach(const Host& host, List<LibCuda>& out) {
  for (const char* folder :
       {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/lib64-nvidia",
        "/run/opengl-driver/lib", "/usr/lib/x86_64-linux-gnu/nvidia/current"}) {
    const std::string path = path_join(folder, "libcuda.so.1");
    if (!host.stat(path).is_file()) continue;
    out.push_back(describe_libcuda(host, path, result_ok));
    out.back().path.from = folder;
    out.back().role = Text("other", folder);
  }
}

void learn_answer(const Host& host, const Json& answer, Facts& facts) {
  DriverFacts& driver = facts.driver;
  int number = 0;
  if (int_of(answer, "version", number) && number >= 1000)
    driver.cuda = Text(cat(number / 1000, '.', number % 1000 / 10), "cuDriverGetVersion");
  int code = -1;
  const bool initialised = int_of(answer, "init", code);
  if (Text path = text_of(answer, "libcuda", ""); path.known())
    driver.libcuda.push_back(describe_libcuda(host, path.value(), code));
  driver.version = driver.kernel_module;
  if (!driver.version.known() && !driver.libcuda.empty())
    driver.version = driver.libcuda[0].version;
  if (!initialised) {
    std::string why = text_of(answer, "load_error", "").or_else("no reason given");
    const bool absent = starts_with(why, "libcuda.so.1: cannot open shared object file: No such");
    driver.state = Text(absent ? "absent" : "error", "dlopen(\"libcuda.so.1\")");
    if (absent) list_out_of_reach(host, driver.libcuda);
    driver.reason =
        absent ? "no libcuda.so.1 in the loader's reach" : "libcuda.so.1 does not load: " + why;
    return;
  }
  driver.error_code = Fact<int>(code, "cuInit");
  if (code != result_ok) return judge_init(host, code, facts);
  driver.state = Text("ok", "cuInit");
  learn_devices(host, answer, facts.devices);
}

}  // namespace

DriverChild start_driver(Host& host, const Inputs& in) {
  DriverChild child;
  if (in.cross_compiling) return child;
  Command command;
  command.argv = {host.self(), "--driver-probe"};
  command.timeout_ms = child.left_ms = in.timeout_ms;
  command.output_limit = 1u << 20;
  child.talk = host.talk(command);
  return child;
}

void learn_driver(Host& host, const Outcome& outcome, Facts& facts) {
  DriverFacts& driver = facts.driver;
  driver.kernel_module = kernel_module(host);
  driver.version = driver.kernel_module;
  Result<Json> answer = parse_json(trim(outcome.out));
  const bool ours = answer && text_of(*answer, "probe", "").is("tcs-driver/1");
  if (outcome.ok() && ours) {
    learn_answer(host, *answer, facts);
  } else {
    driver.state = Text("error", "driver probe");
    driver.reason = "the driver probe ended without an answer: " + outcome.describe();
    if (outcome.ok())
      driver.reason =
          cat("the driver probe's answer cannot be read: \"", tail(outcome.out, 200), '"');
    else if (!trim(outcome.err).empty())
      driver.reason += cat("; it printed \"", tail(trim(outcome.err), 200), '"');
  }
  if (!facts.devices.state.known() && facts.devices.reason.empty())
    facts.devices.reason = driver.reason;
}

void gather_driver(Host& host, const Inputs& in, DriverChild& child, Facts& facts) {
  if (in.cross_compiling) {
    facts.driver.reason = facts.devices.reason = "cross-compiling: this machine is not asked";
    return;
  }
  Outcome outcome;
  if (child.talk->ask("", child.left_ms, outcome.out))
    outcome.state = Outcome::State::Exited;
  else
    outcome = child.talk->end();
  learn_driver(host, outcome, facts);
  if (!facts.driver.state.is("ok")) child.talk.reset();
}

}  // namespace tcs
