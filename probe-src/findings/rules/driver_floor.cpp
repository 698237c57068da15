// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_torch.h"
#include "findings/rules/driver.h"
#include "host/host.h"

namespace tcs {
namespace {

constexpr int kTooOldForRuntime = 35;  // cudaErrorInsufficientDriver, driver_types.h

constexpr int kOtherMajor = 302;  // toolkit-major-differs-from-torch

struct User {
  const char* layer;
  std::string label;
  Text cuda;
  bool other_major = false;  // a toolkit that is not of PyTorch's: TCS302 is the cause
};

bool majors_differ(const Text& a, const Text& b) {
  const Version x = Version::parse(a.value()), y = Version::parse(b.value());
  return x.known() && y.known() && x.major() != y.major();
}

List<User> users_of_cuda(const RuleInput& in) {
  List<User> users;
  if (uses_torch(in)) users.push_back({"torch", torch_label(in.facts), in.facts.torch.cuda});
  if (const Toolkit* toolkit = in.facts.toolkit(); toolkit && builds(in))
    users.push_back({"toolkit", nvcc_label(*toolkit), toolkit->version,
                     uses_torch(in) && majors_differ(toolkit->version, in.facts.torch.cuda)});
  return users;
}

Need need_of(const Version& cuda) {
  return {cuda, driver_floor(cuda.major()) == nullptr};
}

std::string driver_name(const RuleInput& in, const DriverSays& says) {
  const DriverFacts& driver = in.facts.driver;
  if (!says.jetpack.empty()) return cat("the driver of ", says.jetpack);
  if (driver.version.known()) return cat("driver ", driver.version.value());
  return driver.cuda.known() ? cat("a driver of CUDA ", driver.cuda.value()) : "the driver";
}

// The oldest JetPack for these boards that speaks `cuda`.
std::string jetpack_for(const RuleInput& in, const Version& cuda) {
  for (const JetPackRow& row : jetpack_rows()) {
    if (row.cuda / 100 < cuda.major()) continue;
    bool all = true;
    for (const Device* device : visible_devices(in.facts))
      all = all && contains(split(row.boards, " "), device->cc.value());
    if (all) return row.jetpack;
  }
  return "";
}

// Folder of a compat libcuda that is there and does not load.
std::string compat_aside(const DriverFacts& driver) {
  for (const auto& lib : driver.libcuda)
    if (!lib.role.is("loaded") && is_compat(&lib)) return path_parent(lib.path.value());
  return "";
}

// The table has PyTorch's builds that a driver of CUDA `now` runs: where none of them fits, there
// is none.
bool is_listed(const RuleInput& in, const DriverSays& says, const Version& now) {
  if (says.jetson || !in.facts.host.os.is("linux")) return false;
  for (const TorchRow& row : torch_rows())
    if (row.cuda <= release_of(now)) return true;
  return false;
}

struct WaysOut {
  std::string update, older, torch, compat, aside, jetpack, windows;
};

WaysOut ways_out(const RuleInput& in, const DriverSays& says, const User& user) {
  const Version cuda = Version::parse(user.cuda.value());
  WaysOut ways;
  const DriverFloorRow* floor = driver_floor(cuda.major());
  const bool windows = in.facts.host.os.is("windows") || in.facts.host.wsl.is(true);
  if (says.jetson) {
    const std::string jetpack = jetpack_for(in, cuda);
    if (!jetpack.empty()) ways.jetpack = jetpack;
  } else if (windows) {
    ways.windows = floor && *floor->on_windows ? cat(floor->on_windows, " or newer")
                                               : cat("one for CUDA ", cuda.major_minor());
  } else {
    ways.update =
        floor ? cat(floor->on_linux, " or newer") : cat("one for CUDA ", cuda.major_minor());
  }
  const Version now = Version::parse(speaks(says, in.facts.driver).value());
  // Before its own floor a driver serves the majors before that one.
  if (now.known() && now.major() == cuda.major() && floor)
    ways.older = driver_floor(cuda.major() - 1) ? cat("CUDA ", cuda.major() - 1) : "";
  else if (now.known() && now < cuda)
    ways.older = cat("CUDA ", driver_floor(now.major()) ? cat(now.major()) : now.major_minor());
  if (user.layer == std::string_view("torch")) {
    ways.torch = torch_way(in, to_serve(in), 1);
    if (!ways.torch.empty() || is_listed(in, says, now)) ways.older.clear();
  } else if (!uses_torch(in) || !in.facts.torch.cuda.known()) {
    const NearestToolkit other = nearest_toolkit(in);
    const Version here = Version::parse(other.here ? other.here->version.value() : "");
    const int major = other.here ? here.major() : other.release / 100;
    ways.older = major <= now.major() ? toolkit_words(other) : "";
  }
  ways.aside = says.refused ? "" : compat_aside(in.facts.driver);
  const bool reaches = !says.jetson || says.compat_reaches / 100 >= cuda.major();
  if (!says.refused && !windows && ways.aside.empty() && reaches) ways.compat = "y";
  return ways;
}

// Evidence of what is needed; empty where only the driver's own answer tells.
std::string needed(const DriverSays& says, const Version& cuda) {
  const DriverFloorRow* floor = driver_floor(cuda.major());
  if (!cuda.known() || !too_old(says, need_of(cuda))) return "";
  if (says.jetson || !floor) return cat(">= CUDA ", floor ? cat(cuda.major()) : cuda.major_minor());
  return cat(">= ", says.windows && *floor->on_windows ? floor->on_windows : floor->on_linux);
}

// On Jetson a package brings a newer CUDA to an older driver, which then says so.
bool upgradable(const DriverSays& says, const Version& cuda) {
  return says.jetson && !says.cuda.known() && says.compat_reaches / 100 >= cuda.major();
}

Finding& report_too_old(const RuleInput& in, const DriverSays& says, const User& user,
                        List<Finding>& out) {
  const Version cuda = Version::parse(user.cuda.value());
  const WaysOut ways = ways_out(in, says, user);
  const bool upgrade = upgradable(says, cuda);
  const std::string release = need_of(cuda).exact ? cuda.major_minor() : cat(cuda.major());
  Finding& f =
      report(out, 204,
             {driver_name(in, says),
              cuda.known() ? cat("CUDA ", release, ", which ", user.label, " uses")
                           : "the CUDA runtime that answers error 35",
              upgrade ? "y" : "", ways.update, ways.torch, ways.torch.empty() ? ways.older : "",
              upgrade ? "" : ways.compat, ways.aside, ways.jetpack, ways.windows});
  f.severity = beside_failure(in);
  if (upgrade && f.severity == Severity::Error) {
    f.severity = Severity::Warning;
    f.notes.push_back(
        "foretold by the release alone: with the board's cuda-compat in use it serves");
  }
  const Text cuda_here = speaks(says, in.facts.driver);
  add(f, "driver", driver_words(in.facts.driver, cuda_here), needed(says, cuda), cuda_here.from);
  const std::string* off = in.facts.environment.find("VLLM_ENABLE_CUDA_COMPATIBILITY");
  if (off && *off == "0")
    add(f, "environment", "VLLM_ENABLE_CUDA_COMPATIBILITY=0: compat is off", "", "");
  return f;
}

// What a runtime said itself: error 35.
void add_own_answer(const RuleInput& in, bool foretold, Finding& f) {
  f.severity = here_or_elsewhere(in);
  add(f, "driver", "error 35 (cudaErrorInsufficientDriver)", "", in.facts.driver.error_code.from);
  if (!foretold && in.facts.driver.version.known())
    f.notes.push_back("by the tables this release would do: does an older libcuda.so.1 load?");
}

}  // namespace

void rule_driver_floor(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  const DriverSays says = driver_says(in.facts);
  const DriverIs state = driver_is(driver);
  const TorchFacts& torch = in.facts.torch;
  if (answers(state) && !torch.state.known() && torch.cuda.known() &&
      in.request.purpose != "pytorch-source")
    missing(out, 690, "torch.state", "whether this driver is new enough for it", torch.reason);
  List<User> old;
  for (const User& user : users_of_cuda(in)) {
    const Version cuda = Version::parse(user.cuda.value());
    if (!cuda.known()) continue;
    if (too_old(says, need_of(cuda))) {
      old.push_back(user);
      continue;
    }
    if (!answers(state)) continue;
    miss_what_it_speaks(in, says, need_of(cuda), "whether it is new enough", out);
    if (hangs_on_one_fact(says, need_of(cuda)))
      works_although(in, cat("its release alone would not serve CUDA ", cuda.major_minor()), 204,
                     out);
  }
  // Its own answer needs no table.
  const bool said = driver.error_code.is(kTooOldForRuntime) && state == DriverIs::CallFails;
  const bool foretold = !old.empty();
  if (said && !foretold) {
    const List<User> users = users_of_cuda(in);
    old.push_back(users.empty() ? User{"driver", "the program that asked", Text()} : users[0]);
  }
  if (old.empty()) return;
  Finding& f = report_too_old(in, says, old[0], out);
  if (said) add_own_answer(in, foretold, f);
  if (old[0].other_major && !said) f.caused_by = kOtherMajor;
  if (driver.error_code.known()) stands_for(f, 208);
  for (const User& user : old)
    if (user.cuda.known() && (!user.other_major || &user == &old[0]))
      add(f, user.layer, cat(user.label, ", CUDA ", user.cuda.value()), "", user.cuda.from);
  if (upgradable(says, Version::parse(old[0].cuda.value())))
    missing(out, 290, "driver.cuda", "whether the board's cuda-compat serves", driver.reason);
}

}  // namespace tcs
