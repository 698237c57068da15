// SPDX-License-Identifier: Apache-2.0
// What the chosen nvcc can build: what it answered when asked; where only its release is known, the
// table's row for that release.
#pragma once
#include <string>

#include "base/list.h"
#include "plan/plan.h"

namespace tcs {

class Buildable {
 public:
  explicit Buildable(const Facts& facts) : Buildable(facts.toolkit()) {}
  explicit Buildable(const Toolkit* toolkit);

  bool known() const { return known_; }
  int release() const { return release_; }           // 1208; 0 = unknown
  const std::string& from() const { return from_; }  // "nvcc 13.0.88", "the table for CUDA 12.4"
  std::string nvcc() const;                          // "nvcc 12.4", for messages

  // Is this an architecture, or could a coming one be it? By table and rule.
  static bool could_exist(const Sm& sm);
  bool real(const Sm& sm) const;  // while unknown: could any nvcc?
  bool virt(const Sm& sm) const;
  bool can(const Gencode& g) const {
    return virt(g.virt) && (g.ptx || (real(g.real) && assembles(g.virt, g.real)));
  }
  // Code for an 'f' by way of a plain architecture of another major: from 13.1 on.
  bool assembles(const Sm& virtual_arch, const Sm& real_arch) const;
  const List<Sm>& reals() const { return real_; }  // sorted
  const List<Sm>& virts() const { return virt_; }

  // Why it does not build `sm`: Removed, NotYetKnown, Renamed, NoSuchSuffix or Nonsense, with the
  // range of releases that do.
  PlanIssue refuse(const Sm& sm) const;

 private:
  void read_names(const List<std::string>& names);
  void read_table();

  bool known_ = false;
  int release_ = 0;
  std::string version_, from_;
  List<Sm> real_, virt_;
};

// The library with most of the kernels, which alone speaks for PyTorch; null when none is known.
const TorchLibrary* main_library(const TorchFacts& torch);

// The architectures that a PyTorch was built for: those in most of its fat binaries whose devices
// every fat binary serves. Fat binaries with a single architecture are specialised kernels and do
// not count, unless there are no others. Sorted.
List<Image> own_images(const TorchFacts& torch);

}  // namespace tcs
