// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "facts/toolkit_parts.h"
#include "memory_host.h"

using namespace tcs;

namespace {

// A program with one section of constants.
std::string program_with(const std::string& constants) {
  const std::string names("\0.rodata\0.shstrtab\0", 19);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof header + constants.size() + names.size();
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = constants.size();
  sections[2].sh_name = 9;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof header + constants.size();
  sections[2].sh_size = names.size();
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  out += constants + names;
  return out.append(reinterpret_cast<const char*>(sections), sizeof sections);
}

Text cicc_of(const std::string& bytes) {
  MemoryHost host;
  host.files["/opt/cuda/nvvm/bin/cicc"] = bytes;
  host.executables.insert("/opt/cuda/nvvm/bin/cicc");
  Toolkit t;
  t.root = Text("/opt/cuda");
  t.driver_dir = Text("/opt/cuda/bin");
  DryRun dry;
  dry.cicc_dir = "/opt/cuda/nvvm/bin";
  read_cicc_release(host, dry, t);
  return t.cicc;
}

const char* const kLine = "Cuda compilation tools, release 13.0, V13.0.88\n";

}  // namespace

TEST_CASE("cicc's release is read from its constants, wherever a window of the file ends") {
  const size_t window = 1u << 20;
  for (size_t before : {size_t{0}, window - 100, window - 64, window - 60, window - 20, window - 1,
                        window, 2 * window - 90}) {
    INFO(before);
    CHECK(cicc_of(program_with(std::string(before, 'x') + kLine)).is("13.0.88"));
  }
}

TEST_CASE("a cicc that says nothing, or is no program, leaves its release unknown") {
  CHECK_FALSE(cicc_of(program_with("Cuda compilation tools")).known());
  CHECK_FALSE(cicc_of(program_with("")).known());
  CHECK_FALSE(cicc_of(kLine).known());
  CHECK_FALSE(cicc_of("").known());
}
