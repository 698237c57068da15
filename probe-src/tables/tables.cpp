// SPDX-License-Identifier: Apache-2.0
#include "tables/tables.h"

#include <algorithm>

#include "base/text.h"

namespace tcs {

namespace {

constexpr ArchRow kArchs[] = {
#define TCS_ARCH(major, minor, suffix, first, last, tegra, members, torch_first, torch_last) \
  {{major, minor, suffix}, first, last, tegra != 0, members, torch_first, torch_last},
#include "tables/architectures.def"
#undef TCS_ARCH
};

constexpr TorchNameRow kTorchNames[] = {
#define TCS_TORCH_NAME(name, members, ptx_on_last, cuda_first, cuda_last) \
  {name, members, ptx_on_last != 0, cuda_first, cuda_last},
#include "tables/torch_names.def"
#undef TCS_TORCH_NAME
};

constexpr GpuRow kGpus[] = {
#define TCS_GPU(name, major, minor) {name, {major, minor, 0}},
#include "tables/gpus_few.def"
#undef TCS_GPU
};

constexpr TorchRow kTorches[] = {
#define TCS_TORCH(version, index, cuda, on_pypi, x86_64, aarch64, python_first, python_last, \
                  cudnn, abi)                                                                \
  {version, index, cuda, on_pypi != 0, x86_64, aarch64, python_first, python_last, cudnn, abi},
#include "tables/torch_releases.def"
};

struct Pair {
  int key, value;
};

constexpr CudaRow kCuda[] = {
#define TCS_CUDA(major, minor, ptx_isa) {major * 100 + minor, ptx_isa},
#include "tables/cuda_releases.def"
};
constexpr Pair kBranches[] = {
#define TCS_DRIVER_BRANCH(branch, cuda) {branch, cuda},
#include "tables/cuda_releases.def"
};
constexpr Pair kPtx[] = {
#define TCS_PTX(isa, cuda) {isa, cuda},
#include "tables/ptx.def"
#undef TCS_PTX
};

constexpr DriverFloorRow kFloors[] = {
#define TCS_DRIVER_FLOOR(cuda_major, on_linux, on_windows, inside) \
  {cuda_major, on_linux, on_windows, inside != 0},
#include "tables/cuda_releases.def"
};
constexpr JetPackRow kJetPacks[] = {
#define TCS_JETPACK(major, minor, jetpack, cuda, boards, compat) \
  {major, minor, jetpack, cuda, boards, compat},
#include "tables/jetpack.def"
#undef TCS_JETPACK
};
constexpr DriverErrorRow kErrors[] = {
#define TCS_DRIVER_ERROR(code, finding, name, meaning, help) {code, finding, name, meaning, help},
#include "tables/driver_errors.def"
};

template <class T, size_t N>
constexpr Rows<T> rows(const T (&array)[N]) {
  return {array, N};
}

template <size_t N>
int look_up(const Pair (&table)[N], int key) {
  for (const Pair& row : table) {
    if (row.key == key) return row.value;
  }
  return 0;
}

// Words that name the maker, the board or its memory, not the chip.
bool is_filler(const std::string& word) {
  static const char* const kFillers[] = {
      "nvidia", "geforce", "tesla", "gpu", "laptop", "mobile", "pcie",   "sxm",     "sxm2", "sxm3",
      "sxm4",   "sxm5",    "sxm6",  "nvl", "hbm3",   "ac",     "active", "edition", "tm"};
  for (const char* filler : kFillers) {
    if (word == filler) return true;
  }
  return word.size() > 2 && ends_with(word, "gb") && word[0] >= '0' && word[0] <= '9';
}

// "NVIDIA GeForce RTX 4090 Laptop GPU" -> "rtx4090": the words that count, run together.
std::string gpu_key(std::string_view name) {
  std::string key;
  for (const std::string& word : split(lower(name), " \t-_()")) {
    if (!is_filler(word)) key += word;
  }
  return key;
}

}  // namespace

int release_of(const Version& version) {
  return version.known() ? version.major() * 100 + version.minor() : 0;
}

