// SPDX-License-Identifier: Apache-2.0
// Reading what a probe printed: a member of another type counts as absent.
#pragma once
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "facts/facts.h"
#include "host/host.h"

namespace tcs {

inline bool int_of(const Json& object, const char* name, int& out) {
  const Json* value = object.find(name);
  uint64_t number = 0;
  if (value == nullptr || !value->is(Json::Kind::Number)) return false;
  if (!parse_number(value->text, 1000000, number)) return false;
  out = static_cast<int>(number);
  return true;
}

inline Text text_of(const Json& object, const char* name, const char* from) {
  const Json* value = object.find(name);
  if (value == nullptr || !value->is(Json::Kind::String) || value->text.empty()) return {};
  return Text(value->text, from);
}

inline Flag flag_of(const Json& object, const char* name, const char* from) {
  const Json* value = object.find(name);
  if (value == nullptr || !value->is(Json::Kind::Bool)) return {};
  return Flag(value->boolean, from);
}

// "9.0" as both libraries print it; anything else is unknown.
inline Text capability_of(const Json& object, const char* from) {
  const Text cc = text_of(object, "cc", from);
  Sm sm;
  const bool valid = cc.known() && parse_sm_dotted(cc.value(), sm) && sm.plain() && sm.major > 0;
  return valid ? cc : Text();
}

// CUcomputemode of cuda.h, and nvmlComputeMode_t of nvml.h, have the same numbers.
inline Text compute_mode_of(const Json& object, const char* from) {
  constexpr const char* kModes[] = {"default", "exclusive-thread", "prohibited",
                                    "exclusive-process"};
  int mode = 0;
  return int_of(object, "compute_mode", mode) && mode < 4 ? Text(kModes[mode], from) : Text();
}

// The child's one line, where it is `probe`'s.
inline bool read_answer(const Outcome& outcome, const char* probe, Json& out) {
  Result<Json> answer = parse_json(trim(outcome.out));
  if (!outcome.ok() || !answer || !text_of(*answer, "probe", "").is(probe)) return false;
  out = std::move(*answer);
  return true;
}

}  // namespace tcs
