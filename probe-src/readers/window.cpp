// SPDX-License-Identifier: Apache-2.0
#include "readers/window.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace tcs {

Window::Window(File& file, uint64_t base, uint64_t size, size_t step)
    : file_(file), base_(base), size_(size), step_(step) {
  base_ = std::min(base_, file.size());
  size_ = std::min(size_, file.size() - base_);
}

bool Window::get(uint64_t offset, size_t length, Bytes& out) {
  if (length > step_ || offset > size_ || length > size_ - offset) return false;
  if (offset >= at_ && Bytes(buffer_).sub(offset - at_, length, out)) return true;
  size_t take = static_cast<size_t>(std::min<uint64_t>(step_, size_ - offset));
  at_ = offset;
  if (!file_.read(base_ + offset, take, buffer_)) {
    buffer_.clear();
    return false;
  }
  return Bytes(buffer_).sub(0, length, out);
}

bool Window::text(uint64_t offset, uint64_t end, size_t limit, std::string& out) {
  end = std::min(end, size_);
  Bytes bytes;
  if (offset >= end) return false;
  size_t length = static_cast<size_t>(std::min<uint64_t>({limit, step_, end - offset}));
  if (!get(offset, length, bytes)) return false;
  size_t nul = bytes.view().find('\0');
  out.assign(bytes.view().substr(0, nul));
  return nul != std::string_view::npos || length == limit;
}

Error Window::wrong(uint64_t offset, std::string text) const {
  return Error{std::move(text), hex(base_ + offset)};
}

Error Window::truncated(uint64_t offset, uint64_t length, const char* what) const {
  uint64_t there = offset < size_ ? size_ - offset : 0;
  if (there >= length) return wrong(offset, cat(what, " could not be read"));
  return wrong(offset, cat(what, " takes ", length, " bytes, but ", there, " are left"));
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace tcs
