// SPDX-License-Identifier: Apache-2.0
#include "facts/host_compiler.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"

using namespace tcs;

namespace {
HostCompiler read(const char* macros) {
  HostCompiler c;
  read_macros(MemoryHost::exits(0, macros), "/usr/bin/cc", c);
  return c;
}
}  // namespace

TEST_CASE("a host compiler is known by its predefined macros, not by its name") {
  HostCompiler gcc =
      read("#define __GNUC__ 12\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 0\n");
  CHECK(gcc.id.is("GNU"));
  CHECK(gcc.version.is("12.2.0"));
  HostCompiler clang = read(
      "#define __GNUC__ 4\n#define __clang_major__ 14\n#define __clang_minor__ 0\n"
      "#define __clang_patchlevel__ 6\n");
  CHECK(clang.id.is("Clang"));
  CHECK(clang.version.is("14.0.6"));
  HostCompiler odd = read("hello\n");
  CHECK_FALSE(odd.id.known());
  CHECK(odd.reason == "/usr/bin/cc -dM -E names no compiler that is known here");
}

TEST_CASE("a host compiler that does not answer is unknown with the reason") {
  HostCompiler c;
  read_macros(MemoryHost::exits(1), "/usr/bin/cc", c);
  CHECK_FALSE(c.version.known());
  CHECK(c.path.is("/usr/bin/cc"));
  CHECK(c.reason == "/usr/bin/cc -dM -E: exit status 1");
}

TEST_CASE("the user's host compiler is the last one that nvcc would read") {
  MemoryHost host;
  Inputs in;
  CHECK(host_compiler_choice(host, in).origin.empty());
  host.variables["NVCC_CCBIN"] = "/opt/g++";
  CHECK(host_compiler_choice(host, in).origin == "NVCC_CCBIN");
  CHECK(host_compiler_choice(host, in).ccbin.empty());
  for (const char* flags : {"-O2 -ccbin /x/g++", "--compiler-bindir=/x/g++ -g", "-ccbin=/x/g++",
                            "-ccbin /y --compiler-bindir /x/g++"}) {
    host.variables["NVCC_PREPEND_FLAGS"] = flags;
    CHECK(host_compiler_choice(host, in).origin == "NVCC_PREPEND_FLAGS");
    CHECK(host_compiler_choice(host, in).named == "/x/g++");
    CHECK(host_compiler_choice(host, in).ccbin.empty());
  }
  host.variables["CUDAHOSTCXX"] = "g++-11 -m64";
  CHECK(host_compiler_choice(host, in).ccbin == "g++-11");
  in.set["CMAKE_CUDA_HOST_COMPILER"] = "/a b/g++";
  CHECK(host_compiler_choice(host, in).ccbin == "/a b/g++");
  host.variables["NVCC_APPEND_FLAGS"] = "-ccbin /last/g++";  // goes after the command line
  CHECK(host_compiler_choice(host, in).origin == "NVCC_APPEND_FLAGS");
  CHECK(host_compiler_choice(host, in).named == "/last/g++");
}

TEST_CASE("compilers that fit are those within the toolkit's limits, newest first, g++ first") {
  MemoryHost host;
  host.variables["PATH"] = "/bin";
  for (const char* name : {"/bin/g++-12", "/bin/g++-11", "/bin/g++-9", "/bin/g++-8",
                           "/bin/clang++-14", "/bin/clang++-15"})
    host.program(name);
  Toolkit t;
  CHECK(fitting_host_compilers(host, t).empty());
  t.gcc_max = Fact<int>(11);
  t.clang_max = Fact<int>(14);
  CHECK(fitting_host_compilers(host, t) ==
        List<std::string>{"/bin/g++-11", "/bin/g++-9", "/bin/clang++-14"});
}

TEST_CASE(
    "compilers whose names tell no release come after those: conda's, gcc-toolset's, the "
    "system's") {
  MemoryHost host;
  host.variables["PATH"] = "/opt/own:/bin";
  host.variables["CONDA_PREFIX"] = "/conda";
  const std::string conda = cat("/conda/bin/", host.system().arch, "-conda-linux-gnu-g++");
  for (const std::string& name :
       {std::string("/opt/own/g++"), std::string("/bin/g++-11"), std::string("/usr/bin/g++"), conda,
        std::string("/opt/rh/gcc-toolset-10/root/usr/bin/g++"),
        std::string("/opt/rh/gcc-toolset-11/root/usr/bin/g++"),
        std::string("/opt/rh/gcc-toolset-12/root/usr/bin/g++")})
    host.program(name);
  Toolkit t;
  t.gcc_max = Fact<int>(11);
  CHECK(fitting_host_compilers(host, t) ==
        List<std::string>{"/bin/g++-11", conda, "/opt/rh/gcc-toolset-11/root/usr/bin/g++",
                          "/opt/rh/gcc-toolset-10/root/usr/bin/g++", "/usr/bin/g++"});
  host.variables["PATH"] = "/usr/bin:/bin";  // nvcc's own choice
  CHECK_FALSE(contains(fitting_host_compilers(host, t), "/usr/bin/g++"));
}
