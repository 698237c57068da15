// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "machine.h"
#include "plan/grammar.h"

using namespace tcs;
using Kind = PlanIssue::Kind;

namespace {

std::string plan130(const std::string& list, const std::string& dialect = "torch") {
  return shown(make_plan(with_nvcc("13.0.88", kNvcc130), list_request(list, dialect)));
}

// The one refusal of a list with a single bad token.
PlanIssue refused(const std::string& list, const Facts& facts) {
  Plan plan = make_plan(facts, list_request(list));
  INFO(list);
  REQUIRE_FALSE(plan.issues.empty());
  return plan.issues[0];
}

PlanIssue refused130(const std::string& list) {
  return refused(list, with_nvcc("13.0.88", kNvcc130));
}

}  // namespace

TEST_CASE("every form of the grammar has one meaning") {
  struct Row {
    const char* list;
    const char* plan;
  };
  const Row rows[] = {
      {"8.6", "86:86"},
      {"sm_86", "86:86"},
      {"8.6+PTX", "86:86 86:ptx"},
      {"sm_86+PTX", "86:86 86:ptx"},
      {"8.6(8.0)", "80:86"},
      {"8.6(8.0)+PTX", "80:ptx 80:86"},
      {"9.0a", "90a:90a"},
      {"sm_90a", "90a:90a"},
      {"12.0f", "120f:120f"},
      {"12.1", "121:121"},
      {"90", "90:90"},
      {"120", "120:120"},
      {"90-real", "90:90"},
      {"90-virtual", "90:ptx"},
      {"120a-real", "120a:120a"},
      {"Turing", "75:75 75:ptx"},
      {"Ampere", "80:80 86:86 86:ptx"},
      {"Ampere+PTX", "80:80 86:86 86:ptx"},
      {"Ampere+Tegra", "87:87"},
      {"Ampere+Tegra+PTX", "87:87 87:ptx"},
      {"Blackwell", "100:100 103:103 120:120 121:121 121:ptx"},
      {"Blackwell+Tegra", "110:110"},
      {"9.0a(9.0)", "90:90a"},
      {"10.3(10.0f)", "100f:103f"},
      {"12.0;12.1(12.0f);12.0(8.6)", "86:120 120:120 120f:121f"},
      {"all-major", "75:75 80:80 90:90 100:100 110:110 120:120 120:ptx"},
      {"all",
       "75:75 80:80 86:86 87:87 88:88 89:89 90:90 100:100 103:103 110:110 120:120 120:ptx 121:121"},
  };
  for (const Row& row : rows) {
    INFO(row.list);
    CHECK(plan130(row.list) == row.plan);
  }
}

TEST_CASE("in CMake's dialect a bare number is machine code and PTX") {
  CHECK(plan130("90", "cmake") == "90:90 90:ptx");
  CHECK(plan130("90a", "cmake") == "90a:90a 90a:ptx");
  CHECK(plan130("90-real;120-virtual", "cmake") == "90:90 120:ptx");
  CHECK(plan130("8.6", "cmake") == "86:86");
  Facts facts = with_nvcc("13.0.88", kNvcc130);
  CHECK(issue_of(make_plan(facts, list_request("90", "cmake")), Kind::BareNumber) == nullptr);
}

TEST_CASE("a bare number in a torch list is read with a note") {
  Plan plan = make_plan(with_nvcc("13.0.88", kNvcc130), list_request("8.0;90"));
  const PlanIssue* note = issue_of(plan, Kind::BareNumber);
  REQUIRE(note != nullptr);
  CHECK(note->token == "90");
  CHECK(note->position == 4);
}

TEST_CASE("semicolons, blanks and tabs separate, in any number, anywhere") {
  for (const char* list : {"8.0;8.6", "8.0 8.6", "8.0\t8.6", ";8.0;;8.6;", "  8.6 ;\t8.0 8.0"}) {
    INFO(list);
    CHECK(plan130(list) == "80:80 86:86");
  }
}

TEST_CASE("architectures are in numeric order: 9.0 before 10.0") {
  CHECK(plan130("10.0 9.0 9.0a 12.1 8.0") == "80:80 90:90 90a:90a 100:100 121:121");
}

TEST_CASE("repeats and overlaps merge") {
  CHECK(plan130("8.0;8.0+PTX;sm_80;80") == "80:80 80:ptx");
}

