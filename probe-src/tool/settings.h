// SPDX-License-Identifier: Apache-2.0
// What the user set, wherever it was set: CMake variables (--set NAME=VALUE), then the environment.
#pragma once
#include <string>

#include "base/json.h"
#include "base/list.h"
#include "facts/gather.h"
#include "findings/texts.h"

namespace tcs {

struct Setting {
  bool set = false;
  std::string value;
  std::string from;  // "TORCH_CUDA_ARCH_LIST (environment)"
};

// The module's own input of that name: --set NAME, else environment TORCH_CUDA_STACK_NAME.
Setting own_input(const Host& host, const Inputs& in, const std::string& name);

// The inputs of a build: lists and targets, the one that counts first. `environment`: this
// process's, or that of a recorded machine.
StringMap variables_of(const Host& host);  // those that a request is made of
Request make_request(const StringMap& environment, const Inputs& in);
// PURPOSE, else a source tree of PyTorch is what is built.
void settle_purpose(const Inputs& in, const Facts& facts, Request& request);

// Builds, and tries on the devices, the images of the plan that `request` leads to; of a recorded
// machine nothing. The facts are in order afterwards. (probe.cpp)
void probe_plan(Host& host, const Inputs& in, const Request& request, DriverChild& child,
                Facts& facts);

// Empty, or a word of CMake's for false.
bool is_off(const std::string& value);

// FAIL_ON and ALLOW; an unknown word is an error that lists the words there are.
Result<Policy> make_policy(const Host& host, const Inputs& in);
Result<Done> set_fail_on(const std::string& word, Policy& policy);

// Of what is printed: LANG of the module, else the locale; English but where that is Chinese.
Result<Language> make_language(const Host& host, const Inputs& in);
Result<Language> language_named(const std::string& word);  // zh or en

// The user's cache: CACHE_DIR, else below XDG_CACHE_HOME or HOME; "" = switched off or nowhere. As
// the module reads it (_tcs_core.cmake): a relative CACHE_DIR is an error.
Result<std::string> cache_folder(const Host& host, const Inputs& in);

// The values of --set NAME=VALUE. `names`: those that are taken, null = all of them.
Result<Done> take_sets(const List<std::string>& pairs, const List<std::string>* names, Inputs& in);
// The names that docs/internals.md has.
const List<std::string>& input_names();

// Documents: each error has the file's path.
Result<std::string> read_document(const Host& host, const std::string& path);
Result<Json> read_json_file(const Host& host, const std::string& path);
Result<Facts> read_facts_file(const Host& host, const std::string& path,
                              List<std::string>& unknown_members);
Result<Request> read_request_file(const Host& host, const std::string& path,
                                  List<std::string>& unknown_members);

// Seconds, 1 to 3600.
Result<int> timeout_ms_of(const Host& host, const Inputs& in);

}  // namespace tcs
