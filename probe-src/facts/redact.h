// SPDX-License-Identifier: Apache-2.0
// Facts for a bug report: who and where is taken out, what is judged stays judged (docs/facts.md).
#pragma once
#include <string>

#include "base/json.h"
#include "base/list.h"
#include "host/host.h"

namespace tcs {

// What this user and this machine are called, beside what the facts themselves give away.
struct Identity {
  List<std::string> homes, users, hosts;
};
Identity own_identity(const Host& host);

// Every text of `facts`, whatever member it stands in, with stable placeholders: equal texts stay
// equal, a path stays below what it was below, a UUID stays a UUID.
Json redact(const Json& facts, const Identity& own);

// TOKEN, KEY, SECRET, PASSWORD ... in a variable's name: such a variable is never recorded.
bool names_a_secret(const std::string& variable);

}  // namespace tcs