TEST_CASE("a comma is refused with the text that was meant") {
  PlanIssue issue = refused130("7.5;8.0,8.6,9.0a");
  CHECK(issue.kind == Kind::Malformed);
  CHECK(issue.token == "8.0,8.6,9.0a");
  CHECK(issue.corrected == "8.0;8.6;9.0a");
  CHECK(issue.position == 4);
  CHECK(issue.by_user);
  CHECK(issue.where == "TORCH_CUDA_ARCH_LIST (environment)");
  CHECK(refused130("8.0, 8.6").corrected == "8.0");
  CHECK(refused130("8.0,rubbish").corrected.empty());
}

TEST_CASE("other slips are refused with the text that was meant") {
  struct Row {
    const char* list;
    const char* corrected;
  };
  const Row rows[] = {{"8.6+ptx", "8.6+PTX"},   {"8.6+Ptx", "8.6+PTX"},    {"9.0A", "9.0a"},
                      {"SM_90", "sm_90"},       {"\"8.6\"", "8.6"},        {"'8.0;8.6'", "8.0"},
                      {"8.6-real", "86-real"},  {"compute_90", "9.0+PTX"}, {"08.6", "8.6"},
                      {"8.0(8.6)", "8.6(8.0)"}, {"[8.6]", "8.6"}};
  for (const Row& row : rows) {
    INFO(row.list);
    PlanIssue issue = refused130(row.list);
    CHECK(issue.kind == Kind::Malformed);
    CHECK(issue.corrected == row.corrected);
  }
}

TEST_CASE("things that look like numbers but are none are malformed") {
  for (const char* list : {"8", "8.", "8.60", "8.6.0", "9.0b", "8.6(", "8.6()", "8.6(8.0", "8.6)",
                           "9.0(9.0a)", "12.0a(9.0a)", "1e3", "8.6+", "8.6+PTX+PTX", "-1"}) {
    INFO(list);
    PlanIssue issue = refused130(list);
    CHECK((issue.kind == Kind::Malformed || issue.kind == Kind::UnknownName));
    CHECK(issue.token == list);
  }
}

TEST_CASE("what is offered instead is an architecture that some nvcc builds") {
  struct Row {
    const char* list;
    const char* corrected;
  };
  const Row rows[] = {{"8.6/8.9", "8.6;8.9"}, {"8.6|8.9", "8.6;8.9"},
                      {"8.6:8.9", "8.6;8.9"}, {"8.6\n8.9", "8.6;8.9"},
                      {"8.6\r", "8.6"},       {"8.06", ""},
                      {"8.6.0", ""},          {"8.6/8.95", ""},
                      {"compute_777", ""},    {"9.0(9.0a)", "9.0a"},
                      {"8.6(9.0a)", ""},      {"12", "12.0"},
                      {"4090", "8.9"},        {"1.2", ""},
                      {"Lovelace", "Ada"},    {"rtx30", "8.6"},
                      {"sm89", "8.9"},        {"sm-89", "8.9"},
                      {"cc8.9", "8.9"},       {"compute-89", "8.9+PTX"},
                      {"sm_8.6", "sm_86"},    {"smile", ""},
                      {"8,6", "8.6"},         {"8,6;", "8.6"}};
  for (const Row& row : rows) {
    INFO(row.list);
    CHECK(refused130(row.list).corrected == row.corrected);
  }
}

TEST_CASE("a number that is no architecture is not also explained as one") {
  for (const char* list : {"12", "4090", "10"}) {
    INFO(list);
    Facts facts;
    Request request;
    request.arch_list = Text(list);
    for (const PlanIssue& issue : make_plan(facts, request).issues)
      CHECK(issue.kind != Kind::BareNumber);
  }
  CHECK(contains(refused130("1.2").detail, "older than what CUDA"));
}

TEST_CASE("an unknown word is refused with the nearest name") {
  CHECK(refused130("Amper").corrected == "Ampere");
  CHECK(refused130("ampere").corrected == "Ampere");
  CHECK(refused130("Blackwel").corrected == "Blackwell");
  CHECK(refused130("Native").corrected == "native");
  CHECK(refused130("xyzzy").kind == Kind::UnknownName);
  CHECK(refused130("xyzzy").corrected.empty());
}

TEST_CASE("a GPU's name in a list is answered with its capability") {
  PlanIssue issue = refused130("H100");
  CHECK(issue.kind == Kind::UnknownName);
  CHECK(issue.corrected == "9.0");
}

