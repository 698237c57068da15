// SPDX-License-Identifier: Apache-2.0
// Which GPUs the environment shows: CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, and what containers
// are told.
#include "findings/rules/driver.h"
#include "findings/rules/environment.h"

namespace tcs {

const std::string* variable(const RuleInput& in, const char* name) {
  return in.facts.environment.find(name);
}

void add_variable(Finding& f, const RuleInput& in, const char* name, const std::string& needs) {
  if (const std::string* value = variable(in, name)) {
    const char quote = contains(*value, "'") ? '"' : '\'';
    add(f, "environment", cat(name, "=", quote, tail(*value, 100), quote), needs, "");
  }
}

bool devices_missing(const RuleInput& in, List<Finding>& out, const char* what) {
  const DeviceFacts& devices = in.facts.devices;
  if (devices.list_known || !devices.list.empty() || devices.state.is("none")) return false;
  // A driver that does not answer is a finding of its own.
  const Text& driver = in.facts.driver.state;
  if (driver.known() && !driver.is("ok")) return true;
  missing(out, 190, "devices.list", what, devices.reason);
  if (!devices.state.known()) missing(out, 190, "devices.state", what);
  return true;
}

namespace {

List<MaskDevice> mask_devices(const DeviceFacts& devices, bool unknown_is_visible) {
  List<MaskDevice> out;
  if (devices.state.is("none")) return out;
  for (const Device& device : devices.list) {
    MaskDevice row;
    row.visible = device.visible.or_else(unknown_is_visible);
    row.uuid = device.uuid;
    out.push_back(row);
  }
  return out;
}

bool all_hidden(const DeviceFacts& devices) {
  if (devices.state.is("none")) return true;
  for (const Device& device : devices.list)
    if (!device.visible.is(false)) return false;
  return true;
}

bool perhaps_all_hidden(const DeviceFacts& devices) {
  bool unknown = false;
  for (const Device& device : devices.list) {
    if (device.visible.is(true)) return false;
    unknown = unknown || !device.visible.known();
  }
  return unknown && !devices.state.is("none");
}

void report_mask(const RuleInput& in, const MaskFault& fault, List<Finding>& out) {
  const bool hidden = all_hidden(in.facts.devices);
  const bool unknown = !in.facts.devices.list_known && !in.facts.devices.state.is("none");
  const std::string entry = cat("'", tail(fault.text, 60), "'");
  Finding& f =
      report(out, 801,
             {entry, fault.why, hidden && unknown ? "" : "y",
              hidden && !unknown
                  ? cat("the entry ", entry, " of CUDA_VISIBLE_DEVICES leaves no GPU visible")
                  : cat("CUDA obeys CUDA_VISIBLE_DEVICES only up to its entry ", entry)});
  if (hidden && !unknown && native_asked(in))
    f.severity = Severity::Error;
  else if (!fault.hides && !hidden)
    f.severity = Severity::Note;
  add_variable(f, in, "CUDA_VISIBLE_DEVICES");
  if (!hidden) add_devices(f, visible_devices(in.facts));
}

void judge_mask(const RuleInput& in, const std::string& mask, List<Finding>& out) {
  const char* const what = "whether each entry of CUDA_VISIBLE_DEVICES names a GPU";
  List<std::string> entries;
  const MaskFault form = fault_in_form(mask, entries);
  if ((form.entry >= 0 || !entries.empty()) && devices_missing(in, out, what)) {
    if (form.entry >= 0) report_mask(in, form, out);
    return;
  }
  const MaskFault shown = fault_in_mask(mask, mask_devices(in.facts.devices, true));
  const MaskFault hidden = fault_in_mask(mask, mask_devices(in.facts.devices, false));
  const bool fault = form.entry >= 0 || (shown.entry >= 0 && shown.entry == hidden.entry);
  if (shown.entry != hidden.entry || shown.hides != hidden.hides ||
      shown.lacks_uuid != hidden.lacks_uuid || (fault && perhaps_all_hidden(in.facts.devices)))
    missing(out, 190, "devices.list[].visible", what);
  if (shown.lacks_uuid || hidden.lacks_uuid) missing(out, 190, "devices.list[].uuid", what);
  if (fault) report_mask(in, shown.entry == hidden.entry ? shown : form, out);
}

// By default CUDA counts from the fastest GPU, nvidia-smi by the place on the bus.
void device_order(const RuleInput& in, const std::string& mask, List<Finding>& out) {
  const std::string* order = variable(in, "CUDA_DEVICE_ORDER");
  if (order && *order == "PCI_BUS_ID") return;
  List<std::string> entries, kinds;
  fault_in_form(mask, entries);
  if (entries.empty() || entries[0].find_first_not_of("0123456789") != std::string::npos) return;
  if (in.facts.devices.state.is("none")) return;
  for (const Device& device : in.facts.devices.list) add_once(kinds, device_label(device));
  if (kinds.size() < 2) return;
  const bool odd = order && *order != "FASTEST_FIRST";
  Finding& f = report(out, 802,
                      {odd ? cat("CUDA does not know CUDA_DEVICE_ORDER '", tail(*order, 40), "'")
                           : std::string("CUDA counts the fastest GPU first")});
  add_variable(f, in, "CUDA_VISIBLE_DEVICES");
  add_variable(f, in, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
}

// What a container was started with explains why there is no GPU in it.
void container(const RuleInput& in, List<Finding>& out) {
  const Text& kind = in.facts.host.container;
  if (kind.is("none")) return;
  const DriverFacts& driver = in.facts.driver;
  const DriverIs state = driver_is(driver);
  bool nodes = !driver.nodes_known;
  for (const DeviceNode& node : driver.nodes) nodes = nodes || !node.state.is("missing");
  const bool no_driver = state == DriverIs::Absent || (state == DriverIs::NotLoaded && !nodes);
  const bool none = shows_none(in.facts);
  if (!no_driver && !none) return;
  const std::string* value = variable(in, "NVIDIA_VISIBLE_DEVICES");
  const std::string* parts = variable(in, "NVIDIA_DRIVER_CAPABILITIES");
  const bool off = value && (value->empty() || *value == "void" || *value == "none");
  const bool no_compute = no_driver && parts && !parts->empty() && !contains(*parts, "compute") &&
                          !contains(*parts, "all");
  const bool has_gpu = driver.kernel_module.known() || !in.facts.host.nvidia_pci.value().empty();
  const bool kept_out = kind.known() && has_gpu && (no_driver || !nodes);
  if (!off && !no_compute && !kept_out && !(value && no_driver)) return;
  const std::string what =
      off ? "this container was started without a GPU: NVIDIA_VISIBLE_DEVICES is '" + *value + "'"
      : no_compute ? "this container was started without the driver's compute part: "
                     "NVIDIA_DRIVER_CAPABILITIES is '" +
                         tail(*parts, 60) + "'"
      : driver.kernel_module.known()
          ? cat("the host's NVIDIA driver ", driver.kernel_module.value(),
                " is loaded, and this container was started without ",
                state == DriverIs::Absent ? "it" : "its GPUs")
      : value ? "this image asks for GPUs, and the container was started without them"
              : "the host has a GPU, and this container was started without it";
  Finding& f = report(out, 813,
                      {what, builds(in) && native_asked(in) ? name_targets(in) : "",
                       no_compute ? std::string("set NVIDIA_DRIVER_CAPABILITIES=compute,utility "
                                                "at its start (docker run -e ..., the pod's env)")
                       : kind.known() ? container_start(in.facts)
                                      : "docker run --gpus all ..., with the NVIDIA Container "
                                        "Toolkit on the host"});
  if (native_asked(in)) f.severity = Severity::Error;
  if (kind.known()) add(f, "environment", "container: " + kind.value(), "", kind.from);
  if (driver.kernel_module.known())
    add(f, "driver", "kernel module " + driver.kernel_module.value(), "",
        driver.kernel_module.from);
  add_variable(f, in, "NVIDIA_VISIBLE_DEVICES");
  add_variable(f, in, "NVIDIA_DRIVER_CAPABILITIES");
}

// --- NVIDIA_REQUIRE_CUDA: "cuda>=12.4 brand=tesla,driver>=470,driver<471": blanks part
// alternatives, commas what must hold together.
bool holds(const std::string& condition, const Version& cuda, const Version& driver) {
  const size_t at = condition.find_first_of("<>=!");
  if (at == std::string::npos) return true;
  const std::string name = condition.substr(0, at);
  const size_t end = condition.find_first_not_of("<>=!", at);
  const std::string sign = condition.substr(at, end == std::string::npos ? end : end - at);
  const Version wanted = Version::parse(end == std::string::npos ? "" : condition.substr(end));
  const Version& has = name == "cuda" ? cuda : driver;
  if ((name != "cuda" && name != "driver") || !has.known() || !wanted.known()) return true;
  if (sign == ">=") return has >= wanted;
  if (sign == ">") return has >= wanted && wanted < has;
  if (sign == "<") return has < wanted;
  if (sign == "<=") return !(wanted < has);
  return true;
}

void image_requires(const RuleInput& in, List<Finding>& out) {
  const std::string* needs = variable(in, "NVIDIA_REQUIRE_CUDA");
  const std::string* off = variable(in, "NVIDIA_DISABLE_REQUIRE");
  if (!needs || (off && (*off == "1" || lower(*off) == "true"))) return;
  const Version cuda = Version::parse(in.facts.driver.cuda.value());
  const Version driver = Version::parse(in.facts.driver.version.value());
  if (!cuda.known() && !driver.known()) return;
  for (const std::string& alternative : split(*needs, " \t")) {
    bool all = true;
    for (const std::string& condition : split(alternative, ","))
      all = all && holds(condition, cuda, driver);
    if (all) return;
  }
  const List<std::string> wanted = split(*needs, " \t,");
  if (wanted.empty()) return;
  const size_t digits = wanted[0].find_first_of("0123456789");
  const Version asked =
      Version::parse(starts_with(wanted[0], "cuda>") ? wanted[0].substr(digits) : "");
  const bool other = cuda.known() && asked.known() && cuda.major() < asked.major();
  Finding& f = report(out, 814,
                      {wanted[0], cuda.known() ? cuda.major_minor() : "unknown", other ? "" : "y",
                       other ? asked.major_minor() : ""});
  add_variable(f, in, "NVIDIA_REQUIRE_CUDA");
  add(f, "driver",
      cat(or_unknown(in.facts.driver.version), ", CUDA ", or_unknown(in.facts.driver.cuda)),
      wanted[0], in.facts.driver.cuda.from);
}

// A container's own switch for the cuda-compat package that it carries.
void compat_off(const RuleInput& in, List<Finding>& out) {
  const char* const name = "VLLM_ENABLE_CUDA_COMPATIBILITY";
  const std::string* value = variable(in, name);
  const Version speaks = Version::parse(in.facts.driver.cuda.value());
  const Version needs = Version::parse(in.facts.torch.cuda.value());
  if (!value || (*value != "0" && lower(*value) != "false")) return;
  if (!speaks.known() || !needs.known() || speaks >= needs) return;
  if (driver_says(in.facts).refused) return;  // no GPU here takes one
  Finding& f = report(out, 815, {name, needs.major_minor(), speaks.major_minor()});
  add_variable(f, in, name);
}

}  // namespace

void rule_environment_devices(const RuleInput& in, List<Finding>& out) {
  if (const std::string* mask = variable(in, "CUDA_VISIBLE_DEVICES")) {
    judge_mask(in, *mask, out);
    device_order(in, *mask, out);
  }
  container(in, out);
  image_requires(in, out);
  compat_off(in, out);
}

}  // namespace tcs
