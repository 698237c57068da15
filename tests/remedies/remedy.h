// SPDX-License-Identifier: Apache-2.0
// What following a help line does to a machine: one effect for each TCS_HELP row of findings/table.
// The test applies it to every recorded machine on which the line is printed, and judges again.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "facts/facts.h"
#include "findings/finding.h"

namespace tcs::remedies {

struct Machine {
  std::string name;
  Facts facts;
  Request request;
  Policy policy;
  bool looked = false;     // an effect says: these words only show more, nothing was changed
  std::set<int> others;    // findings that it had before it was put into another place
  bool by_chance = false;  // of sweep.cpp
  bool torn = false;       // no one toolkit builds all that is asked for and the GPUs that are here
  bool forgot = false;     // an effect put something unknown in the place of facts
};

// What stood for {0}, {1} ... in the printed line; "" for those that it does not print. The eleventh
// is the line itself.
using Words = std::vector<std::string>;

enum class Way {
  Mends,  // the finding is gone
  Eases,  // it weighs less than before: the build goes on, knowing it
  Looks   // a command that only shows more, such as nvidia-smi
};

struct Effect {
  int id;
  const char* row;  // the row's text, or a start of it that no other row of this id has
  Way way;
  void (*apply)(Machine& m, const Words& w);  // null where it only shows more
  // Of one of several rows that are words alone ("{4}"): how those start, "Jetson: |WSL: ".
  const char* says = "";
};
using Effects = std::vector<Effect>;

// <layer>.cpp, one for each file of findings/table.
Effects device_effects();
Effects driver_effects();
Effects toolkit_effects();
Effects host_compiler_effects();
Effects runtime_effects();
Effects torch_effects();
Effects python_effects();
Effects environment_effects();
Effects arch_effects();

// sweep.cpp: machines put together from the tables; the same for the same seed.
std::vector<Machine> machines_by_chance(unsigned seed, int count);

// --- what effects share (remedy.cpp)
void unset(Machine& m, const std::string& variable);
void for_targets(Machine& m, const std::string& list);  // -DTorchCudaStack_TARGETS="8.6;9.0"
void allow(Machine& m, const std::string& code);        // -DTorchCudaStack_ALLOW=TCS501
void write_list(Machine& m, const std::string& list);   // in the place of the list that counts
// -DTorchCudaStack_TOOLKIT: the toolkit in that folder, which must be on the machine.
void select_toolkit(Machine& m, const std::string& root);
// A whole toolkit of that release ("12.4"), installed and used.
void install_toolkit(Machine& m, const std::string& release);
// With the host compiler that it takes, where it refuses that which is here.
void install_with_compiler(Machine& m, const std::string& release);
// The driver answers, and shows the GPUs that are here; where none is known, one that the rest of
// the stack serves.
void driver_works(Machine& m);
// A driver that speaks that CUDA.
void install_driver(Machine& m, const std::string& cuda);
// PyTorch's own build of that release for that CUDA ("2.7.0", "12.8"), with its libraries.
void install_torch(Machine& m, const std::string& release, const std::string& cuda);
// "PyTorch 2.7.1 for CUDA 12.8 ...", and what else the line says has to change for it.
void take_torch(Machine& m, const std::string& words);
// -DCMAKE_CUDA_HOST_COMPILER: "g++-13", "/usr/bin/clang++-17".
void name_compiler(Machine& m, const std::string& program);
// The lines of TCS_HELP_TOOLKIT: {8} or {9}.
void take_toolkit(Machine& m, const Words& w);
// One that is made for the toolkit's CUDA, by whomever: no more is known of it.
void torch_of_toolkit(Machine& m, const Words& w);
// The newest that goes with the toolkit, the driver and the GPUs that are here.
void fitting_torch(Machine& m);
// -DTorchCudaStack_TARGETS="8.6;9.0", or: write "8.6;9.0" for native in the list.
void name_targets(Machine& m, const std::string& words);

}  // namespace tcs::remedies