TEST_CASE("shell syntax is text, never anything else") {
  for (const char* list :
       {"$(id)", "`id`", "8.6&&id", "8.6|id", "$HOME", ">/dev/null", "8.6$(id)"}) {
    INFO(list);
    PlanIssue issue = refused130(list);
    CHECK(issue.kind == Kind::Malformed);
    CHECK(issue.detail == "an arch list is plain text: nothing in it is expanded or run");
  }
}

TEST_CASE("bytes that are not printable ASCII are quoted as numbers") {
  CHECK(refused130("8.6\xE2\x9C\x93").token == "8.6\\xe2\\x9c\\x93");
  CHECK(refused130(std::string("8.6\0x", 5)).token == "8.6\\x00x");
  CHECK(refused130("8.6\n8.0").token == "8.6\\x0a8.0");
  CHECK(refused130(std::string(500, 'x')).token.size() < 70);
}

TEST_CASE("a list of a megabyte is refused as a whole, and at once") {
  PlanIssue issue = refused130(std::string(1 << 20, '8'));
  CHECK(issue.kind == Kind::Malformed);
  CHECK(issue.detail == "the list is 1048576 bytes long, the limit is 4096");
  CHECK(issue.token.size() < 70);
}

TEST_CASE("many bad entries give a few refusals and a count") {
  std::string list;
  for (int i = 0; i < 500; ++i) list += cat("x", i, ";");
  ArchTokens parsed = parse_arch_list(list + "8.6", "torch");
  CHECK(parsed.issues.size() == 10);
  CHECK(ends_with(parsed.issues.back().detail, "490 more entries are refused"));
  CHECK(parsed.tokens.size() == 1);
}

TEST_CASE("an empty list is no list") {
  for (const char* list : {"", ";", " ;\t; "}) CHECK(is_unset_list(list, "torch"));
  CHECK(is_unset_list("OFF", "cmake"));
  CHECK(is_unset_list("CMAKE_CUDA_ARCHITECTURES-NOTFOUND", "cmake"));
  CHECK_FALSE(is_unset_list("OFF", "torch"));
  CHECK_FALSE(is_unset_list("90", "cmake"));
}

TEST_CASE("five ways in which nvcc cannot build an architecture, each with its range") {
  PlanIssue removed = refused130("6.1");
  CHECK(removed.kind == Kind::Removed);
  CHECK(removed.range_end == "12.9");

  PlanIssue early = refused("12.0", with_nvcc("12.4.131", kNvcc124));
  CHECK(early.kind == Kind::NotYetKnown);
  CHECK(early.range_begin == "12.8");

  PlanIssue thor = refused130("10.1");
  CHECK(thor.kind == Kind::Renamed);
  CHECK(thor.corrected == "11.0");
  CHECK(refused("11.0a", with_nvcc("12.8", kNvcc128)).corrected == "10.1a");
  CHECK(refused("11.0", with_nvcc("12.4", kNvcc124)).kind == Kind::NotYetKnown);

  PlanIssue suffix = refused130("9.0f");
  CHECK(suffix.kind == Kind::NoSuchSuffix);
  CHECK(suffix.corrected == "9.0a");
  CHECK(refused130("8.6a").corrected == "8.6");

  CHECK(refused130("99.9").kind == Kind::Nonsense);
  CHECK(refused130("8.3").kind == Kind::Nonsense);
}

TEST_CASE("a coming architecture is not yet known, and taken once nvcc knows it") {
  PlanIssue issue = refused130("14.0");
  CHECK(issue.kind == Kind::NotYetKnown);
  CHECK(issue.range_begin.empty());
  CHECK(shown(make_plan(with_nvcc("15.0", "120 140 140a"), list_request("14.0;14.0a"))) ==
        "140:140 140a:140a");
}

TEST_CASE(
    "an architecture that this nvcc lacks although its release has it is said to be refused") {
  PlanIssue issue = refused("9.0", with_nvcc("13.0.88", "75 80"));
  CHECK(issue.kind == Kind::NotYetKnown);
  CHECK(issue.detail == "nvcc 13.0.88 refuses it, though CUDA 11.8 has it");
}

