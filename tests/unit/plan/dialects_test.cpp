// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "machine.h"

using namespace tcs;

namespace {

Plan plan_of(const std::string& list, const std::string& torch = "",
             const char* dialect = "torch") {
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  if (!torch.empty()) facts.torch.version = torch;
  return make_plan(facts, list_request(list, dialect));
}

// A small generator of lists from every form of token; the seed is the test's only input.
struct Lists {
  unsigned state;
  unsigned next(unsigned bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % bound;
  }
  std::string token() {
    static const char* const forms[] = {
        "7.5",     "8.0",      "8.6",      "8.7",         "8.9",      "9.0",       "9.0a",
        "10.0",    "10.0f",    "10.3",     "12.0",        "12.0a",    "12.1f",     "8.6+PTX",
        "9.0+PTX", "12.1+PTX", "9.0a+PTX", "8.6(8.0)",    "8.9(8.0)", "12.0(9.0)", "8.6(8.0)+PTX",
        "sm_110",  "120",      "90-real",  "100-virtual", "Ampere",   "Hopper",    "Blackwell+PTX"};
    return forms[next(sizeof(forms) / sizeof(forms[0]))];
  }
  List<std::string> tokens() {
    List<std::string> out;
    for (unsigned n = next(7) + 1; n > 0; --n) out.push_back(token());
    return out;
  }
};

}  // namespace

TEST_CASE("gencode flags, one an image") {
  CHECK(gencode_flags(plan_of("8.6(8.0)+PTX;9.0a")) ==
        List<std::string>{"-gencode=arch=compute_80,code=compute_80",
                          "-gencode=arch=compute_80,code=sm_86",
                          "-gencode=arch=compute_90a,code=sm_90a"});
}

TEST_CASE("the torch list has numbers in numeric order") {
  Dialect d = torch_list(plan_of("Blackwell 9.0a 8.6(8.0) 12.0f"));
  CHECK(d.text == "8.6(8.0);9.0a;10.0;10.3;12.0;12.0f;12.1+PTX");
  CHECK(d.complete);
}

TEST_CASE("the torch list cannot say PTX alone") {
  Dialect d = torch_list(plan_of("8.6;90-virtual"));
  CHECK(d.text == "8.6");
  CHECK_FALSE(d.complete);
  CHECK(d.left_out == List<std::string>{"-gencode=arch=compute_90,code=compute_90"});
}

TEST_CASE("the torch list never writes 8.6(8.0)+PTX, which torch reads as two PTX images") {
  Dialect d = torch_list(plan_of("8.6(8.0)+PTX"));
  CHECK(d.text == "8.6(8.0)");
  CHECK(d.left_out == List<std::string>{"-gencode=arch=compute_80,code=compute_80"});
}

TEST_CASE("what an older torch's CMake cannot read is left out of its list") {
  CHECK(torch_list(plan_of("9.0;12.0", "2.3.0")).text == "9.0");
  CHECK(torch_list(plan_of("9.0a;12.0", "2.7.1")).text == "9.0a;12.0");
  CHECK(torch_list(plan_of("9.0a;12.0f", "2.7.1")).text == "9.0a");
  CHECK(torch_list(plan_of("9.0a;12.0f", "2.11.0")).text == "9.0a;12.0f");
}

TEST_CASE("torch's Python list knows no f, no 8.8 and no pairs") {
  Dialect d = torch_python_list(plan_of("8.0+PTX;8.8;9.0a;12.0f;8.6(8.0)"));
  CHECK(d.text == "8.0+PTX;9.0a");
  CHECK(d.left_out.size() == 3);
  CHECK(torch_python_list(plan_of("8.6;10.3", "2.7.1")).text == "8.6");
}

TEST_CASE("CMake's list says machine code and PTX apart") {
  Dialect d = cmake_architectures(plan_of("8.6+PTX;9.0a;100-virtual"));
  CHECK(d.text == "86-real;86-virtual;90a-real;100-virtual");
  CHECK(d.complete);
  CHECK(cmake_architectures(plan_of("8.6(8.0)")).left_out.size() == 1);
}

TEST_CASE("an empty plan is empty in every dialect") {
  Plan plan;
  CHECK(gencode_flags(plan).empty());
  CHECK(torch_list(plan).text.empty());
  CHECK(torch_list(plan).complete);
  CHECK(cmake_architectures(plan).text.empty());
}

TEST_CASE("reading back what a complete dialect wrote gives the plan") {
  Lists lists{1};
  int complete = 0;
  for (int round = 0; round < 400; ++round) {
    Plan plan = plan_of(join(lists.tokens(), ";"));
    for (const Dialect& d : {torch_list(plan), torch_python_list(plan)}) {
      if (!d.complete) continue;
      ++complete;
      CHECK(shown(plan_of(d.text)) == shown(plan));
    }
    Dialect cmake = cmake_architectures(plan);
    if (cmake.complete) CHECK(shown(plan_of(cmake.text, "", "cmake")) == shown(plan));
  }
  CHECK(complete > 100);
}

TEST_CASE("a dialect and what it left out are the whole plan") {
  Lists lists{2};
  for (int round = 0; round < 400; ++round) {
    Plan plan = plan_of(join(lists.tokens(), ";"));
    List<std::string> whole = gencode_flags(plan);
    std::sort(whole.begin(), whole.end());
    for (const Dialect& d :
         {torch_list(plan), torch_python_list(plan), cmake_architectures(plan)}) {
      const char* reader = d.text.find('-') == std::string::npos ? "torch" : "cmake";
      List<std::string> got = gencode_flags(plan_of(d.text, "", reader));
      if (d.text.empty()) got.clear();
      got.append(d.left_out);
      std::sort(got.begin(), got.end());
      CHECK(got == whole);
    }
  }
}

TEST_CASE("the order of a list's entries changes nothing") {
  Lists lists{3};
  for (int round = 0; round < 200; ++round) {
    List<std::string> tokens = lists.tokens();
    std::string plan = shown(plan_of(join(tokens, ";")));
    std::reverse(tokens.begin(), tokens.end());
    CHECK(shown(plan_of(join(tokens, " "))) == plan);
  }
}

TEST_CASE("the order of devices changes no image, and one more device removes none") {
  const char* const ccs[] = {"5.0", "6.1",  "7.5",  "8.0",  "8.7",  "8.9",
                             "9.0", "10.3", "11.0", "12.0", "12.1", "13.0"};
  Lists lists{4};
  for (int round = 0; round < 100; ++round) {
    List<std::string> devices;
    List<std::string> before;
    for (unsigned n = 0; n < 5; ++n) {
      devices.push_back(ccs[lists.next(12)]);
      Facts facts = with_nvcc("12.8", kNvcc128), turned = facts;
      for (const std::string& cc : devices) add_device(facts, cc);
      for (size_t i = devices.size(); i-- > 0;) add_device(turned, devices[i]);
      Plan plan = make_plan(facts, Request());
      CHECK(shown(make_plan(turned, Request())) == shown(plan));
      List<std::string> now = gencode_flags(plan);
      for (const std::string& flag : before) {
        CHECK(std::find(now.begin(), now.end(), flag) != now.end());
      }
      before = now;
    }
  }
}

TEST_CASE("every image of every plan has its reason and is one that nvcc builds") {
  Lists lists{5};
  for (int round = 0; round < 200; ++round) {
    for (const Gencode& g : plan_of(join(lists.tokens(), ";")).gencodes) {
      CHECK_FALSE(g.reason.empty());
      CHECK(std::string(kNvcc130).find(g.virt.digits()) != std::string::npos);
    }
  }
}
