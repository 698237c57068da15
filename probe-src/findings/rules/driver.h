// SPDX-License-Identifier: Apache-2.0
// What the rules on the driver share: which state it is in, and which CUDA it serves.
#pragma once
#include "findings/rules/common.h"

namespace tcs {

// Each state but the first two is the number of the finding that tells it; those of an answer are
// in tables/driver_errors.def.
enum class DriverIs {
  Unknown = -1,
  Ok = 0,
  Absent = 201,
  Stub = 202,
  NotLoaded = 203,
  Mismatch = 206,
  CompatRefused = 207,
  StartFails = 208,  // cuInit answers an error that has no finding of its own
  CallFails = 210,   // it starts, a call after that fails
  NotReady = 212,
  Mps = 213,
  Taken = 214,
  Faults = 215,
  Hangs = 216,
  Crashes = 217,
  DoesNotLoad = 218,
  NoDevice = 219,
  NoAnswer = 920  // it fails, and what it answered is not known
};
DriverIs driver_is(const DriverFacts& driver);
bool answers(DriverIs state);    // nothing is known to be wrong with it
bool no_answer(DriverIs state);  // it was asked and did not say
// Not having a GPU's driver is normal on a build machine; one that hangs is not known to be bad.
Severity driver_weight(const RuleInput& in, DriverIs state);

// --- driver_causes.cpp
bool shows_none(const Facts& facts);    // it is known to show no GPU
bool expects_gpu(const RuleInput& in);  // one is there all the same, and nothing hides it
// Findings that say why the driver is in `state`; `maybe`: those that unknown facts could tell.
List<int> causes(const Facts& facts, DriverIs state, bool maybe);
std::string container_start(const Facts& facts);  // how this kind of container is given GPUs

bool is_blank(const DriverFacts& driver);  // nothing at all is known of it
const LibCuda* loaded_libcuda(const DriverFacts& driver);
bool is_compat(const LibCuda* lib);
bool is_wsl_libcuda(const LibCuda& lib);

// What is known of the CUDA that it serves: its answer, else what the tables say of its release.
struct DriverSays {
  TCS_COPIED(DriverSays);
  Version cuda, release;
  bool compat = false;   // a libcuda of cuda-compat loads ...
  bool refused = false;  // ... and no GPU here takes one
  Version compat_cuda;
  bool windows = false;  // its release is one of Windows (also in WSL)
  bool jetson = false;
  Version jetpack_cuda;
  std::string jetpack;     // "JetPack 6.2", or "L4T 36.4.3" where only that is known
  int compat_reaches = 0;  // the newest CUDA that its cuda-compat adds
};
DriverSays driver_says(const Facts& facts);
struct Need {
  Version cuda;
  bool exact;  // its minor too: PTX, and all before CUDA 11
};
bool too_old(const DriverSays& says, const Need& need);
// Enough, but it would not be if one fact of it were not known.
bool hangs_on_one_fact(const DriverSays& says, const Need& need);
// What it speaks, "12.2", and how that is known: "table, branch 535".
Text speaks(const DriverSays& says, const DriverFacts& driver);
// "550.54.15, CUDA 12.4", as far as it is known.
std::string driver_words(const DriverFacts& driver, const Text& cuda);
// Where it is not too old: the facts that could say otherwise.
void miss_what_it_speaks(const RuleInput& in, const DriverSays& says, const Need& need,
                         const char* what, List<Finding>& out);

// In WSL: which Linux driver hides that of Windows; empty where none does.
std::string wsl_advice(const Facts& facts);
// The finding stands for `id` too: that one is not reported beside it.
void stands_for(Finding& f, int id);
// The note that the driver works although the tables speak against it, which stands for `id`.
void works_although(const RuleInput& in, const std::string& what, int id, List<Finding>& out);
std::string mig_advice(const Facts& facts);  // where no GPU is shown
// Their capabilities, "8.6;9.0"; "" where this nvcc does not build one of them.
std::string list_entries(const RuleInput& in, const List<const Device*>& devices);
bool uses_torch(const RuleInput& in);  // not where PyTorch itself is built
// Severity of what follows from versions: a note beside a driver that fails, which says it all.
Severity beside_failure(const RuleInput& in);

}  // namespace tcs
