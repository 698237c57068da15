// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.h"
#include "findings/rules/driver.h"

namespace tcs {
namespace {

// "31.0.15.5222", as Windows' device manager spells it, is 552.22.
Version release_named(const Text& version) {
  const Version v = Version::parse(version.value());
  if (v.numbers.size() != 4 || v.number(3) > 9999) return v;
  const int digits = v.number(2) % 10 * 10000 + v.number(3);
  return Version::parse(cat(digits / 100, ".", digits % 100));
}

Version table_cuda(int release) {
  return Version::parse(release_text(release));
}

bool below(const Version& speaks, const Need& need) {
  if (!speaks.known()) return false;
  return need.exact ? speaks < need.cuda : speaks.major() < need.cuda.major();
}

const JetPackRow* jetpack_of(const HostFacts& host) {
  const Version l4t = Version::parse(replace_all(host.jetson_l4t.value(), "R", ""));
  if (const JetPackRow* row = l4t.known() ? jetpack_of_l4t(l4t) : nullptr) return row;
  const Version jetpack = Version::parse(host.jetson_jetpack.value());
  return jetpack.known() ? jetpack_named(jetpack) : nullptr;
}

bool is_jetson(const Facts& facts) {
  if (facts.host.jetson_l4t.known() || facts.host.jetson_jetpack.known()) return true;
  Sm sm;
  for (const Device* device : visible_devices(facts)) {
    if (!capability(*device, sm)) continue;
    const ArchRow* row = find_arch(sm);
    if ((row && row->tegra) || contains(lower(device->name.value()), "thor")) return true;
  }
  return false;
}

// GeForce and TITAN: CUDA Compatibility guide, forward compatibility. Other names do not tell.
bool all_refuse_compat(const Facts& facts) {
  bool any = false;
  if (facts.devices.state.is("none")) return false;
  for (const Device& device : facts.devices.list) {
    if (!is_in_use(device) && !may_be_in_use(device)) continue;
    const std::string name = lower(device.name.value());
    if (!contains(name, "geforce") && !contains(name, "titan")) return false;
    any = any || is_in_use(device);
  }
  return any;
}

// Builds before the floor. Where it speaks that CUDA, only a floor inside a branch can tell.
bool before_floor(const DriverSays& says, const Need& need) {
  const DriverFloorRow* row = need.exact ? nullptr : driver_floor(need.cuda.major());
  if (!row || says.jetson || says.release.numbers.size() < 2) return false;
  const Version floor = Version::parse(says.windows ? row->on_windows : row->on_linux);
  if (!(says.release < floor)) return false;
  return !says.cuda.known() ||
         (row->inside && release_of(says.cuda) == cuda_of_driver(Version::parse(row->on_linux)));
}

}  // namespace

DriverSays driver_says(const Facts& facts) {
  DriverSays says;
  const DriverFacts& driver = facts.driver;
  const LibCuda* lib = loaded_libcuda(driver);
  says.cuda = Version::parse(driver.cuda.value());
  says.release = release_named(driver.version);
  says.compat = is_compat(lib);
  says.refused = all_refuse_compat(facts);
  if (says.compat)
    says.compat_cuda = table_cuda(cuda_of_driver(Version::parse(lib->version.value())));
  // Linux releases have three parts; 535.98 can be either.
  says.windows =
      says.release.numbers.size() == 2 && (facts.host.os.is("windows") || facts.host.wsl.is(true));
  says.jetson = is_jetson(facts);
  if (const JetPackRow* row = jetpack_of(facts.host)) {
    says.jetpack_cuda = table_cuda(row->cuda);
    says.jetpack = facts.host.jetson_jetpack.known()
                       ? cat("JetPack ", facts.host.jetson_jetpack.value())
                       : cat("L4T ", facts.host.jetson_l4t.value());
    says.compat_reaches = row->compat;
  }
  return says;
}

bool uses_torch(const RuleInput& in) {
  return in.facts.torch.state.is("found") && in.request.purpose != "pytorch-source";
}

bool too_old(const DriverSays& says, const Need& need) {
  if (says.compat && !says.refused) return below(says.cuda, need) && below(says.compat_cuda, need);
  if (says.cuda.known()) return below(says.cuda, need) || before_floor(says, need);
  if (says.jetpack_cuda.known()) return below(says.jetpack_cuda, need);
  return below(table_cuda(cuda_of_driver(says.release)), need) || before_floor(says, need);
}

bool hangs_on_one_fact(const DriverSays& says, const Need& need) {
  if (too_old(says, need)) return false;
  List<DriverSays> others;
  for (int i = 0; i < 7; ++i) others.push_back(says);
  others[0].cuda = Version();
  others[1].release = Version();
  others[2].compat = false;
  others[3].refused = !says.refused;
  others[4].jetson = false;
  others[5].jetpack_cuda = Version();
  others[6].windows = false;
  for (const DriverSays& other : others)
    if (too_old(other, need)) return true;
  return false;
}

Text speaks(const DriverSays& says, const DriverFacts& driver) {
  if (says.compat && !says.refused && says.compat_cuda.known() && says.cuda < says.compat_cuda)
    return Text(says.compat_cuda.major_minor(), "table, release of the compat libcuda");
  if (says.cuda.known())
    return Text(says.cuda.major_minor(), driver.cuda.from.empty() ? "driver" : driver.cuda.from);
  if (says.jetpack_cuda.known())
    return Text(says.jetpack_cuda.major_minor(), cat("table, ", says.jetpack));
  const Version cuda = table_cuda(cuda_of_driver(says.release));
  return cuda.known() ? Text(cuda.major_minor(), cat("table, branch ", says.release.major()))
                      : Text();
}

std::string driver_words(const DriverFacts& driver, const Text& cuda) {
  List<std::string> words;
  if (driver.version.known()) words.push_back(driver.version.value());
  if (cuda.known()) words.push_back("CUDA " + cuda.value());
  return words.empty() ? "of unknown release" : join(words, ", ");
}

void miss_what_it_speaks(const RuleInput& in, const DriverSays& says, const Need& need,
                         const char* what, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const HostFacts& host = in.facts.host;
  if (is_blank(driver) && !says.jetson && !host.arch.is("aarch64")) return;  // said as a whole
  auto lacks = [&](const char* fact) { missing(out, 290, fact, what, driver.reason); };
  const bool by_answer = says.cuda.known();
  const DriverFloorRow* floor = need.exact ? nullptr : driver_floor(need.cuda.major());
  if (!by_answer) lacks("driver.cuda");
  if (!says.release.known() &&
      (!by_answer || (floor && floor->inside && says.cuda.major() == need.cuda.major() &&
                      release_of(says.cuda) == cuda_of_driver(Version::parse(floor->on_linux)))))
    lacks("driver.version");
  if (!by_answer && !says.jetpack_cuda.known() && (says.jetson || host.arch.is("aarch64")))
    lacks("host.jetson.l4t");
  if (!by_answer && says.release.numbers.size() == 2 && !says.windows) {
    DriverSays windows = says;
    windows.windows = true;
    const bool matters = too_old(windows, need);
    if (matters && !host.os.known()) lacks("host.os");
    if (matters && !host.wsl.known() && !host.os.is("windows")) lacks("host.wsl");
  }
  if (!says.compat || says.refused || (by_answer && !below(says.cuda, need))) return;
  if (by_answer && !says.compat_cuda.known()) lacks("driver.libcuda[].version");
  for (const Device* device : visible_devices(in.facts))
    if (!device->name.known())
      return missing(out, 190, "devices.list[].name", "whether it takes a compat libcuda");
}

}  // namespace tcs
