// SPDX-License-Identifier: Apache-2.0
// What is known of one machine: the data that flows from the probes to the rules. Schema 1 of
// torch-cuda-stack/facts (docs/facts.md); facts_io.h reads and writes it.
#pragma once
#include <string>
#include <utility>

#include "base/list.h"
#include "base/sm.h"
#include "base/string_map.h"
#include "base/text.h"
#include "base/value.h"
#include "base/version.h"

namespace tcs {

// A value with its origin, or unknown. Unknown is never a default: test known() first.
template <class T>
class Fact {
 public:
  std::string from;  // how it was learnt: "cuDeviceGetAttribute", "nvcc --version", a path ...

  Fact() = default;
  Fact(T value) : value_(std::move(value)), known_(true) {}  // NOLINT: implicit by design
  Fact(T value, const Piece& origin)
      : from(origin.view()), value_(std::move(value)), known_(true) {}
  bool known() const { return known_; }
  const T& value() const { return value_; }  // T{} when unknown
  T or_else(T fallback) const { return known_ ? value_ : fallback; }
  bool is(const T& v) const { return known_ && value_ == v; }

 private:
  T value_{};
  bool known_ = false;
};

// Compiled once: a text is what most facts are, and without optimisation each temporary std::string
// is a dozen instructions where it is made and destroyed.
template <>
class Fact<std::string> {
 public:
  std::string from;

  Fact() = default;
  Fact(const std::string& value);  // NOLINT: implicit by design
  Fact(const char* value);         // NOLINT
  Fact(const Piece& value, const Piece& origin);
  bool known() const { return known_; }
  const std::string& value() const { return value_; }
  std::string or_else(const Piece& fallback) const;
  bool is(const char* v) const;
  bool is(const std::string& v) const;

