// SPDX-License-Identifier: Apache-2.0
#include "readers/images.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "readers/make_bytes.h"

using namespace tcs;
using namespace make;

namespace {

constexpr uint64_t kA = 0x100000, kF = 0x200000;

Result<ImageList> read(const std::string& bytes) {
  MemoryHost host;
  host.files["/f"] = bytes;
  return read_images(host, "/f");
}

// "sm_90:2/1" = two images in one fat binary
std::string summary(const std::string& bytes) {
  Result<ImageList> list = read(bytes);
  if (!list) return "error: " + list.error().str();
  std::string out = cat(list->fat_binaries, " fat");
  for (const ImageCount& i : list->images)
    out += cat(' ', i.image.str(), ':', i.count, '/', i.fat_binaries);
  return out;
}

std::string refusal(const std::string& bytes) {
  Result<ImageList> list = read(bytes);
  return list ? "no error" : list.error().str();
}

std::string in_elf(const std::string& content, const char* name = ".nv_fatbin") {
  return elf({{".text", "code"}, {name, content}});
}

}  // namespace

TEST_CASE("images of a shared library are counted by arch, cubins before PTX, in numeric order") {
  std::string fat = fat_binary({cubin(100), ptx(90, 8, 5), cubin(90), cubin(90, kA)});
  CHECK(summary(in_elf(fat)) == "1 fat sm_90:1/1 compute_90:1/1 sm_90a:1/1 sm_100:1/1");
}

TEST_CASE("suffixes a and f come from the flags, compressed or not") {
  for (uint64_t compressed : {0x0, 0x2000, 0x8000}) {
    std::string fat = fat_binary({cubin(90, kA | compressed), cubin(103, kF | compressed)});
    CHECK(summary(fat) == "1 fat sm_90a:1/1 sm_103f:1/1");
  }
}

TEST_CASE("zero padding lies between fat binaries and after the last one") {
  std::string one = fat_binary({cubin(80)});
  std::string section =
      one + std::string(24, '\0') + one + std::string(5000, '\0') + one + "\0\0\0";
  CHECK(summary(in_elf(section)) == "3 fat sm_80:3/3");
}

TEST_CASE("fat binaries are grouped by the exact set of images they hold") {
  std::string both = fat_binary({cubin(80), cubin(90)});
  Result<ImageList> list =
      read(both + fat_binary({cubin(90)}) + fat_binary({cubin(90), cubin(80)}) +
           fat_binary({cubin(80), cubin(80), cubin(90)}));
  REQUIRE(list);
  REQUIRE(list->sets.size() == 2);
  CHECK(list->sets[0].images.size() == 2);
  CHECK(list->sets[0].count == 3);
  CHECK(list->sets[1].images.size() == 1);
  CHECK(list->sets[1].images[0].str() == "sm_90");
  CHECK(list->sets[1].count == 1);
  CHECK(list->images[0].count == 4);
  CHECK(list->images[0].fat_binaries == 3);
}

TEST_CASE("the ISA version of PTX is read from its header, also when the text is compressed") {
  Result<ImageList> list = read(
      fat_binary({ptx(90, 8, 5), ptx(120, 10, 1, 0x8000), ptx(80, 8, 5, 0x2000), ptx(75, 0, 0)}));
  REQUIRE(list);
  CHECK(list->ptx_isa == List<std::string>{"8.5", "10.1"});
  CHECK(list->ptx_unread == 1);
}

TEST_CASE("LTO code is neither cubin nor PTX and is counted apart") {
  Entry lto = cubin(90);
  lto.kind = 8;
  Result<ImageList> list = read(fat_binary({lto, cubin(90)}));
  REQUIRE(list);
  CHECK(list->images.size() == 1);
  REQUIRE(list->others.size() == 1);
  CHECK(list->others[0].kind == 8);
  CHECK(list->others[0].count == 1);
}

TEST_CASE("relocatable device code is counted and told apart") {
  Result<ImageList> list =
      read(elf({{".nv_fatbin", fat_binary({cubin(80)})},
                {"__nv_relfatbin", fat_binary({cubin(80)}) + fat_binary({cubin(90)})}}));
  REQUIRE(list);
  CHECK(list->fat_binaries == 3);
  CHECK(list->relocatable == 2);
  CHECK(list->images[0].count == 2);
}

TEST_CASE("an aarch64 library is read on any machine") {
  CHECK(summary(elf({{".nv_fatbin", fat_binary({cubin(110)})}}, EM_AARCH64)) == "1 fat sm_110:1/1");
}