std::string release_text(int release) {
  return release == 0 ? std::string() : cat(release / 100, ".", release % 100);
}

Rows<ArchRow> arch_rows() {
  return rows(kArchs);
}

const ArchRow* find_arch(const Sm& sm) {
  for (const ArchRow& row : kArchs) {
    if (row.sm == sm) return &row;
  }
  return nullptr;
}

int newest_cuda() {
  return kCuda[sizeof(kCuda) / sizeof(kCuda[0]) - 1].release;
}

Rows<CudaRow> cuda_rows() {
  return rows(kCuda);
}

int newest_torch() {
  int newest = 0;
  for (const ArchRow& row : kArchs) newest = std::max(newest, row.torch_first);
  return newest;
}

Rows<TorchNameRow> torch_name_rows() {
  return rows(kTorchNames);
}

const TorchNameRow* find_torch_name(std::string_view name, int release) {
  if (release == 0) release = newest_cuda();
  for (const TorchNameRow& row : kTorchNames) {
    if (name == row.name && release >= row.cuda_first &&
        (row.cuda_last == 0 || release <= row.cuda_last)) {
      return &row;
    }
  }
  return nullptr;
}

Rows<GpuRow> gpu_rows() {
  return rows(kGpus);
}

const GpuRow* nearest_gpu(std::string_view name) {
  std::string key = name.size() > 100 ? std::string() : gpu_key(name);
  const GpuRow* best = nullptr;
  size_t distance = key.size() < 4 ? 1 : 3;
  for (const GpuRow& row : kGpus) {
    size_t d = key.empty() ? distance : edit_distance(key, gpu_key(row.name));
    if (d >= distance) continue;
    distance = d;
    best = &row;
  }
  return best;
}

const GpuRow* find_gpu(std::string_view name) {
  const GpuRow* gpu = nearest_gpu(name);
  return gpu != nullptr && gpu_key(gpu->name) == gpu_key(name) ? gpu : nullptr;
}

int ptx_isa_written_by(int cuda) {
  for (const CudaRow& row : kCuda)
    if (row.release == cuda) return row.ptx_isa;
  return 0;
}

int cuda_that_reads(int ptx_isa) {
  return look_up(kPtx, ptx_isa);
}

// Branches that lie between two rows (Windows counts on within a branch: 537 is of 535) speak what
// the older one does; what a newer one than the last speaks is not known.
int cuda_of_driver(const Version& driver) {
  int cuda = 0, newest = 0;
  for (const Pair& row : kBranches) {
    newest = row.key;
    if (row.key <= driver.major()) cuda = row.value;
  }
  return driver.major() < newest + 5 ? cuda : 0;
}

const DriverFloorRow* driver_floor(int cuda_major) {
  for (const DriverFloorRow& row : kFloors)
    if (row.cuda_major == cuda_major) return &row;
  return nullptr;
}

Rows<DriverErrorRow> driver_error_rows() {
  return rows(kErrors);
}

const DriverErrorRow* driver_error(int code) {
  for (const DriverErrorRow& row : kErrors)
    if (row.code == code) return &row;
  return nullptr;
}

const char* nvml_meaning(int code) {
#define TCS_NVML_ERROR(number, meaning) \
  if (code == (number)) return meaning;
#include "tables/driver_errors.def"
  return nullptr;
}

Rows<TorchRow> torch_rows() {
  return rows(kTorches);
}

Rows<JetPackRow> jetpack_rows() {
  return rows(kJetPacks);
}

const JetPackRow* jetpack_of_l4t(const Version& l4t) {
  const JetPackRow* found = nullptr;
  for (const JetPackRow& row : kJetPacks)
    if (row.l4t_major == l4t.major() && (!found || row.l4t_minor <= l4t.minor())) found = &row;
  return found;
}

const JetPackRow* jetpack_named(const Version& jetpack) {
  const JetPackRow* found = nullptr;
  for (const JetPackRow& row : kJetPacks) {
    const Version named = Version::parse(row.jetpack);
    if (named.major() == jetpack.major() && (!found || named.minor() <= jetpack.minor()))
      found = &row;
  }
  return found;
}

}  // namespace tcs
