// SPDX-License-Identifier: Apache-2.0
// From facts and a request to one architecture plan. Pure: no file, no environment.
#pragma once
#include <string>

#include "base/list.h"
#include "base/sm.h"
#include "facts/facts.h"

namespace tcs {

// One output of nvcc: -gencode arch=compute_<virt>,code=sm_<real> (cubin) or code=compute_<virt>
// (PTX).
struct Gencode {
  Sm virt;
  Sm real;  // == virt for PTX
  bool ptx = false;
  std::string reason;  // why it is in the plan, one clause: "device 0 (NVIDIA H100) is 9.0"
  Image image() const { return Image{ptx ? virt : real, ptx}; }
  std::string flag() const;  // "-gencode=arch=compute_90a,code=sm_90a"
};

// Something the planner has to say; findings/ turns each into a finding. `kind` names the rule.
struct PlanIssue {
  TCS_COPIED(PlanIssue);
  enum class Kind {
    Malformed,     // "8.0,8.6", "8.6+ptx": `corrected` holds the right text
    Nonsense,      // 99.9: no such architecture
    NoSuchSuffix,  // 9.0f
    Removed,       // 6.1 on nvcc 13: `range_end` = last toolkit that builds it
    NotYetKnown,   // 12.0 on nvcc 12.4: `range_begin` = first toolkit that builds it
    Renamed,       // 10.1 on nvcc 13 (11.0), 11.0 on nvcc 12 (10.1): `corrected`
    UnknownName,   // a word that is neither architecture nor GPU: `corrected` may hold the nearest
    NoVisibleDevice,   // native without one
    NoMember,          // a name none of whose members this nvcc builds
    NameCut,           // note: members left out: `detail`
    BareNumber,        // note: "90" read as 9.0
    NotWhatNvccHas,    // note: Auto/Common taken as default targets
    NearestArch,       // the device's own arch is unknown to nvcc: `detail` says what serves it
    NoArch,            // no image that nvcc can build serves this target
    SuffixPtx,         // 9.0a+PTX: not forward compatible
    TorchPythonToken,  // `token` is not known to torch's Python parser
    ListsDiffer,       // two lists that disagree: token is what counts, detail the other
    DefaultTargets,    // note: nothing asked, no GPU: torch's own archs cut to nvcc
    UnknownDevice,     // a device without a known capability
    Empty,             // nothing is left
    UnknownTorch,      // targets `torch` but its images are unknown
    UnknownToolkit,    // what nvcc can build is unknown: the list was not checked
    FamilyTwice,       // 10.0 beside 10.0f, one GPU code to nvcc: `corrected` serves both
  };
  Kind kind;
  std::string token;  // as the user wrote it, or the arch
  std::string corrected;
  std::string range_begin, range_end;  // toolkit releases "12.8"
  std::string detail;
  std::string where;        // where the token came from: "TORCH_CUDA_ARCH_LIST (environment)"
  std::string other_where;  // ListsDiffer: where the list that does not count was set
  bool by_user = false;     // the user wrote it (else the planner chose it)
  int position = -1;        // byte offset of the token in the list, -1 when there is none
};

// What has to be served: a device (native), or a declared capability.
struct Target {
  TCS_COPIED(Target);
  Sm sm;
  int device = -1;    // index of a measured device, -1 for a declared one
  std::string label;  // "device 0 (NVIDIA H100)", "9.0 (TorchCudaStack_TARGETS)"
  std::string from;
  bool cut = false;  // of PyTorch: what nvcc does not build is left out, where its list is known
};

struct Plan {
  TCS_VALUE(Plan);
  List<Gencode> gencodes;  // sorted by (virt, real, cubin before PTX), no repeats
  List<Image> written;   // by the user, one by one in a list, whether this nvcc builds them or not
  List<Target> targets;  // what the plan has to serve
  List<PlanIssue> issues;
  bool by_user = false;   // the user's own list is the plan
  bool open = false;      // a word of that list stands for devices that are unknown
  std::string list_from;  // "TORCH_CUDA_ARCH_LIST (environment)", "targets native" ...
  std::string
      archs_from;    // how what nvcc builds is known: "nvcc 13.0.88", "the table for CUDA 12.4"
  std::string nvcc;  // its version, and what it says it builds; empty while unknown
  List<std::string> nvcc_archs;
  std::string torch_version;  // whose parsers read the torch dialects; "" = the newest known
  bool complete = true;       // false: facts that it needs are unknown
};

Plan make_plan(const Facts& facts, const Request& request);

// --- dialects (plan/dialects.cpp). `complete` = false: the dialect cannot say everything; what it
// cannot say is in `left_out` (as gencode flags).
struct Dialect {
  std::string text;
  bool complete = true;
  List<std::string> left_out;
};
List<std::string> gencode_flags(const Plan& plan);  // one flag an element
Dialect torch_list(const Plan& plan);               // TORCH_CUDA_ARCH_LIST for find_package(Torch)
Dialect torch_python_list(const Plan& plan);        // the same for torch.utils.cpp_extension
Dialect cmake_architectures(const Plan& plan);  // CMAKE_CUDA_ARCHITECTURES: "90-real;90-virtual"

// --- compatibility (plan/compat.cpp): facts/rules.md sections 1 and 2.
enum class Fit {
  Native,
  Jit,
  CrossTegra,
  None
};  // CrossTegra: only across the desktop/Tegra border
// Can `image` run on a device of capability `device`? PTX: Fit::Jit (drivers are judged elsewhere).
Fit fits(const Image& image, const Sm& device);
Fit best_fit(const List<Image>& images, const Sm& device);
bool is_tegra(const Sm& sm);

}  // namespace tcs
