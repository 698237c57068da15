// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.h"
#include "findings/rules/driver.h"
#include "host/host.h"

namespace tcs {
namespace {

struct DriverError {
  int code;
  bool at_start;
  const char *name, *meaning, *help;
};
constexpr DriverError kDriverErrors[] = {
#define TCS_DRIVER_ERROR(code, at, name, meaning, help) {code, at == 's', name, meaning, help},
#include "tables/driver_errors.def"
#undef TCS_DRIVER_ERROR
};

const DriverError* find_error(const Fact<int>& code) {
  for (const auto& error : kDriverErrors)
    if (code.is(error.code)) return &error;
  return nullptr;
}

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
const char* for_others(const RuleInput& in) {
  return builds(in) && native_asked(in) && visible_devices(in.facts).empty() ? "y" : "";
}

// Not having a GPU's driver is normal on a build machine.
Severity here_only(const RuleInput& in) {
  return native_asked(in) ? Severity::Error : Severity::Note;
}

Finding& driver_missing(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const bool error = here_only(in) == Severity::Error;
  const std::string folder = other_folder(driver, false);
  const std::string foreign = join(foreign_names(in.facts.devices), ", ");
  const char* wsl =
      "update the Windows driver, which brings /usr/lib/wsl/lib/libcuda.so.1; never install a "
      "Linux "
      "display driver in WSL";
  const char* install = "install the NVIDIA driver; in a container, start it with GPU access";
  Finding& f = report(out, 201,
                      {folder,
                       !error || !folder.empty()    ? ""
                       : !foreign.empty()           ? ""
                       : in.facts.host.wsl.is(true) ? wsl
                                                    : install,
                       foreign, for_others(in)});
  f.severity = here_only(in);
  add(f, "driver", "no libcuda.so.1", error ? "libcuda.so.1" : "", driver.state.from);
  add_libcuda(driver, f);
  return f;
}

Finding& not_loaded(const RuleInput& in, List<Finding>& out) {
  Finding& f = report(out, 203, {wsl_advice(in.facts), for_others(in)});
  f.severity = here_only(in);
  add(f, "driver",
      in.facts.driver.version.known()
          ? cat("libcuda ", in.facts.driver.version.value(), ", no kernel module")
          : "libcuda.so.1, no kernel module",
      "", in.facts.driver.state.from);
  return f;
}

Finding& not_usable(const RuleInput& in, int id, const List<std::string>& args,
                    List<Finding>& out) {
  Finding& f = report(out, id, args);
  f.severity = here_or_elsewhere(in);
  if (id == 207 || in.facts.driver.error_code.is(100)) add_devices(f, visible_devices(in.facts));
  if ((id == 208 || id == 210) && in.facts.driver.version.known())
    add(f, "driver", in.facts.driver.version.value(), "", in.facts.driver.version.from);
  add_libcuda(in.facts.driver, f);
  return f;
}

Finding& stub_loads(const RuleInput& in, List<Finding>& out) {
  const LibCuda* lib = loaded_libcuda(in.facts.driver);
  return not_usable(
      in, 202, {folder_of(lib, "the stubs folder"), other_folder(in.facts.driver, false)}, out);
}

Finding& parts_differ(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const LibCuda* lib = loaded_libcuda(driver);
  const std::string compat = is_compat(lib) ? folder_of(lib, "the compat folder") : "",
                    wsl = wsl_advice(in.facts);
  Finding& f = not_usable(
      in, 206, {parts_words(driver), compat, wsl, compat.empty() && wsl.empty() ? "y" : ""}, out);
  if (const Text own = own_libcuda_release(driver); !lib && own.known())
    add(f, "driver", "libcuda.so.1 " + own.value(), "", own.from);
  return f;
}

Finding& compat_refused(const RuleInput& in, List<Finding>& out) {
  return not_usable(in, 207, {folder_of(loaded_libcuda(in.facts.driver), "the compat folder")},
                    out);
}

Finding& error_answered(const RuleInput& in, int id, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const DriverError* known = find_error(driver.error_code);
  const bool code = driver.error_code.known() && !driver.error_code.is(0);
  const bool none = driver.error_code.is(100) && !visible_devices(in.facts).empty();
  const std::string wsl = wsl_advice(in.facts);
  Finding& f =
      not_usable(in, id,
                 {code ? cat(": ", id == 208 ? "cuInit answers " : "", driver.error_code.value(),
                             known ? cat(" (", known->name, ")") : "")
                       : "",
                  none    ? "GPUs are listed here by other means, and the driver shows none of them"
                  : known ? known->meaning
                          : "",
                  driver.reason,
                  !wsl.empty() ? ""
                  : known      ? known->help
                               : "look at `nvidia-smi` and at `dmesg | grep -i nvrm`",
                  wsl, id == 208 ? for_others(in) : ""},
                 out);
  if (driver.error_code.is(100) && visible_devices(in.facts).empty()) f.severity = here_only(in);
  return f;
}

Finding& no_answer(const RuleInput& in, List<Finding>& out) {
  const std::string& reason = in.facts.driver.reason;
  Finding& f = report(out, 920, {reason, contains(reason, "no answer") ? "y" : ""});
  if (native_asked(in))
    f.severity = Severity::Error;
  else
    f.missing.push_back("driver.error.code");
  return f;
}

Finding* foretold_finding(const RuleInput& in, const List<int>& ids, List<Finding>& out) {
  if (ids.empty()) return nullptr;
  Finding& f = ids[0] == 202   ? stub_loads(in, out)
               : ids[0] == 207 ? compat_refused(in, out)
                               : parts_differ(in, out);
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

int finding_of(DriverIs state) {
  switch (state) {
    case DriverIs::Absent:
      return 201;
    case DriverIs::Stub:
      return 202;
    case DriverIs::NotLoaded:
      return 203;
    case DriverIs::Mismatch:
      return 206;
    case DriverIs::CompatRefused:
      return 207;
    case DriverIs::CallFails:
      return 210;
    case DriverIs::NoAnswer:
      return 920;
    default:
      return 0;
  }
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
  if (!wsl || !lib || !lib->path.known() || is_wsl_libcuda(*lib)) return "";
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
  const int code = driver.error_code.or_else(0);
  if (code == 34 || driver.state.is("stub")) return DriverIs::Stub;
  if (driver.state.is("absent")) return DriverIs::Absent;
  if (code == 804) return DriverIs::CompatRefused;
  if (code == 803 || driver.state.is("mismatch")) return DriverIs::Mismatch;
  if (driver.state.is("no-kernel-module")) return DriverIs::NotLoaded;
  if (code == 100) return DriverIs::NoDevice;
  const DriverError* known = find_error(driver.error_code);
  if (code != 0) return known && !known->at_start ? DriverIs::CallFails : DriverIs::StartFails;
  if (driver.state.is("error")) return DriverIs::NoAnswer;
  return driver.state.known() || driver.error_code.known() ? DriverIs::Ok : DriverIs::Unknown;
}

bool answers(DriverIs state) {
  return state == DriverIs::Unknown || state == DriverIs::Ok || state == DriverIs::NoDevice ||
         state == DriverIs::CallFails;
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
  const DriverIs state = driver_is(driver);
  if (!driver.state.known() && driver.error_code.known() && !finding_of(state))
    missing(out, 290, "driver.state", "what its answer comes from", driver.reason);
  Finding* f = nullptr;
  if (state == DriverIs::Unknown) return unsure(in, out);
  if (state == DriverIs::Ok) return works(in, out);
  if (state == DriverIs::NoDevice) {
    const bool listed = !visible_devices(in.facts).empty();
    const bool none = in.facts.devices.list_known || in.facts.devices.state.is("none");
    // No device is no trouble of the driver; where GPUs are listed all the same it is.
    if (none && !listed) return works(in, out);
    f = &error_answered(in, 208, out);
  }
  if (state == DriverIs::Absent) f = &driver_missing(in, out);
  if (state == DriverIs::NotLoaded) f = &not_loaded(in, out);
  if (state == DriverIs::Stub) f = &stub_loads(in, out);
  if (state == DriverIs::Mismatch) f = &parts_differ(in, out);
  if (state == DriverIs::CompatRefused) f = &compat_refused(in, out);
  if (state == DriverIs::StartFails) f = &error_answered(in, 208, out);
  if (state == DriverIs::CallFails) f = &error_answered(in, 210, out);
  if (state == DriverIs::NoAnswer) f = &no_answer(in, out);
  if (!f) return;
  for (int id : foretold(in.facts)) stands_for(*f, id);
  stands_for(*f, 208);
  if (state == DriverIs::NoAnswer)  // what the answer could have been
    for (int id : {204, 210}) stands_for(*f, id);
  // Where state and answer say different things, the other one would be told without this one.
  DriverFacts no_code = driver, no_state = driver;
  no_code.error_code = Fact<int>();
  no_state.state = Text();
  for (const DriverFacts* other : {&no_code, &no_state})
    if (const int id = finding_of(driver_is(*other))) stands_for(*f, id);
}

}  // namespace tcs
