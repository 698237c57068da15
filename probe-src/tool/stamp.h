// SPDX-License-Identifier: Apache-2.0
// What must hold for 'nothing changed' between two configures.
#pragma once
#include <string>

#include "facts/gather.h"

namespace tcs {

// The stamp of a finished configure: inputs, environment, and the state of every file that an
// answer came from.
std::string make_stamp(const Host& host, const Inputs& in, const Facts& facts);
// True when a stamp made now over the same files would read the same.
bool stamp_holds(const Host& host, const Inputs& in, const std::string& stamp);

}  // namespace tcs
