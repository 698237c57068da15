// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tcs {

// What cat() joins: text, a character or a whole number, made from any of them without being asked.
// As a parameter it costs one call where a std::string costs four, and nothing to destroy.
class Piece {
 public:
  Piece(std::string_view s) : text_(s.data()), size_(s.size()) {}    // NOLINT: implicit by design
  Piece(const std::string& s) : text_(s.data()), size_(s.size()) {}  // NOLINT
  Piece(const char* s) : Piece(std::string_view(s)) {}               // NOLINT
  Piece(char c);                                                     // NOLINT
  Piece(int v);                                                      // NOLINT
  Piece(long v);                                                     // NOLINT
  Piece(long long v);                                                // NOLINT
  Piece(unsigned v);                                                 // NOLINT
  Piece(unsigned long v);                                            // NOLINT
  Piece(unsigned long long v);                                       // NOLINT
  std::string_view view() const { return {text_ != nullptr ? text_ : own_, size_}; }

 private:
  void number(unsigned long long v, bool negative);

  const char* text_ = nullptr;  // null: in own_
  size_t size_ = 0;
  char own_[24] = {};
};

}  // namespace tcs
