// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/text.h"
#include "readers/elf.h"
#include "readers/window.h"

namespace tcs {
namespace {

constexpr size_t kDynamicPage = 4096;
constexpr size_t kMaxString = 4096;     // no path or soname is longer
constexpr uint64_t kMaxDynamic = 4096;  // of the dynamic section
constexpr int kMaxChain = 1 << 16;      // symbols with one hash bucket

// A shared library or program as the loader sees it: addresses through PT_LOAD, never sections.
class Program {
 public:
  explicit Program(File& file) : window_(file, 0, file.size(), kDynamicPage) {}
  Result<Done> load();
  bool tag(int64_t name, uint64_t& value) const;
  Result<Done> strings(int64_t name, List<std::string>& out);
  Result<bool> defines(const std::string& symbol);
  Result<bool> needs(bool (*wanted)(const std::string& name));
  uint16_t machine() const { return machine_; }

 private:
  Result<Done> segments(const Elf64_Ehdr& header);
  Result<Done> entries(const Elf64_Phdr& dynamic);
  bool offset_of(uint64_t address, uint64_t& offset) const;
  template <class T>
  bool read(uint64_t address, T& out) {
    uint64_t offset = 0;
    return offset_of(address, offset) && window_.read(offset, out);
  }
  Result<std::string> string_at(uint64_t index);
  Result<bool> is_definition(uint64_t index, const std::string& symbol);

  Window window_;
  uint16_t machine_ = 0;
  List<Elf64_Phdr> segments_;
  List<std::pair<int64_t, uint64_t>> tags_;
};

Result<Done> Program::load() {
  Result<Elf64_Ehdr> header = read_elf_header(window_);
  if (!header) return header.error();
  machine_ = header->e_machine;
  if (header->e_type != ET_DYN && header->e_type != ET_EXEC) {
    return window_.wrong(
        16, cat("ELF type is ", header->e_type, "; expected 2 (program) or 3 (shared library)"));
  }
  Result<Done> done = segments(*header);
  if (!done) return done;
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type == PT_DYNAMIC) return entries(s);
  }
  return Done{};  // linked statically: nothing is needed
}

Result<Done> Program::segments(const Elf64_Ehdr& header) {
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    return window_.wrong(54, cat("program header size is ", header.e_phentsize, "; expected 56"));
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    uint64_t at = 0;
    Elf64_Phdr segment;
    if (!checked_add(header.e_phoff, i * sizeof segment, at) || !window_.read(at, segment)) {
      return window_.truncated(header.e_phoff, header.e_phnum * sizeof segment,
                               "the program header table");
    }
    segments_.push_back(segment);
  }
  return Done{};
}

Result<Done> Program::entries(const Elf64_Phdr& dynamic) {
  for (uint64_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn); ++i) {
    uint64_t at = 0;
    Elf64_Dyn entry;
    if (!checked_add(dynamic.p_offset, i * sizeof entry, at) || !window_.read(at, entry)) {
      return window_.truncated(dynamic.p_offset, dynamic.p_filesz, "the dynamic section");
    }
    if (entry.d_tag == DT_NULL) return Done{};
    if (i == kMaxDynamic) {
      return window_.wrong(at, cat("the dynamic section has more than ", kMaxDynamic, " entries"));
    }
    tags_.push_back({entry.d_tag, entry.d_un.d_val});
  }
  return window_.wrong(dynamic.p_offset, "the dynamic section does not end with DT_NULL");
}

bool Program::tag(int64_t name, uint64_t& value) const {
  for (const auto& entry : tags_) {
    if (entry.first != name) continue;
    value = entry.second;
    return true;
  }
  return false;
}

bool Program::offset_of(uint64_t address, uint64_t& offset) const {
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type != PT_LOAD || address < s.p_vaddr || address - s.p_vaddr >= s.p_filesz) continue;
    return checked_add(s.p_offset, address - s.p_vaddr, offset);
  }
  return false;
}

Result<std::string> Program::string_at(uint64_t index) {
  uint64_t table = 0, size = 0, begin = 0, at = 0, end = 0;
  if (!tag(DT_STRTAB, table) || !tag(DT_STRSZ, size)) {
    return window_.wrong(0, "the dynamic section names no string table (DT_STRTAB, DT_STRSZ)");
  }
  if (!offset_of(table, begin)) {
    return window_.wrong(0, cat("DT_STRTAB is ", hex(table), ", outside every PT_LOAD segment"));
  }
  std::string text;
  if (index >= size || !checked_add(begin, size, end) || !checked_add(begin, index, at) ||
      !window_.text(at, end, kMaxString, text) || text.size() == kMaxString) {
    return window_.wrong(begin, cat("no string of at most ", kMaxString - 1, " bytes at ", index,
                                    " of a string table of ", size, " bytes"));
  }
  return text;
}

Result<Done> Program::strings(int64_t name, List<std::string>& out) {
  for (const auto& entry : tags_) {
    if (entry.first != name) continue;
    Result<std::string> text = string_at(entry.second);
    if (!text) return text.error();
    out.push_back(std::move(*text));
  }
  return Done{};
}

