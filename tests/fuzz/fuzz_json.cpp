// SPDX-License-Identifier: Apache-2.0
// A text is a value that survives being written and read, or an error with a place. Where
// nlohmann/json is there, it must agree.
#include "base/json.h"
#include "fuzz.h"
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define TCS_HAVE_ORACLE
#endif

using fuzz::require;

// Known to differ: it takes a byte order mark, a NUL as the end and repeated names, refuses numbers
// that are no double, and has no limits.
static void compare(const std::string& text, const tcs::Result<tcs::Json>& ours) {
#ifdef TCS_HAVE_ORACLE
  if (tcs::starts_with(text, "\xEF\xBB\xBF") || text.find('\0') != std::string::npos) return;
  nlohmann::json theirs = nlohmann::json::parse(text, nullptr, false);
  if (!ours) {
    const std::string& why = ours.error().text;
    const bool stricter = tcs::contains(why, "stands twice") || tcs::contains(why, "more than") ||
                          tcs::contains(why, "nested deeper");
    require(theirs.is_discarded() || stricter, "refused here only", ours.error().str());
  } else if (theirs.is_discarded()) {
    require(text.find_first_of("eE") != std::string::npos || text.size() > 300, "taken here only",
            text);
  } else {
    require(nlohmann::json::parse(tcs::write_json(*ours)) == theirs, "the same value", text);
  }
#else
  (void)text, (void)ours;
#endif
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tcs::Result<tcs::Json> value = tcs::parse_json(text);
  if (!value) require(tcs::starts_with(value.error().place, "line "), "a place", text);
  for (int indent = 0; value && indent < 2; ++indent) {
    const std::string written = tcs::write_json(*value, indent);
    tcs::Result<tcs::Json> again = tcs::parse_json(written);
    require(again && tcs::write_json(*again, indent) == written, "written and read again", written);
  }
  compare(text, value);
  return 0;
}
