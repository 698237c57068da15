// SPDX-License-Identifier: Apache-2.0
// Facts and requests from and to JSON (schema torch-cuda-stack/facts/1).
#pragma once
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/list.h"
#include "base/result.h"
#include "facts/facts.h"

namespace tcs {

// Members that the schema does not have are collected as "devices.list[0].colour (line 3, column
// 7)". Wrong types, unknown schema versions, out-of-range indices are errors with place.
Result<Facts> read_facts(std::string_view json, List<std::string>& unknown_members);
Result<Request> read_request(std::string_view json, List<std::string>& unknown_members);
Json facts_to_json(const Facts& facts);

// Makes a release that is none, like "cu118" for 11.8, unknown with a reason. Done by read_facts.
// (unreadable.cpp)
void forget_unreadable(Facts& facts);

// One element of a list of the facts as JSON: Device, LibCuda, Toolkit, TorchLibrary, Library,
// Extension.
template <class T>
std::string text_of(T& element);

// One order for the lists that have none, so that no verdict or text depends on the order in which
// things were found or written; and what one fact says of another that is unknown. Done by
// read_facts and gather_all. (order.cpp)
void order_facts(Facts& facts);

}  // namespace tcs
