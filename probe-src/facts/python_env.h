// SPDX-License-Identifier: Apache-2.0
// What an interpreter is and where it takes packages from, learnt from its files where they tell
// all.
#pragma once
#include <string>

#include "base/list.h"
#include "facts/gather.h"

namespace tcs {

// True for an ELF file: not a shim or another script.
bool is_elf_program(const Host& host, const std::string& path);

// Fills everything but `elsewhere`. False when the files do not tell (a shim or another script, an
// unknown layout): then `reason` says why and only the interpreter itself can answer.
bool python_from_layout(const Host& host, const std::string& executable, PythonFacts& out);

// Asks the interpreter, one child with a deadline.
bool python_from_child(Host& host, const std::string& executable, int timeout_ms, PythonFacts& out);

}  // namespace tcs
