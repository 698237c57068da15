// SPDX-License-Identifier: Apache-2.0
// What a driver can see in a kernel image: a bare cubin, PTX text, an entry of a fat binary. A
// reader of its own, so that it can disagree with the one that is tested.
#pragma once
#include <stdint.h>

#include <string>
#include <vector>

namespace tcs_double {

struct Image {
  enum class Kind { Garbage, Cubin, Ptx } kind = Kind::Garbage;
  int sm = 0;       // 90
  char suffix = 0;  // 'a', 'f' or 0
  int isa = 0;      // of PTX: .version 8.5 is 85
  std::vector<std::string> kernels;
  bool has_code = false;
  unsigned code = 0;         // the initial value of tcs_image_code
  std::string name() const;  // "sm_90a", "compute_90"
  bool has_kernel(const std::string& kernel) const;
};

// The images that `data` holds, as cuModuleLoadData takes it: without a length. A bare image is a
// list of one; `fat`: it was a fat binary.
std::vector<Image> read_images(const void* data, bool& fat);

}  // namespace tcs_double
