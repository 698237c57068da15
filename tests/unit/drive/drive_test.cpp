// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "drive/build_of.h"
#include "drive/projects.h"

using namespace tcs;

TEST_CASE("a build is told the plan, the toolkit and the number of jobs, each with its reason") {
  const Build build("8.6;9.0+PTX");
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "8.6;9.0+PTX");
  CHECK(environment(build, "CUDAARCHS") == "86-real;90-real;90-virtual");
  CHECK(environment(build, "CUDA_HOME") == "/cuda");
  CHECK(environment(build, "CUDACXX") == "/cuda/bin/nvcc");
  CHECK(environment(build, "CUDAToolkit_ROOT") == "/cuda");
  CHECK(environment(build, "PATH") == "/cuda/bin");
  CHECK(environment(build, "MAX_JOBS") == "8");
  CHECK(environment(build, "CMAKE_BUILD_PARALLEL_LEVEL") == "8");
  CHECK(cache(build, "CMAKE_CUDA_COMPILER") == "/cuda/bin/nvcc");
  CHECK(cache(build, "CUDA_TOOLKIT_ROOT_DIR") == "/cuda");
  CHECK(cache(build, "TORCH_CUDA_ARCH_LIST") == "8.6;9.0+PTX");
  CHECK(environment(build, "FORCE_CUDA") == "1");
  CHECK(environment(build, "NVCC_APPEND_FLAGS").empty());
  CHECK(environment(build, "LD_LIBRARY_PATH").empty());
  for (const BuildSetting& one : build.drive().environment) CHECK_FALSE(one.why.empty());
}

TEST_CASE("nothing is said of what is unknown") {
  Build build("9.0");
  build.root = "";
  build.facts.host = HostFacts();
  for (const char* name : {"CUDA_HOME", "CUDACXX", "CUDAToolkit_ROOT", "PATH", "MAX_JOBS",
                           "CMAKE_BUILD_PARALLEL_LEVEL", "CUDAHOSTCXX", "NVCC_CCBIN",
                           "CUPY_NUM_BUILD_JOBS", "NATTEN_N_WORKERS"})
    CHECK(environment(build, name).empty());
  for (const char* name : {"CMAKE_CUDA_COMPILER", "CUDAToolkit_ROOT", "CMAKE_CUDA_HOST_COMPILER",
                           "CMAKE_PROJECT_TOP_LEVEL_INCLUDES"})
    CHECK(cache(build, name).empty());
  CHECK(build.drive().path_first.empty());
}

TEST_CASE("each variable that the user set keeps the user's value, and is marked as such") {
  Build build("9.0");
  build.host_compiler = "/usr/bin/g++-13";
  List<std::string> names;
  for (const BuildSetting& one : build.drive().environment) names.push_back(one.name);
  CHECK(names.size() > 20);
  for (const std::string& name : names) {
    if (name == "PATH" || name == "CMAKE_ARGS") continue;
    build.users = {{name, "mine"}};
    const BuildSetting one = find(build.drive().environment, name.c_str());
    CAPTURE(name);
    CHECK(one.value == "mine");
    CHECK(one.users);
  }
}

TEST_CASE("an empty variable of the user's is none") {
  Build build("9.0");
  build.users = {{"CUDA_HOME", ""}, {"FORCE_CUDA", ""}};
  CHECK(environment(build, "CUDA_HOME") == "/cuda");
  CHECK(environment(build, "FORCE_CUDA") == "1");
}

TEST_CASE(
    "what the user set in the environment is repeated in a cache, which would come before it") {
  Build build("9.0");
  build.users = {{"CUDAARCHS", "80"}, {"CUDACXX", "/x/nvcc"}, {"CUDAToolkit_ROOT", "/x"}};
  CHECK(cache(build, "CMAKE_CUDA_ARCHITECTURES") == "80");
  CHECK(cache(build, "CMAKE_CUDA_COMPILER") == "/x/nvcc");
  CHECK(cache(build, "CUDAToolkit_ROOT") == "/x");
  CHECK(cache(build, "CUDA_TOOLKIT_ROOT_DIR") == "/x");
}

