// SPDX-License-Identifier: Apache-2.0
// A part of a file seen through one small buffer, so that headers scattered over a gigabyte cost a
// short positioned read each and no memory.
#pragma once
#include <elf.h>

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "host/host.h"

namespace tcs {

// Offsets are relative to `base`; nothing outside [base, base + size) is read. `step` bytes are
// read at a time, so it is also the longest range that get() can give.
class Window {
 public:
  Window(File& file, uint64_t base, uint64_t size, size_t step);
  uint64_t size() const { return size_; }
  uint64_t place(uint64_t offset) const { return base_ + offset; }  // in the file
  // The bytes [offset, offset + length); valid until the next call. False when they are not all
  // there.
  bool get(uint64_t offset, size_t length, Bytes& out);
  template <class T>
  bool read(uint64_t offset, T& out) {
    Bytes bytes;
    return get(offset, sizeof(T), bytes) && bytes.read(0, out);
  }
  // From `offset` to its NUL, or `limit` bytes if that comes first; false when neither is inside
  // `end`.
  bool text(uint64_t offset, uint64_t end, size_t limit, std::string& out);
  // An error whose place is `offset` counted from the beginning of the file.
  Error wrong(uint64_t offset, std::string text) const;
  Error truncated(uint64_t offset, uint64_t length, const char* what) const;

 private:
  File& file_;
  uint64_t base_;
  uint64_t size_;
  size_t step_;
  uint64_t at_ = 0;
  std::string buffer_;
};

std::string hex(uint64_t value);  // "0x1f"

Result<Elf64_Ehdr> read_elf_header(Window& window);

}  // namespace tcs
