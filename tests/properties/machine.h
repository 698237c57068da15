// SPDX-License-Identifier: Apache-2.0
// Machines as JSON, the form in which they are recorded, and what is asked of them.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "facts/facts_io.h"
#include "findings/finding.h"
#include "plan/plan.h"

namespace props {

struct Machine {
  tcs::Json facts, request;
  std::string text() const;  // as in tests/machines, two lines
};

// What `tcstack check` makes of a machine.
struct Judged {
  std::string refused;  // why it was not read; empty when it was
  tcs::Facts facts;
  tcs::Request request;
  tcs::Plan plan;
  tcs::Report report;
  std::string text() const;
  std::string json() const;
};
Judged judged(const Machine& machine);

// One member anywhere below the facts or the request, or one element of a list.
struct Spot {
  std::vector<size_t> at;  // positions from the top
  std::string name;        // "toolkits.list[].version", as docs/facts.md has it
};
// Members, objects and lists that can be unknown: no origin or reason, no variable.
std::vector<Spot> facts_in(const tcs::Json& facts);
// All that can be left out of a document, the larger parts first.
std::vector<Spot> parts_in(const tcs::Json& document);
tcs::Json without(tcs::Json document, const Spot& spot);
// Is one of the two names that of an object or list which holds the other?
bool same_or_around(const std::string& a, const std::string& b);

// "driver.state", made where it is not there; only through objects.
tcs::Json& at(tcs::Json& document, const std::string& path);
const tcs::Json* look(const tcs::Json& document, const std::string& path);
void drop(tcs::Json& document, const std::string& path);

// Leaves out what it can while `fails` holds.
Machine smallest(Machine machine, const std::function<bool(const Machine&)>& fails);

// What did not hold: once for each signature, with the smallest machine that shows it.
class Failures {
 public:
  void add(const std::string& signature, const Machine& machine,
           const std::function<bool(const Machine&)>& fails, const std::string& first);
  bool none() const;  // prints those that there are, each machine in two lines that can be copied

 private:
  struct Found {
    Machine machine;
    std::string first;  // which machine showed it first
    int times = 0;
  };
  std::map<std::string, Found> found_;
};

// How many machines, from which seed, with TCS_MACHINES and TCS_SEED as other answers.
unsigned machines_wanted(unsigned usual);
unsigned first_seed();

// Every machine of tests/machines, by its name.
std::vector<std::pair<std::string, Machine>> recorded_machines();

}  // namespace props
