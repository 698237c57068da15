// SPDX-License-Identifier: Apache-2.0
// What a toolkit answered, kept for the user's next project: the questions cost seconds, and the
// answers follow from files and variables that can be looked at in milliseconds.
#pragma once
#include <string>

#include "facts/gather.h"

namespace tcs {

// Facts kept in one file of the cache, `slot` below its folder, under exactly `key`. A cache that
// cannot be read or written is no error.
Result<Facts> recall_facts(const Host& host, const Inputs& in, const std::string& slot,
                           const std::string& key);
void keep_facts(Host& host, const Inputs& in, const std::string& slot, const std::string& key,
                const Facts& facts);

// Everything that the answers of `toolkit` (located, not yet questioned) may depend on: its parts,
// the host compilers in reach, the C library's headers, the variables that nvcc and gcc read.
std::string answers_key(const Host& host, const Inputs& in, const Toolkit& toolkit);

// True where the cache holds answers under exactly this key. Inputs.cache_dir "" = no cache.
bool recall_answers(const Host& host, const Inputs& in, const std::string& key, Toolkit& toolkit,
                    HostCompiler& compiler);
// Keeps answers of a toolkit that works; what failed is asked again.
void keep_answers(Host& host, const Inputs& in, const std::string& key, const Toolkit& toolkit,
                  const HostCompiler& compiler);

}  // namespace tcs
