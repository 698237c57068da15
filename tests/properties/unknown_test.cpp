// SPDX-License-Identifier: Apache-2.0
// What a fact that is made unknown may change: a report never becomes complete by it, nothing is
// made up from its absence, and what was lost by it is named.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "generate.h"

using namespace tcs;
using namespace props;

namespace {

std::string code(int id) {
  return cat("TCS", id);
}

using Weights = std::map<int, Severity>;

Weights warnings_of(const Report& report) {
  Weights out;
  for (const Finding& f : report.findings)
    if (f.severity >= Severity::Warning && (!out.count(f.id) || out[f.id] < f.severity))
      out[f.id] = f.severity;
  return out;
}

// What a cause that is reported stands for.
std::set<int> consequences_of(const Report& report) {
  std::set<int> out;
  for (const Finding& f : report.findings)
    for (const std::string& code : f.consequences)
      if (const RuleRow* row = find_row(code)) out.insert(row->id);
  return out;
}

// `sets` and `coverage` are one measurement in two forms: the fuller one is asked for.
bool named_missing(const Report& report, const std::string& fact) {
  const std::string other = fact == "torch.libraries[].coverage" ? "torch.libraries[].sets" : fact;
  for (const Finding& f : report.findings)
    for (const std::string& name : f.missing)
      if (f.severity == Severity::Unknown &&
          (same_or_around(name, fact) || same_or_around(name, other)))
        return true;
  return false;
}
// A cause that is reported stands for a finding which names the fact: an nvcc that cannot compile
// for what is not known of it.
bool cause_stands_for_it(const std::set<int>& implied, const std::set<int>& implies) {
  for (int id : implies)
    if (!implied.count(id) && find_row(code(id))->severity == Severity::Unknown) return true;
  return false;
}

// An answer of the machine itself overrules what the tables say, and without it they speak again: a
// recording of a few facts that never held it must not become incomplete for it. So these may come
// back or go, by id, and nothing else of any such answer (archs, gcc_max, clang_max ...).
bool tables_speak_again(int id, const std::string& fact) {
  // nvcc did compile: with this host compiler, with parts that differ.
  if (fact == "toolkits.list[].works") return id == 309 || id == 401 || id == 403;
  // An image was refused or wrong, or ran across the border to Tegra.
  // Then PTX may be what is left, or forbidden: 205, 610, 803, 804.
  if (contains(fact, "image_probe") && !ends_with(fact, ".error") && !ends_with(fact, ".step"))
    for (int told : {205, 506, 601, 609, 610, 611, 803, 804, 909, 911, 922})
      if (id == told) return true;
  // And nvcc did build what it lists, or did not.
  if (contains(fact, "toolkits.list[].builds")) return id == 341;
  // And another host compiler did serve in the place of one that is refused.
  if (fact == "toolkits.list[].fitting_host_compiler") return id == 401;
  // And that toolkit's own header has another limit than the table of its release.
  if (fact == "toolkits.list[].gcc_max" || fact == "toolkits.list[].clang_max") return id == 401;
  // And a GPU was seen in spite of a mask that hides all.
  if (fact == "devices" || fact == "devices.list" || fact == "devices.list[].visible")
    return id == 101;
  // And a board is lost, or closed.
  if (fact == "devices.list[].state") return id == 105;
  if (fact == "devices.list[].compute_mode") return id == 106;
  return false;
}

// One line for each thing that must not be, none when all is well.
std::vector<std::string> wrong_changes(const Report& before, const Report& after,
                                       const std::string& fact) {
  std::vector<std::string> out;
  // A row of these without a result says that the question was put; without the row, or the image
  // that the row is of, nobody put it.
  bool asked = false;
  for (const char* rows : {".image_probe", ".builds"})
    asked = asked || ends_with(fact, rows) || ends_with(fact, cat(rows, "[].image"));
  if (!before.complete && after.complete && !asked)
    out.push_back(cat("COMPLETE: without ", fact, " the report is complete"));
  const Weights had = warnings_of(before), has = warnings_of(after);
  const std::set<int> implied = consequences_of(before), implies = consequences_of(after);
  // Counts of images alone predict what the sets of the fat binaries tell.
  const bool predicted = contains(fact, ".sets");
  for (const auto& [id, severity] : has) {
    if (predicted && id == 605) continue;
    if (tables_speak_again(id, fact)) continue;
    // An extension that does not say that it is a neighbour is what is to be judged.
    if (fact == "extensions[].role" && had.count(id)) continue;
    // And a library of which nobody says what needs it is PyTorch's.
    if (fact == "libraries[].needed_by" && id == 501 && had.count(id)) continue;
    // And that there may be a GPU is not enough to build PyTorch itself for.
    if (id == 908 && fact == "devices") continue;
    // And a driver's answer keeps a build from going on, unless it is known what it is for.
    if (id == 214 && had.count(id) && starts_with(fact, "devices")) continue;
    if (had.count(id) ? had.at(id) >= severity : implied.count(id) > 0) continue;
    out.push_back(cat(had.count(id) ? "RAISED: " : "ADDED: ", code(id), " by not knowing ", fact));
  }
  for (const auto& [id, severity] : had) {
    const bool still = has.count(id) && has.at(id) >= severity;
    if ((starts_with(fact, "devices.list[].") || contains(fact, ".builds") ||
         ends_with(fact, "_max")) &&
        tables_speak_again(id, fact))
      continue;
    if (still || implies.count(id) || named_missing(after, fact) ||
        cause_stands_for_it(implied, implies))
      continue;
    out.push_back(cat(has.count(id) ? "WEAKER: " : "LOST: ", code(id), " without ", fact));
  }
  return out;
}

bool goes_wrong(const Machine& machine, const std::string& fact, const std::string& how) {
  const Judged whole = judged(machine);
  for (const Spot& spot : facts_in(machine.facts)) {
    if (spot.name != fact) continue;
    const Judged part = judged({without(machine.facts, spot), machine.request});
    for (const std::string& wrong : wrong_changes(whole.report, part.report, fact))
      if (wrong == how) return true;
  }
  return false;
}

void judge_without(const Machine& machine, const std::vector<Spot>& spots, Failures& failures,
                   const std::string& name) {
  const Judged before = judged(machine);
  INFO(machine.text());
  REQUIRE(before.refused == "");
  for (const Spot& spot : spots) {
    const Judged after = judged({without(machine.facts, spot), machine.request});
    REQUIRE(after.refused == "");
    for (const std::string& wrong : wrong_changes(before.report, after.report, spot.name))
      failures.add(
          wrong, machine, [&](const Machine& less) { return goes_wrong(less, spot.name, wrong); },
          name);
  }
}

// Written and read once, as a probe's facts are.
Machine written(const Machine& machine) {
  const Judged whole = judged(machine);
  INFO(machine.text());
  REQUIRE(whole.refused == "");
  return {facts_to_json(whole.facts), machine.request};
}

Machine nothing_known(const char* request) {
  Machine out;
  out.facts = Json::object();
  out.facts.add("schema", "torch-cuda-stack/facts/1");
  out.request = *parse_json(request);
  return out;
}

}  // namespace

