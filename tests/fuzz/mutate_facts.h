// SPDX-License-Identifier: Apache-2.0
// Recorded machines, damaged in the ways in which files are: the same damage for the same seed.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "base/json.h"

namespace fuzz {

struct MachineFiles {
  std::string facts, request;
};

class Mutator {
 public:
  // Texts of the form {"facts": ..., "request": ...}; what is none is left out.
  explicit Mutator(const std::vector<std::string>& machines);
  MachineFiles damaged(unsigned seed) const;
  size_t size() const { return machines_.size(); }

 private:
  struct Machine {
    tcs::Json facts, request;
  };
  std::vector<Machine> machines_;
};

}  // namespace fuzz
