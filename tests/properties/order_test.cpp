// SPDX-License-Identifier: Apache-2.0
// Order says nothing, and one GPU more takes nothing away.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "emit/emit.h"
#include "generate.h"

using namespace tcs;
using namespace props;

namespace {

std::string said(const Machine& machine) {
  const Judged all = judged(machine);
  return all.refused + all.text() + all.json() + write_json(plan_json(all.plan));
}

std::string first_difference(const std::string& a, const std::string& b) {
  const List<std::string> left = lines_of(a), right = lines_of(b);
  for (size_t i = 0; i < left.size() && i < right.size(); ++i)
    if (left[i] != right[i]) return cat(trim(left[i]), " / ", trim(right[i]));
  return "one is longer";
}

// Differs in some order? Ten tries, for the smaller machine has fewer orders that matter.
bool differs(const Machine& machine, unsigned seed, std::string* how = nullptr) {
  const std::string one = said(machine);
  for (unsigned i = 0; i < 10; ++i) {
    Dice dice(seed + i);
    const std::string other = said(shuffled(machine, dice));
    if (how) *how = first_difference(one, other);
    if (other != one) return true;
  }
  return false;
}

// Without its numbers, so that one cause is one kind.
std::string kind_of(const std::string& difference) {
  std::string out;
  for (char c : difference.substr(0, 60))
    if (!(c >= '0' && c <= '9')) out += c;
  return out;
}

std::set<std::string> images_of(const Plan& plan) {
  std::set<std::string> out;
  for (const Gencode& g : plan.gencodes) out.insert(g.image().str());
  return out;
}

bool any_visible(const Judged& machine) {
  if (!machine.facts.devices.state.is("measured")) return false;
  for (const Device& d : machine.facts.devices.list)
    if (d.visible.is(true) && d.cc.known()) return true;
  return false;
}

std::string lost_images(const Machine& less, const Machine& more) {
  const Judged small = judged(less), large = judged(more);
  if (!small.refused.empty() || !large.refused.empty() || !any_visible(small)) return "";
  const std::set<std::string> now = images_of(large.plan);
  std::string out;
  for (const std::string& image : images_of(small.plan))
    if (!now.count(image)) out += " " + image;
  return out;
}

}  // namespace

TEST_CASE("the order of devices, toolkits, libraries, extensions and variables changes no byte") {
  Failures failures;
  const unsigned seed = first_seed(), count = machines_wanted(1000);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    const Machine machine = odd_machine(dice);
    const std::string one = said(machine), other = said(shuffled(machine, dice));
    if (one == other) continue;
    std::string how = first_difference(one, other);
    failures.add(
        cat("ORDER: ", kind_of(how)), machine,
        [&](const Machine& less) { return differs(less, seed + i); }, cat("TCS_SEED=", seed + i));
  }
  CHECK(failures.none());
}

TEST_CASE("the order of what a recorded machine holds changes no byte") {
  Failures failures;
  for (const auto& [name, machine] : recorded_machines()) {
    std::string how;
    if (differs(machine, 1, &how))
      failures.add(
          cat("ORDER: ", kind_of(how)), machine,
          [](const Machine& less) { return differs(less, 1); }, name);
  }
  CHECK(failures.none());
}

TEST_CASE("native on a machine with a visible GPU: one GPU more never takes an image away") {
  Failures failures;
  const unsigned seed = first_seed(), count = machines_wanted(1000);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    Machine machine = odd_machine(dice);
    machine.request = Json::object();
    if (dice.chance(80)) machine.request.add("targets", *parse_json("[\"native\"]"));
    if (dice.chance(20)) machine.request.add("arch_list", "native");
    const Json* list = look(machine.facts, "devices.list");
    const int index = list ? static_cast<int>(list->items.size()) : 0;
    const Json device = odd_device(dice, dice.chance(80) ? index : 0);
    auto with_it = [&](const Machine& less) {
      Machine more = less;
      Json& devices = at(more.facts, "devices.list");
      if (!devices.is(Json::Kind::Array)) devices = Json::array();
      devices.push(device);
      return more;
    };
    const std::string lost = lost_images(machine, with_it(machine));
    if (lost.empty()) continue;
    failures.add(
        cat("DEVICE: ", write_json(device, 0), " takes away", lost), machine,
        [&](const Machine& less) { return !lost_images(less, with_it(less)).empty(); },
        cat("TCS_SEED=", seed + i));
  }
  CHECK(failures.none());
}
