// SPDX-License-Identifier: Apache-2.0
#include "tables/tables.h"

#include <string.h>

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
#include "tables/gpus.def"
#undef TCS_GPU
};

constexpr TorchRow kTorches[] = {
#define TCS_TORCH(version, index, cuda, on_pypi, x86_64, aarch64, python_first, python_last, \
                  cudnn, abi)                                                                \
  {version, index, cuda, on_pypi != 0, x86_64, aarch64, python_first, python_last, abi},
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
constexpr Pair kPtxReleases[] = {
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
#define TCS_JETPACK(l4t, jetpack, cuda, boards, compat) {l4t, jetpack, cuda, boards, compat},
#include "tables/jetpack.def"
#undef TCS_JETPACK
};
constexpr WheelRow kWheels[] = {
#define TCS_WHEEL(update, package, version, x86_64, aarch64) \
  {update, package, version, x86_64, aarch64},
#include "tables/toolkit_wheels.def"
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

// Words that name the maker, the board, its memory or its cooling, not the chip.
bool is_filler(std::string_view word) {
  const bool number = word[0] >= '0' && word[0] <= '9';
  const bool memory = number && (ends_with(word, "gb") || ends_with(word, "g"));
  return memory || starts_with(word, "sxm") || starts_with(word, "hbm") ||
         contains(
             " nvidia geforce tesla gpu laptop mobile pcie nvl ac active edition generation tm "
             "with max q design mig ",
             cat(" ", word, " "));
}

// With the bytes of the signs for registered and trade mark, as names are pasted from shops.
constexpr const char* kBetweenWords = " \t-_()/\xc2\xae\xe2\x84\xa2";

// "NVIDIA GeForce RTX 4090 Laptop GPU" -> "rtx 4090": the words that count.
std::string gpu_key(std::string_view name) {
  std::string key;
  for (const std::string& word : split(lower(name.size() > 100 ? "" : name), kBetweenWords))
    if (!is_filler(word)) key += cat(key.empty() ? "" : " ", word);
  return key;
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

enum class Named { No, Part, Whole };

// Does a name hold the words of `key`, in their order? Its own may be run together there: rtx4090.
Named named_by(const std::string& key, const char* name) {
  size_t letters = 0;  // most names lack some, which is told at once
  for (const char* c = name; *c != 0 && letters < key.size(); ++c) {
    if (key[letters] == ' ') ++letters;
    if (key[letters] == (*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c)) ++letters;
  }
  if (letters < key.size()) return Named::No;
  const std::string low = lower(name);
  size_t at = 0;
  Named found = Named::Whole;
  for (const std::string& word : split(low, kBetweenWords)) {
    if (key.compare(at, word.size(), word) == 0) {
      at += word.size();
      if (at < key.size() && key[at] == ' ') ++at;
    } else if (found == Named::Whole && !is_filler(word)) {
      found = Named::Part;
    }
  }
  return at < key.size() ? Named::No : found;
}

// The newest of a major up to `version`, else the first of that major.
const JetPackRow* newest_jetpack(const Version& version, const char* const JetPackRow::*name) {
  const JetPackRow* found = nullptr;
  for (const JetPackRow& row : kJetPacks) {
    const Version named = Version::parse(row.*name);
    if (named.major() == version.major() && (!found || version >= named)) found = &row;
  }
  return found;
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

Sm newest_arch() {
  return kArchs[sizeof(kArchs) / sizeof(kArchs[0]) - 1].sm;
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

List<const GpuRow*> gpus_named(std::string_view name) {
  List<const GpuRow*> out;
  const std::string key = gpu_key(name);
  Named best = Named::Part;
  bool tells = has_digit(key);
  for (const GpuRow& row : kGpus) {
    const Named named = key.empty() ? Named::No : named_by(key, row.name);
    if (named < best) continue;
    if (named > best) out.clear();
    best = named;
    tells = tells || !has_digit(row.name);
    if (out.empty() || out.back()->sm != row.sm)  // the rows are in order
      out.push_back(&row);
    else if (strlen(row.name) < strlen(out.back()->name))
      out.back() = &row;
  }
  // "Boost", "Server": no name of a GPU, whose names have a number; "Orin" is one.
  return tells || out.size() != 1 ? out : List<const GpuRow*>();
}

const GpuRow* find_gpu(std::string_view name) {
  const List<const GpuRow*> gpus = gpus_named(name);
  return gpus.size() == 1 ? gpus[0] : nullptr;
}

List<const GpuRow*> nearest_gpus(std::string_view name, bool& one) {
  List<const GpuRow*> out, further;
  List<std::string> keys;
  const std::string key = replace_all(gpu_key(name), " ", "");
  for (const GpuRow& row : kGpus) {
    if (key.size() < 4 || strlen(row.name) + 2 < key.size()) continue;
    const std::string other = replace_all(gpu_key(row.name), " ", "");
    if (other.size() + 2 < key.size() || key.size() + 2 < other.size()) continue;
    const size_t letters = edit_distance(key, other);
    if (letters > 2 || contains(keys, other)) continue;
    keys.push_back(other);
    (letters == 2 ? further : out).push_back(&row);
  }
  one = (out.empty() ? further : out).size() == 1;
  out.append(further);
  while (out.size() > 3) out.pop_back();
  return out;
}

std::string gpu_texts(const List<const GpuRow*>& gpus) {
  List<std::string> out;
  for (const GpuRow* gpu : gpus)
    add_once(out, out.size() < 5 ? cat(gpu->name, " (", gpu->sm.dotted(), ")") : "...");
  return join(out, ", ");
}

int ptx_isa_written_by(int cuda) {
  for (const CudaRow& row : kCuda)
    if (row.release == cuda) return row.ptx_isa;
  return 0;
}

int cuda_that_reads(int ptx_isa) {
  return look_up(kPtxReleases, ptx_isa);
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

Rows<WheelRow> wheel_rows() {
  return rows(kWheels);
}

Rows<JetPackRow> jetpack_rows() {
  return rows(kJetPacks);
}

const JetPackRow* jetpack_of_l4t(const Version& l4t) {
  return newest_jetpack(l4t, &JetPackRow::l4t);
}

const JetPackRow* jetpack_named(const Version& jetpack) {
  return newest_jetpack(jetpack, &JetPackRow::jetpack);
}

}  // namespace tcs