TEST_CASE("a file without device code is an empty list") {
  CHECK(summary(elf({{".text", "code"}})) == "0 fat");
  CHECK(summary(archive({member("a.o/", elf({{".text", "code"}})), member("README/", "hello")})) ==
        "0 fat");
  CHECK(summary(in_elf("")) == "0 fat");
}

TEST_CASE("sections split off into another file hold no images here") {
  CHECK(summary(elf({{".nv_fatbin", "", SHT_NOBITS}, {".nvFatBinSegment", "", SHT_NOBITS}})) ==
        "0 fat");
}

TEST_CASE("images of all members of an archive are counted, long names included") {
  std::string object = in_elf(fat_binary({cubin(80)}));
  std::string names = "a_name_longer_than_sixteen.o/\n";
  CHECK(summary(archive({member("/", "symbols"), member("//", names), member("/0", object),
                         member("b.o/", object), member("odd/", "x"),
                         member("c.fatbin/", fat_binary({cubin(75)}))})) ==
        "3 fat sm_75:1/1 sm_80:2/2");
}

TEST_CASE("an error inside an archive names the member and the place in the file") {
  std::string names = "a_name_longer_than_sixteen.o/\n";
  std::string head = archive({member("//", names)});
  std::string bytes = head + member("/0", in_elf("junk"));
  CHECK(refusal(bytes) == cat("/f:0xe2: a fat binary header takes 16 bytes, but 4 are left (in "
                              "archive member a_name_longer_than_sixteen.o)"));
}

TEST_CASE("a thin archive is refused") {
  CHECK(refusal("!<thin>\n") ==
        "/f:0x0: a thin archive, which only names its members; give the members instead");
}

TEST_CASE("an archive that ends inside a member is an error") {
  std::string bytes = archive({member("a.o/", std::string(100, 'x'))});
  CHECK(refusal(bytes.substr(0, 120)) == "/f:0x44: an ar member takes 100 bytes, but 52 are left");
  CHECK(refusal(bytes.substr(0, 30)) == "/f:0x8: an ar header takes 60 bytes, but 22 are left");
}

TEST_CASE("a size that is no number and a header without its end are errors") {
  std::string bytes = archive({member("a.o/", "content!")});
  CHECK(refusal(patched(bytes, 8 + 48, '-')) ==
        "/f:0x38: the size of an ar member is '-'; expected a decimal number");
  CHECK(refusal(patched(bytes, 8 + 58, 'x')) ==
        "/f:0x42: an ar header does not end with '`' and a line feed");
}

TEST_CASE("LLVM bitcode in an archive is an error, for its device code cannot be seen") {
  CHECK(refusal(archive({member("a.o/", "BC\xc0\xde....")})) ==
        "/f:0x44: LLVM bitcode, whose device code is not visible before the link (in archive "
        "member a.o)");
}

TEST_CASE("an older cubin has its arch and the suffix a in e_flags") {
  CHECK(summary(cubin_elf(0x5a055a, 0x33, 7)) == "0 fat sm_90:1/0");
  CHECK(summary(cubin_elf(0x5a0d5a, 0x33, 7)) == "0 fat sm_90a:1/0");
}

TEST_CASE("a newer cubin has its suffix in the note of ptxas or in e_flags") {
  CHECK(summary(cubin_elf(0x6006402, 0x41, 8, "ptxas -arch sm_100f -m 64 ")) ==
        "0 fat sm_100f:1/0");
  CHECK(summary(cubin_elf(0x6006402, 0x41, 8, "ptxas -arch sm_100 -m 64 ")) == "0 fat sm_100:1/0");
  CHECK(summary(cubin_elf(0x6005a04, 0x41, 8, "-arch sm_90a -m 64 ")) == "0 fat sm_90a:1/0");
  CHECK(summary(cubin_elf(0x600640a, 0x41, 8)) == "0 fat sm_100a:1/0");
}

TEST_CASE("a newer cubin whose note does not say its suffix is not guessed") {
  std::string text =
      "/f:0x30: a cubin for sm_100, but whether sm_100a, sm_100f or neither is only in "
      ".note.nv.tkinfo, which does not say it";
  CHECK(refusal(cubin_elf(0x6006402, 0x41, 8)) == text);
  CHECK(refusal(cubin_elf(0x6006402, 0x41, 8, "-arch sm_90a -m 64 ")) == text);
  CHECK(refusal(cubin_elf(0x6006402, 0x41, 8, "-arch sm_100")) == text);
}

