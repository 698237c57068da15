// SPDX-License-Identifier: Apache-2.0
// A value or the reason why there is none. Nothing in this code base throws. Not std::optional,
// which is some thirty functions for each type.
#pragma once
#include <string>
#include <utility>

namespace tcs {

// `text` says what is wrong with the value found and what was expected; `place` where it was found
// (path, path:offset, line:column, option name).
struct Error {
  std::string text;
  std::string place;
  std::string str() const { return place.empty() ? text : place + ": " + text; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), ok_(true) {}  // NOLINT: implicit by design
  Result(Error error) : error_(std::move(error)) {}         // NOLINT: implicit by design
  explicit operator bool() const { return ok_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  const Error& error() const { return error_; }

 private:
  T value_{};
  Error error_;
  bool ok_ = false;
};

struct Done {};  // Result<Done>: worked, nothing to return

}  // namespace tcs
