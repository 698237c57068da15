// SPDX-License-Identifier: Apache-2.0
// What `run` and `plan` learn for make_drive() alike.
#pragma once
#include <string>

#include "base/string_map.h"
#include "facts/facts.h"
#include "facts/gather.h"
#include "host/host.h"

namespace tcs {

constexpr const char* kGate = "TorchCudaStackGate.cmake";

// A folder of this process's own below `base`; "" where there can be none. Somebody else's `base`
// is never used: a toolkit completed there is what a command builds with.
std::string own_folder(Host& host, const std::string& base);

std::string gate_path(const Host& host);  // "" = not at hand
// Of a variable that names another folder for it, which has none; "" = nothing is wrong.
std::string gate_fault(const Host& host);
std::string host_compiler_of(const Facts& facts, const Inputs& in);
// Takes out of the environment what an option takes the place of.
void forget_replaced(const Request& request, const Inputs& in, StringMap& users);

}  // namespace tcs
