// SPDX-License-Identifier: Apache-2.0
// Checked views over bytes that came from files. Every read names its range first; a range outside
// the data is an answer (false), never an access. Little-endian, as all CUDA hosts are.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tcs {

class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* data, size_t size)
      : data_(static_cast<const unsigned char*>(data)), size_(size) {}
  explicit Bytes(std::string_view s) : Bytes(s.data(), s.size()) {}

  size_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_), size_}; }

  // The sub-range [offset, offset+length) into `out`; false when it is not wholly inside.
  bool sub(uint64_t offset, uint64_t length, Bytes& out) const {
    if (offset > size_ || length > size_ - offset) return false;
    out = Bytes(data_ + offset, static_cast<size_t>(length));
    return true;
  }
  // Little-endian integer or plain struct at `offset`; false when it is not wholly inside.
  template <class T>
  bool read(uint64_t offset, T& out) const {
    if (offset > size_ || sizeof(T) > size_ - offset) return false;
    std::memcpy(&out, data_ + offset, sizeof(T));
    return true;
  }

 private:
  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
};

// a + b without wrapping; false when it would.
inline bool checked_add(uint64_t a, uint64_t b, uint64_t& out) {
  return !__builtin_add_overflow(a, b, &out);
}
inline bool checked_mul(uint64_t a, uint64_t b, uint64_t& out) {
  return !__builtin_mul_overflow(a, b, &out);
}

}  // namespace tcs
