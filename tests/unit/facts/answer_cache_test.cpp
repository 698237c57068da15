// SPDX-License-Identifier: Apache-2.0
#include "facts/answer_cache.h"

#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "memory_host.h"

using namespace tcs;

namespace {

struct Kept {
  MemoryHost host;
  Inputs in;
  Toolkit toolkit;
  HostCompiler compiler;

  Kept() {
    host.program("/cuda/bin/nvcc");
    host.program("/cuda/bin/ptxas", "ptxas 1");
    host.program("/usr/bin/gcc", "gcc 12");
    host.files["/cuda/include/crt/host_config.h"] = "gcc 15";
    host.variables["PATH"] = "/usr/bin";
    in.cache_dir = "/cache";
    in.work_dir = "/build/probe";
    toolkit.nvcc = Text("/cuda/bin/nvcc");
    toolkit.root = Text("/cuda");
    toolkit.include_dir = Text("/cuda/include");
    toolkit.origin = Text("PATH");
  }
  std::string key() const { return answers_key(host, in, toolkit); }
  void keep(bool works = true) {
    Toolkit answered = toolkit;
    answered.works = Flag(works, "test compile");
    answered.archs = Names({"sm_90", "compute_90"}, "nvcc --list-gpu-code");
    compiler.version = Text("12.2.0", "predefined macros");
    keep_answers(host, in, key(), answered, compiler);
  }
  bool recalls() {
    Toolkit found = toolkit;
    HostCompiler by;
    return recall_answers(host, in, key(), found, by);
  }
};

}  // namespace

TEST_CASE("what a working toolkit answered is known to the next project") {
  Kept k;
  CHECK_FALSE(k.recalls());
  k.keep();
  Toolkit found = k.toolkit;
  found.origin = Text("CUDA_HOME");
  HostCompiler by;
  REQUIRE(recall_answers(k.host, k.in, k.key(), found, by));
  CHECK(found.archs.value().size() == 2);
  CHECK(found.archs.from == "nvcc --list-gpu-code");
  CHECK(found.works.is(true));
  CHECK(by.version.is("12.2.0"));
  CHECK(found.origin.is("CUDA_HOME"));
}

TEST_CASE("answers are asked for anew when something they follow from has changed") {
  Kept k;
  k.keep();
  REQUIRE(k.recalls());
  SECTION("ptxas") {
    k.host.files["/cuda/bin/ptxas"] = "ptxas of 2";
  }
  SECTION("the header with the limits") {
    k.host.files["/cuda/include/crt/host_config.h"] = "x";
  }
  SECTION("the host compiler") {
    k.host.files["/usr/bin/gcc"] = "gcc 13.1";
  }
  SECTION("a flag variable of nvcc's") {
    k.host.variables["NVCC_APPEND_FLAGS"] = "-ccbin clang";
  }
  SECTION("the host compiler named") {
    k.in.set["CMAKE_CUDA_HOST_COMPILER"] = "/usr/bin/gcc";
  }
  SECTION("the program that nvcc's own variable names") {
    k.host.variables["NVCC_CCBIN"] = "/opt/g++";
    k.keep();
    REQUIRE(k.recalls());
    k.host.program("/opt/g++", "g++ 13");
  }
  SECTION("a wrapper's nvcc") {
    k.toolkit.driver_dir = Text("/usr/lib/cuda/bin");
    k.keep();
    REQUIRE(k.recalls());
    k.host.program("/usr/lib/cuda/bin/nvcc", "other");
  }
  SECTION("where headers are looked for") {
    k.host.variables["CPATH"] = "/inc";
  }
  SECTION("a variable of nvcc.profile") {
    k.host.variables["INCLUDES"] = "-I/inc";
  }
  SECTION("nothing was compiled then or now") {
    k.in.work_dir.clear();
  }
  CHECK_FALSE(k.recalls());
}

TEST_CASE("a folder of PATH without any compiler does not touch a toolkit's answers") {
  Kept k;
  k.host.variables["PATH"] = "/usr/bin";
  k.keep();
  k.host.program("/tmp/pip-build-env-x/bin/cmake", "cmake");
  k.host.variables["PATH"] = "/tmp/pip-build-env-x/bin:/usr/bin";
  CHECK(k.recalls());
  CHECK(k.key().find("pip-build-env") == std::string::npos);
  k.host.program("/tmp/pip-build-env-x/bin/g++-11", "g++-11");
  CHECK_FALSE(k.recalls());
}

TEST_CASE("which devices are visible does not touch a toolkit's answers") {
  Kept k;
  k.keep();
  k.host.variables["CUDA_VISIBLE_DEVICES"] = "1";
  CHECK(k.recalls());
}

TEST_CASE("a toolkit that failed is asked again") {
  Kept k;
  k.keep(false);
  CHECK_FALSE(k.recalls());
}

TEST_CASE("what was learnt in part is asked again") {
  Kept k;
  k.toolkit.reason = "suffixed architectures are unknown";
  k.keep();
  CHECK_FALSE(k.recalls());
}

TEST_CASE("without a cache nothing is kept, and what is no cache entry is no answer") {
  Kept k;
  k.keep();
  for (auto& file : k.host.files)
    if (starts_with(file.first, "/cache/")) file.second = "{\"key\": 1";
  CHECK_FALSE(k.recalls());
  k.in.cache_dir.clear();
  k.keep();
  CHECK_FALSE(k.recalls());
}