Result<bool> Program::is_definition(uint64_t index, const std::string& symbol) {
  uint64_t table = 0, at = 0;
  Elf64_Sym entry;
  if (!tag(DT_SYMTAB, table) || !checked_add(table, index * sizeof entry, at) || !read(at, entry)) {
    return window_.wrong(
        0, cat("symbol ", index, " is outside the file (DT_SYMTAB ", hex(table), ")"));
  }
  if (entry.st_shndx == SHN_UNDEF) return false;
  Result<std::string> name = string_at(entry.st_name);
  if (!name) return name.error();
  return *name == symbol;
}

// DT_GNU_HASH: four words, a Bloom filter, buckets, and for each symbol of a bucket its hash, with
// the lowest bit set on the last one.
Result<bool> Program::defines(const std::string& symbol) {
  struct {
    uint32_t buckets, first, bloom_words, bloom_shift;
  } head;
  uint64_t table = 0;
  if (!tag(DT_GNU_HASH, table)) {
    return window_.wrong(0, "no symbol hash table (DT_GNU_HASH) to look in");
  }
  uint32_t hash = 5381;
  for (char c : symbol) hash = hash * 33 + static_cast<unsigned char>(c);
  if (!read(table, head) || head.buckets == 0) {
    return window_.wrong(0, cat("DT_GNU_HASH (", hex(table), ") cannot be read"));
  }
  uint64_t buckets = table + sizeof head + uint64_t{8} * head.bloom_words;
  uint64_t chains = buckets + uint64_t{4} * head.buckets;
  uint32_t index = 0, link = 0;
  bool readable = read(buckets + uint64_t{4} * (hash % head.buckets), index);
  if (readable && index < head.first) return false;
  for (int steps = 0; readable && steps < kMaxChain; ++steps, ++index) {
    readable = read(chains + uint64_t{4} * (index - head.first), link);
    if (readable && (link | 1) == (hash | 1)) {
      Result<bool> found = is_definition(index, symbol);
      if (!found || *found) return found;
    }
    if (readable && (link & 1)) return false;
  }
  return window_.wrong(0, cat("DT_GNU_HASH (", hex(table), ") has a chain without an end"));
}

// Undefined symbols come first in the table: DT_GNU_HASH begins behind them.
Result<bool> Program::needs(bool (*wanted)(const std::string& name)) {
  uint64_t hash = 0, table = 0, at = 0;
  uint32_t first = 0;
  if (!tag(DT_GNU_HASH, hash) || !tag(DT_SYMTAB, table) || !read(hash + 4, first)) {
    return window_.wrong(0, "no symbol hash table (DT_GNU_HASH) to look in");
  }
  for (uint64_t i = 1; i < first && i < kMaxChain; ++i) {
    Elf64_Sym entry;
    if (!checked_add(table, i * sizeof entry, at) || !read(at, entry)) {
      return window_.wrong(0, cat("symbol ", i, " is outside the file"));
    }
    if (entry.st_shndx != SHN_UNDEF) continue;
    Result<std::string> name = string_at(entry.st_name);
    if (!name) return name.error();
    if (wanted(*name)) return true;
  }
  return false;
}

Result<Done> fill(Program& program, ElfDynamic& out) {
  List<std::string> soname, rpath, runpath;
  const std::pair<int64_t, List<std::string>*> wanted[] = {
      {DT_SONAME, &soname}, {DT_NEEDED, &out.needed}, {DT_RPATH, &rpath}, {DT_RUNPATH, &runpath}};
  for (const auto& want : wanted) {
    Result<Done> done = program.strings(want.first, *want.second);
    if (!done) return done;
  }
  out.machine = program.machine();
  if (!soname.empty()) out.soname = soname[0];
  out.rpath = split(join(rpath, ":"), ":");
  out.runpath = split(join(runpath, ":"), ":");
  return Done{};
}

// Loads `path` and asks it; puts the path in front of the place of an error.
template <class T, class Ask>
Result<T> ask(const Host& host, const std::string& path, Ask question) {
  Result<std::unique_ptr<File>> file = host.open(path);
  if (!file) return file.error();
  Program program(**file);
  Result<Done> done = program.load();
  Result<T> answer = done ? question(program) : Result<T>(done.error());
  if (!answer) return Error{answer.error().text, cat(path, ":", answer.error().place)};
  return answer;
}

}  // namespace

Result<ElfDynamic> read_dynamic(const Host& host, const std::string& path) {
  return ask<ElfDynamic>(host, path, [](Program& program) -> Result<ElfDynamic> {
    ElfDynamic out;
    Result<Done> done = fill(program, out);
    if (!done) return done.error();
    return out;
  });
}

Result<bool> defines_symbol(const Host& host, const std::string& path, const std::string& symbol) {
  return ask<bool>(host, path, [&](Program& program) { return program.defines(symbol); });
}

Result<bool> needs_symbol(const Host& host, const std::string& path,
                          bool (*wanted)(const std::string& name)) {
  return ask<bool>(host, path, [&](Program& program) { return program.needs(wanted); });
}

}  // namespace tcs