TEST_CASE("PATH keeps the user's folders after the toolkit's") {
  Build build("9.0");
  build.users = {{"PATH", "/usr/bin:/bin"}};
  CHECK(environment(build, "PATH") == "/cuda/bin:/usr/bin:/bin");
  CHECK(build.drive().path_first == "/cuda/bin");
}

TEST_CASE("a folder that holds more than the toolkit is not put before the user's") {
  Build build("9.0");
  Toolkit& toolkit = build.facts.toolkits.list[0];
  build.users = {{"PATH", "/venv/bin:/usr/bin"}};
  build.root = "/usr";
  toolkit.root = Text("/usr");
  toolkit.nvcc = Text("/usr/bin/nvcc");
  CHECK(environment(build, "PATH").empty());
  CHECK(build.drive().path_first.empty());
  CHECK(environment(build, "CUDACXX") == "/usr/bin/nvcc");
  build.root = "/conda";
  toolkit.root = Text("/conda");
  toolkit.nvcc = Text("/conda/bin/nvcc");
  toolkit.layout = Text("conda");
  CHECK(environment(build, "PATH").empty());
}

TEST_CASE("nvcc is the toolkit's own, or that of the folder that completes the toolkit") {
  Build build("9.0");
  Toolkit& toolkit = build.facts.toolkits.list[0];
  toolkit.root = Text("/cuda");
  toolkit.nvcc = Text("/cuda/real/nvcc");
  CHECK(environment(build, "CUDACXX") == "/cuda/real/nvcc");
  CHECK(cache(build, "CMAKE_CUDA_COMPILER") == "/cuda/real/nvcc");
  CHECK(environment(build, "PATH") == "/cuda/real");
  build.root = "/farm";
  CHECK(environment(build, "CUDACXX") == "/farm/bin/nvcc");
  CHECK(environment(build, "CUDA_HOME") == "/farm");
}

TEST_CASE("a CUDA_HOME of the very toolkit that is completed stays, and the linker is helped") {
  Build build("9.0");
  build.facts.toolkits.list[0].root = Text("/pip/cu13");
  build.root = "/farm";
  build.users = {{"CUDA_HOME", "/pip/cu13"}};
  CHECK(environment(build, "CUDA_HOME") == "/pip/cu13");
  CHECK(environment(build, "LIBRARY_PATH") == "/farm/lib64");
  CHECK(build.drive().notes.empty());
  build.users["LIBRARY_PATH"] = "/mine";
  CHECK(environment(build, "LIBRARY_PATH") == "/mine:/farm/lib64");
  build.users = {{"CUDA_HOME", "/other"}};
  CHECK(environment(build, "LIBRARY_PATH").empty());
  CHECK(build.drive().notes.size() == 1);
}

TEST_CASE(
    "a toolkit of the compiler alone is completed with the headers that PyTorch's packages have") {
  Build build("9.0");
  build.facts.torch.root = Text("/venv/site-packages/torch");
  build.facts.torch.cuda = Text("13.2");
  CHECK(environment(build, "CPLUS_INCLUDE_PATH").empty());
  build.facts.toolkits.list[0].missing = Names({"nvrtc"}, "its files");
  CHECK(environment(build, "CPLUS_INCLUDE_PATH") == "/venv/site-packages/nvidia/cu13/include");
  build.users = {{"CPLUS_INCLUDE_PATH", "/mine"}};
  CHECK(environment(build, "CPLUS_INCLUDE_PATH") ==
        "/mine:/venv/site-packages/nvidia/cu13/include");
  build.facts.torch = TorchFacts();
  CHECK(environment(build, "CPLUS_INCLUDE_PATH").empty());
}

