// SPDX-License-Identifier: Apache-2.0
// A source tree of PyTorch, in files of a few lines.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/gather.h"
#include "memory_host.h"

using namespace tcs;

namespace {

MemoryHost tree(const char* backend = "setuptools.build_meta") {
  MemoryHost host;
  for (const char* folder : {"aten", "c10", "torch"}) host.directories.insert(cat("/pt/", folder));
  host.files["/pt/version.txt"] = "2.9.0a0\n";
  host.files["/pt/setup.py"] = "RERUN = getenv('CMAKE_FRESH')\n";
  host.files["/pt/pyproject.toml"] =
      cat("[build-system]\nbuild-backend = \"", backend, "\"  # theirs\n");
  host.files["/pt/CMakeLists.txt"] =
      "if(X AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 9.3)\n"
      "  message(\n    FATAL_ERROR\n    \"no\")\nendif()\n";
  host.files["/pt/cmake/Dependencies.cmake"] = "";
  host.files["/pt/cmake/public/cuda.cmake"] =
      "if(CUDA_VERSION VERSION_LESS 10.0)\n  set(OLD ON)\nendif()\n\n\n\n"
      "if(CUDA_VERSION VERSION_LESS 12.0)\n  message(FATAL_ERROR \"no\")\nendif()\n";
  return host;
}

TreeFacts read(const MemoryHost& host,
               std::initializer_list<std::pair<const char*, const char*>> more = {}) {
  Inputs in;
  in.set["SOURCE_DIR"] = "/pt";
  for (const auto& pair : more) in.set[pair.first] = pair.second;
  Facts facts;
  gather_tree(host, in, facts);
  return facts.tree;
}

std::string ninja_line(const char* more = "") {
  return cat("  FLAGS = -DX -gencode arch=compute_80,code=sm_80 ",
             "\"-gencode=arch=compute_90,code=[compute_90,sm_90]\" ", more, " -O2\n");
}

}  // namespace

TEST_CASE("a tree says its release, its era, and what it stops below") {
  const TreeFacts facts = read(tree());
  CHECK(facts.state.is("found"));
  CHECK(facts.version.is("2.9.0a0"));
  CHECK(facts.era.is("setup.py"));
  CHECK(facts.fresh.is("CMAKE_FRESH=1"));
  CHECK(facts.cuda_min.is("12.0"));
  CHECK(facts.gcc_min.is("9.3"));
  CHECK(facts.build.path.is("none"));
}

TEST_CASE("a tree of scikit-build-core may name its build folder") {
  MemoryHost host = tree("scikit_build_core.build");
  host.files["/pt/pyproject.toml"] += "[tool.scikit-build]\nbuild-dir = \"out/\"\n";
  host.files["/pt/out/CMakeCache.txt"] = "TORCH_CUDA_ARCH_LIST:STRING=8.0\n";
  const TreeFacts facts = read(host);
  CHECK(facts.era.is("scikit-build-core"));
  CHECK(facts.fresh.is("SKBUILD_CMAKE_FRESH=1"));
  CHECK(facts.build.path.is("/pt/out"));
  CHECK(facts.build.list.is("8.0"));
}

TEST_CASE("what a tree does not say is unknown, and what it does not ask for is none") {
  MemoryHost host = tree();
  host.files["/pt/cmake/public/cuda.cmake"] =
      "if(CUDA_VERSION VERSION_LESS ${MIN})\n  FATAL_ERROR\n";
  host.files["/pt/CMakeLists.txt"] = "project(Torch)\n";
  host.files["/pt/setup.py"] = "pass\n";
  const TreeFacts facts = read(host);
  CHECK_FALSE(facts.cuda_min.known());
  CHECK(contains(facts.reason, "cuda.cmake does not say"));
  CHECK(facts.gcc_min.is("none"));
  CHECK_FALSE(facts.fresh.known());
  host.files.erase("/pt/version.txt");
  CHECK(read(host).state.is("absent"));
  Facts none;
  gather_tree(host, Inputs(), none);
  CHECK_FALSE(none.tree.state.known());
}

