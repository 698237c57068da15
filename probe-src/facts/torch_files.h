// SPDX-License-Identifier: Apache-2.0
// Parts of gather_torch: text of a torch folder, and the libraries its process would load.
#pragma once
#include <string>
#include <string_view>

#include "base/list.h"
#include "facts/gather.h"

namespace tcs {

// The value that `name` is given in the text of torch/version.py, by a grammar of one line:
// NAME [: TYPE] = 'TEXT' | "TEXT" | None. Nothing is executed. False when there is no such line;
// `value` "" for None.
bool version_py_value(std::string_view text, std::string_view name, std::string& value);

// "13.2" of a local version part "cu132", "11.8" of "cu118"; "" for anything else.
std::string cuda_of_local_version(std::string_view version);

// The C++ level that a header's own #error guard asks for: 17 of "__cplusplus < 201703L"; 0 = none.
int standard_of_guard(std::string_view header);

// The folder that holds libtorch's shared libraries; "" when there is none.
std::string torch_library_folder(const Host& host, const Facts& facts);

// Facts.libraries: the CUDA libraries that the loader would find for this torch, and those it
// lacks.
void gather_torch_libraries(Host& host, const std::string& folder, Facts& facts);

// Facts.extensions: modules beside torch that need its libraries. After torch's own facts.
void gather_extensions(const Host& host, Facts& facts);

}  // namespace tcs