TEST_CASE("a CUDA_PATH of the user's is what CUDA_HOME says, and that it is another is told") {
  Build build("9.0");
  build.users = {{"CUDA_PATH", "/mine"}};
  CHECK(environment(build, "CUDA_HOME") == "/mine");
  CHECK(contains(join(build.drive().notes, "\n"),
                 "CUDA_PATH stays /mine, which you set; what was checked is /cuda"));
  build.users = {{"CUDA_PATH", "/mine"}, {"CUDA_HOME", "/cuda"}};
  CHECK(environment(build, "CUDA_HOME") == "/cuda");
}

TEST_CASE("what the lists cannot say goes to nvcc itself, after the user's own flags") {
  Build build("9.0;12.0f");
  const std::string flag = "-gencode=arch=compute_120f,code=sm_120f";
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "9.0");
  CHECK(environment(build, "CUDAARCHS") == "90-real;120f-real");
  CHECK(environment(build, "NVCC_APPEND_FLAGS") == flag);
  CHECK(contains(join(build.drive().notes, "\n"),
                 cat("TORCH_CUDA_ARCH_LIST of the environment cannot say ", flag)));
  build.users = {{"NVCC_APPEND_FLAGS", "-lineinfo"}};
  CHECK(environment(build, "NVCC_APPEND_FLAGS") == "-lineinfo " + flag);
  build.users = {{"NVCC_APPEND_FLAGS", flag + " -lineinfo"}};
  CHECK(environment(build, "NVCC_APPEND_FLAGS") == flag + " -lineinfo");
}

TEST_CASE("each dialect's gap is told and filled") {
  const struct {
    const char *list, *flag, *who;
  } gaps[] = {
      {"9.0;8.6(8.0)", "-gencode=arch=compute_80,code=sm_86", "CMAKE_CUDA_ARCHITECTURES"},
      {"9.0;8.6(8.0)", "-gencode=arch=compute_80,code=sm_86",
       "TORCH_CUDA_ARCH_LIST of the environment"},
      {"9.0;12.0f", "-gencode=arch=compute_120f,code=sm_120f",
       "TORCH_CUDA_ARCH_LIST of the environment"},
  };
  for (const auto& gap : gaps) {
    const Build build(gap.list);
    CHECK(contains(environment(build, "NVCC_APPEND_FLAGS"), gap.flag));
    CHECK(contains(join(build.drive().notes, "\n"), cat(gap.who, " cannot say ", gap.flag)));
  }
}

TEST_CASE(
    "where PyTorch's list can say nothing of the plan, a neighbour keeps it from being empty") {
  const struct {
    const char *list, *said, *flag;
  } cases[] = {
      {"8.6(8.0)", "8.0", "-gencode=arch=compute_80,code=sm_86"},
      {"12.0f", "12.0a", "-gencode=arch=compute_120f,code=sm_120f"},
      {"8.8", "8.7", "-gencode=arch=compute_88,code=sm_88"},  // no word for 8.8: an older one
  };
  for (const auto& one : cases) {
    Build build(one.list);
    CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == one.said);
    CHECK(environment(build, "NVCC_APPEND_FLAGS") == one.flag);
    CHECK(contains(join(build.drive().notes, "\n"), cat(one.said, " is built beside it")));
    build.users = {{"TORCH_CUDA_ARCH_LIST", "mine"}};
    CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "mine");
    CHECK_FALSE(contains(join(build.drive().notes, "\n"), "is built beside it"));
  }
  CHECK(environment(Build("8.6(8.0)"), "CUDAARCHS") == "OFF");
  Build none("12.0f");
  none.facts = with_nvcc("13.0.88", "120f");  // an nvcc without 12.0a
  CHECK(environment(none, "TORCH_CUDA_ARCH_LIST").empty());
  CHECK(contains(join(none.drive().notes, "\n"), "takes a list of its own"));
}

