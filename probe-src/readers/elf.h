// SPDX-License-Identifier: Apache-2.0
// Sections and dynamic entries of ELF64 files, read by small positioned reads.
#pragma once
#include <cstdint>
#include <string>

#include "base/list.h"
#include "base/result.h"
#include "host/host.h"

namespace tcs {

struct ElfSection {
  std::string name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint64_t entry_size = 0;
};

// `base`: where the ELF image begins in the file (an ar member), `size` its length there.
struct ElfFile {
  uint16_t machine = 0;  // EM_X86_64 62, EM_AARCH64 183, EM_CUDA 190
  uint32_t e_flags = 0;
  uint16_t type = 0;
  uint8_t os_abi = 0;
  uint8_t abi_version = 0;
  List<ElfSection> sections;
  const ElfSection* section(const char* name) const;
};
Result<ElfFile> read_elf(File& file, uint64_t base, uint64_t size);

struct ElfDynamic {
  uint16_t machine = 0;
  std::string soname;
  List<std::string> needed;
  List<std::string> rpath;    // DT_RPATH, split at ':', $ORIGIN not expanded
  List<std::string> runpath;  // DT_RUNPATH
};
// Of a shared library or program at `path`; works with or without section headers.
Result<ElfDynamic> read_dynamic(const Host& host, const std::string& path);

// True when the dynamic symbol table of `path` defines `symbol`.
Result<bool> defines_symbol(const Host& host, const std::string& path, const std::string& symbol);

// True when one of the symbols that `path` needs from others is `wanted`.
Result<bool> needs_symbol(const Host& host, const std::string& path,
                          bool (*wanted)(const std::string& name));

}  // namespace tcs
