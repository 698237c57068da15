// SPDX-License-Identifier: Apache-2.0
#include "full/run.h"

#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "full/build_input.h"
#include "full/verbs.h"
#include "memory_host.h"

using namespace tcs;

namespace {

std::string recorded_facts() {
  std::ifstream stream(TCS_SOURCE_DIR "/tests/machines/201-driver-missing-near.json");
  std::stringstream text;
  text << stream.rdbuf();
  Result<Json> json = parse_json(text.str());
  REQUIRE(json);
  const Json* facts = json->find("facts");
  REQUIRE(facts != nullptr);
  return write_json(*facts);
}

MemoryHost machine() {
  MemoryHost host;
  host.variables = {{"HOME", "/home/u"}, {"PATH", "/bin"}, {"KEPT", "as it is"}};
  host.files["/facts.json"] = recorded_facts();
  host.directories.insert("/cwd");
  return host;
}

int run(MemoryHost& host, List<std::string> options, const List<std::string>& command) {
  List<std::string> args = {"--targets", "8.6", "--set", "FACTS=/facts.json", "--quiet"};
  args.append(options);
  args.push_back("--");
  args.append(command);
  return verb_run(host, args);
}

}  // namespace

TEST_CASE(
    "the command is started as it was written, with what the plan sets beside its environment") {
  MemoryHost host = machine();
  host.ends = Outcome();
  host.ends.code = ENOENT;
  CHECK(run(host, {}, {"pip", "", "a\nb", "--", "--targets"}) == 127);
  REQUIRE(host.started.size() == 1);
  CHECK_FALSE(host.waited);
  const Command& command = host.started[0];
  CHECK(command.argv == List<std::string>{"pip", "", "a\nb", "--", "--targets"});
  CHECK(command.unset_env.empty());
  CHECK(*command.set_env.find("TORCH_CUDA_ARCH_LIST") == "8.6");
  CHECK(*command.set_env.find("TORCH_CUDA_STACK_TARGETS") == "8.6");
  CHECK(*command.set_env.find("TORCH_CUDA_STACK_TOOL") == "/self/tcstack");
  CHECK(command.set_env.find("KEPT") == nullptr);
}

TEST_CASE("what cannot be started is 126, what is not found 127") {
  MemoryHost host = machine();
  host.ends = Outcome();
  host.ends.code = EACCES;
  host.ends.why = "Permission denied";
  CHECK(run(host, {}, {"/tmp"}) == 126);
}

TEST_CASE("a refusal starts nothing") {
  MemoryHost host = machine();
  CHECK(run(host, {"--arch-list", "99.9"}, {"pip"}) == 1);
  CHECK(run(host, {"--dry-run"}, {"pip"}) == 0);
  CHECK(verb_run(host, {"pip", "install"}) == 2);
  CHECK(verb_run(host, {"--"}) == 2);
  CHECK(verb_run(host, {"--", ""}) == 2);
  CHECK(host.started.empty());
}

TEST_CASE("the user's own list stays, and an option counts over it") {
  MemoryHost host = machine();
  host.variables["TORCH_CUDA_ARCH_LIST"] = "8.0;8.6";
  run(host, {}, {"pip"});
  CHECK(host.started[0].set_env.find("TORCH_CUDA_ARCH_LIST") == nullptr);
  run(host, {"--arch-list", "8.6"}, {"pip"});
  CHECK(*host.started[1].set_env.find("TORCH_CUDA_ARCH_LIST") == "8.6");
}

TEST_CASE(
    "with --verify the exit status is the command's, its signal its own, and nothing is verified") {
  MemoryHost host = machine();
  host.ends = MemoryHost::exits(7);
  CHECK(run(host, {"--verify", "*.so"}, {"make"}) == 7);
  CHECK(host.waited);
  host.ends.state = Outcome::State::Signalled;
  host.ends.code = 15;
  CHECK(run(host, {"--verify", "*.so"}, {"make"}) == -15);
  host.ends = MemoryHost::exits(0);
  CHECK(run(host, {"--verify", "*.so"}, {"make"}) == 1);  // no file
}

TEST_CASE("its own folder is gone when the command starts, and old ones with it") {
  MemoryHost host = machine();
  const std::string runs = "/home/u/.cache/torch-cuda-stack/run/";
  host.files[runs + "1799000000-12/left"] = "";
  host.files[runs + "1799999999-12/of another run"] = "";
  bool clean = false;
  host.on_start = [&](MemoryHost& h) {
    clean = h.stat(runs + "1799000000-12").type == FileStat::Type::Missing;
    Result<List<std::string>> names = h.list(runs);
    clean = clean && names && *names == List<std::string>{"1799999999-12"};
  };
  run(host, {}, {"make"});
  CHECK(clean);
}

TEST_CASE("a cache that others may write to is passed over") {
  MemoryHost host = machine();
  host.directories.insert("/home/u/.cache/torch-cuda-stack");
  host.foreign.insert("/home/u/.cache/torch-cuda-stack");
  run(host, {}, {"make"});
  CHECK(host.started.size() == 1);
  CHECK(host.directories.count("/tmp/tcstack-user") == 1);
  host.foreign.insert("/tmp/tcstack-user");
  CHECK(run(host, {}, {"make"}) == 3);
  CHECK(host.started.size() == 1);
}