TEST_CASE("a host compiler is named where it must be, and CC, which beats it, is told") {
  Build build("9.0");
  CHECK(environment(build, "NVCC_CCBIN").empty());
  build.host_compiler = "/usr/bin/g++-13";
  CHECK(environment(build, "NVCC_CCBIN") == "/usr/bin/g++-13");
  CHECK(environment(build, "CUDAHOSTCXX") == "/usr/bin/g++-13");
  CHECK(cache(build, "CMAKE_CUDA_HOST_COMPILER") == "/usr/bin/g++-13");
  CHECK_FALSE(contains(join(build.drive().notes, "\n"), "CC="));
  build.users = {{"CC", "gcc-14"}};
  CHECK(contains(join(build.drive().notes, "\n"), "CC=gcc-14 is yours"));
}

TEST_CASE("an nvcc before 13.0, which does not read NVCC_CCBIN, has the host compiler prepended") {
  Build build("9.0");
  build.host_compiler = "/usr/bin/g++-11";
  CHECK(environment(build, "NVCC_PREPEND_FLAGS").empty());
  build.facts.toolkits.list[0].version = Text("12.4.131");
  CHECK(environment(build, "NVCC_PREPEND_FLAGS") == "-ccbin /usr/bin/g++-11");
  build.users = {{"NVCC_PREPEND_FLAGS", "-ccbin mine"}};  // nvcc takes the last one
  CHECK(environment(build, "NVCC_PREPEND_FLAGS") == "-ccbin /usr/bin/g++-11 -ccbin mine");
  build.users = {{"NVCC_CCBIN", "mine"}};
  CHECK(environment(build, "NVCC_PREPEND_FLAGS").empty());
  build.users.clear();
  build.host_compiler = "/my tools/g++";
  CHECK(environment(build, "NVCC_PREPEND_FLAGS").empty());
  CHECK(contains(join(build.drive().notes, "\n"), "NVCC_PREPEND_FLAGS cannot name"));
}

TEST_CASE("CMAKE_ARGS has the cache's words, the user's own last, and none with a blank") {
  Build build("8.6;9.0");
  build.gate = "/m/TorchCudaStackGate.cmake";
  build.users = {{"CMAKE_ARGS", "-DCMAKE_CUDA_ARCHITECTURES=75 -DX=Y"}};
  const std::string words = environment(build, "CMAKE_ARGS");
  CHECK(contains(words, "-DCMAKE_CUDA_ARCHITECTURES=86-real;90-real "));
  CHECK(contains(words, "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/m/TorchCudaStackGate.cmake "));
  CHECK(ends_with(words, " -DCMAKE_CUDA_ARCHITECTURES=75 -DX=Y"));
  for (const char* blank :
       {" ", "\t", "\r", "\v", "\x1c", "\xC2\xA0", "\xE2\x80\xA8", "\xE3\x80\x80"}) {
    build.root = cat("/my", blank, "cuda");
    CHECK_FALSE(contains(environment(build, "CMAKE_ARGS"), build.root));
  }
  build.root = "/\xC3\xBC";
  CHECK(contains(environment(build, "CMAKE_ARGS"), build.root));
  build.root = "/my cuda";
  CHECK(contains(join(build.drive().notes, "\n"), "CMAKE_ARGS cannot hold CMAKE_CUDA_COMPILER"));
}

TEST_CASE(
    "CMAKE_ARGS that has our words already, of a run around this one, does not get them twice") {
  Build build("9.0");
  const std::string words = environment(build, "CMAKE_ARGS");
  for (const std::string& own : {words, words + " -DX=Y"}) {
    build.users = {{"CMAKE_ARGS", own}};
    CHECK(environment(build, "CMAKE_ARGS") == own);
  }
}