TEST_CASE("one fact of a made machine becomes unknown: nothing is made up, what is lost is named") {
  Failures failures;
  const unsigned seed = first_seed(), count = machines_wanted(1200);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    const Machine machine = written(odd_machine(dice));
    std::vector<Spot> spots = facts_in(machine.facts);
    dice.shuffle(spots);
    if (spots.size() > 6) spots.resize(6);
    judge_without(machine, spots, failures, cat("TCS_SEED=", seed + i));
  }
  CHECK(failures.none());
}

TEST_CASE("one fact of a recorded machine becomes unknown: the same holds for each of its facts") {
  Failures failures;
  for (const auto& [name, machine] : recorded_machines())
    judge_without(machine, facts_in(machine.facts), failures, name);
  CHECK(failures.none());
}

TEST_CASE("where nothing is known nothing is said to be wrong, and the report is not complete") {
  for (const char* request :
       {"{}", R"({"targets": ["native"]})", R"({"targets": ["torch"]})", R"({"targets": ["8.6"]})",
        R"({"purpose": "run"})", R"({"purpose": "pytorch-source"})",
        R"({"purpose": "run", "targets": ["native"]})", R"({"arch_list": "8.0;9.0+PTX"})",
        R"({"arch_list": "native"})", R"({"arch_list": "80;90", "arch_dialect": "cmake"})"}) {
    const Judged all = judged(nothing_known(request));
    INFO(request);
    INFO(all.text());
    CHECK(all.refused == "");
    CHECK(warnings_of(all.report).empty());
    CHECK_FALSE(all.report.complete);
  }
}

TEST_CASE("where all is known and fits nothing is said to be wrong, and the report is complete") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    const Machine machine = good_machine(dice);
    const Judged all = judged(machine);
    INFO(machine.text());
    INFO(all.text());
    REQUIRE(all.refused == "");
    REQUIRE(warnings_of(all.report).empty());
    REQUIRE(all.report.complete);
  }
}
