// SPDX-License-Identifier: Apache-2.0
// Writes the checked-in corpus from the builders of the unit tests. From the repository's root:
//   c++ -std=c++17 -I tests/unit -I probe-src tests/fuzz/make_corpus.cpp
//     probe-src/base/{text,list,utf8}.cpp
//   ./a.out tests/fuzz/corpus
#include <cstdio>
#include <string>

#include "readers/make_bytes.h"

using namespace make;

static int failures = 0;

static void write(const std::string& path, const std::string& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written =
      file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file == nullptr || std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    ++failures;
  }
}

static void images(const std::string& folder) {
  Entry lto = cubin(90);
  lto.kind = 8;
  std::string fat = fat_binary({cubin(80), cubin(90, 0x100000), cubin(103, 0x208000)});
  std::string more = fat_binary({cubin(120, 0x2000), ptx(90, 8, 5), lto});
  std::string both = fat + std::string(24, '\0') + more;
  std::string object = elf({{".text", "code"}, {"__nv_relfatbin", more}});
  std::string names = "a_name_longer_than_sixteen.o/\n";
  write(folder + "bare.fatbin", both);
  write(folder + "library.so",
        elf({{".nv_fatbin", both}, {".nvFatBinSegment", std::string(48, 'x')}}));
  write(folder + "aarch64.so", elf({{".nv_fatbin", fat}}, EM_AARCH64));
  write(folder + "object.o", object);
  write(folder + "archive.a", archive({member("/", "symbols"), member("//", names),
                                       member("/0", object), member("b.o/", object)}));
  write(folder + "thin.a", "!<thin>\n");
  write(folder + "old.cubin", cubin_elf(0x5a0d5a, 0x33, 7));
  write(folder + "new.cubin", cubin_elf(0x6006402, 0x41, 8, "ptxas -arch sm_100f -m 64 "));
  write(folder + "truncated.fatbin", fat.substr(0, fat.size() - 9));
  write(folder + "stripped.so", library({"libx.so"}));
  write(folder + "split.debug", elf({{".nv_fatbin", "", SHT_NOBITS}}));
  write(folder + "script.txt", "#!/bin/sh\n");
}

static void dynamic(const std::string& folder) {
  Library lib{
      "libtorch_cuda.so", {"libc10.so", "libcudart.so.13"}, "$ORIGIN:/opt/lib", "$ORIGIN/../lib"};
  lib.defines = {"other", "cuInit", "cuGetProcAddress"};
  lib.undefined = {"cudaMalloc"};
  write(folder + "library.so", library(lib));
  write(folder + "truncated.so", library(lib).substr(0, 500));
  lib.hash = false;
  write(folder + "no_hash.so", library(lib));
  lib.dynamic = false;
  write(folder + "static", library(lib));
  lib = {"libx.so"};
  lib.machine = EM_AARCH64;
  write(folder + "aarch64.so", library(lib));
}

// glibc's sysdeps/generic/dl-cache.h: 48 bytes of header, 24 an entry, then the texts.
static std::string cache(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string entries, texts;
  const size_t begin = 48 + 24 * rows.size();
  for (const auto& row : rows) {
    entries += raw<uint32_t>(0x303) + raw(static_cast<uint32_t>(begin + texts.size()));
    texts += row.first + '\0';
    entries += raw(static_cast<uint32_t>(begin + texts.size())) + std::string(12, '\0');
    texts += row.second + '\0';
  }
  return "glibc-ld.so.cache1.1" + raw(static_cast<uint32_t>(rows.size())) +
         raw(static_cast<uint32_t>(texts.size())) + std::string(20, '\0') + entries + texts;
}

static void loader(const std::string& folder) {
  const std::string made = cache({{"libcudart.so.13", "/opt/libcudart.so.13"}, {"liba.so", "/a"}});
  write(folder + "new", made);
  write(folder + "empty", cache({}));
  write(folder + "both", "ld.so-1.7.0" + std::string(1, '\0') + raw<uint32_t>(1) +
                             std::string(12, '\0') + std::string(4, '\0') + made);
  write(folder + "count", patched<uint32_t>(made, 20, 0xffffffff));
  write(folder + "outside", patched<uint32_t>(made, 52, 0xfffffff0));
  write(folder + "truncated", made.substr(0, made.size() - 5));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  images(std::string(argv[1]) + "/images/");
  dynamic(std::string(argv[1]) + "/elf_dynamic/");
  loader(std::string(argv[1]) + "/loader_cache/");
  return failures == 0 ? 0 : 1;
}