TEST_CASE("jobs are as many as cores and memory allow, and one at least") {
  Build build("9.0");
  build.facts.host.memory_mib = Fact<int>(3584 * 3 + 100);
  CHECK(environment(build, "MAX_JOBS") == "3");
  CHECK(contains(find(build.drive().environment, "MAX_JOBS").why, "MiB of memory"));
  CHECK_FALSE(contains(join(build.drive().notes, "\n"), "less than one compile may take"));
  build.facts.host.memory_mib = Fact<int>(100);
  CHECK(environment(build, "MAX_JOBS") == "1");
  CHECK(contains(join(build.drive().notes, "\n"), "100 MiB of memory are less than one compile"));
  build.facts.host.memory_mib = Fact<int>(0);
  CHECK(environment(build, "MAX_JOBS") == "1");
  build.facts.host.memory_mib = Fact<int>();
  CHECK(environment(build, "MAX_JOBS") == "8");
  CHECK(contains(join(build.drive().notes, "\n"), "memory there is is unknown"));
}

TEST_CASE(
    "threads of nvcc that the user asked for take memory, as many as there is to compile for") {
  Build build("8.0;9.0;12.0");
  build.facts.host.memory_mib = Fact<int>(3584 * 6);
  CHECK(environment(build, "MAX_JOBS") == "6");
  for (const auto& [threads, jobs] : {std::pair{"1", "6"}, {"2", "3"}, {"8", "2"}, {"0", "6"}}) {
    build.users = {{"NVCC_THREADS", threads}};
    CHECK(environment(build, "MAX_JOBS") == jobs);
    CHECK(environment(build, "NVCC_THREADS") == threads);
  }
}

TEST_CASE("the user's number of jobs is everybody's") {
  Build build("9.0");
  build.users = {{"CMAKE_BUILD_PARALLEL_LEVEL", "5"}};
  CHECK(environment(build, "MAX_JOBS") == "5");
  CHECK(environment(build, "NATTEN_N_WORKERS") == "5");
  CHECK(build.drive().jobs == 5);
}

TEST_CASE("a project that needs more memory for a compile gets fewer jobs where it is named") {
  Build build("9.0");
  build.facts.host.memory_mib = Fact<int>(20000);
  CHECK(environment(build, "MAX_JOBS") == "5");
  build.named = {"pip", "install", "flash_attn==2.8.3"};
  CHECK(environment(build, "MAX_JOBS") == "2");
}

TEST_CASE("a project that runs nvcc with threads of its own gets the memory of as many compiles") {
  Build build("8.0;9.0");
  build.facts.host.memory_mib = Fact<int>(3584 * 8);
  CHECK(environment(build, "MAX_JOBS") == "8");
  for (const auto& [project, jobs] :
       {std::pair{"xformers", "4"}, {"sageattention", "4"}, {"causal_conv1d==1.7.0", "2"}}) {
    build.named = {"pip", "install", project};
    CAPTURE(project);
    CHECK(environment(build, "MAX_JOBS") == jobs);
  }
  build.users = {{"NVCC_THREADS", "1"}};  // they do not ask it
  CHECK(environment(build, "MAX_JOBS") == "2");
}

TEST_CASE("PyTorch's own source is told in the words of its tree, and no list of CMake's") {
  Build build("9.0;12.0f");
  build.request.purpose = "pytorch-source";
  build.host_compiler = "/usr/bin/g++-13";
  build.gate = "/m/TorchCudaStackGate.cmake";
  CHECK(environment(build, "USE_CUDA") == "1");
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "9.0;12.0f");
  CHECK(environment(build, "CUDA_NVCC_EXECUTABLE") == "/cuda/bin/nvcc");
  CHECK(environment(build, "CUDA_HOST_COMPILER") == "/usr/bin/g++-13");
  CHECK(environment(build, "MAX_JOBS") == "8");
  for (const char* name : {"CUDAARCHS", "FORCE_CUDA", "FLASH_ATTN_CUDA_ARCHS"})
    CHECK(environment(build, name).empty());
  CHECK(cache(build, "CMAKE_CUDA_ARCHITECTURES").empty());
  CHECK(cache(build, "USE_CUDA") == "ON");
  CHECK(contains(environment(build, "CMAKE_ARGS"), "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/m/"));
  build.users = {{"CUDACXX", "/x/nvcc"}};
  CHECK(environment(build, "CUDA_NVCC_EXECUTABLE") == "/x/nvcc");
}

