// SPDX-License-Identifier: Apache-2.0
// Members of a GNU ar archive, one after the other.
#pragma once
#include <string>

#include "readers/window.h"

namespace tcs {

struct ArMember {
  std::string name;  // for messages
  uint64_t offset = 0;
  uint64_t size = 0;
};

class Archive {
 public:
  explicit Archive(File& file) : window_(file, 0, file.size(), 4096) {}
  Result<bool> next(ArMember& out);  // false at the end; tables of symbols and names are no members

 private:
  std::string long_name(const std::string& name);

  Window window_;
  uint64_t at_ = 8;
  ArMember names_;  // GNU's table of long names
  uint32_t members_ = 0;
};

}  // namespace tcs