namespace {

// A gate that is at hand, and what a cmake command becomes.
List<std::string> told(MemoryHost& host, const List<std::string>& command) {
  host.variables["TORCH_CUDA_STACK_MODULES"] = "/modules";
  host.files["/modules/TorchCudaStackGate.cmake"] = "";
  run(host, {}, command);
  REQUIRE(!host.started.empty());
  return host.started.back().argv;
}

}  // namespace

TEST_CASE("cmake reads no CMAKE_ARGS: words are put before the user's, which win") {
  MemoryHost host = machine();
  const std::string gate = "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/modules/TorchCudaStackGate.cmake";
  List<std::string> words = told(host, {"cmake", "-B", "build", "-DX=1"});
  REQUIRE(words.size() > 4);
  CHECK(words[0] == "cmake");
  CHECK(contains(words, gate));
  CHECK(words[words.size() - 3] == "-B");
  CHECK(words.back() == "-DX=1");
  CHECK(words.size() == 5);  // the gate alone, and nothing that would stay in the cache
  // The user's own, in each form.
  for (const List<std::string>& own :
       {List<std::string>{"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=/mine.cmake"},
        List<std::string>{"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES:FILEPATH=/mine.cmake"},
        List<std::string>{"-D", "CMAKE_PROJECT_TOP_LEVEL_INCLUDES=/mine.cmake"}}) {
    List<std::string> command = {"cmake", "."};
    command.append(own);
    words = told(host, command);
    CHECK_FALSE(contains(words, gate));
    CHECK(contains(words, std::string("-DCMAKE_CUDA_ARCHITECTURES=86-real")));
  }
  // A build folder and a preset that have their own.
  host.files["/cwd/build/CMakeCache.txt"] =
      "CMAKE_PROJECT_TOP_LEVEL_INCLUDES:UNINITIALIZED=/mine\n";
  CHECK_FALSE(contains(told(host, {"cmake", "-Bbuild", "."}), gate));
  CHECK(contains(told(host, {"cmake", "--fresh", "-Bbuild", "."}), gate));
  host.files["/cwd/CMakePresets.json"] = R"({"CMAKE_PROJECT_TOP_LEVEL_INCLUDES": "/mine"})";
  CHECK(contains(told(host, {"cmake", "-B", "other"}), gate));
  CHECK_FALSE(contains(told(host, {"cmake", "--preset", "p"}), gate));
  CHECK(told(host, {"cmake", "--build", "b"}) == List<std::string>{"cmake", "--build", "b"});
  CHECK(told(host, {"ninja", "-C", "b"}) == List<std::string>{"ninja", "-C", "b"});
}

TEST_CASE("what a cmake command sets is what is judged") {
  MemoryHost host = machine();
  CHECK(run(host, {}, {"cmake", "-DTORCH_CUDA_ARCH_LIST=99.9", "."}) == 1);
  CHECK(run(host, {"--fail-on", "never"},
            {"cmake", "-D", "TORCH_CUDA_ARCH_LIST:STRING=8.6", "."}) == 126);
}

TEST_CASE(
    "an option takes the place of all that says the same in the environment, also in CMAKE_ARGS") {
  const StringMap before = {
      {"CUDAARCHS", "80"},
      {"FLASH_ATTN_CUDA_ARCHS", "80"},
      {"CUDACXX", "/old/nvcc"},
      {"CMAKE_ARGS",
       "-DCMAKE_CUDA_ARCHITECTURES=80 -DA='b -DCOMPUTE_CAPABILITY=1 c' -D TORCH_CUDA_ARCH_LIST=8.0 "
       "-DCMAKE_CUDA_COMPILER:FILEPATH=\"/o d/nvcc\" -DCOMPUTE_CAPABILITY=80 -GNinja"}};
  const auto said = [](const StringMap& map) {
    std::string out;
    for (const auto& one : map) out += cat(one.first, "=", one.second, "\n");
    return out;
  };
  Request request;
  StringMap users = before;
  forget_replaced(request, {}, users);
  CHECK(said(users) == said(before));
  request.arch_list = Text("8.0", "TORCH_CUDA_ARCH_LIST (environment)");
  forget_replaced(request, {}, users);
  CHECK(said(users) == said(before));
  request.arch_list = Text("9.0", "--arch-list");
  forget_replaced(request, {}, users);
  CHECK(users.find("CUDAARCHS") == nullptr);
  CHECK(users.find("FLASH_ATTN_CUDA_ARCHS") == nullptr);
  CHECK(*users.find("CUDACXX") == "/old/nvcc");
  CHECK(*users.find("CMAKE_ARGS") ==
        "-DA='b -DCOMPUTE_CAPABILITY=1 c' -DCMAKE_CUDA_COMPILER:FILEPATH=\"/o d/nvcc\" -GNinja");
  Inputs in;
  in.set["TOOLKIT"] = "/new";
  forget_replaced(request, in, users);
  CHECK(users.find("CUDACXX") == nullptr);
  CHECK(*users.find("CMAKE_ARGS") == "-DA='b -DCOMPUTE_CAPABILITY=1 c' -GNinja");
}
