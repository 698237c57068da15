// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "readers/elf.h"
#include "readers/make_bytes.h"

using namespace tcs;
using namespace make;

namespace {

using Strings = List<std::string>;

Result<ElfDynamic> dynamic(const std::string& bytes) {
  MemoryHost host;
  host.files["/lib"] = bytes;
  return read_dynamic(host, "/lib");
}

std::string refusal(const std::string& bytes) {
  Result<ElfDynamic> result = dynamic(bytes);
  return result ? "no error" : result.error().str();
}

// Where in library() the dynamic entry `tag` begins.
size_t entry_of(const std::string& bytes, int64_t tag) {
  uint64_t at = 0;
  std::memcpy(&at, &bytes.at(64 + 56 + 8), sizeof at);  // p_offset of PT_DYNAMIC
  while (bytes.compare(static_cast<size_t>(at), 8, raw(tag)) != 0) at += sizeof(Elf64_Dyn);
  return static_cast<size_t>(at);
}

}  // namespace

TEST_CASE("soname, needed and search paths are read without section headers") {
  Result<ElfDynamic> d = dynamic(library({"libtorch_cuda.so",
                                          {"libc10.so", "libcudart.so.13"},
                                          "$ORIGIN:/opt/lib",
                                          "$ORIGIN/../../nvidia/cu13/lib:$ORIGIN"}));
  REQUIRE(d);
  CHECK(d->machine == EM_X86_64);
  CHECK(d->soname == "libtorch_cuda.so");
  CHECK(d->needed == Strings{"libc10.so", "libcudart.so.13"});
  CHECK(d->rpath == Strings{"$ORIGIN", "/opt/lib"});
  CHECK(d->runpath == Strings{"$ORIGIN/../../nvidia/cu13/lib", "$ORIGIN"});
}

TEST_CASE("a library for aarch64 says so") {
  Library lib{"libx.so"};
  lib.machine = EM_AARCH64;
  Result<ElfDynamic> d = dynamic(library(lib));
  REQUIRE(d);
  CHECK(d->machine == EM_AARCH64);
}

TEST_CASE("a static program needs nothing") {
  Library lib{"x"};
  lib.dynamic = false;
  Result<ElfDynamic> d = dynamic(library(lib));
  REQUIRE(d);
  CHECK(d->needed.empty());
  CHECK(d->soname.empty());
}

TEST_CASE("an object file is refused as neither program nor library") {
  CHECK(refusal(patched(library({"libx.so"}), 16, uint16_t{ET_REL})) ==
        "/lib:0x10: ELF type is 1; expected 2 (program) or 3 (shared library)");
}

TEST_CASE("text is refused as no ELF file") {
  CHECK(refusal(std::string(100, 'x')) == "/lib:0x0: the ELF magic is not there");
  CHECK(refusal("") == "/lib:0x0: the ELF header takes 64 bytes, but 0 are left");
}

TEST_CASE("a string beyond the string table is an error") {
  std::string bytes = library({"libx.so", {"liba.so"}});
  CHECK(contains(refusal(patched(bytes, entry_of(bytes, DT_NEEDED) + 8, ~uint64_t{0})),
                 "at 18446744073709551615 of a string table of"));
}

TEST_CASE("a string table outside every segment is an error") {
  std::string bytes = library({"libx.so"});
  CHECK(refusal(patched(bytes, entry_of(bytes, DT_STRTAB) + 8, uint64_t{0x10})) ==
        "/lib:0x0: DT_STRTAB is 0x10, outside every PT_LOAD segment");
}

TEST_CASE("a dynamic section without its end is an error") {
  std::string bytes = library({"libx.so"});
  bytes = patched(bytes, bytes.size() - 16, int64_t{DT_DEBUG});
  CHECK(contains(refusal(bytes), "the dynamic section does not end with DT_NULL"));
}

TEST_CASE("a dynamic section that is too long is refused") {
  std::string bytes = library({"libx.so"});
  bytes = patched(bytes, bytes.size() - 16, int64_t{DT_DEBUG});
  for (int i = 0; i < 5000; ++i) bytes += raw(int64_t{DT_DEBUG}) + raw(uint64_t{0});
  bytes = patched(bytes, 64 + 56 + 32, uint64_t{1} << 30);
  CHECK(contains(refusal(bytes), "the dynamic section has more than 4096 entries"));
}

TEST_CASE("program headers of another size or outside the file are refused") {
  std::string bytes = library({"libx.so"});
  CHECK(refusal(patched(bytes, 54, uint16_t{32})) ==
        "/lib:0x36: program header size is 32; expected 56");
  CHECK(contains(refusal(patched(bytes, 32, ~uint64_t{0} - 10)),
                 "the program header table takes 112 bytes"));
}

TEST_CASE("every truncation of a library is an error") {
  std::string bytes = library({"libx.so", {"liba.so"}, "/r", "/s"});
  for (size_t n = 0; n < bytes.size(); ++n) {
    INFO(n);
    CHECK_FALSE(dynamic(bytes.substr(0, n)));
  }
}

TEST_CASE("a symbol is defined only where the table has it with a section") {
  MemoryHost host;
  Library lib{"libx.so"};
  lib.defines = {"_ZN3c105ErrorC1Ev", "cuInit", "other"};
  lib.undefined = {"cudaMalloc"};
  host.files["/lib"] = library(lib);
  auto defines = [&](const char* symbol) {
    Result<bool> found = defines_symbol(host, "/lib", symbol);
    REQUIRE(found);
    return *found;
  };
  CHECK(defines("cuInit"));
  CHECK(defines("other"));
  CHECK(defines("_ZN3c105ErrorC1Ev"));
  CHECK_FALSE(defines("cudaMalloc"));
  CHECK_FALSE(defines("cuInitX"));
}

TEST_CASE("a library without symbols defines none, one without a hash table is an error") {
  MemoryHost host;
  Library lib{"libx.so"};
  host.files["/none"] = library(lib);
  lib.hash = false;
  host.files["/nohash"] = library(lib);
  Result<bool> none = defines_symbol(host, "/none", "f");
  REQUIRE(none);
  CHECK_FALSE(*none);
  CHECK(defines_symbol(host, "/nohash", "f").error().str() ==
        "/nohash:0x0: no symbol hash table (DT_GNU_HASH) to look in");
}

TEST_CASE("a hash chain that never ends is an error") {
  MemoryHost host;
  Library lib{"libx.so"};
  lib.defines = {"f"};
  std::string bytes = library(lib);
  uint64_t table = bytes.size();
  bytes = patched(bytes, entry_of(bytes, DT_GNU_HASH) + 8, kLoadAddress + table);
  bytes +=
      raw(uint32_t{1}) + raw(uint32_t{1}) + raw(uint32_t{0}) + raw(uint32_t{6}) + raw(uint32_t{1});
  for (int i = 0; i < 70000; ++i) bytes += raw(uint32_t{2});
  host.files["/lib"] = patched(bytes, 64 + 32, uint64_t{bytes.size()});
  CHECK(contains(defines_symbol(host, "/lib", "f").error().text, "has a chain without an end"));
}
