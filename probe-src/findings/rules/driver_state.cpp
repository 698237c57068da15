// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"
#include "host/host.h"

namespace tcs {
namespace {

struct DriverError {
  int code;
  const char *name, *meaning, *help;
};
constexpr DriverError kDriverErrors[] = {
#define TCS_DRIVER_ERROR(code, name, meaning, help) {code, name, meaning, help},
#include "tables/driver_errors.def"
#undef TCS_DRIVER_ERROR
};

void add_libcuda(const DriverFacts& driver, Finding& f) {
  for (const auto& lib : driver.libcuda)
    add(f, "driver", with_path(lib.path.or_else("libcuda.so.1"), lib.version), "",
        lib.role.is("loaded") ? "loaded" : "not loaded");
  if (driver.kernel_module.known())
    add(f, "driver", "kernel module " + driver.kernel_module.value(), "",
        driver.kernel_module.from);
}

const LibCuda* loaded_libcuda(const DriverFacts& driver) {
  for (const auto& lib : driver.libcuda)
    if (lib.role.is("loaded")) return &lib;
  return nullptr;
}

std::string release_of(const Text& version) {
  return version.or_else("an unknown release");
}

// Not having a GPU's driver is normal on a build machine.
Severity here_only(const RuleInput& in) {
  return native_asked(in) ? Severity::Error : Severity::Note;
}

void driver_missing(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const bool error = here_only(in) == Severity::Error, known = !driver.libcuda.empty();
  const char* wsl = "update the Windows driver; never install a Linux display driver in WSL";
  const char* install = "install the NVIDIA driver; in a container, start it with GPU access";
  Finding& f = report(out, 201,
                      {known ? path_parent(driver.libcuda[0].path.value()) : "",
                       !error || known              ? ""
                       : in.facts.host.wsl.is(true) ? wsl
                                                    : install});
  f.severity = here_only(in);
  add(f, "driver", "no libcuda.so.1", error ? "libcuda.so.1" : "", driver.state.from);
  add_libcuda(driver, f);
}

void not_loaded(const RuleInput& in, List<Finding>& out) {
  Finding& f = report(out, 203, {});
  f.severity = here_only(in);
  add(f, "driver", cat("libcuda ", or_unknown(in.facts.driver.version), ", no kernel module"), "",
      in.facts.driver.state.from);
}

void not_usable(const RuleInput& in, int id, const List<std::string>& args, List<Finding>& out) {
  Finding& f = report(out, id, args);
  f.severity = here_or_elsewhere(in);
  if (id == 207) add_devices(f, visible_devices(in.facts));
  if (id == 208)
    add(f, "driver", or_unknown(in.facts.driver.version), "", in.facts.driver.version.from);
  add_libcuda(in.facts.driver, f);
}

void other_error(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  if (!driver.error_code.known()) {
    Finding& f = report(out, 920, {driver.reason, contains(driver.reason, "no answer") ? "y" : ""});
    if (native_asked(in)) f.severity = Severity::Error;
    return;
  }
  const DriverError* known = nullptr;
  for (const auto& error : kDriverErrors)
    if (driver.error_code.is(error.code)) known = &error;
  not_usable(in, 208,
             {std::to_string(driver.error_code.value()), known ? cat(" (", known->name, ")") : "",
              known ? known->meaning : "", driver.reason,
              known ? known->help : "look at `nvidia-smi` and at `dmesg | grep -i nvrm`"},
             out);
}

}  // namespace

void rule_driver_state(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const LibCuda* lib = loaded_libcuda(driver);
  const int code = driver.state.is("error") ? driver.error_code.or_else(0) : 0;
  if (driver.state.is("absent")) return driver_missing(in, out);
  if (driver.state.is("no-kernel-module")) return not_loaded(in, out);
  if (driver.state.is("stub") || code == 34)
    return not_usable(in, 202, {lib ? path_parent(lib->path.value()) : "lib64/stubs"}, out);
  if (driver.state.is("mismatch") || code == 803)
    return not_usable(in, 206,
                      {release_of(lib && lib->version.known() ? lib->version : driver.version),
                       release_of(driver.kernel_module)},
                      out);
  if (code == 804)
    return not_usable(in, 207, {lib ? path_parent(lib->path.value()) : "the compat folder"}, out);
  if (driver.state.is("error")) return other_error(in, out);
  if (!driver.state.known() && (native_asked(in) || !visible_devices(in.facts).empty()))
    missing(out, 290, "driver.state", "whether this driver works", driver.reason);
}

}  // namespace tcs
