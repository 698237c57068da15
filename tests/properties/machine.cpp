// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "emit/emit.h"

using namespace tcs;

namespace props {

std::string Machine::text() const {
  return cat("{\"facts\": ", write_json(facts, 0), ",\n \"request\": ", write_json(request, 0),
             "}");
}

Judged judged(const Machine& machine) {
  Judged out;
  List<std::string> unknown;
  Result<Facts> facts = read_facts(write_json(machine.facts, 0), unknown);
  Result<Request> request = read_request(write_json(machine.request, 0), unknown);
  if (!facts) out.refused = facts.error().str();
  if (!request) out.refused = request.error().str();
  if (!unknown.empty()) out.refused = cat("unknown member ", unknown[0]);
  if (!out.refused.empty()) return out;
  out.facts = *facts;
  out.facts.origin = "replayed";
  out.request = *request;
  out.plan = make_plan(out.facts, out.request);
  out.report = judge(RuleInput{out.facts, out.request, out.plan}, Policy{});
  return out;
}

std::string Judged::text() const {
  return report_text(report, facts, plan);
}
std::string Judged::json() const {
  return write_json(report_json(report, facts, plan));
}

namespace {

// The elements and members of `node`; for an element's name the list is named.
void spots_below(const Json& node, const Spot& here, bool elements, std::vector<Spot>& out) {
  const bool object = node.is(Json::Kind::Object);
  const size_t count = object ? node.members.size() : node.items.size();
  for (size_t i = 0; i < count; ++i) {
    Spot spot = here;
    spot.at.push_back(i);
    const Json& value = object ? node.members[i].second : node.items[i];
    if (object)
      spot.name += (here.name.empty() ? "" : ".") + node.members[i].first;
    else
      spot.name += "[]";
    if (object || elements) out.push_back(spot);
    spots_below(value, spot, elements, out);
  }
}

bool can_be_unknown(const std::string& name) {
  if (starts_with(name, "environment")) return false;
  for (const char* other : {"schema", "origin", "reason", "from"})
    if (name == other || ends_with(name, cat(".", other)) || contains(name, cat(".", other, ".")))
      return false;
  return true;
}

Json* step(Json& node, size_t i) {
  return node.is(Json::Kind::Object) ? &node.members[i].second : &node.items[i];
}

void take_out(Json& node, size_t i) {
  if (node.is(Json::Kind::Object))
    node.members.erase(node.members.begin() + i);
  else
    node.items.erase(node.items.begin() + i);
}

// toolkits.selected stays with its toolkit when one before it goes.
void keep_selection(Json& document, const Spot& spot, const Json& before) {
  const Json* selected = look(before, "toolkits.selected");
  if (spot.name != "toolkits.list[]" || !selected || !selected->is(Json::Kind::Number)) return;
  const int chosen = std::atoi(selected->text.c_str()), gone = static_cast<int>(spot.at.back());
  if (gone < chosen) at(document, "toolkits.selected") = Json(chosen - 1);
  if (gone == chosen) drop(document, "toolkits.selected");
}

}  // namespace

std::vector<Spot> facts_in(const Json& facts) {
  std::vector<Spot> all;
  spots_below(facts, Spot{}, false, all);
  all.erase(
      std::remove_if(all.begin(), all.end(), [](const Spot& s) { return !can_be_unknown(s.name); }),
      all.end());
  return all;
}

std::vector<Spot> parts_in(const Json& document) {
  std::vector<Spot> all;
  spots_below(document, Spot{}, true, all);
  all.erase(
      std::remove_if(all.begin(), all.end(), [](const Spot& s) { return s.name == "schema"; }),
      all.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Spot& a, const Spot& b) { return a.at.size() < b.at.size(); });
  return all;
}

Json without(Json document, const Spot& spot) {
  Json before;
  if (spot.name == "toolkits.list[]") before = document;
  Json* node = &document;
  for (size_t i = 0; i + 1 < spot.at.size(); ++i) node = step(*node, spot.at[i]);
  take_out(*node, spot.at.back());
  keep_selection(document, spot, before);
  return document;
}

bool same_or_around(const std::string& a, const std::string& b) {
  const std::string &outer = a.size() < b.size() ? a : b, &inner = a.size() < b.size() ? b : a;
  return starts_with(inner, outer) &&
         (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

Json& at(Json& document, const std::string& path) {
  Json* node = &document;
  for (const std::string& name : split(path, ".")) {
    if (!node->is(Json::Kind::Object)) *node = Json::object();
    Json* next = nullptr;
    for (auto& member : node->members)
      if (member.first == name) next = &member.second;
    if (!next) {
      node->add(name, Json());
      next = &node->members.back().second;
    }
    node = next;
  }
  return *node;
}

const Json* look(const Json& document, const std::string& path) {
  const Json* node = &document;
  for (const std::string& name : split(path, "."))
    if (node) node = node->find(name);
  return node;
}

void drop(Json& document, const std::string& path) {
  const size_t dot = path.rfind('.');
  if (!look(document, path)) return;
  Json& node = dot == std::string::npos ? document : at(document, path.substr(0, dot));
  const std::string name = path.substr(dot + 1);
  for (size_t i = node.members.size(); i-- > 0;)
    if (node.members[i].first == name) take_out(node, i);
}

Machine smallest(Machine machine, const std::function<bool(const Machine&)>& fails) {
  for (bool again = true; again;) {
    again = false;
    for (Json Machine::*part : {&Machine::facts, &Machine::request}) {
      std::vector<Spot> spots = parts_in(machine.*part);
      for (size_t i = 0; i < spots.size(); ++i) {
        Machine less = machine;
        less.*part = without(machine.*part, spots[i]);
        if (!judged(less).refused.empty() || !fails(less)) continue;
        machine = less;
        spots = parts_in(machine.*part);  // what is left has moved
        --i;
        again = true;
      }
    }
  }
  return machine;
}

void Failures::add(const std::string& signature, const Machine& machine,
                   const std::function<bool(const Machine&)>& fails, const std::string& first) {
  Found& found = found_[signature];
  if (++found.times > 1) return;
  found.first = first;
  found.machine = found_.size() <= 200 ? smallest(machine, fails) : machine;
}

bool Failures::none() const {
  for (const auto& [signature, found] : found_)
    std::printf("does not hold: %s (%d times, first on %s)\n%s\n", signature.c_str(), found.times,
                found.first.c_str(), found.machine.text().c_str());
  std::fflush(stdout);
  return found_.empty();
}

namespace {
unsigned number_in(const char* name, unsigned usual) {
  const char* set = std::getenv(name);
  return set && *set ? static_cast<unsigned>(std::strtoul(set, nullptr, 10)) : usual;
}
}  // namespace

unsigned machines_wanted(unsigned usual) {
  return number_in("TCS_MACHINES", usual);
}
unsigned first_seed() {
  return number_in("TCS_SEED", 1);
}

std::vector<std::pair<std::string, Machine>> recorded_machines() {
  std::vector<std::pair<std::string, Machine>> out;
  const char* more = std::getenv("TCS_RECORDED");  // another folder of recordings
  const std::string folder = more && *more ? more : cat(TCS_SOURCE_DIR, "/tests/machines");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    Result<Json> document = parse_json(text.str());
    INFO(entry.path().string());
    REQUIRE(document);
    REQUIRE(document->find("facts"));
    const Json* request = document->find("request");
    out.push_back({entry.path().stem().string(),
                   {*document->find("facts"), request ? *request : Json::object()}});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  REQUIRE(!out.empty());
  return out;
}

}  // namespace props
