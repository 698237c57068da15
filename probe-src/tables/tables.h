// SPDX-License-Identifier: Apache-2.0
// Release histories and names, from the .def files beside this one. Advice and predictions only:
// what this machine can do is asked of it. A release is 100 * major + minor here ("12.8" = 1208), 0
// = none.
#pragma once
#include <string>
#include <string_view>

#include "base/list.h"
#include "base/sm.h"
#include "base/version.h"

namespace tcs {

// When the tables were last held against their sources: what advice from them is dated with.
constexpr const char* kTablesDate = "2026-11-30";

template <class T>
struct Rows {
  const T* first;
  size_t count;
  const T* begin() const { return first; }
  const T* end() const { return first + count; }
};

int release_of(const Version& version);  // 1208; 0 when unknown
std::string release_text(int release);   // "12.8"; "" for 0

// architectures.def
struct ArchRow {
  Sm sm;
  int first, last;  // CUDA releases that build it; last 0 = still
  bool tegra;
  const char* members;  // of an 'f' target: "0 3 7", minors of its major
  int torch_first, torch_last;

  bool built_by(int release) const { return release >= first && (last == 0 || release <= last); }
  bool known_to_torch(int release) const {
    return torch_first != 0 && release >= torch_first && (torch_last == 0 || release <= torch_last);
  }
};
Rows<ArchRow> arch_rows();               // sorted by (major, minor, suffix)
const ArchRow* find_arch(const Sm& sm);  // exact; null when the table lacks it
Sm newest_arch();                        // the newest that the tables know
int newest_cuda();
int newest_torch();

// torch_names.def: null when no such name holds for CUDA `release` (0 = the newest).
struct TorchNameRow {
  const char* name;
  const char* members;  // "8.0 8.6"
  bool ptx_on_last;
  int cuda_first, cuda_last;
};
Rows<TorchNameRow> torch_name_rows();
const TorchNameRow* find_torch_name(std::string_view name, int release);

// gpus.def: "RTX 4090", "NVIDIA GeForce RTX 4090 Laptop GPU", "A100-SXM4-80GB" ...
struct GpuRow {
  const char* name;
  Sm sm;
};
Rows<GpuRow> gpu_rows();  // by capability
// What a name means: the GPUs of just that name, else those whose name holds its words in that
// order
// ("4090", "A100"); the shortest name of each capability. Several: it does not tell which.
List<const GpuRow*> gpus_named(std::string_view name);
const GpuRow* find_gpu(std::string_view name);  // where it tells; else null
// Up to three, two letters apart at most; `one`: the first is nearer than all others.
List<const GpuRow*> nearest_gpus(std::string_view name, bool& one);
std::string gpu_texts(const List<const GpuRow*>& gpus);  // "Quadro RTX 5000 (7.5), RTX 5000 ..."

// cuda_releases.def, oldest first: releases that have a toolkit (12.7 has none).
struct CudaRow {
  int release, ptx_isa;
};
Rows<CudaRow> cuda_rows();

// cuda_releases.def and ptx.def. Unknown is 0 or "".
int ptx_isa_written_by(int cuda);           // 12.6 -> 8.5 (805)
int cuda_that_reads(int ptx_isa);           // 8.5 (805) -> 12.5 (1205)
int cuda_of_driver(const Version& driver);  // 535.261.03 -> 12.2 (1202)
struct DriverFloorRow {
  int cuda_major;
  const char *on_linux, *on_windows;
  bool inside;
};
const DriverFloorRow* driver_floor(int cuda_major);  // 12 -> "525.60.13"; null before CUDA 11

// driver_errors.def: null for a CUresult, an nvmlReturn_t that it lacks.
struct DriverErrorRow {
  int code, finding;
  const char *name, *meaning, *help;
};
Rows<DriverErrorRow> driver_error_rows();
const DriverErrorRow* driver_error(int code);
const char* nvml_meaning(int code);

// torch_releases.def: PyTorch's own builds, oldest first.
struct TorchRow {
  const char *version, *index;  // "2.11.0", "cu128"
  int cuda;
  bool on_pypi;
  const char *x86_64, *aarch64;   // images, "" where there is no build or none is known
  int python_first, python_last;  // 3.11 = 311
  int abi;
};
Rows<TorchRow> torch_rows();

// toolkit_wheels.def: what nvcc on PyPI is made of, oldest first. `update`: "13.2.2"; the digests are
// sha256.
struct WheelRow {
  const char *update, *package, *version, *x86_64, *aarch64;
};
Rows<WheelRow> wheel_rows();

// jetpack.def. The one of an L4T ("36.4.3") or of a JetPack ("6.2"), else null.
struct JetPackRow {
  const char *l4t, *jetpack;
  int cuda;
  const char* boards;  // "7.2 8.7"
  int compat;
};
Rows<JetPackRow> jetpack_rows();
const JetPackRow* jetpack_of_l4t(const Version& l4t);
const JetPackRow* jetpack_named(const Version& jetpack);

}  // namespace tcs
