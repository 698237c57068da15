// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"
#include "host/host.h"

namespace tcs {
namespace {

struct DriverError {
  int code;
  const char *name, *meaning, *help;
};
constexpr DriverError kErrors[] = {
#define TCS_DRIVER_ERROR(code, name, meaning, help) {code, name, meaning, help},
#include "tables/driver_errors.def"
#undef TCS_DRIVER_ERROR
};

void libcuda_rows(const DriverFacts& driver, Finding& f) {
  for (const auto& lib : driver.libcuda)
    f.evidence.push_back(row("driver",
                             cat(lib.path.or_else("libcuda.so.1"),
                                 lib.version.known() ? cat(" ", lib.version.value()) : ""),
                             "", lib.role.is("loaded") ? "loaded" : "not loaded", ""));
  if (driver.kernel_module.known())
    f.evidence.push_back(row("driver", cat("kernel module ", driver.kernel_module.value()), "",
                             driver.kernel_module.from, "kernel"));
}

const LibCuda* loaded(const DriverFacts& driver) {
  for (const auto& lib : driver.libcuda)
    if (lib.role.is("loaded")) return &lib;
  return nullptr;
}

// Not having a GPU's driver is normal on a build machine.
Severity here_only(const RuleInput& in) {
  return native_asked(in) ? Severity::Error : Severity::Note;
}

void driver_missing(const RuleInput& in, std::vector<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  Finding& f =
      report(out, 201, "no NVIDIA driver is in the loader's reach: libcuda.so.1 is not found");
  f.severity = here_only(in);
  f.evidence.push_back(row("driver", "no libcuda.so.1",
                           f.severity == Severity::Error ? "libcuda.so.1" : "", driver.state.from,
                           "dlopen"));
  libcuda_rows(driver, f);
  const bool wsl = in.facts.host.wsl.is(true);
  for (const auto& lib : driver.libcuda)
    if (lib.path.known())
      f.help.push_back(cat("put ", path_parent(lib.path.value()),
                           " on LD_LIBRARY_PATH or into the loader's configuration"));
  if (f.severity == Severity::Error && driver.libcuda.empty())
    f.help.push_back(wsl ? "update the Windows driver; never install a Linux display driver in WSL"
                         : "install the NVIDIA driver; in a container, start it with GPU access");
}

void not_loaded(const RuleInput& in, std::vector<Finding>& out) {
  Finding& f =
      report(out, 203, "libcuda.so.1 is there, but the NVIDIA kernel module is not loaded");
  f.severity = here_only(in);
  f.evidence.push_back(
      row("driver", cat("libcuda ", or_unknown(in.facts.driver.version), ", no kernel module"), "",
          in.facts.driver.state.from, "cuInit"));
  f.help.push_back(
      "load it: sudo modprobe nvidia; after a kernel update the module may need a rebuild (dkms "
      "status)");
  f.help.push_back("in a container: start it with GPU access; the module belongs to the host");
}

void stub(const RuleInput& in, std::vector<Finding>& out) {
  Finding& f =
      report(out, 202, "the libcuda.so.1 that loads is the toolkit's link stub, not a driver");
  f.severity = here_or_elsewhere(in);
  libcuda_rows(in.facts.driver, f);
  f.notes.push_back("a stub is right for linking and answers error 34 to every call at run time");
  f.help.push_back("take lib64/stubs out of LD_LIBRARY_PATH and of the program's rpath");
}

void mismatch(const RuleInput& in, std::vector<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const LibCuda* lib = loaded(driver);
  Finding& f = report(out, 206,
                      cat("libcuda.so.1 is of driver ",
                          or_unknown(lib && lib->version.known() ? lib->version : driver.version),
                          ", the kernel module of ", or_unknown(driver.kernel_module)));
  f.severity = here_or_elsewhere(in);
  libcuda_rows(driver, f);
  f.notes.push_back(
      "cuInit answers 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) until both are of one release");
  f.help.push_back("reboot, or unload and load the nvidia modules, after a driver update");
  f.help.push_back(
      "or remove the stray libcuda.so.1 (also from LD_LIBRARY_PATH and from the container image)");
}

void compat_refused(const RuleInput& in, std::vector<Finding>& out) {
  const LibCuda* lib = loaded(in.facts.driver);
  Finding& f = report(
      out, 207, "this GPU does not take the forward-compatibility libcuda that loads (error 804)");
  f.severity = here_or_elsewhere(in);
  device_rows(visible_devices(in.facts), f.evidence);
  libcuda_rows(in.facts.driver, f);
  f.notes.push_back("cuda-compat is for data-centre GPUs, some RTX cards and Jetson");
  std::string folder = lib ? path_parent(lib->path.value()) : "";
  f.help.push_back(cat("take ", folder.empty() ? "the compat folder" : folder,
                       " out of LD_LIBRARY_PATH, so that the host's libcuda.so.1 loads"));
  f.help.push_back("or update the driver to one that speaks the CUDA you need");
}

void other_error(const RuleInput& in, std::vector<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  if (!driver.error_code.known()) {
    Finding& f = report(out, 920, with_reason("the driver probe gave no answer", driver.reason));
    if (native_asked(in)) f.severity = Severity::Error;
    f.help.push_back("run `tcstack probe` by hand; `dmesg` may say what the driver does");
    return;
  }
  const int code = driver.error_code.value();
  const DriverError* known = nullptr;
  for (const auto& error : kErrors)
    if (error.code == code) known = &error;
  Finding& f = report(out, 208,
                      cat("the driver does not start: cuInit answers ", code,
                          known ? cat(" (", known->name, ")") : ""));
  f.severity = here_or_elsewhere(in);
  f.evidence.push_back(
      row("driver", or_unknown(driver.version), "", driver.error_code.from, "cuInit"));
  libcuda_rows(driver, f);
  if (known) f.notes.push_back(known->meaning);
  if (!driver.reason.empty()) f.notes.push_back(driver.reason);
  f.help.push_back(known ? known->help : "look at `nvidia-smi` and at `dmesg | grep -i nvrm`");
}

}  // namespace

void rule_driver_state(const RuleInput& in, std::vector<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const int code = driver.error_code.or_else(0);
  if (driver.state.is("absent")) return driver_missing(in, out);
  if (driver.state.is("no-kernel-module")) return not_loaded(in, out);
  if (driver.state.is("stub") || (driver.state.is("error") && code == 34)) return stub(in, out);
  if (driver.state.is("mismatch") || (driver.state.is("error") && code == 803))
    return mismatch(in, out);
  if (driver.state.is("error") && code == 804) return compat_refused(in, out);
  if (driver.state.is("error")) return other_error(in, out);
  if (driver.state.known() || !(native_asked(in) || !visible_devices(in.facts).empty())) return;
  Finding& f = report(out, 290, with_reason("nothing is known of the driver", driver.reason));
  f.help.push_back("run `tcstack probe` on the machine itself");
}

}  // namespace tcs