TEST_CASE("an older tree of PyTorch reads no CMAKE_ARGS and takes the gate from the environment") {
  Build build("9.0;12.0f");
  build.request.purpose = "pytorch-source";
  build.gate = "/m/TorchCudaStackGate.cmake";
  build.facts.tree.version = Text("2.6.0");
  build.facts.tree.era = Text("setup.py");
  CHECK(environment(build, "CMAKE_ARGS").empty());
  CHECK(environment(build, "CMAKE_PROJECT_TOP_LEVEL_INCLUDES") == build.gate);
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "9.0");  // it has no word for 12.0f
  CHECK(contains(environment(build, "NVCC_APPEND_FLAGS"), "code=sm_120f"));
  build.facts.tree.era = Text();  // the version alone
  CHECK(environment(build, "CMAKE_ARGS").empty());
  build.facts.tree.version = Text("2.15.0a0");
  CHECK(contains(environment(build, "CMAKE_ARGS"), "TOP_LEVEL_INCLUDES=/m/"));
  CHECK(environment(build, "CMAKE_PROJECT_TOP_LEVEL_INCLUDES").empty());
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "9.0;12.0f");
}

TEST_CASE("no variable and no entry is empty, whatever there is to say") {
  for (const char* purpose : {"extension", "pytorch-source"})
    for (const char* list : {"9.0", "12.0f", "7.5", ""})
      for (const char* root : {"/cuda", ""}) {
        Build build(list);
        build.request.purpose = purpose;
        build.root = root;
        build.users = {{"CPATH", "/x"}};
        const Drive drive = build.drive();
        CAPTURE(purpose, list, root);
        for (const List<BuildSetting>* all : {&drive.environment, &drive.cache})
          for (const BuildSetting& one : *all) {
            CAPTURE(one.name);
            CHECK_FALSE(one.value.empty());
            CHECK_FALSE(one.users);
          }
        CHECK_FALSE(contains(environment(build, "CMAKE_ARGS") + " ", "= "));
      }
}

TEST_CASE("flags of the user's alone are left to the user") {
  Build build("9.0");
  build.users = {{"NVCC_APPEND_FLAGS", "-lineinfo"}};
  CHECK(environment(build, "NVCC_APPEND_FLAGS").empty());
}

TEST_CASE("a flag of the user's that only begins like the missing one does not stand for it") {
  Build build("8.6(8.0)");
  const std::string flag = "-gencode=arch=compute_80,code=sm_86";
  build.users = {{"NVCC_APPEND_FLAGS", flag + ",sm_80"}};
  CHECK(environment(build, "NVCC_APPEND_FLAGS") == cat(flag, ",sm_80 ", flag));
}

TEST_CASE("without a word about nvcc a neighbour is any that PyTorch has a word for") {
  Build build("12.0f");
  build.facts.toolkits = ToolkitFacts();
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "12.0a");
  CHECK(find(build.drive().environment, "TORCH_CUDA_ARCH_LIST").why == "beside the plan");
}

TEST_CASE("the neighbour of a GPU newer than PyTorch's list is plain, and the newest older one") {
  Build build("12.1");
  build.facts.torch.version = Text("2.6.0+cu124");
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "9.0");
  CHECK(environment(build, "NVCC_APPEND_FLAGS") == "-gencode=arch=compute_121,code=sm_121");
}

TEST_CASE("each list's gap is its own: CMake's find_package(Torch) has words that others lack") {
  Build build("9.0;8.6(8.0)");
  CHECK(cache(build, "TORCH_CUDA_ARCH_LIST") == "8.6(8.0);9.0");
  CHECK(environment(build, "TORCH_CUDA_ARCH_LIST") == "9.0");
  CHECK_FALSE(contains(join(build.drive().notes, "\n"), "TORCH_CUDA_ARCH_LIST of CMake cannot"));
  build = Build("9.0;12.0f");
  build.facts.torch.version = Text("2.7.1+cu128");
  CHECK(cache(build, "TORCH_CUDA_ARCH_LIST") == "9.0");
  const std::string notes = join(build.drive().notes, "\n");
  CHECK(contains(notes, "TORCH_CUDA_ARCH_LIST of CMake cannot say -gencode=arch=compute_120f"));
  CHECK_FALSE(contains(notes, "CMAKE_CUDA_ARCHITECTURES cannot"));
}

