// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"

using namespace tcs;

namespace {

Facts read(const std::string& members) {
  List<std::string> unknown;
  Result<Facts> facts =
      read_facts(cat("{\"schema\": \"torch-cuda-stack/facts/1\", ", members, "}"), unknown);
  REQUIRE(facts);
  return *facts;
}

TorchFacts torch(const std::string& version, const std::string& more = "") {
  return read(cat("\"torch\": {\"state\": \"found\", \"version\": \"", version, "\"", more, "}"))
      .torch;
}

}  // namespace

TEST_CASE("the local part of a PyTorch's release says its flavour and its CUDA") {
  CHECK(torch("2.4.1+cpu").flavour.is("cpu"));
  CHECK_FALSE(torch("2.4.1+cpu").cuda.known());
  CHECK(torch("2.3.0+cu121").flavour.is("cuda"));
  CHECK(torch("2.3.0+cu121").cuda.is("12.1"));
  CHECK(torch("1.8.0+cu92").cuda.known() == false);
  CHECK(torch("2.9.0+rocm6.4").flavour.is("rocm"));
  CHECK(torch("2.9.0+xpu").flavour.is("xpu"));
}

TEST_CASE("a recorded flavour or CUDA is never replaced, and other local parts say nothing") {
  CHECK(torch("2.3.0+cu121", ", \"flavour\": \"cpu\"").flavour.is("cpu"));
  CHECK_FALSE(torch("2.3.0+cu121", ", \"flavour\": \"cpu\"").cuda.known());
  CHECK(torch("2.3.0+cu121", ", \"cuda\": \"12.4\"").cuda.is("12.4"));
  for (const char* version : {"2.3.0", "2.3.0+git1a2b3c", "2.3.0+cu", "2.3.0+cuda121", "2.3.0+"})
    CHECK_FALSE(torch(version).flavour.known());
}

TEST_CASE("images of PyTorch's libraries are PyTorch's, where it has no list of its own") {
  const char* const libraries =
      ", \"libraries\": [{\"name\": \"b\", \"images\": [\"sm_80\"]}, "
      "{\"name\": \"a\", \"images\": [\"sm_75\", \"sm_80\"]}]";
  CHECK(torch("2.3.0", libraries).images.value().size() == 2);
  CHECK(torch("2.3.0", cat(libraries, ", \"images\": [\"sm_90\"]")).images.value().size() == 1);
  CHECK_FALSE(torch("2.3.0", ", \"libraries\": [{\"name\": \"b\"}]").images.known());
}

TEST_CASE("elements that differ in one member alone have one order") {
  const char* const one = "{\"name\": \"a.so\", \"cxx11_abi\": true}";
  const char* const two = "{\"name\": \"a.so\", \"cxx11_abi\": false}";
  const Facts forth = read(cat("\"extensions\": [", one, ", ", two, "]"));
  const Facts back = read(cat("\"extensions\": [", two, ", ", one, "]"));
  CHECK(write_json(facts_to_json(forth)) == write_json(facts_to_json(back)));
}

TEST_CASE("lists without an order are read into one, and the selection goes with its toolkit") {
  const Facts facts = read(
      "\"toolkits\": {\"list\": [{\"root\": \"/b\"}, {\"root\": \"/a\"}], \"selected\": 0},"
      "\"devices\": {\"list\": [{\"index\": 10}, {\"index\": 9}]}");
  CHECK(facts.toolkits.list[0].root.is("/a"));
  CHECK(facts.toolkits.selected.is(1));
  CHECK(facts.toolkit()->root.is("/b"));
  CHECK(facts.devices.list[0].index.is(9));
}

TEST_CASE("a toolkit of which a failure was recorded does not work, whether that was said or not") {
  auto works = [](const std::string& more) {
    return read(cat("\"toolkits\": {\"list\": [{\"version\": \"12.4\"", more, "}]}"))
        .toolkits.list[0]
        .works;
  };
  CHECK(works(", \"failure\": {\"kind\": \"crash\"}").is(false));
  CHECK(works(", \"failure\": {\"text\": \"killed by signal 11\"}").is(false));
  CHECK(works(", \"works\": true, \"failure\": {\"kind\": \"crash\"}").is(true));
  CHECK_FALSE(works(", \"failure\": {}").known());
  CHECK_FALSE(works("").known());
}

TEST_CASE("a host compiler has CMake's id, also where the program's name was recorded") {
  struct Row {
    const char *written, *id;
  };
  for (const Row& row :
       {Row{"gcc", "GNU"}, Row{"g++", "GNU"}, Row{"gnu", "GNU"}, Row{"clang++", "Clang"},
        Row{"cl", "MSVC"}, Row{"msvc", "MSVC"}, Row{"icpx", "IntelLLVM"}, Row{"icc", "Intel"},
        Row{"GNU", "GNU"}, Row{"AppleClang", "AppleClang"}, Row{"Fujitsu", "Fujitsu"}}) {
    INFO(row.written);
    CHECK(read(cat("\"host_compiler\": {\"id\": \"", row.written, "\"}"))
              .host_compiler.id.is(row.id));
  }
  CHECK_FALSE(read("\"host_compiler\": {\"version\": \"12.2\"}").host_compiler.id.known());
}
