// SPDX-License-Identifier: Apache-2.0
#include "readers/elf.h"

#include "base/text.h"
#include "readers/window.h"

namespace tcs {
namespace {

constexpr size_t kElfPage = 4096;
constexpr uint64_t kMaxSections = 1u << 18;
constexpr size_t kMaxName = 256;  // longer names are cut: those that matter are short

// The table of section headers: ELF keeps its length and the index of the name table in section 0
// when they do not fit into 16 bits.
struct SectionTable {
  uint64_t count = 0;
  uint64_t names_index = 0;
  Elf64_Shdr names{};
};

Result<SectionTable> section_table(Window& window, const Elf64_Ehdr& header) {
  SectionTable table;
  if (header.e_shoff == 0) return table;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return window.wrong(58, cat("section header size is ", header.e_shentsize, "; expected 64"));
  }
  Elf64_Shdr first;
  if (!window.read(header.e_shoff, first)) {
    return window.truncated(header.e_shoff, sizeof first, "the section header table");
  }
  table.count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  table.names_index = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  if (table.count > kMaxSections) {
    return window.wrong(header.e_shoff,
                        cat(table.count, " sections; at most ", kMaxSections, " are read"));
  }
  if (table.count * sizeof first > window.size() - header.e_shoff) {
    return window.truncated(header.e_shoff, table.count * sizeof first, "the section header table");
  }
  if (table.names_index >= table.count) {
    return window.wrong(62, cat("section names are in section ", table.names_index, " of ",
                                table.count, "; expected a lower index"));
  }
  uint64_t at = header.e_shoff + table.names_index * sizeof first;
  if (!window.read(at, table.names)) return window.truncated(at, sizeof first, "a section header");
  return table;
}

}  // namespace

Result<Elf64_Ehdr> read_elf_header(Window& window) {
  Elf64_Ehdr header;
  if (!window.read(0, header)) return window.truncated(0, sizeof header, "the ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return window.wrong(0, "the ELF magic is not there");
  }
  int bits = header.e_ident[EI_CLASS], order = header.e_ident[EI_DATA];
  if (bits != ELFCLASS64) {
    return window.wrong(EI_CLASS, cat("ELF class is ", bits, "; expected 2 (64-bit)"));
  }
  if (order != ELFDATA2LSB) {
    return window.wrong(EI_DATA,
                        cat("ELF data encoding is ", order, "; expected 1 (little-endian)"));
  }
  return header;
}

const ElfSection* ElfFile::section(const char* name) const {
  for (const ElfSection& s : sections) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

Result<ElfFile> read_elf(File& file, uint64_t base, uint64_t size) {
  Window window(file, base, size, kElfPage);
  Window names(file, base, size, kElfPage);
  Result<Elf64_Ehdr> header = read_elf_header(window);
  if (!header) return header.error();
  ElfFile elf;
  elf.machine = header->e_machine;
  elf.e_flags = header->e_flags;
  elf.type = header->e_type;
  elf.os_abi = header->e_ident[EI_OSABI];
  elf.abi_version = header->e_ident[EI_ABIVERSION];
  Result<SectionTable> table = section_table(window, *header);
  if (!table) return table.error();
  uint64_t names_end = 0;
  if (!checked_add(table->names.sh_offset, table->names.sh_size, names_end)) names_end = UINT64_MAX;
  for (uint64_t i = 0; i < table->count; ++i) {
    uint64_t at = header->e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr s;
    if (!window.read(at, s)) return window.truncated(at, sizeof s, "a section header");
    ElfSection out{{}, s.sh_type, s.sh_flags, s.sh_offset, s.sh_size, s.sh_link, s.sh_entsize};
    uint64_t name_at = 0;
    if (!checked_add(table->names.sh_offset, s.sh_name, name_at) ||
        !names.text(name_at, names_end, kMaxName, out.name)) {
      return window.wrong(at, cat("the name of section ", i, " is at ", s.sh_name,
                                  " of a name table of ", table->names.sh_size, " bytes"));
    }
    elf.sections.push_back(std::move(out));
  }
  return elf;
}

}  // namespace tcs
