// SPDX-License-Identifier: Apache-2.0
// Machines made by dice: a stack whose parts fit together, and what can be odd about one.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "machine.h"

namespace props {

// The same numbers for the same seed with every standard library.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  size_t below(size_t n) { return engine_() % n; }
  bool chance(size_t percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  std::string word(const std::vector<const char*>& all) { return one_of(all); }
  template <class Items>
  void shuffle(Items& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937 engine_;
};

// Everything known, nothing wrong, the default request.
Machine good_machine(Dice& dice);
// A good one with some things odd and some unknown, and some request.
Machine odd_machine(Dice& dice);
tcs::Json odd_device(Dice& dice, int index);
// The same machine, its members, devices, toolkits, libraries ... in another order.
Machine shuffled(Machine machine, Dice& dice);

}  // namespace props
