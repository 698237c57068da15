// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.h"
#include "findings/rules/driver.h"
#include "findings/rules/environment.h"
#include "host/host.h"

namespace tcs {
namespace {

bool is_stub(const LibCuda* lib) {
  return lib && (lib->kind.is("stub") || contains(lib->path.value(), "/stubs/"));
}

// Different where both say something: 535.104 and 535.104.05 may be one.
bool releases_differ(const Text& a, const Text& b) {
  const Version x = Version::parse(a.value()), y = Version::parse(b.value());
  for (size_t i = 0; i < x.numbers.size() && i < y.numbers.size(); ++i)
    if (x.numbers[i] != y.numbers[i]) return true;
  return false;
}

const Text& libcuda_release(const DriverFacts& driver) {
  const LibCuda* lib = loaded_libcuda(driver);
  return lib && lib->version.known() ? lib->version : driver.version;
}

// What the parts foretell of its start: ids, the one that decides first.
List<int> foretold(const Facts& facts) {
  const DriverFacts& driver = facts.driver;
  const LibCuda* lib = loaded_libcuda(driver);
  List<int> ids;
  if (is_stub(lib)) ids.push_back(202);
  if (is_compat(lib) && driver_says(facts).refused) ids.push_back(207);
  if (!is_compat(lib) && releases_differ(libcuda_release(driver), driver.kernel_module))
    ids.push_back(206);
  return ids;
}

void add_libcuda(const DriverFacts& driver, Finding& f) {
  for (const auto& lib : driver.libcuda)
    add(f, "driver", with_path(lib.path.or_else("libcuda.so.1"), lib.version), "",
        lib.role.is("loaded") ? "loaded" : "not loaded");
  if (driver.kernel_module.known())
    add(f, "driver", "kernel module " + driver.kernel_module.value(), "",
        driver.kernel_module.from);
}

// Its release where it is known to be libcuda's own: driver.version is mostly the kernel module's.
Text own_libcuda_release(const DriverFacts& driver) {
  const LibCuda* lib = loaded_libcuda(driver);
  if (lib && lib->version.known()) return lib->version;
  return driver.version.value() == driver.kernel_module.value() ? Text() : driver.version;
}

// What 803 is about, in the words for what is known of the two parts.
std::string parts_words(const DriverFacts& driver) {
  const Text libcuda = own_libcuda_release(driver), module = driver.kernel_module;
  const LibCuda* lib = loaded_libcuda(driver);
  if (is_compat(lib) && !lib->version.known())
    return "the libcuda.so.1 of cuda-compat that loads does not go with the kernel module";
  if (libcuda.known() && module.known())
    return releases_differ(libcuda, module)
               ? cat("libcuda.so.1 is of driver ", libcuda.value(), ", the kernel module of ",
                     module.value())
               : cat("parts of the driver are of different releases, though libcuda.so.1 and the "
                     "kernel module are both of ",
                     module.value());
  if (libcuda.known())
    return cat("libcuda.so.1 is of driver ", libcuda.value(),
               ", the kernel module of another release");
  if (module.known())
    return cat(
        "libcuda.so.1 or another part of the driver is of another release than the kernel "
        "module, ",
        module.value());
  return "libcuda.so.1 and the kernel module are of different driver releases";
}

// The folder of the library to take away, or what it is called.
std::string folder_of(const LibCuda* lib, const char* otherwise) {
  return lib && lib->path.known() ? path_parent(lib->path.value()) : otherwise;
}

// Folder of a driver's libcuda beside the one that loads.
std::string other_folder(const DriverFacts& driver, bool wsl) {
  for (const auto& lib : driver.libcuda)
    if (!lib.role.is("loaded") && !is_stub(&lib) && !is_compat(&lib) && lib.path.known() &&
        (!wsl || is_wsl_libcuda(lib)))
      return path_parent(lib.path.value());
  return "";
}

// Something is compiled, and no GPU is known to be here: the way out may be to say for which.
bool for_others(const RuleInput& in) {
  return builds(in) && native_asked(in) && visible_devices(in.facts).empty();
}

// "cuInit answers 802 (CUDA_ERROR_SYSTEM_NOT_READY)"
std::string answer_words(const DriverFacts& driver, bool at_start) {
  if (!driver.error_code.known() || driver.error_code.is(0)) return "";
  const DriverErrorRow* row = driver_error(driver.error_code.value());
  return cat(driver.error_call.or_else(at_start ? "cuInit" : "a later call"), " answers ",
             driver.error_code.value(), row ? cat(" (", row->name, ")") : "");
}

const char* library_name(const HostFacts& host) {
  return host.os.is("windows") ? "nvcuda.dll" : "libcuda.so.1";
}

// What to do in a system that has a driver of its own.
std::string system_advice(const Facts& facts, DriverIs state) {
  if (facts.host.os.is("windows"))
    return state == DriverIs::Absent ? "install NVIDIA's driver for Windows"
                                     : "restart Windows; else install NVIDIA's driver anew";
  const std::string hidden = wsl_advice(facts);
  if (!hidden.empty() || state == DriverIs::Mismatch) return hidden;
  if (facts.host.wsl.is(true))
    return state == DriverIs::Absent
               ? "update the Windows driver, which brings /usr/lib/wsl/lib/libcuda.so.1; never "
                 "install a Linux display driver in WSL"
               : "WSL: `wsl --shutdown` in Windows starts it anew, else update the Windows driver; "
                 "never install a Linux display driver in WSL";
  return driver_says(facts).jetson && container_start(facts).empty()
             ? "Jetson: the driver comes with JetPack: reboot, else install its nvidia-l4t "
               "packages anew, all of one release; no desktop driver"
             : "";
}

// What the loader's words about a libcuda.so.1 ask for.
std::string load_advice(const std::string& said, bool inside) {
  struct Row {
    const char *words, *advice;
  };
  for (const Row& row :
       {Row{"too short", "the file is torn: install the driver's package that owns it anew"},
        Row{"invalid ELF", "the file is torn: install the driver's package that owns it anew"},
        Row{"wrong ELF class", "it is of 32 bits: take its folder out of LD_LIBRARY_PATH"},
        Row{"version `", "it needs a newer C library: take a driver that is made for this system"},
        Row{"cannot open shared object file",
            inside ? "a library that it needs is missing: the container must be started with "
                     "NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                   : "a library that it needs is missing: install the whole driver, all parts of "
                     "one release"}})
    if (contains(said, row.words)) return row.advice;
  return "install the driver's libraries anew, all of one release and for this processor";
}

// The driver's libcuda beside the one that loads which goes with the kernel module.
std::string fitting_libcuda(const DriverFacts& driver) {
  for (const auto& lib : driver.libcuda)
    if (!lib.role.is("loaded") && lib.path.known() && lib.version.known() &&
        lib.version.value() == driver.kernel_module.value())
      return lib.path.value();
  return "";
}

// What the host's own libcuda leaves to be done, where it is too old for this PyTorch.
std::string then_update(const RuleInput& in) {
  DriverSays host = driver_says(in.facts);
  const Version cuda = Version::parse(in.facts.torch.cuda.value());
  host.compat = false;
  host.cuda = Version();
  return uses_torch(in) && cuda.known() && too_old(host, {cuda, false})
             ? cat(", and update the driver to one that speaks CUDA ", cuda.major_minor())
             : "";
}

// The words for every state, by their places in driver.def.
List<std::string> words_for(const RuleInput& in, DriverIs state) {
  const DriverFacts& driver = in.facts.driver;
  const LibCuda* lib = loaded_libcuda(driver);
  const DriverErrorRow* row = driver_error(driver.error_code.or_else(0));
  const bool listed = !visible_devices(in.facts).empty(), absent = state == DriverIs::Absent;
  const bool start = state != DriverIs::CallFails && state != DriverIs::Taken;
  const bool later = driver.error_call.known() ? !driver.error_call.is("cuInit") : !start;
  List<std::string> w;
  for (int i = 0; i < 10; ++i) w.push_back("");
  w[0] = state == DriverIs::Mismatch ? parts_words(driver)
         : absent                    ? library_name(in.facts.host)
                                     : answer_words(driver, start);
  if (state != DriverIs::NoDevice)
    w[1] = row ? row->meaning : "";
  else if (listed)
    w[1] = "GPUs are listed here by other means, and the driver shows none of them";
  if (state == DriverIs::Taken)
    for (const Device* device : visible_devices(in.facts))
      if (device->compute_mode.known() && !device->compute_mode.is("default"))
        w[1] = cat(device_label(*device), " is in compute mode ", device->compute_mode.value(),
                   device->compute_mode.is("prohibited") ? ": no program gets it"
                                                         : ": one program at a time gets it");
  w[2] = driver.failure.text.known()
             ? cat(state == DriverIs::DoesNotLoad ? "the loader says: "
                                                  : "the program that asked it: ",
                   tail(trim(driver.failure.text.value()), 400))
             : driver.reason;
  w[4] = system_advice(in.facts, state);
  if (state == DriverIs::DoesNotLoad)
    w[3] = load_advice(driver.failure.text.value(), !container_start(in.facts).empty());
  else if (w[4].empty())
    w[3] = row ? row->help : "look at `nvidia-smi` and at `dmesg | grep -i nvrm`";
  if (const std::string mig = mig_advice(in.facts); state == DriverIs::NoDevice && !mig.empty())
    w[3] = mig;
  if (state == DriverIs::CompatRefused) w[3] = then_update(in);
  if (for_others(in)) w[5] = name_targets(in);
  w[6] = absent                             ? other_folder(driver, false)
         : state == DriverIs::Stub          ? folder_of(lib, "the stubs folder")
         : state == DriverIs::CompatRefused ? folder_of(lib, "the compat folder")
         : state == DriverIs::Mismatch      ? (is_compat(lib) ? folder_of(lib, "compat") : "")
         : later                            ? "starts, and then fails"
                                            : "does not start";
  w[9] = container_start(in.facts);
  if (state == DriverIs::StartFails && !is_compat(lib) &&
      releases_differ(libcuda_release(driver), driver.kernel_module)) {
    w[1] = parts_words(driver);
    if (w[4].empty()) w[3] = "reboot after a driver update, or remove the stray libcuda.so.1";
  }
  w[7] = w[4].empty() && (state == DriverIs::Mismatch ? w[6].empty() : w[9].empty()) ? "y" : "";
  if (state == DriverIs::DoesNotLoad && w[4].empty()) w[7] = "y";
  if (state == DriverIs::Taken || state == DriverIs::Faults)
    w[7] = in.facts.devices.list.size() == 1 ? "" : "y";
  if (state == DriverIs::NotLoaded)
    w[1] = !w[7].empty() && !in.facts.host.container.known() ? "y" : "";
  if (state == DriverIs::Mismatch && w[6].empty()) {
    w[8] = fitting_libcuda(driver);
    if (!w[8].empty()) w[9] = "";
    if (!w[8].empty() || !w[9].empty()) w[7] = "";
    return w;
  }
  w[8] = state == DriverIs::Taken  ? (driver.error_code.is(46) ? "y" : "")
         : state == DriverIs::Stub ? other_folder(driver, false)
         : absent                  ? (in.facts.host.nouveau.is(true) ? "y" : "")
                                   : (in.facts.host.secure_boot.is(true) ? "y" : "");
  if (!absent) return w;
  w[1] = join(foreign_names(in.facts.devices), ", ");
  if (!native_asked(in) || !w[1].empty() || !w[6].empty()) w[4] = w[7] = w[9] = "";
  return w;
}

void add_evidence(const RuleInput& in, DriverIs state, Finding& f) {
  const DriverFacts& driver = in.facts.driver;
  const HostFacts& host = in.facts.host;
  const bool bus = state == DriverIs::Absent || state == DriverIs::NotLoaded;
  if (state == DriverIs::CompatRefused || state == DriverIs::NoDevice)
    add_devices(f, visible_devices(in.facts));
  if (bus || state == DriverIs::NoDevice)
    for (const std::string& board : host.nvidia_pci.value())
      add(f, "device", "PCI " + board, "", host.nvidia_pci.from);
  if (state == DriverIs::Taken)
    for (const Device* device : visible_devices(in.facts))
      if (device->compute_mode.known())
        add(f, "device", device_label(*device), "", "compute mode " + device->compute_mode.value());
  if (state == DriverIs::Mps && driver.mps.known())
    add(f, "driver", driver.mps.value() ? "an MPS control daemon" : "no MPS control daemon", "",
        driver.mps.from);
  if (const std::string* pipe = variable(in, "CUDA_MPS_PIPE_DIRECTORY");
      pipe && state == DriverIs::Mps)
    add(f, "environment", "CUDA_MPS_PIPE_DIRECTORY=" + *pipe, "", "");
  if (state == DriverIs::Absent)
    add(f, "driver", cat("no ", library_name(host)), native_asked(in) ? library_name(host) : "",
        driver.state.from);
  if (state == DriverIs::NotLoaded)
    return add(f, "driver",
               driver.version.known()
                   ? cat("libcuda ", driver.version.value(), ", no kernel module")
                   : "libcuda.so.1, no kernel module",
               "", driver.state.from);
  if (f.id >= 208 && driver.version.known())
    add(f, "driver", driver.version.value(), "", driver.version.from);
  add_libcuda(driver, f);
  if (const Text own = own_libcuda_release(driver);
      state == DriverIs::Mismatch && !loaded_libcuda(driver) && own.known())
    add(f, "driver", "libcuda.so.1 " + own.value(), "", own.from);
  if (const char* means = nvml_meaning(driver.nvml.error_code.or_else(0)))
    add(f, "driver", cat("NVML answers ", driver.nvml.error_code.value(), ": ", means), "",
        driver.nvml.path.value());
}

Finding& report_state(const RuleInput& in, DriverIs state, List<Finding>& out) {
  Finding& f = report_words(out, static_cast<int>(state), words_for(in, state));
  f.severity = driver_weight(in, state);
  if (f.severity == Severity::Unknown) f.missing.push_back("driver.error.code");
  add_evidence(in, state, f);
  return f;
}

Finding* foretold_finding(const RuleInput& in, const List<int>& ids, List<Finding>& out) {
  if (ids.empty()) return nullptr;
  Finding& f = report_state(in, static_cast<DriverIs>(ids[0]), out);
  f.notes.push_back("foretold: how this driver starts is not known");
  return &f;
}

// The facts that could still tell of trouble.
void miss_state(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  auto lacks = [&](const char* fact) {
    missing(out, 290, fact, "whether this driver works", driver.reason);
  };
  lacks("driver.state");
  lacks("driver.error.code");
  if (is_blank(driver)) return;
  if (driver.libcuda.empty()) lacks("driver.libcuda");
  for (const auto& lib : driver.libcuda) {
    if (lib.role.is("other")) continue;
    if (!lib.role.known()) lacks("driver.libcuda[].role");
    if (!lib.path.known()) lacks("driver.libcuda[].path");
    if (!lib.kind.known() && !lib.path.known()) lacks("driver.libcuda[].kind");
    if (!lib.version.known() && driver.kernel_module.known() && !is_compat(&lib))
      lacks("driver.libcuda[].version");
  }
  if (!driver.kernel_module.known() && libcuda_release(driver).known())
    lacks("driver.kernel_module");
  if (driver.kernel_module.known() && !libcuda_release(driver).known()) lacks("driver.version");
  if (!is_compat(loaded_libcuda(driver))) return;
  for (const Device* device : visible_devices(in.facts))
    if (!device->name.known())
      return missing(out, 190, "devices.list[].name", "whether it takes a compat libcuda");
}

// Nobody knows how it starts: what is foretold, and what is not known.
void unsure(const RuleInput& in, List<Finding>& out) {
  const List<int> ids = foretold(in.facts);
  if (Finding* f = foretold_finding(in, ids, out))
    for (int id : ids) stands_for(*f, id);
  miss_state(in, out);
}

void works(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  for (int id : foretold(in.facts))
    works_although(in,
                   id == 202 ? std::string("the libcuda.so.1 that loads is called a stub")
                   : id == 207
                       ? std::string("it is cuda-compat's that loads, on a GPU that takes none")
                       : cat("libcuda.so.1 is of ", libcuda_release(driver).value(),
                             " and the kernel module of ", driver.kernel_module.value()),
                   id, out);
}

}  // namespace

// In WSL the driver is that of Windows; a Linux one beside it hides it.
std::string wsl_advice(const Facts& facts) {
  const LibCuda* lib = loaded_libcuda(facts.driver);
  const std::string windows = other_folder(facts.driver, true);
  const bool wsl = facts.host.wsl.is(true) || !windows.empty();
  if (!wsl || !lib || !lib->path.known() || is_wsl_libcuda(*lib) || lib->kind.is("container"))
    return "";
  return cat("WSL: remove the Linux driver that owns ", lib->path.value(),
             ", so that the Windows driver's libcuda.so.1 in ",
             windows.empty() ? "/usr/lib/wsl/lib" : windows, " loads");
}

bool is_blank(const DriverFacts& driver) {
  return !driver.state.known() && !driver.version.known() && !driver.cuda.known() &&
         !driver.kernel_module.known() && !driver.error_code.known() && driver.libcuda.empty();
}

const LibCuda* loaded_libcuda(const DriverFacts& driver) {
  for (const auto& lib : driver.libcuda)
    if (lib.role.is("loaded")) return &lib;
  return nullptr;
}

bool is_compat(const LibCuda* lib) {
  return lib && !is_stub(lib) &&
         (lib->kind.is("compat") || contains(path_parent(lib->path.value()), "compat"));
}

bool is_wsl_libcuda(const LibCuda& lib) {
  return lib.kind.is("wsl") || contains(lib.path.value(), "/wsl/");
}

DriverIs driver_is(const DriverFacts& driver) {
  struct Named {
    const char* name;
    DriverIs is;
  };
  const int code = driver.error_code.or_else(0);
  const DriverErrorRow* row = driver_error(code);
  const DriverIs says = row ? static_cast<DriverIs>(row->finding) : DriverIs::StartFails;
  // Where state and answer say different things, the first of these.
  for (const Named& state :
       {Named{"stub", DriverIs::Stub}, Named{"absent", DriverIs::Absent},
        Named{"", DriverIs::CompatRefused}, Named{"mismatch", DriverIs::Mismatch},
        Named{"no-kernel-module", DriverIs::NotLoaded}})
    if (driver.state.is(state.name) || (code != 0 && says == state.is)) return state.is;
  if (code != 0) return says;
  for (const Named& failure : {Named{"hang", DriverIs::Hangs}, Named{"crash", DriverIs::Crashes},
                               Named{"load", DriverIs::DoesNotLoad}})
    if (driver.failure.kind.is(failure.name)) return failure.is;
  if (driver.failure.kind.known() || driver.state.is("error")) return DriverIs::NoAnswer;
  return driver.state.known() || driver.error_code.known() ? DriverIs::Ok : DriverIs::Unknown;
}

bool answers(DriverIs state) {
  return state == DriverIs::Unknown || state == DriverIs::Ok || state == DriverIs::NoDevice ||
         state == DriverIs::CallFails || state == DriverIs::Taken;
}

bool no_answer(DriverIs state) {
  return state == DriverIs::Hangs || state == DriverIs::Crashes || state == DriverIs::NoAnswer;
}

Severity driver_weight(const RuleInput& in, DriverIs state) {
  const bool here = native_asked(in);
  const bool none = state == DriverIs::NoDevice && visible_devices(in.facts).empty();
  if (none || state == DriverIs::Absent || state == DriverIs::NotLoaded)
    return here ? Severity::Error : Severity::Note;
  if (no_answer(state)) return here ? Severity::Error : Severity::Unknown;
  if (state == DriverIs::Taken && builds(in) && !visible_devices(in.facts).empty())
    return Severity::Warning;  // what the GPU is, is known, and compiling needs none
  return here_or_elsewhere(in);
}

Severity beside_failure(const RuleInput& in) {
  return answers(driver_is(in.facts.driver)) ? here_or_elsewhere(in) : Severity::Note;
}

void stands_for(Finding& f, int id) {
  const std::string code = make_finding(id, "").code();
  if (f.id != id) add_once(f.consequences, code);
}

void works_although(const RuleInput& in, const std::string& what, int id, List<Finding>& out) {
  for (auto& f : out)
    if (f.id == 209) {
      if (!contains(f.message, what)) add_once(f.notes, cat("and although ", what));
      return stands_for(f, id);
    }
  Finding& f = report(out, 209, {what});
  add(f, "driver", driver_words(in.facts.driver, in.facts.driver.cuda), "",
      in.facts.driver.cuda.from);
  add_libcuda(in.facts.driver, f);
  stands_for(f, id);
}

void rule_driver_state(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  DriverIs state = driver_is(driver);
  const bool trouble = state > DriverIs::Ok && state != DriverIs::NoDevice;
  if (!driver.state.known() && driver.error_code.known() &&
      (!trouble || state == DriverIs::StartFails))
    missing(out, 290, "driver.state", "what its answer comes from", driver.reason);
  if (state == DriverIs::Unknown) return unsure(in, out);
  if (!trouble && shows_none(in.facts)) {
    // No device is no trouble of the driver, unless there are some.
    if (!expects_gpu(in)) return works(in, out);
    state = DriverIs::NoDevice;
  }
  if (state == DriverIs::Ok) return works(in, out);
  Finding& f = report_state(in, state, out);
  for (int id : foretold(in.facts)) stands_for(f, id);
  for (int id : causes(in.facts, state, true)) stands_for(f, id);
  if (!in.facts.host.container.is("none")) stands_for(f, 813);
  if (no_answer(state) || state == DriverIs::DoesNotLoad) {  // what the answer could have been
    for (const DriverErrorRow& row : driver_error_rows()) stands_for(f, row.finding);
    for (int id : {204, 216, 217, 218, 920}) stands_for(f, id);
  }
  // Where facts say different things, the other one would be told without this one.
  DriverFacts no_code = driver, no_state = driver, no_failure = driver;
  no_code.error_code = Fact<int>();
  no_state.state = Text();
  no_failure.failure = DriverFailure();
  for (const DriverFacts* other : {&no_code, &no_state, &no_failure})
    if (const DriverIs is = driver_is(*other); is > DriverIs::Ok)
      stands_for(f, static_cast<int>(is));
}

}  // namespace tcs