TEST_CASE("a cubin of an unknown ABI is refused with what was read") {
  CHECK(refusal(cubin_elf(0x6005a04, 0x41, 9)) ==
        "/f:0x7: CUDA ELF with OS ABI 0x41 version 9; expected 0x33 up to version 7, or 0x41 "
        "version 8");
}

TEST_CASE("a file of another kind is refused with its first bytes") {
  CHECK(refusal("#!/bin/sh\n") ==
        "/f:0x0: begins with bytes 23 21 2f 62 69 6e 2f 73; expected ELF, ar "
        "archive, fat binary or cubin");
  CHECK(refusal("\x01") ==
        "/f:0x0: begins with bytes 01; expected ELF, ar archive, fat binary or cubin");
  CHECK(refusal("") == "/f:0x0: the file is empty; expected ELF, ar archive, fat binary or cubin");
}

TEST_CASE("a folder, a missing file and an unreadable one are errors of the file system") {
  MemoryHost host;
  host.files["/d/f"] = "x";
  host.unreadable.insert("/d/f");
  CHECK(read_images(host, "/d").error().str() == "/d: is a directory; expected a file");
  CHECK(read_images(host, "/no").error().str() == "/no: No such file or directory");
  CHECK(read_images(host, "/d/f").error().str() == "/d/f: Permission denied");
}

TEST_CASE("a fat binary that is longer than its section is an error, never a partial list") {
  std::string good = fat_binary({cubin(80)});
  std::string bad = patched(fat_binary({cubin(90)}), 8, uint64_t{81});
  CHECK(refusal(in_elf(good + bad)) == "/f:0xa4: a fat binary of 16 + 81 bytes, but 96 are left");
  CHECK(refusal(in_elf(patched(bad, 8, ~uint64_t{0}))) ==
        "/f:0x44: a fat binary of 16 + 18446744073709551615 bytes, but 96 are left");
}

TEST_CASE("an entry that is longer than its fat binary is an error") {
  std::string fat = fat_binary({cubin(80)});
  CHECK(refusal(patched(fat, 16 + 8, uint64_t{17})) ==
        "/f:0x10: a fat binary entry of 64 + 17 bytes, but 80 are left in its fat binary");
  CHECK(refusal(patched(fat, 16 + 8, ~uint64_t{0} - 63)) ==
        "/f:0x10: a fat binary entry of 64 + 18446744073709551552 bytes, but 80 are left in its "
        "fat binary");
  CHECK(refusal(patched(fat, 16 + 8, uint64_t{10})) ==
        "/f:0x5a: a fat binary entry takes at least 48 bytes, but 6 are left in its fat binary");
}

TEST_CASE("headers of size 0 are refused, so that a walk always moves on") {
  std::string fat = fat_binary({cubin(80)});
  CHECK(
      refusal(patched(fat, 6, uint16_t{0})) ==
      "/f:0x0: fat binary version 1 with a header of 0 bytes; expected version 1 and at least 16");
  CHECK(refusal(patched(fat, 16 + 4, uint32_t{0})) ==
        "/f:0x10: fat binary entry version 0x101 with a header of 0 bytes; expected version 0x101 "
        "and at least 48");
}

TEST_CASE("unknown versions are refused with what was read") {
  std::string fat = fat_binary({cubin(80)});
  CHECK(
      refusal(patched(fat, 4, uint16_t{2})) ==
      "/f:0x0: fat binary version 2 with a header of 16 bytes; expected version 1 and at least 16");
  CHECK(refusal(patched(fat, 16 + 2, uint16_t{0x201})) ==
        "/f:0x10: fat binary entry version 0x201 with a header of 64 bytes; expected version 0x101 "
        "and at least 48");
}

TEST_CASE("bytes between fat binaries that are not zero are an error") {
  CHECK(refusal(in_elf(fat_binary({cubin(80)}) + std::string(8, '\0') + "JUNKJUNKJUNKJUNK")) ==
        "/f:0xac: read 0x4b4e554a; expected the fat binary magic 0xba55ed50 or zero padding");
}

TEST_CASE("impossible architectures and flags are refused") {
  CHECK(refusal(fat_binary({cubin(0)})) ==
        "/f:0x2c: the architecture of a fat binary entry is 0; expected 10 to 9999");
  CHECK(refusal(fat_binary({cubin(4000000000u)})) ==
        "/f:0x2c: the architecture of a fat binary entry is 4000000000; expected 10 to 9999");
  CHECK(refusal(fat_binary({cubin(100, kA | kF)})) ==
        "/f:0x38: the flags of a fat binary entry are 0x300011, both 'a' (0x100000) and 'f' "
        "(0x200000); expected one");
}

