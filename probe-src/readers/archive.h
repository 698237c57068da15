// SPDX-License-Identifier: Apache-2.0
// Members of an ar archive (GNU, and BSD's long names).
#pragma once
#include <string>

#include "readers/window.h"

namespace tcs {

struct ArMember {
  std::string name;
  uint64_t offset = 0;  // of its content in the file
  uint64_t size = 0;
};

class Archive {
 public:
  explicit Archive(File& file)
      : window_(file, 0, file.size(), 4096), names_(file, 0, file.size(), 256) {}
  Result<bool> next(ArMember& out);  // false at the end; symbol and name tables are not members

 private:
  Result<bool> header(ArMember& out);
  Result<Done> long_name(ArMember& out);

  Window window_;
  Window names_;
  uint64_t at_ = 8;
  uint64_t names_at_ = 0, names_size_ = 0;  // GNU's table of long names
  uint32_t members_ = 0;
};

}  // namespace tcs
