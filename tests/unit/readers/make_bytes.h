// SPDX-License-Identifier: Apache-2.0
// Builds small ELF files, archives and fat binaries in memory, right or deliberately wrong.
#pragma once
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/text.h"

namespace make {

template <class T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
std::string patched(std::string bytes, size_t offset, T value) {
  std::memcpy(&bytes.at(offset), &value, sizeof value);
  return bytes;
}

// ---- fat binaries (docs/fatbin.md)

struct Entry {
  uint16_t kind = 2;
  uint32_t arch = 90;
  uint64_t flags = 0x11;
  uint16_t isa_major = 0, isa_minor = 0;
  std::string payload = std::string(16, 'x');
};
inline Entry cubin(uint32_t arch, uint64_t more_flags = 0) {
  return {2, arch, 0x11 | more_flags, 1, 7, std::string(16, 'x')};
}
inline Entry ptx(uint32_t arch, uint16_t major, uint16_t minor, uint64_t more_flags = 0) {
  return {1, arch, 0x11 | more_flags, major, minor, std::string(16, 'x')};
}

inline std::string entry(const Entry& e) {
  std::string h = raw(e.kind) + raw(uint16_t{0x101}) + raw(uint32_t{64}) +
                  raw(uint64_t{e.payload.size()}) + raw(uint64_t{0}) + raw(e.isa_minor) +
                  raw(e.isa_major) + raw(e.arch) + raw(uint64_t{0}) + raw(e.flags);
  h.resize(64);
  return h + e.payload;
}
inline std::string fat_binary(const std::vector<Entry>& entries) {
  std::string body;
  for (const Entry& e : entries) body += entry(e);
  return raw(uint32_t{0xba55ed50}) + raw(uint16_t{1}) + raw(uint16_t{16}) +
         raw(uint64_t{body.size()}) + body;
}

// ---- ELF

struct Section {
  std::string name;
  std::string content;
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0;
};

inline Elf64_Ehdr elf_header(uint16_t type, uint16_t machine) {
  Elf64_Ehdr h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_ident[EI_VERSION] = 1;
  h.e_type = type;
  h.e_machine = machine;
  h.e_version = 1;
  h.e_ehsize = sizeof h;
  h.e_shentsize = sizeof(Elf64_Shdr);
  h.e_phentsize = sizeof(Elf64_Phdr);
  return h;
}

// Sections 1..n are those given, section n + 1 holds the names; the headers come last.
inline std::string elf(const std::vector<Section>& sections, uint16_t machine = EM_X86_64,
                       uint32_t e_flags = 0, uint8_t os_abi = 0, uint8_t abi_version = 0) {
  Elf64_Ehdr h = elf_header(ET_DYN, machine);
  h.e_flags = e_flags;
  h.e_ident[EI_OSABI] = os_abi;
  h.e_ident[EI_ABIVERSION] = abi_version;
  std::string body, names(1, '\0'), headers = raw(Elf64_Shdr{});
  auto add = [&](const std::string& name, const std::string& content, uint32_t type,
                 uint64_t flags) {
    Elf64_Shdr s{};
    s.sh_name = static_cast<uint32_t>(names.size());
    names += name + '\0';
    s.sh_type = type;
    s.sh_flags = flags;
    s.sh_offset = sizeof h + body.size();
    s.sh_size = name == ".shstrtab" ? names.size() : content.size();
    body += name == ".shstrtab" ? names : content;
    headers += raw(s);
  };
  for (const Section& s : sections) add(s.name, s.content, s.type, s.flags);
  add(".shstrtab", "", SHT_STRTAB, 0);
  h.e_shoff = sizeof h + body.size();
  h.e_shnum = static_cast<uint16_t>(sections.size() + 2);
  h.e_shstrndx = static_cast<uint16_t>(sections.size() + 1);
  return raw(h) + body + headers;
}

// Where in elf() the header of section `index` begins.
inline size_t section_header(const std::string& bytes, size_t index) {
  uint64_t at = 0;
  std::memcpy(&at, &bytes.at(40), sizeof at);
  return static_cast<size_t>(at) + index * sizeof(Elf64_Shdr);
}

inline std::string cubin_elf(uint32_t e_flags, uint8_t os_abi, uint8_t version,
                             const std::string& note = "") {
  std::vector<Section> sections;
  if (!note.empty()) sections.push_back({".note.nv.tkinfo", note, SHT_NOTE});
  return elf(sections, 190, e_flags, os_abi, version);
}

// ---- ar

inline std::string member(const std::string& name, const std::string& content) {
  std::string h = name;
  h.resize(16, ' ');
  h += "0           0     0     100644  ";
  std::string size = std::to_string(content.size());
  size.resize(10, ' ');
  return h + size + "`\n" + content + (content.size() % 2 ? "\n" : "");
}
inline std::string archive(const std::vector<std::string>& members) {
  std::string out = "!<arch>\n";
  for (const std::string& m : members) out += m;
  return out;
}

// ---- shared libraries without section headers, as after a strip of everything

constexpr uint64_t kLoadAddress = 0x10000;  // so that addresses and offsets differ

struct Library {
  std::string soname;
  std::vector<std::string> needed = {};
  std::string rpath = {}, runpath = {};
  std::vector<std::string> defines = {}, undefined = {};
  bool dynamic = true, hash = true;
  uint16_t machine = EM_X86_64;
};

inline uint32_t gnu_hash(const std::string& s) {
  uint32_t h = 5381;
  for (char c : s) h = h * 33 + static_cast<unsigned char>(c);
  return h;
}

inline std::string library(const Library& lib) {
  std::string strings(1, '\0');
  auto intern = [&](const std::string& s) {
    uint64_t at = strings.size();
    strings += s + '\0';
    return at;
  };
  std::vector<Elf64_Dyn> tags;
  auto tag = [&](int64_t name, uint64_t value) {
    Elf64_Dyn d{};
    d.d_tag = name;
    d.d_un.d_val = value;
    tags.push_back(d);
  };
  for (const std::string& n : lib.needed) tag(DT_NEEDED, intern(n));
  if (!lib.soname.empty()) tag(DT_SONAME, intern(lib.soname));
  if (!lib.rpath.empty()) tag(DT_RPATH, intern(lib.rpath));
  if (!lib.runpath.empty()) tag(DT_RUNPATH, intern(lib.runpath));
  std::string symbols = raw(Elf64_Sym{});
  auto symbol = [&](const std::string& name, uint16_t section) {
    Elf64_Sym s{};
    s.st_name = static_cast<uint32_t>(intern(name));
    s.st_shndx = section;
    symbols += raw(s);
  };
  for (const std::string& u : lib.undefined) symbol(u, SHN_UNDEF);
  uint32_t first = static_cast<uint32_t>(lib.undefined.size()) + 1;
  std::string chain;
  for (size_t i = 0; i < lib.defines.size(); ++i) {  // one bucket holds them all
    symbol(lib.defines[i], 7);
    uint32_t last = i + 1 == lib.defines.size() ? 1 : 0;
    chain += raw((gnu_hash(lib.defines[i]) & ~1u) | last);
  }
  std::string hash = raw(uint32_t{1}) + raw(first) + raw(uint32_t{1}) + raw(uint32_t{6}) +
                     raw(uint64_t{~0ull}) + raw(lib.defines.empty() ? 0u : first) + chain;
  Elf64_Ehdr h = elf_header(ET_DYN, lib.machine);
  h.e_phoff = sizeof h;
  h.e_phnum = lib.dynamic ? 2 : 1;
  uint64_t at = sizeof h + h.e_phnum * sizeof(Elf64_Phdr);
  uint64_t symbols_at = at + strings.size(), hash_at = symbols_at + symbols.size();
  tag(DT_STRTAB, kLoadAddress + at);
  tag(DT_STRSZ, strings.size());
  tag(DT_SYMTAB, kLoadAddress + symbols_at);
  if (lib.hash) tag(DT_GNU_HASH, kLoadAddress + hash_at);
  tag(DT_NULL, 0);
  std::string dynamic;
  for (const Elf64_Dyn& d : tags) dynamic += raw(d);
  std::string body = strings + symbols + hash;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_vaddr = kLoadAddress;
  load.p_filesz = load.p_memsz = at + body.size() + dynamic.size();
  Elf64_Phdr where{};
  where.p_type = PT_DYNAMIC;
  where.p_offset = at + body.size();
  where.p_filesz = dynamic.size();
  return raw(h) + raw(load) + (lib.dynamic ? raw(where) : "") + body + dynamic;
}

}  // namespace make