TEST_CASE("an image without a payload is refused") {
  Entry empty = cubin(90);
  empty.payload.clear();
  CHECK(refusal(fat_binary({empty})) == "/f:0x18: the payload of sm_90 is empty");
}

TEST_CASE("every truncation of a library with fat binaries is an error") {
  std::string bytes = in_elf(fat_binary({cubin(80), ptx(90, 8, 0)}) + fat_binary({cubin(80)}));
  for (size_t n = 0; n < bytes.size(); ++n) {
    INFO(n);
    CHECK_FALSE(read(bytes.substr(0, n)));
  }
}

TEST_CASE("a section outside the file is an error when it would hold fat binaries") {
  std::string bytes = in_elf(fat_binary({cubin(80)}));
  size_t header = section_header(bytes, 2);
  CHECK(refusal(patched(bytes, header + 24, ~uint64_t{0} - 7)) ==
        "/f:0xfffffffffffffff8: section .nv_fatbin takes 96 bytes, but the file ends before that");
  CHECK(contains(refusal(patched(bytes, header + 32, ~uint64_t{0})),
                 "section .nv_fatbin takes 18446744073709551615 bytes"));
  size_t text = section_header(bytes, 1);
  CHECK(summary(patched(bytes, text + 24, ~uint64_t{0})) == "1 fat sm_80:1/1");
}

TEST_CASE("sections that overlap are refused, so that nothing is counted twice") {
  std::string bytes =
      elf({{".nv_fatbin", fat_binary({cubin(80)})}, {"__nv_relfatbin", fat_binary({cubin(80)})}});
  CHECK(refusal(patched(bytes, section_header(bytes, 2) + 24, uint64_t{64})) ==
        "/f:0x40: section __nv_relfatbin overlaps section .nv_fatbin");
}

TEST_CASE("a compressed section is refused") {
  CHECK(refusal(elf({{".nv_fatbin", "xxxx", SHT_PROGBITS, SHF_COMPRESSED}})) ==
        "/f:0x40: section .nv_fatbin is compressed");
}

TEST_CASE("a library whose section headers are stripped is an error, not an empty list") {
  CHECK(refusal(library({"libx.so"})) ==
        "/f:0x28: no section headers (stripped?), so fat binaries cannot be found");
}

TEST_CASE("fat binaries that are registered but lie in no known section are an error") {
  CHECK(refusal(elf({{".nvFatBinSegment", std::string(24, 'x')}})) ==
        "/f:0x0: .nvFatBinSegment registers fat binaries, but there is neither .nv_fatbin nor "
        "__nv_relfatbin that would hold them");
}

TEST_CASE("ELF of 32 bit or big-endian is refused") {
  std::string bytes = in_elf("");
  CHECK(refusal(patched(bytes, 4, '\1')) == "/f:0x4: ELF class is 1; expected 2 (64-bit)");
  CHECK(refusal(patched(bytes, 5, '\2')) ==
        "/f:0x5: ELF data encoding is 2; expected 1 (little-endian)");
}

TEST_CASE("a section table that lies about itself is refused") {
  std::string bytes = in_elf("");
  CHECK(refusal(patched(bytes, 58, uint16_t{63})) ==
        "/f:0x3a: section header size is 63; expected 64");
  CHECK(refusal(patched(bytes, 62, uint16_t{9})) ==
        "/f:0x3e: section names are in section 9 of 4; expected a lower index");
  CHECK(contains(refusal(patched(bytes, 60, uint16_t{5})),
                 "the section header table takes 320 bytes, but 256 are left"));
  CHECK(contains(refusal(patched(bytes, 40, ~uint64_t{0})),
                 "the section header table takes 64 bytes, but 0 are left"));
  CHECK(contains(refusal(patched(bytes, section_header(bytes, 1), uint32_t{0x7fffffff})),
                 "the name of section 1 is at 2147483647 of a name table of"));
}

TEST_CASE("section counts beyond 16 bits come from section 0, and millions are refused") {
  std::string bytes = in_elf(fat_binary({cubin(80)}));
  std::string extended =
      patched(patched(bytes, 60, uint16_t{0}), section_header(bytes, 0) + 32, uint64_t{4});
  CHECK(summary(extended) == "1 fat sm_80:1/1");
  CHECK(contains(refusal(patched(extended, section_header(bytes, 0) + 32, uint64_t{5000000})),
                 "5000000 sections; at most 262144 are read"));
}