TEST_CASE("the list and the host compiler that the user set are repeated in a cache, too") {
  Build build("9.0");
  build.host_compiler = "/usr/bin/g++-13";
  build.users = {{"TORCH_CUDA_ARCH_LIST", "7.5"}, {"CUDAHOSTCXX", "g++-12"}, {"NVCC_CCBIN", "x"}};
  for (const auto& [name, value] : {std::pair{"TORCH_CUDA_ARCH_LIST", "7.5"},
                                    {"CMAKE_CUDA_HOST_COMPILER", "g++-12"},
                                    {"CUDA_HOST_COMPILER", "g++-12"}}) {
    CHECK(cache(build, name) == value);
    CHECK(find(build.drive().cache, name).users);
  }
  build.request.purpose = "pytorch-source";
  CHECK(cache(build, "TORCH_CUDA_ARCH_LIST") == "7.5");
  CHECK(environment(build, "CUDA_HOST_COMPILER") == "g++-12");
  build.users = {{"CUDAHOSTCXX", ""}, {"CUDACXX", ""}};
  CHECK(environment(build, "CUDA_HOST_COMPILER") == "/usr/bin/g++-13");
  CHECK(environment(build, "CUDA_NVCC_EXECUTABLE") == "/cuda/bin/nvcc");
}

TEST_CASE("a variable that names the toolkit in use is neither another one nor a completed one") {
  Build build("9.0");
  build.facts.toolkits.list[0].root = Text("/cuda");
  build.users = {{"CUDA_HOME", "/cuda"}};
  CHECK(environment(build, "LIBRARY_PATH").empty());
  CHECK(build.drive().notes.empty());
  build.facts.toolkits.list[0].root = Text("/pip/cu13");
  build.root = "/farm";
  build.users = {{"CUDA_HOME", "/pip/cu13"}, {"CUDA_PATH", "/other"}};
  CHECK(environment(build, "LIBRARY_PATH") == "/farm/lib64");
  CHECK(join(build.drive().notes, "\n") ==
        "CUDA_PATH stays /other, which you set; what was checked is /farm");
}

TEST_CASE("headers of PyTorch's packages need its folder and its CUDA") {
  Build build("9.0");
  build.facts.toolkits.list[0].missing = Names({"nvrtc"}, "its files");
  build.facts.torch.root = Text("/venv/site-packages/torch");
  CHECK(environment(build, "CPLUS_INCLUDE_PATH").empty());
  build.facts.torch.root = Text();
  build.facts.torch.cuda = Text("13.2");
  CHECK(environment(build, "CPLUS_INCLUDE_PATH").empty());
}

TEST_CASE("no folder of the system's programs is put first, and no nvcc is made up") {
  for (const char* folder : {"/usr/bin", "/bin", "/usr/local/bin"}) {
    Build build("9.0");
    build.facts.toolkits.list[0].root = Text("/cuda");
    build.facts.toolkits.list[0].nvcc = Text(cat(folder, "/nvcc"));
    build.root = "/cuda";
    CAPTURE(folder);
    CHECK(environment(build, "CUDACXX") == cat(folder, "/nvcc"));
    CHECK(environment(build, "PATH").empty());
  }
  Build build("9.0");
  build.facts.toolkits.list[0].root = Text("/cuda");  // where its nvcc is, is unknown
  CHECK(environment(build, "CUDACXX") == "/cuda/bin/nvcc");
  build.request.purpose = "pytorch-source";
  build.root = "";
  CHECK(environment(build, "CUDA_NVCC_EXECUTABLE").empty());
}