TEST_CASE("a build folder says what its cache has, and none where that has no such entry") {
  MemoryHost host = tree();
  host.files["/b/CMakeCache.txt"] =
      "//TORCH_CUDA_ARCH_LIST:STRING=1.0\nTORCH_CUDA_ARCH_LIST_OLD:STRING=2.0\n"
      "TORCH_CUDA_ARCH_LIST:UNINITIALIZED=8.0;9.0+PTX\nCMAKE_CUDA_COMPILER:FILEPATH=/c/nvcc\n";
  TreeBuild build = read(host, {{"BINARY_DIR", "/b"}}).build;
  CHECK(build.list.is("8.0;9.0+PTX"));
  CHECK(build.compiler.is("/c/nvcc"));
  CHECK_FALSE(build.gencodes.known());
  host.files["/b/CMakeCache.txt"] = "A:STRING=b\n";
  build = read(host, {{"BINARY_DIR", "/b"}}).build;
  CHECK(build.list.is("none"));
  CHECK(build.compiler.is("none"));
}

TEST_CASE("the gencodes of a build folder are those that its CUDA files have in common") {
  MemoryHost host = tree();
  host.files["/pt/build/CMakeCache.txt"] = "A:STRING=b\n";
  // Across the ends of what is read at a time.
  const std::string filler((1u << 20) - 60, 'x');
  host.files["/pt/build/build.ninja"] =
      cat(filler, "\n", ninja_line("-gencode arch=compute_100a,code=sm_100a"), filler, "\n",
          ninja_line(), "  COMMAND = true\n");
  const List<std::string> common = read(host).build.gencodes.value();
  CHECK(join(common, " ") ==
        "arch=compute_80,code=sm_80 arch=compute_90,code=compute_90 arch=compute_90,code=sm_90");
  CHECK(read(host, {{"CMAKE_VERSION", "3.31"}}).build.gencodes.value().empty());
}

TEST_CASE("a build folder that is configured anew says nothing") {
  MemoryHost host = tree();
  host.files["/pt/build/CMakeCache.txt"] = "TORCH_CUDA_ARCH_LIST:STRING=8.0\n";
  CHECK(read(host).build.list.is("8.0"));
  CHECK(read(host, {{"FRESH", "ON"}}).build.path.is("none"));
  host.variables["SKBUILD_CMAKE_FRESH"] = "1";  // of another era
  CHECK(read(host).build.path.is("/pt/build"));
  host.variables["CMAKE_FRESH"] = "0";
  CHECK(read(host).build.path.is("/pt/build"));
  host.variables["CMAKE_FRESH"] = "1";
  CHECK(read(host).build.path.is("none"));
}

TEST_CASE("a folder is PyTorch's tree only with all that makes one") {
  for (const char* file : {"version.txt", "cmake/Dependencies.cmake"}) {
    MemoryHost host = tree();
    host.files.erase(cat("/pt/", file));
    CHECK(read(host).state.is("absent"));
  }
  for (const char* folder : {"/pt/aten", "/pt/c10", "/pt/torch"}) {
    MemoryHost host = tree();
    host.directories.erase(folder);
    CHECK(read(host).state.is("absent"));
    host.files[folder] = "";
    CHECK(read(host).state.is("absent"));
  }
  MemoryHost host = tree();
  CHECK(read(host, {{"SOURCE_DIR", "pt"}}).state.from == "/cwd/pt");
  CHECK_FALSE(read(host, {{"SOURCE_DIR", ""}}).state.known());
  host.files["/pt/version.txt"] = " \n";
  CHECK(read(host).state.is("found"));
  CHECK_FALSE(read(host).version.known());
}

TEST_CASE("the build backend is the value of that very name, in either quotes") {
  const auto era = [](const std::string& project) {
    MemoryHost host = tree();
    host.files["/pt/pyproject.toml"] = project;
    return read(host).era.or_else("unknown");
  };
  CHECK(era("build-backend='scikit_build_core.build'\n") == "scikit-build-core");
  CHECK(era("old-build-backend = \"x\"\nbuild-backend = \"scikit_build_core.build\"\n") ==
        "scikit-build-core");
  CHECK(era("build-backend = \"poetry.core\"\n") == "unknown");
  CHECK(era("[project]\n") == "setup.py");
  MemoryHost host = tree();
  host.files.erase("/pt/pyproject.toml");
  CHECK(read(host).era.from == "/pt/setup.py");
  host.files.erase("/pt/setup.py");
  CHECK_FALSE(read(host).era.known());
}

