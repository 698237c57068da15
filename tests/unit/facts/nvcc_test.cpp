// SPDX-License-Identifier: Apache-2.0
// What nvcc 11.8.89, 12.4.131, 13.0.88 and 13.2.78 printed, shortened where only the length was
// lost.
#include "facts/nvcc_output.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"

using namespace tcs;

TEST_CASE("the release is read from nvcc's, ptxas' and the PTX's version line") {
  CHECK(parse_release("nvcc: NVIDIA (R) Cuda compiler driver\n"
                      "Cuda compilation tools, release 13.0, V13.0.88\n"
                      "Build cuda_13.0.r13.0/compiler.36424714_0\n") == "13.0.88");
  CHECK(parse_release("// Cuda compilation tools, release 13.2, V13.2.78\n.version 9.2\n") ==
        "13.2.78");
  CHECK(parse_release("garbage").empty());
  CHECK(parse_release("release 13, Vx").empty());
}

TEST_CASE("lists of architectures skip what is no architecture") {
  List<Sm> list = parse_gpu_list("compute_75\nwarning: x\ncompute_103\n\ncompute_90a\n");
  REQUIRE(list.size() == 3);
  CHECK(list[1].dotted() == "10.3");
  CHECK(list[2].digits() == "90a");
  CHECK(parse_gpu_list("nvcc fatal   : Unknown option '--list-gpu-arch'").empty());
}

TEST_CASE("a dry run gives root, tools and the host compiler, with blanks in paths") {
  DryRun d = parse_dry_run(
      "#$ _SPACE_= \n#$ _HERE_=/a b/bin\n#$ TOP=/a b/bin/..\n#$ CICC_PATH=/a b/bin/../nvvm/bin\n"
      "#$ NVVMIR_LIBRARY_DIR=/a b/bin/../nvvm/libdevice\n#$ PATH=/a b/bin:/usr/bin\n"
      "#$ INCLUDES=\"-I/a b/bin/../include\"  \n"
      "#$ LIBRARIES=  \"-L/a b/bin/../lib/stubs\" \"-L/a b/bin/../lib\"\n"
      "#$ \"/h c\"/g++ -D__CUDA_ARCH_LIST__=750 -E -x c++ -D__CUDACC__ \"x.cu\" -o \"x.ii\"\n"
      "#$ gcc -D__CUDA_ARCH__=750 -E -x c++ \"x.cu\"\n");
  CHECK(d.here == "/a b/bin");
  CHECK(d.top == "/a b/bin/..");
  CHECK(d.cicc_dir == "/a b/bin/../nvvm/bin");
  CHECK(d.host_compiler == "/h c/g++");
  CHECK(d.include_dirs == List<std::string>{"/a b/bin/../include"});
  CHECK(d.library_dirs == List<std::string>{"/a b/bin/../lib/stubs", "/a b/bin/../lib"});
  CHECK(parse_dry_run("no such output").here.empty());
}

TEST_CASE("the architecture that nvcc refuses is named") {
  Sm sm;
  REQUIRE(parse_refused_arch("nvcc fatal   : Unsupported gpu architecture 'compute_88a'\n", sm));
  CHECK(sm.dotted() == "8.8a");
  CHECK_FALSE(parse_refused_arch("nvcc fatal   : Unsupported gpu architecture 'zz'", sm));
  CHECK_FALSE(parse_refused_arch("nvcc fatal   : something else", sm));
}

TEST_CASE("host compiler limits of host_config.h leave out Grace's own clang") {
  struct {
    const char* text;
    int gcc, clang;
  } releases[] = {
      {"#if __GNUC__ > 11\n#if (__clang_major__ >= 15) || (__clang_major__ < 3)\n", 11, 14},
      {"#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 20))\n"
       "#if __GNUC__ > 15\n#endif /* __GNUC__ > 15 */\n"
       "#if (__clang_major__ >= 21) || (__clang_major__ < 3)\n",
       15, 20}};
  for (const auto& release : releases) {
    Fact<int> gcc, clang;
    parse_host_limits(release.text, gcc, clang);
    CHECK(gcc.is(release.gcc));
    CHECK(clang.is(release.clang));
  }
  Fact<int> gcc, clang;
  parse_host_limits("#if defined(__GNUC__)\n#if __GNUC__ > N\n", gcc, clang);
  CHECK_FALSE(gcc.known());
  CHECK_FALSE(clang.known());
}

TEST_CASE("CUDA_VERSION of cuda.h is a release") {
  CHECK(parse_cuda_version("/* CUDA_VERSION */\n#define CUDA_VERSION 13020\n") == "13.2");
  CHECK(parse_cuda_version("#define CUDA_VERSION 11080") == "11.8");
  CHECK(parse_cuda_version("#define CUDA_VERSION x").empty());
  CHECK(parse_cuda_version("").empty());
}

TEST_CASE("a failed run of nvcc has a kind and the lines that tell") {
  auto kind = [](const char* err) { return failure_kind(MemoryHost::exits(1, "", err)); };
  Outcome gcc12 = MemoryHost::exits(
      1, "",
      "In file included from /t/include/cuda_runtime.h:83,\n"
      "/t/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions "
      "later than 11 are not supported! The nvcc flag '-allow-unsupported-compiler' can be used\n"
      "  132 | #error -- unsupported GNU version!\n");
  CHECK(failure_kind(gcc12) == "host-compiler");
  CHECK(telling_lines(gcc12) ==
        "/t/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc "
        "versions later than 11 are not supported!");
  CHECK(kind("ERROR: No supported gcc/g++ host compiler found, but clang-14 is available.\n") ==
        "host-compiler");
  CHECK(kind("gcc: No such file or directory\nnvcc fatal   : Failed to preprocess host compiler "
             "properties.") == "host-compiler");
  CHECK(kind("/t/bin/gcc: 63: exec: gcc-11: not found") == "host-compiler");
  CHECK(kind("nvcc fatal   : Unsupported gpu architecture 'compute_50'") == "arch");
  CHECK(kind("sh: 1: cicc: not found") == "cicc");
  CHECK(kind("ptxas fatal   : Unsupported .version 9.2; current version is '8.4'") == "ptxas");
  CHECK(kind("try.cu:1:10: fatal error: cuda_runtime.h: No such file or directory") == "headers");
  CHECK(kind("what?") == "output");
  CHECK(failure_kind(MemoryHost::exits(0)).empty());
  Outcome hung;
  hung.state = Outcome::State::TimedOut;
  CHECK(failure_kind(hung) == "hang");
  Outcome crashed;
  crashed.state = Outcome::State::Signalled;
  crashed.code = 11;
  CHECK(failure_kind(crashed) == "crash");
}