TEST_CASE("an nvcc of an unknown release has the host compiler prepended, once") {
  Build build("9.0");
  build.facts.toolkits.list[0].version = Text();
  CHECK(environment(build, "NVCC_PREPEND_FLAGS").empty());
  build.host_compiler = "/usr/bin/g++-11";
  CHECK(environment(build, "NVCC_PREPEND_FLAGS") == "-ccbin /usr/bin/g++-11");
  build.users = {{"NVCC_PREPEND_FLAGS", "-v -ccbin /usr/bin/g++-11"}};
  CHECK(environment(build, "NVCC_PREPEND_FLAGS") == "-v -ccbin /usr/bin/g++-11");
}

TEST_CASE("MAX_JOBS of the user's comes before CMake's number, and is no guess") {
  Build build("9.0");
  build.facts.host.memory_mib = Fact<int>();
  build.users = {{"MAX_JOBS", "64"}, {"CMAKE_BUILD_PARALLEL_LEVEL", "5"}};
  CHECK(build.drive().jobs == 64);
  CHECK(build.drive().notes.empty());
  build.users = {{"MAX_JOBS", "64"}};
  const BuildSetting level = find(build.drive().environment, "CMAKE_BUILD_PARALLEL_LEVEL");
  CHECK(level.value == "64");
  CHECK(level.why == "your number of jobs");
}

TEST_CASE("one core is one job, as many as cores have room for are by cores, none is none") {
  Build build("9.0");
  build.facts.host.cores = Fact<int>(1);
  CHECK(environment(build, "MAX_JOBS") == "1");
  CHECK(find(build.drive().environment, "MAX_JOBS").why == "1 core");
  build.facts.host.cores = Fact<int>(4);
  build.facts.host.memory_mib = Fact<int>(3584 * 4);
  CHECK(find(build.drive().environment, "MAX_JOBS").why == "4 cores");
  build.facts.host.cores = Fact<int>(0);
  CHECK(environment(build, "MAX_JOBS").empty());
}

TEST_CASE("the larger need counts: threads of nvcc, or the project's") {
  Build build("7.5;8.0;8.6;8.9;9.0;10.0;12.0");
  build.facts.host.memory_mib = Fact<int>(60000);
  build.named = {"pip", "install", "flash-attn"};
  build.users = {{"NVCC_THREADS", "7"}};
  CHECK(environment(build, "MAX_JOBS") == "2");
}

TEST_CASE("CMAKE_ARGS holds no value that is cut or changed where it is read") {
  for (const char* odd : {" ", "\t", "\n", "'", "\"", "\\"}) {
    Build build("9.0");
    build.root = cat("/my", odd, "cuda");
    CAPTURE(odd);
    CHECK_FALSE(contains(environment(build, "CMAKE_ARGS"), "/my"));
    const char* none = *odd == '\n' ? "CMake's cache cannot hold CUDAToolkit_ROOT"
                                    : "CMAKE_ARGS cannot hold CUDAToolkit_ROOT";
    CHECK(contains(join(build.drive().notes, "\n"), none));
  }
}

TEST_CASE("a tree's own way counts before its release, and its list's gap is told") {
  Build build("9.0;12.0f");
  build.request.purpose = "pytorch-source";
  build.gate = "/m/TorchCudaStackGate.cmake";
  CHECK(environment(build, "NVCC_APPEND_FLAGS").empty());
  CHECK(build.drive().notes.empty());
  build.facts.tree.version = Text("2.15.0a0");
  build.facts.tree.era = Text("setup.py");
  CHECK(environment(build, "CMAKE_PROJECT_TOP_LEVEL_INCLUDES") == build.gate);
  build.facts.tree.version = Text("2.6.0");
  CHECK(contains(join(build.drive().notes, "\n"),
                 "TORCH_CUDA_ARCH_LIST cannot say -gencode=arch=compute_120f,code=sm_120f"));
}
