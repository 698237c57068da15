// SPDX-License-Identifier: Apache-2.0
#include "tool/settings.h"

#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "memory_host.h"

using namespace tcs;

TEST_CASE("a CMake variable goes before the environment, and says so") {
  MemoryHost host;
  Inputs in;
  host.variables["TORCH_CUDA_ARCH_LIST"] = "8.0";
  Request from_environment = make_request(variables_of(host), in);
  CHECK(from_environment.arch_list.value() == "8.0");
  CHECK(from_environment.arch_list.from == "TORCH_CUDA_ARCH_LIST (environment)");
  in.set["TORCH_CUDA_ARCH_LIST"] = "9.0";
  Request from_variable = make_request(variables_of(host), in);
  CHECK(from_variable.arch_list.value() == "9.0");
  CHECK(from_variable.arch_list.from == "TORCH_CUDA_ARCH_LIST (CMake variable)");
}

TEST_CASE("the language is LANG's of the module, else the locale's, and English without a word") {
  const auto of = [](const char* name, const char* value) {
    MemoryHost host;
    host.variables[name] = value;
    const Result<Language> language = make_language(host, Inputs());
    REQUIRE(language);
    return *language == Language::Chinese;
  };
  CHECK_FALSE(*make_language(MemoryHost(), Inputs()) == Language::Chinese);
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    for (const char* value :
         {"zh_CN.UTF-8", "zh_SG.utf8", "zh.UTF-8", "zh_TW", "zh_HK.UTF-8@x", "zh"}) {
      INFO(name << "=" << value);
      CHECK(of(name, value));
    }
  for (const char* value :
       {"C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "zha", "zh_CN.GBK", "zh_TW.Big5"})
    CHECK_FALSE(of("LANG", value));
  CHECK_FALSE(of("LC_CTYPE", "zh_CN.UTF-8"));
  CHECK(of("TORCH_CUDA_STACK_LANG", "zh"));

  MemoryHost host;
  Inputs in;
  host.variables["LANG"] = "zh_CN.UTF-8";
  host.variables["LC_MESSAGES"] = "";
  CHECK(*make_language(host, in) == Language::Chinese);
  host.variables["LC_ALL"] = "C";
  CHECK(*make_language(host, in) == Language::English);
  in.set["LANG"] = "zh";
  CHECK(*make_language(host, in) == Language::Chinese);
  in.set["LANG"] = "fr";
  CHECK(make_language(host, in).error().str() == "TorchCudaStack_LANG: 'fr' is none of en, zh");
}

TEST_CASE("torch's list goes before CMake's, which goes before CUDAARCHS; the second is kept") {
  MemoryHost host;
  Inputs in;
  host.variables["CUDAARCHS"] = "75";
  CHECK(make_request(variables_of(host), in).arch_dialect == "cmake");
  in.set["CMAKE_CUDA_ARCHITECTURES"] = "80-real";
  Request two = make_request(variables_of(host), in);
  CHECK(two.arch_list.value() == "80-real");
  CHECK(two.other_list.value() == "75");
  host.variables["TORCH_CUDA_ARCH_LIST"] = "9.0";
  Request three = make_request(variables_of(host), in);
  CHECK(three.arch_list.value() == "9.0");
  CHECK(three.arch_dialect == "torch");
  CHECK(three.other_list.value() == "80-real");
}

TEST_CASE("CMAKE_CUDA_ARCHITECTURES OFF or empty asks for nothing") {
  MemoryHost host;
  for (const char* value : {"OFF", "", "FALSE", "off"}) {
    Inputs in;
    in.set["CMAKE_CUDA_ARCHITECTURES"] = value;
    INFO(value);
    CHECK_FALSE(make_request(variables_of(host), in).arch_list.known());
  }
}

TEST_CASE(
    "targets come from the variable or TORCH_CUDA_STACK_TARGETS, names with spaces stay whole") {
  MemoryHost host;
  Inputs in;
  CHECK_FALSE(make_request(variables_of(host), in).targets_known);
  host.variables["TORCH_CUDA_STACK_TARGETS"] = "RTX 4090; 9.0;";
  Request r = make_request(variables_of(host), in);
  CHECK(r.targets == List<std::string>{"RTX 4090", "9.0"});
  CHECK(r.targets_from == "TORCH_CUDA_STACK_TARGETS (environment)");
}

TEST_CASE("the cache is a whole path or switched off, in the words that the module takes") {
  MemoryHost host;
  host.variables["HOME"] = "/home/me";
  CHECK(*cache_folder(host, Inputs{}) == "/home/me/.cache/torch-cuda-stack");
  for (const char* off : {"OFF", "off", "No", "0", "false"}) {
    host.variables["TORCH_CUDA_STACK_CACHE_DIR"] = off;
    CHECK(cache_folder(host, Inputs{})->empty());
  }
  host.variables["TORCH_CUDA_STACK_CACHE_DIR"] = "some/where";
  Result<std::string> relative = cache_folder(host, Inputs{});
  REQUIRE_FALSE(relative);
  CHECK(relative.error().str() ==
        "TORCH_CUDA_STACK_CACHE_DIR (environment): 'some/where' is no absolute path, and not OFF");
}

TEST_CASE("a policy word that does not exist is refused with the words there are") {
  MemoryHost host;
  Inputs in;
  in.set["FAIL_ON"] = "errors";
  Result<Policy> policy = make_policy(host, in);
  REQUIRE_FALSE(policy);
  CHECK(policy.error().str() ==
        "TorchCudaStack_FAIL_ON: 'errors' is none of error, warning, unknown, never");
  in.set["FAIL_ON"] = "warning";
  in.set["ALLOW"] = "TCS601;no-such-finding";
  policy = make_policy(host, in);
  REQUIRE_FALSE(policy);
  CHECK(contains(policy.error().str(), "'no-such-finding' is no finding"));
  in.set["ALLOW"] = "TCS601";
  policy = make_policy(host, in);
  REQUIRE(policy);
  CHECK(policy->fail_on == Severity::Warning);
  CHECK(policy->allow == List<std::string>{"TCS601"});
}

TEST_CASE("a deadline is a number of seconds from 1 to 3600") {
  MemoryHost host;
  Inputs in;
  CHECK(*timeout_ms_of(host, in) == 30000);
  in.set["TIMEOUT"] = "5";
  CHECK(*timeout_ms_of(host, in) == 5000);
  for (const char* bad : {"0", "-1", "3601", "5s", "1e3"}) {
    in.set["TIMEOUT"] = bad;
    INFO(bad);
    CHECK_FALSE(timeout_ms_of(host, in));
  }
}

TEST_CASE("a source tree of PyTorch is what is built, unless a purpose is named") {
  Inputs in;
  Facts facts;
  Request request;
  settle_purpose(in, facts, request);
  CHECK(request.purpose == "extension");
  facts.tree.state = Text("absent");
  settle_purpose(in, facts, request);
  CHECK(request.purpose == "extension");
  facts.tree.state = Text("found");
  settle_purpose(in, facts, request);
  CHECK(request.purpose == "pytorch-source");
  REQUIRE(take_sets({"PURPOSE=extension"}, &input_names(), in));
  settle_purpose(in, facts, request);
  CHECK(request.purpose == "extension");
  const Result<Done> refused = take_sets({"PURPOSE=wheel"}, &input_names(), in);
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().str(), "'wheel' is none of extension, pytorch-source, run"));
}
