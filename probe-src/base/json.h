// SPDX-License-Identifier: Apache-2.0
// JSON values, a strict reader (RFC 8259) and a deterministic writer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/list.h"
#include "base/result.h"
#include "base/text.h"
#include "base/value.h"

namespace tcs {

// Objects keep the order in which members were added. Numbers keep their source text, so nothing is
// lost on the way through. `line`/`column` (from 1) say where a read value began; 0 when made here.
struct Json {
  enum class Kind { Null, Bool, Number, String, Array, Object };
  Kind kind = Kind::Null;
  bool boolean = false;
  std::string text;  // String: the value, UTF-8; Number: its digits
  List<Json> items;
  List<std::pair<std::string, Json>> members;
  int line = 0;
  int column = 0;

  TCS_VALUE(Json);
  Json(Json&&) noexcept;  // a tree is no small thing to copy
  Json& operator=(Json&&) noexcept;
  Json(bool b) : kind(Kind::Bool), boolean(b) {}                     // NOLINT: implicit by design
  Json(std::string s) : kind(Kind::String), text(std::move(s)) {}    // NOLINT
  Json(std::string_view s) : kind(Kind::String), text(s) {}          // NOLINT
  Json(const char* s) : kind(Kind::String), text(s) {}               // NOLINT
  Json(int v) : kind(Kind::Number), text(std::to_string(v)) {}       // NOLINT
  Json(int64_t v) : kind(Kind::Number), text(std::to_string(v)) {}   // NOLINT
  Json(uint64_t v) : kind(Kind::Number), text(std::to_string(v)) {}  // NOLINT
  static Json array() {
    Json j;
    j.kind = Kind::Array;
    return j;
  }
  static Json object() {
    Json j;
    j.kind = Kind::Object;
    return j;
  }

  bool is(Kind k) const { return kind == k; }
  const Json* find(std::string_view name) const;  // null when absent or not an object
  Json& add(const Piece& name, Json value);       // appends a member, returns *this
  Json& add(const Piece& name, const std::string& value);
  Json& add(const Piece& name, const char* value);
  Json& push(Json value);  // appends an item, returns *this
  const char* kind_name() const;
  std::string place() const;  // "line 3, column 7"
};

struct JsonLimits {
  size_t bytes = 16u << 20;
  int depth = 64;
  size_t values = 1u << 20;
};

// Whole text or an error whose place is "line L, column C". Duplicate names, trailing commas,
// comments, NaN, lone surrogates, invalid UTF-8, text after the value are errors.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// indent 0 = one line. Ends without a newline. Invalid UTF-8 bytes become U+FFFD.
std::string write_json(const Json& value, int indent = 1);

}  // namespace tcs
