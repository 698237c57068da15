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

std::string gate_path(const Host& host);  // "" = not at hand
std::string host_compiler_of(const Facts& facts, const Inputs& in);
// Takes out of the environment what an option takes the place of.
void forget_replaced(const Request& request, const Inputs& in, StringMap& users);

}  // namespace tcs
