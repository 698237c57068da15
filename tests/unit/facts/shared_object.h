// SPDX-License-Identifier: Apache-2.0
// Makes the bytes of a small shared library: what the loader and the image reader look at, no code.
#pragma once
#include <elf.h>

#include <cstring>
#include <string>

#include "base/list.h"

namespace tcs {

struct SharedObject {
  std::string soname;
  List<std::string> needed;
  std::string rpath, runpath;
  List<std::string> symbols;  // defined ones
  List<std::string> undefined;
  List<List<uint32_t>> fat;  // fat binaries, each a list of archs: {80, 90}
  uint16_t machine = EM_X86_64;

  std::string bytes() const {
    std::string strings(1, '\0'), dynamic, symbol_table(sizeof(Elf64_Sym), '\0');
    auto intern = [&](const std::string& s) {
      uint64_t at = strings.size();
      strings += s + '\0';
      return at;
    };
    auto tag = [&](int64_t name, uint64_t value) {
      Elf64_Dyn entry{};
      entry.d_tag = name;
      entry.d_un.d_val = value;
      put(dynamic, entry);
    };
    for (const std::string& name : needed) tag(DT_NEEDED, intern(name));
    if (!soname.empty()) tag(DT_SONAME, intern(soname));
    if (!rpath.empty()) tag(DT_RPATH, intern(rpath));
    if (!runpath.empty()) tag(DT_RUNPATH, intern(runpath));
    for (const std::string& name : undefined) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<uint32_t>(intern(name));
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      put(symbol_table, symbol);
    }
    for (const std::string& name : symbols) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<uint32_t>(intern(name));
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_shndx = 1;
      symbol.st_value = 1;
      put(symbol_table, symbol);
    }
    const uint64_t dynamic_at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
    const uint64_t dynamic_size = dynamic.size() + 6 * sizeof(Elf64_Dyn);
    const uint64_t hash_at = dynamic_at + dynamic_size;
    const std::string hash = hash_table();
    const uint64_t symbols_at = hash_at + hash.size();
    const uint64_t strings_at = symbols_at + symbol_table.size();
    tag(DT_GNU_HASH, hash_at);
    tag(DT_SYMTAB, symbols_at);
    tag(DT_SYMENT, sizeof(Elf64_Sym));
    tag(DT_STRTAB, strings_at);
    tag(DT_STRSZ, strings.size());
    tag(DT_NULL, 0);
    std::string body = dynamic + hash + symbol_table + strings;
    const std::string fat_bytes = fat_section();
    const uint64_t fat_at = dynamic_at + body.size();
    body += fat_bytes;
    return headers(body, dynamic_at, dynamic_size, fat_at, fat_bytes.size());
  }

 private:
  template <class T>
  static void put(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  // DT_GNU_HASH: one bucket, one chain through every symbol, a Bloom filter that lets all pass.
  std::string hash_table() const {
    std::string out;
    const uint32_t count = static_cast<uint32_t>(symbols.size());
    const uint32_t first = 1 + static_cast<uint32_t>(undefined.size());
    for (uint32_t word : {1u, first, 1u, 0u, ~0u, ~0u, count != 0 ? first : 0u}) put(out, word);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t hash = 5381;
      for (char c : symbols[i]) hash = hash * 33 + static_cast<unsigned char>(c);
      put(out, i + 1 < count ? hash & ~1u : hash | 1u);
    }
    if (out.size() % 8 != 0) out.resize(out.size() + 4);
    return out;
  }
  std::string fat_section() const {
    std::string out;
    for (const List<uint32_t>& archs : fat) {
      std::string entries;
      for (uint32_t arch : archs) {
        std::string entry(48, '\0');
        const uint16_t kind = 2, version = 0x101;
        const uint32_t header = 48;
        const uint64_t payload = 8;
        std::memcpy(&entry[0], &kind, 2);
        std::memcpy(&entry[2], &version, 2);
        std::memcpy(&entry[4], &header, 4);
        std::memcpy(&entry[8], &payload, 8);
        std::memcpy(&entry[28], &arch, 4);
        entries += entry + "codecode";
      }
      put(out, uint32_t{0xBA55ED50});
      put(out, uint16_t{1});
      put(out, uint16_t{16});
      put(out, uint64_t{entries.size()});
      out += entries;
    }
    return out;
  }
  std::string headers(std::string body, uint64_t dynamic_at, uint64_t dynamic_size, uint64_t fat_at,
                      uint64_t fat_size) const {
    const std::string names = std::string(1, '\0') + ".nv_fatbin" + '\0' + ".shstrtab" + '\0';
    const uint64_t names_at = dynamic_at + body.size();
    body += names;
    const uint64_t table_at = dynamic_at + body.size();
    Elf64_Shdr sections[3] = {};
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_offset = fat_at;
    sections[1].sh_size = fat_size;
    sections[2].sh_name = 12;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = names_at;
    sections[2].sh_size = names.size();
    for (const Elf64_Shdr& section : sections) put(body, section);
    Elf64_Ehdr elf{};
    std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    elf.e_ident[EI_DATA] = ELFDATA2LSB;
    elf.e_ident[EI_VERSION] = EV_CURRENT;
    elf.e_type = ET_DYN;
    elf.e_machine = machine;
    elf.e_version = EV_CURRENT;
    elf.e_phoff = sizeof elf;
    elf.e_ehsize = sizeof elf;
    elf.e_phentsize = sizeof(Elf64_Phdr);
    elf.e_phnum = 2;
    elf.e_shoff = table_at;
    elf.e_shentsize = sizeof(Elf64_Shdr);
    elf.e_shnum = 3;
    elf.e_shstrndx = 2;
    Elf64_Phdr load{}, dyn{};
    load.p_type = PT_LOAD;
    load.p_filesz = load.p_memsz = dynamic_at + body.size();
    dyn.p_type = PT_DYNAMIC;
    dyn.p_offset = dyn.p_vaddr = dynamic_at;
    dyn.p_filesz = dyn.p_memsz = dynamic_size;
    std::string out;
    put(out, elf);
    put(out, load);
    put(out, dyn);
    return out + body;
  }
};

}  // namespace tcs