TEST_CASE("what a tree stops below is read from an if() and the three lines that follow it") {
  const auto oldest = [](const std::string& text) {
    MemoryHost host = tree();
    host.files["/pt/cmake/public/cuda.cmake"] = text;
    return read(host).cuda_min.or_else("unknown");
  };
  CHECK(oldest("  if(CUDA_VERSION VERSION_LESS \"11.8\")\n\n\nFATAL_ERROR\n") == "11.8");
  CHECK(oldest("if(CUDA_VERSION VERSION_LESS 11.8 OR X)\nFATAL_ERROR\n") == "11.8");
  CHECK(oldest("if(CUDA_VERSION VERSION_LESS 11.8)\n\n\n\nFATAL_ERROR\n") == "unknown");
  CHECK(oldest("# CUDA_VERSION VERSION_LESS 11.8 is a\n# FATAL_ERROR\n") == "unknown");
}

TEST_CASE("a file of a tree that cannot be read is unknown, and not a tree without limits") {
  MemoryHost host = tree();
  host.files.erase("/pt/cmake/public/cuda.cmake");
  host.files.erase("/pt/CMakeLists.txt");
  const TreeFacts facts = read(host);
  CHECK(facts.reason == "/pt/cmake/public/cuda.cmake cannot be read");
  CHECK_FALSE(facts.gcc_min.known());
}

TEST_CASE("a build folder is CMake's, else the one of pyproject.toml's that can be known") {
  MemoryHost host = tree();
  host.files["/pt/build/CMakeCache.txt"] = host.files["/pt/out/CMakeCache.txt"] = "A:STRING=b\n";
  host.files["/pt/pyproject.toml"] += "build-dir = \"out\"\n";
  CHECK(read(host).build.path.is("/pt/build"));  // setup.py's is always that one
  CHECK(read(host, {{"BINARY_DIR", ""}}).build.path.is("/pt/build"));
  host.files["/pt/pyproject.toml"] =
      "build-backend = \"scikit_build_core.build\"\nbuild-dir = \"build/{wheel_tag}\"\n";
  CHECK(read(host).build.path.is("/pt/build"));
}

TEST_CASE("an entry of a cache without a value is none") {
  for (const char* line : {"TORCH_CUDA_ARCH_LIST:STRING=\n", "TORCH_CUDA_ARCH_LIST:STRING\n",
                           "TORCH_CUDA_ARCH_LIST\n"}) {
    MemoryHost host = tree();
    host.files["/pt/build/CMakeCache.txt"] = line;
    CHECK(read(host).build.list.is("none"));
  }
}

TEST_CASE("gencodes end where a shell's word does, and the shortest line counts wherever it is") {
  const auto gencodes = [](const std::string& text) {
    MemoryHost host = tree();
    host.files["/pt/build/CMakeCache.txt"] = "A:STRING=b\n";
    host.files["/pt/build/build.ninja"] = text;
    return join(read(host).build.gencodes.value(), " ");
  };
  for (const char* line :
       {"-gencode arch=compute_80,code=sm_80 -O2\n", "'-gencode=arch=compute_80,code=sm_80'\n",
        "\"-gencode=arch=compute_80,code=sm_80\"\n",
        "\\\"-gencode=arch=compute_80,code=sm_80\\\"\n", "-gencode arch=compute_80,code=sm_80\n"})
    CHECK(gencodes(line) == "arch=compute_80,code=sm_80");
  CHECK(gencodes(ninja_line("-gencode arch=compute_86,code=sm_86") +
                 "FLAGS = -gencode arch=compute_80,code=sm_80\n" + ninja_line()) ==
        "arch=compute_80,code=sm_80");
}

TEST_CASE("a word that makes a build folder anew is the tree's own, and has a value") {
  MemoryHost host = tree();
  host.files["/pt/build/CMakeCache.txt"] = "A:STRING=b\n";
  host.variables["CMAKE_FRESH"] = "";
  CHECK(read(host).build.path.is("/pt/build"));
  host.files["/pt/pyproject.toml"] = "build-backend = \"scikit_build_core.build\"\n";
  host.variables["CMAKE_FRESH"] = "1";
  CHECK(read(host).build.path.is("/pt/build"));
  host.variables["SKBUILD_CMAKE_FRESH"] = "1";
  CHECK(read(host).build.path.is("none"));
}