// Asked of nvcc 13.0, 13.1, 13.2 and 13.5: "The same GPU code (`sm_100f`) generated for non
// family-specific and family-specific GPU arch".
TEST_CASE("a family's code beside the same code of no family is said to be refused") {
  const Facts facts = with_nvcc("13.0.88", kNvcc130);
  for (const char* list : {"10.0;10.0f", "12.0f+PTX;12.0", "Blackwell;12.1f", "10.0(10.0f);10.0",
                           "10.3(10.0f) 10.3", "10.0a(10.0f);10.0a", "10.0f;10.0(9.0)"}) {
    INFO(list);
    CHECK(issue_of(make_plan(facts, list_request(list)), Kind::FamilyTwice) != nullptr);
  }
  for (const char* list : {"10.0a;10.0f", "10.3;10.0f", "10.0f;10.3f", "10.0f;12.0", "10.0f+PTX",
                           "10.0a(10.0f);10.0", "10.3(10.0f);10.3f", "100-virtual;10.0f"}) {
    INFO(list);
    CHECK(issue_of(make_plan(facts, list_request(list)), Kind::FamilyTwice) == nullptr);
  }
  const Plan plan = make_plan(facts, list_request("10.0;10.0f"));
  CHECK(issue_of(plan, Kind::FamilyTwice)->token == "10.0");
  CHECK(issue_of(plan, Kind::FamilyTwice)->corrected == "10.0f");
}

// nvcc 13.0 refuses compute_86 for sm_120f, 13.1 takes it; both take it for sm_120.
TEST_CASE("code of a family goes by way of its own major up to 13.0") {
  CHECK(refused("12.0f(8.6)", with_nvcc("13.0.88", kNvcc130)).kind == Kind::Malformed);
  const Request by_way_of = list_request("12.0f(8.6)");
  CHECK(shown(make_plan(with_nvcc("13.1.115", kNvcc130), by_way_of)) == "86:120f");
  CHECK(shown(make_plan(with_nvcc("13.0.88", kNvcc130), list_request("10.3f(10.0)"))) ==
        "100:103f");
}

TEST_CASE("PTX of an a or f architecture is allowed and warned of") {
  Plan plan = make_plan(with_nvcc("13.0.88", kNvcc130), list_request("9.0a+PTX"));
  CHECK(shown(plan) == "90a:90a 90a:ptx");
  REQUIRE(issue_of(plan, Kind::SuffixPtx) != nullptr);
  CHECK(issue_of(plan, Kind::SuffixPtx)->token == "9.0a+PTX");
}

TEST_CASE("a name is cut to what nvcc builds, with PTX on the last one left") {
  Facts facts = with_nvcc("12.8.93", kNvcc128);
  Plan plan = make_plan(facts, list_request("Blackwell"));
  CHECK(shown(plan) == "100:100 120:120 120:ptx");
  const PlanIssue* cut = issue_of(plan, Kind::NameCut);
  REQUIRE(cut != nullptr);
  CHECK(cut->detail == "nvcc 12.8.93 does not build 10.3 12.1");
  CHECK(shown(make_plan(facts, list_request("Blackwell+Tegra"))) == "101:101");
}

TEST_CASE("a name without any member that nvcc builds is an error") {
  Plan plan = make_plan(with_nvcc("13.0.88", kNvcc130), list_request("Kepler"));
  CHECK(plan.gencodes.empty());
  CHECK(issue_of(plan, Kind::NoMember) != nullptr);
  CHECK(issue_of(plan, Kind::Empty) != nullptr);
}

TEST_CASE("each image says which token it came from") {
  Plan plan = make_plan(with_nvcc("13.0.88", kNvcc130), list_request("8.6+PTX;86"));
  CHECK(plan.gencodes[0].reason ==
        "\"8.6+PTX\" in TORCH_CUDA_ARCH_LIST (environment); "
        "\"86\" in TORCH_CUDA_ARCH_LIST (environment)");
}

TEST_CASE("no entry of any list is dropped in silence, and no bytes are too odd") {
  const char chars[] = "0123456789.af+PTX-()_smrealvirtu;; ,\t\n$`\"\\\xff\0";
  const std::string alphabet(chars, sizeof(chars) - 1);
  unsigned state = 7;
  auto next = [&state](size_t bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % bound;
  };
  for (int round = 0; round < 3000; ++round) {
    std::string list;
    for (size_t n = next(24); n > 0; --n) list += alphabet[next(alphabet.size())];
    List<std::string> entries = split(list, "; \t");
    std::sort(entries.begin(), entries.end());
    auto distinct = std::unique(entries.begin(), entries.end()) - entries.begin();
    ArchTokens parsed = parse_arch_list(list, round % 2 == 0 ? "torch" : "cmake");
    size_t answered = parsed.tokens.size() + parsed.issues.size();
    CHECK((answered == static_cast<size_t>(distinct) || parsed.issues.size() == 10));
    make_plan(with_nvcc("13.0.88", kNvcc130), list_request(list));
  }
}
