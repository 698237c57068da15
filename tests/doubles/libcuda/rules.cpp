// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <stdlib.h>
#include <string.h>

namespace tcs_double {
namespace {

// CUresult, of cuda.h.
constexpr int invalid_image = 200;
constexpr int no_binary_for_gpu = 209;
constexpr int invalid_ptx = 218;
constexpr int no_jit_compiler = 221;
constexpr int unsupported_ptx_version = 222;
constexpr int jit_disabled = 223;

struct Row {
  const char* release;
  int sm;
  const char *cubins, *known;  // " 80 86 90a ": those that the device takes, all that were asked
};
const Row oracle[] = {
#include "oracle_rows.inc"
};

bool lists(const char* words, const std::string& arch) {
  return strstr(words, (' ' + arch + ' ').c_str()) != nullptr;
}

// The row of the release that TCS_DOUBLE_ORACLE names, where it knows the device and the cubin,
// else of the newest that does: CUDA 13 knows 7.5, and nothing of the 7.0 code that runs there.
const Row* row_of(int sm, const std::string& arch) {
  const char* wanted = getenv("TCS_DOUBLE_ORACLE");
  const Row* newest = nullptr;
  for (const Row& row : oracle) {
    if (row.sm != sm || !lists(row.known, arch)) continue;
    if (wanted != nullptr && strcmp(row.release, wanted) == 0) return &row;
    newest = &row;
  }
  return newest;
}

bool set(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && strcmp(value, "1") == 0;
}

int sm_of(const Device& device) {
  return device.major * 10 + device.minor;
}

int cubin_error(const Image& image, const Device& device) {
  if (set("CUDA_FORCE_PTX_JIT") || set("CUDA_FORCE_JIT")) return no_binary_for_gpu;
  const std::string arch = image.name().substr(3);
  const Row* row = row_of(sm_of(device), arch);
  if (row == nullptr)  // no release knows both: a device takes at least its own
    return image.sm == sm_of(device) ? 0 : no_binary_for_gpu;
  return lists(row->cubins, arch) ? 0 : no_binary_for_gpu;
}

// The release of CUDA that brought a PTX ISA: 9.0 is 13.0's, 8.0 12.0's, 7.0 11.0's; 6.0 to 6.5 are
// 9.0's to 10.2's. CUDA 12.6 still writes 8.5, so that 8.6, 8.7, 8.8 are 12.7's to 12.9's. [PTX ISA
// manual, Release Notes]
int release_of_isa(int isa) {
  const int before_7[] = {9000, 9010, 9020, 10000, 10010, 10020};
  if (isa >= 86 && isa <= 88) return 12000 + (isa - 79) * 10;
  if (isa >= 70) return (isa / 10 + 4) * 1000 + isa % 10 * 10;
  return isa >= 60 && isa <= 65 ? before_7[isa - 60] : 0;
}

bool too_new(int isa, int driver) {
  return release_of_isa(isa) > driver;
}

bool target_fits(const Image& image, const Device& device) {
  const int sm = sm_of(device);
  if (image.suffix == 'a') return image.sm == sm;
  if (image.suffix == 'f') return image.sm / 10 == device.major && image.sm <= sm;
  return image.sm <= sm;
}

int ptx_error(const Image& image, const Device& device, int driver, bool no_jit) {
  if (set("CUDA_DISABLE_PTX_JIT") || set("CUDA_DISABLE_JIT")) return jit_disabled;
  if (no_jit) return no_jit_compiler;
  if (too_new(image.isa, driver)) return unsupported_ptx_version;
  return target_fits(image, device) ? 0 : invalid_ptx;
}

}  // namespace

int load_error(const Image& image, const Device& device, int driver, bool no_jit) {
  if (image.kind == Image::Kind::Garbage) return invalid_image;
  if (image.kind == Image::Kind::Cubin) return cubin_error(image, device);
  return ptx_error(image, device, driver, no_jit);
}

// A cubin goes before PTX; of several the newest architecture.
const Image* choose(const std::vector<Image>& images, const Device& device, int driver, bool no_jit,
                    int& error) {
  const Image* best = nullptr;
  error = no_binary_for_gpu;
  for (const Image& image : images) {
    const int why = load_error(image, device, driver, no_jit);
    const bool would_fit = image.kind == Image::Kind::Ptx && target_fits(image, device);
    if (why != 0 && best == nullptr && would_fit) error = why;
    if (why != 0) continue;
    const bool better =
        best == nullptr ||
        (best->kind == image.kind ? image.sm > best->sm : image.kind == Image::Kind::Cubin);
    if (better) best = &image;
  }
  if (best != nullptr) error = 0;
  return best;
}

}  // namespace tcs_double
