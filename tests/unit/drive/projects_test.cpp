// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "base/text.h"
#include "drive/build_of.h"
#include "drive/projects.h"

using namespace tcs;

TEST_CASE("the plan in each project's own words") {
  const Build build("8.6;9.0a;12.0+PTX");
  CHECK(environment(build, "FLASH_ATTN_CUDA_ARCHS") == "80;90;120");
  CHECK(environment(build, "FLASHINFER_CUDA_ARCH_LIST") == "8.6 9.0a 12.0a");
  CHECK(environment(build, "NATTEN_CUDA_ARCH") == "8.6;9.0;12.0");
  CHECK(environment(build, "NVTE_CUDA_ARCHS") == "86;90;120");
  CHECK(environment(build, "TCNN_CUDA_ARCHITECTURES") == "86,90,120");
  CHECK(environment(build, "CUMM_CUDA_ARCH_LIST") == "8.6;9.0");
  CHECK(environment(build, "CUPY_NVCC_GENERATE_CODE") ==
        "arch=compute_86,code=sm_86;arch=compute_90a,code=sm_90a;arch=compute_120,code=sm_120;"
        "arch=compute_120,code=compute_120");
  CHECK(contains(environment(build, "CMAKE_ARGS"),
                 "-DCOMPUTE_CAPABILITY=86;90;120 -DCOMPUTE_BACKEND=cuda -DGGML_CUDA=ON"));
  CHECK(environment(Build("8.6+PTX"), "CUMM_CUDA_ARCH_LIST") == "8.6+PTX");
  CHECK(environment(Build("8.9+PTX"), "CUMM_CUDA_ARCH_LIST") == "8.6");
}

TEST_CASE("a project gets the architecture it knows whose code runs there, and none across Tegra") {
  CHECK(environment(Build("8.0;8.6;8.9"), "FLASH_ATTN_CUDA_ARCHS") == "80");
  CHECK(environment(Build("8.7"), "FLASH_ATTN_CUDA_ARCHS").empty());
  CHECK(environment(Build("12.1"), "FLASH_ATTN_CUDA_ARCHS") == "120");
  CHECK(environment(Build("7.5"), "FLASH_ATTN_CUDA_ARCHS").empty());
}

TEST_CASE("what a project will not build is told where the command names it, and else not") {
  Build build("7.5");
  CHECK(build.drive().notes.empty());
  build.named = {"pip", "install", "flash-attn"};
  CHECK(contains(join(build.drive().notes, "\n"),
                 "flash-attn builds for none of the plan (it knows 80 90 100 120)"));
  build.request.arch_list = Text("7.5;8.0", "TORCH_CUDA_ARCH_LIST (environment)");
  CHECK(contains(join(build.drive().notes, "\n"),
                 "flash-attn is told FLASH_ATTN_CUDA_ARCHS=80, which cannot say "
                 "-gencode=arch=compute_75,code=sm_75"));
  build.named = {"pip", "install", "causal_conv1d"};
  CHECK(contains(join(build.drive().notes, "\n"), "causal-conv1d writes its own list"));
}

TEST_CASE("a cmake that is called directly gets a project's own entries where it is named") {
  Build build("9.0");
  CHECK(cache(build, "COMPUTE_BACKEND").empty());
  build.named = {"cmake", "-S", "/src/bitsandbytes", "-B", "b"};
  CHECK(cache(build, "COMPUTE_BACKEND") == "cuda");
  CHECK(cache(build, "GGML_CUDA").empty());
  const std::string words = environment(build, "CMAKE_ARGS");
  CHECK(words.find("COMPUTE_BACKEND") == words.rfind("COMPUTE_BACKEND"));
  CHECK(contains(words, "-DGGML_CUDA=ON"));
}

TEST_CASE("a project is recognised in what a command may call it") {
  for (const char* word :
       {"flash-attn", "flash_attn==2.8.3", "Flash.Attn[x]", "dist/flash_attn-2.8.3.tar.gz",
        "git+https://github.com/Dao-AILab/flash-attn@v2#egg=x"})
    CHECK(names_project({"pip", "install", word}, "flash-attn"));
  for (const char* word : {"flashattn", "flash", "my-flash-attention", "attn"})
    CHECK_FALSE(names_project({"pip", "install", word}, "flash-attn"));
  CHECK(names_project({"git+https://github.com/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch"},
                      "tiny-cuda-nn"));
}

TEST_CASE("a variable of several projects is set once, for the one that is named") {
  std::set<std::string> seen;
  for (const BuildSetting& one : Build("9.0").drive().environment)
    CHECK(seen.insert(one.name).second);
  CHECK(seen.count("FORCE_CUDA") == 1);
  Build build("9.0");
  CHECK(find(build.drive().environment, "FORCE_CUDA").project == "torch-scatter");
  build.named = {"pip", "install", "torch_cluster"};
  CHECK(find(build.drive().environment, "FORCE_CUDA").project == "torch-cluster");
}

TEST_CASE("a word that only begins or ends like a project's name is another's") {
  for (const char* word : {"xflash-attn", "flash-attnz", "flash-attn2"})
    CHECK_FALSE(names_project({word}, "flash-attn"));
  CHECK(names_project({"flash__attn"}, "flash-attn"));
}

TEST_CASE("PTX is told where a project's words have it, and missed where not") {
  const auto notes = [](const char* project, const char* list) {
    Build build(list);
    build.named = {"pip", "install", project};
    return join(build.drive().notes, "\n");
  };
  CHECK(notes("cumm", "8.6+PTX").empty());
  CHECK(contains(notes("cumm", "8.9+PTX"), "cannot say -gencode=arch=compute_89,code=compute_89"));
  CHECK(
      contains(notes("natten", "9.0+PTX"), "cannot say -gencode=arch=compute_90,code=compute_90"));
  CHECK_FALSE(contains(notes("natten", "9.0"), "natten is told"));
  CHECK(environment(Build("8.6+PTX;8.9"), "CUMM_CUDA_ARCH_LIST") == "8.6+PTX");
  Build only("90-virtual");
  only.request.arch_dialect = "cmake";
  CHECK(environment(only, "NATTEN_CUDA_ARCH").empty());
  CHECK(environment(Build("9.0"), "FLASHINFER_CUDA_ARCH_LIST") == "9.0a");
  CHECK(environment(Build("9.0"), "NVCC_THREADS") == "1");
}

TEST_CASE("of two projects that are named a shared variable says the first") {
  Build build("9.0");
  build.named = {"pip", "install", "torch-cluster", "torch-sparse"};
  CHECK(find(build.drive().environment, "FORCE_CUDA").project == "torch-sparse");
}