 private:
  std::string value_;
  bool known_ = false;
};
using Text = Fact<std::string>;
using Flag = Fact<bool>;
using Names = Fact<List<std::string>>;

// Each object that was read from a file or found by a probe may say why parts of it are unknown.
struct HostFacts {
  TCS_COPIED(HostFacts);
  Text os, arch, distro, kernel, glibc;
  Flag wsl;
  Text jetson_l4t, jetson_jetpack;
  Text container;    // none | docker | podman | kubernetes | lxc | other
  Names nvidia_pci;  // NVIDIA's GPUs on the PCI bus, "0000:01:00.0 10de:2704"
  Flag nouveau;      // the nouveau kernel driver is loaded
  Flag secure_boot;
  Fact<int> cores;       // that this process may use
  Fact<int> memory_mib;  // that may be used now without swapping
};

// What a present device answered when one image was loaded on it.
struct ImageProbe {
  TCS_COPIED(ImageProbe);
  Text image, result;  // result: runs | refused | wrong | crash | hang
  Fact<int> error;     // CUresult
  Text step;           // the call that answered so: "cuModuleLoadData"
};

struct Device {
  TCS_COPIED(Device);
  Fact<int> index;
  Text name, cc, uuid;  // cc "12.0"
  Flag visible = true;  // one read from a file that does not say so: unknown
  Flag integrated, mig;
  Text state;         // NVML's: ok | lost | reset-required | error
  Text compute_mode;  // NVML's: default | exclusive-process | exclusive-thread | prohibited
  List<ImageProbe> image_probe;
  std::string reason;
};

struct DeviceFacts {
  Text state;  // measured | declared | none
  bool list_known = false;
  List<Device> list;
  std::string reason;
};

struct LibCuda {
  TCS_COPIED(LibCuda);
  Text path, version, role;  // role: loaded | other
  Text kind;                 // driver | compat | stub | wsl | conda | container
};

// A device node in /dev, or a capability file of MIG.
struct DeviceNode {
  Text path, state;  // state: ok | denied | missing
};

// A driver that did not answer.
struct DriverFailure {
  Text kind;  // hang | crash | output (no answer, or one that cannot be read) | load
  Text text;  // what was printed, or the loader's words
};

// NVIDIA's management library, which sees all boards whatever CUDA_VISIBLE_DEVICES says.
struct Nvml {
  TCS_COPIED(Nvml);
  Text state;            // ok | absent | error
  Text path, version;    // version: of the driver, as it says
  Fact<int> error_code;  // nvmlReturn_t of a first call
  std::string reason;
};

struct DriverFacts {
  TCS_COPIED(DriverFacts);
  Text state;                         // ok | absent | no-kernel-module | stub | mismatch | error
  Text version, kernel_module, cuda;  // cuda "12.4": cuDriverGetVersion
  Fact<int> error_code;               // CUresult of cuInit, or of a first call after it
  Text error_call;                    // which call: "cuInit", "cuDeviceGetCount", "cuCtxCreate"
  Text module_kind;                   // of the kernel module: open | proprietary
  DriverFailure failure;
  Flag mps;  // a control daemon of the Multi-Process Service is in reach
  Nvml nvml;
  bool nodes_known = false;
  List<DeviceNode> nodes;
  List<LibCuda> libcuda;
  std::string reason;
};

struct ToolkitFailure {
  Text kind;  // host-compiler (refused) | host-compiler-run (hangs, crashes or fails by itself) |
              // arch | headers | ptxas | cicc | hang | crash | output | link |
              // start (the nvcc that the user named is missing or cannot be run)
  Text text;  // what was printed
};

// One image that nvcc was asked to build.
struct ImageBuild {
  TCS_COPIED(ImageBuild);
  Text image, result;  // result: built | refused | wrong (the file holds another one)
  Text text;           // what nvcc printed; of wrong: what is there
};

struct Toolkit {
  TCS_COPIED(Toolkit);
  Text root, nvcc, version, origin, layout;  // layout: default | pip | conda | distribution | clang
  Text headers, ptxas, cicc, cudart;         // releases: "13.2" of cuda.h, "13.2.78" of ptxas ...
  Names archs;    // what this nvcc can build: "sm_90a", "compute_90a" ...
  Names missing;  // parts that are not there: "nvrtc", "lib64", "cudart-dev" ...
  Flag works;     // one real compile with the host compiler that nvcc calls
  ToolkitFailure failure;
  List<ImageBuild> builds;  // of the plan, or those that were asked for
  std::string key;          // of its answers in the user's cache (answer_cache.h); not recorded
  Text driver_dir;          // folder of nvcc's own bin
  Text include_dir, library_dir;
  Fact<int> gcc_max, clang_max;  // majors that its crt/host_config.h takes
  Text fitting_host_compiler;  // path of one that this nvcc takes, where the default one is refused
  Text spare_host_compiler;    // likewise, where the user named the refused one: not used
  Names tried_host_compilers;  // paths of those that were tried for these two, and failed
  std::string reason;
};

struct ToolkitFacts {
  TCS_COPIED(ToolkitFacts);
  Fact<int> selected;  // index into list: the one this build uses
  Text on_path;        // version of the nvcc that PATH gives
  bool list_known = false;
  List<Toolkit> list;
  std::string reason;
};

struct HostCompiler {
  TCS_COPIED(HostCompiler);
  Text id, version, path;  // id as CMake's: GNU, Clang, MSVC ...
  std::string reason;
};

// How many fat binaries of a file hold exactly this set of images. Empty and 0 are unknown.
struct ImageSet {
  List<std::string> images;
  int count = 0;
};

// Images of one shared library. Without `coverage` rows and `sets` each name in `images` counts as
// full coverage. "" and 0 are unknown.
struct CoverageRow {
  std::string arch;
  int count = 0;         // images
  int fat_binaries = 0;  // fat binaries that hold one
};
struct TorchLibrary {
  TCS_COPIED(TorchLibrary);
  Text name;
  Names images;
  Fact<int> fat_binaries;
  List<CoverageRow> coverage;
  List<ImageSet> sets;
};

struct TorchFacts {
  TCS_COPIED(TorchFacts);
  Text state;                   // found | absent | broken
  Text version, flavour, cuda;  // flavour cuda | cpu | rocm | xpu
  Flag cxx11_abi;
  Fact<int> cxx_standard;
  Names images;  // of all its own CUDA libraries together
  bool libraries_known = false;
  List<TorchLibrary> libraries;
  Text root, python_tag;  // root: the torch folder; "cp312", "none": it has no Python part
  Text cmake_dir;         // folder of TorchConfig.cmake
  std::string reason;
};

struct PythonFacts {
  TCS_COPIED(PythonFacts);
  Text state, executable, version, kind,
      prefix;          // state found | absent; kind venv | conda | system ...
  Flag free_threaded;  // built without the global lock: its extensions are cp313t
  bool elsewhere_known = false;
  List<std::string> elsewhere;    // other environments that hold a torch
  List<std::string> search_path;  // folders of packages, in order; not recorded
  std::string reason;
};

struct Library {
  TCS_COPIED(Library);
  Text soname, needed_by, state, path, version;  // state found | missing | wrong
  Text built_against;  // the release that its needer names; "none": nothing names one
  Text via;            // what led the loader there
  Text shadows;        // via LD_LIBRARY_PATH: what would load without it; "none"
  Names archs;         // what it compiles for: of NVRTC, and of a ptxas that a package brings
  Names images;        // kernel images that it holds
};

struct Extension {
  TCS_COPIED(Extension);
  Text name, cuda;  // cuda "none": it needs no CUDA library
  Flag cxx11_abi;
  Names images;
  Text ptx_isa;  // the newest `.version` of its PTX
  Text role;     // neighbour: merely installed beside what is built here; else subject
  std::string reason;
};

// A build folder as it was configured: "none" where there is none, or its cache has no such entry.
struct TreeBuild {
  TCS_COPIED(TreeBuild);
  Text path, list, compiler;  // list: TORCH_CUDA_ARCH_LIST
  Names gencodes;             // that its CUDA files have in common: "arch=compute_90a,code=sm_90a"
  std::string reason;
};

// A source tree of PyTorch, and what its CMake stops below.
struct TreeFacts {
  TCS_COPIED(TreeFacts);
  Text state;              // found | absent
  Text root, version;      // version "2.15.0a0"
  Text era;                // setup.py | scikit-build-core
  Text fresh;              // what has its build folder configured anew: "CMAKE_FRESH=1"
  Text cuda_min, gcc_min;  // "12.6", "9.3"; gcc_min "none": it asks for none
  TreeBuild build;
  std::string reason;
};

struct Facts {
  TCS_VALUE(Facts);
  std::string origin = "measured";  // measured | declared | replayed
  HostFacts host;
  DeviceFacts devices;
  DriverFacts driver;
  ToolkitFacts toolkits;
  HostCompiler host_compiler;
  TorchFacts torch;
  PythonFacts python;
  TreeFacts tree;
  bool libraries_known = false;
  List<Library> libraries;
  bool extensions_known = false;
  List<Extension> extensions;  // installed beside torch
  StringMap environment;       // only names that matter to the stack

  // The toolkit this build uses; null when unknown or none.
  const Toolkit* toolkit() const {
    int i = toolkits.selected.or_else(-1);
    return i >= 0 && i < static_cast<int>(toolkits.list.size())
               ? &toolkits.list[static_cast<size_t>(i)]
               : nullptr;
  }
};

// What was asked for. `arch_list`: the user's list (TORCH_CUDA_ARCH_LIST or another), as written.
struct Request {
  TCS_VALUE(Request);
  Text arch_list;                      // from = "TORCH_CUDA_ARCH_LIST (environment)" ...
  std::string arch_dialect = "torch";  // torch | cmake: what a bare "90" means
  Text other_list;                     // a second list that was also set (warning if it differs)
  std::string other_dialect = "torch";
  bool targets_known = false;
  List<std::string> targets;  // native, torch, capabilities, names
  std::string targets_from;
  std::string purpose = "extension";  // extension | pytorch-source | run
};

}  // namespace tcs
