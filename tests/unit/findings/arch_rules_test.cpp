// SPDX-License-Identifier: Apache-2.0
// Entries of a list, targets and devices that run into one thing: one cause, one finding.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "findings/finding.h"
#include "plan/machine.h"

using namespace tcs;

namespace {

Report judged(const Facts& facts, const Request& request) {
  const Plan plan = make_plan(facts, request);
  return judge({facts, request, plan}, {});
}

// The one of this id; an empty one where there is none or are several.
Finding only(const Report& report, int id) {
  Finding out;
  int count = 0;
  for (const Finding& f : report.findings)
    if (f.id == id) {
      out = f;
      ++count;
    }
  CHECK(count == 1);
  return count == 1 ? out : Finding();
}

int rows_of(const Finding& f, const std::string& layer) {
  int count = 0;
  for (const Evidence& row : f.evidence) count += row.layer == layer ? 1 : 0;
  return count;
}

std::string help_of(const Finding& f) {
  return join(f.help, " | ");
}

Finding of_list(const std::string& nvcc, const std::string& list, int id) {
  return only(judged(with_nvcc_release(nvcc), list_request(list)), id);
}

}  // namespace

TEST_CASE("several entries that run into the same are one finding that names each") {
  struct Row {
    const char* nvcc;
    const char* list;
    int id;
    const char* message;
    const char* help;  // part of one
  };
  const Row rows[] = {
      {"13.0", "5.0;6.0;8.0", 901, "nvcc 13.0 no longer builds 5.0 and 6.0 (last in 12.9)",
       "install CUDA toolkit 12.9 (tables of "},
      {"13.0", "3.5;6.0;7.0;8.0", 901,
       "nvcc 13.0 no longer builds 3.5 (last in 11.8), 6.0 and 7.0 (last in 12.9)",
       "install CUDA toolkit 11.8 (tables of "},
      {"12.8", "9.0;10.3;12.1", 902, "nvcc 12.8 does not know 10.3 and 12.1 (first in 12.9)",
       "install CUDA toolkit 12.9 (tables of "},
      {"12.9", "11.0;11.0a", 903, "nvcc 12.9 has another number for '11.0' and '11.0a'",
       "write \"10.1\" for '11.0', \"10.1a\" for '11.0a'"},
      {"13.0", "9.0f;8.6a", 904, "there is no architecture '9.0f' or '8.6a': no such suffix there",
       "write \"9.0a\" for '9.0f', \"8.6\" for '8.6a'"},
      {"13.0", "8.3;99.9", 905, "no known CUDA release builds an architecture '8.3' or '99.9'",
       "nvidia-smi --query-gpu=name,compute_cap"},
      {"13.0", "8.6+ptx;9.0A", 906,
       "the arch list holds '8.6+ptx' and '9.0A', which are not architectures",
       "write \"8.6+PTX\" for '8.6+ptx', \"9.0a\" for '9.0A'"},
      {"13.0", "Lovelace;Blackwel", 907,
       "'Lovelace' and 'Blackwel' are neither architectures nor GPUs that are known",
       "write \"Ada\" for 'Lovelace', \"Blackwell\" for 'Blackwel'"},
      {"13.0", "9.0a+PTX;10.0a+PTX", 913,
       "the PTX of '9.0a+PTX' and '10.0a+PTX' does not run on every later device", "\"9.0+PTX\""},
      {"13.0", "Kepler;Maxwell;8.0", 917,
       "this nvcc builds none of the architectures that 'Kepler' or 'Maxwell' stands for",
       "name architectures that this nvcc builds, such as \""},
      {"12.8", "Blackwell;Blackwell+PTX", 918,
       "of 'Blackwell' and 'Blackwell+PTX' only what this nvcc builds is taken", ""},
      {"13.0", "90;86", 919, "a number without a point is read as a capability: '90' and '86'", ""},
      {"13.0", "8.0;Auto;Common", 921,
       "the default targets are taken for 'Auto' and 'Common': PyTorch's list of that name is not "
       "what nvcc builds",
       ""},
  };
  for (const Row& row : rows) {
    INFO(row.list);
    const Finding f = of_list(row.nvcc, row.list, row.id);
    CHECK(f.message == row.message);
    CHECK(contains(help_of(f), row.help));
    CHECK(rows_of(f, "arch") == 1);
  }
}

TEST_CASE("GPUs that one nvcc builds nothing for are one finding, with a row for each") {
  Facts facts = with_nvcc_release("13.0");
  add_device(facts, "6.1", "Tesla P40");
  add_device(facts, "7.0", "Tesla V100");
  add_device(facts, "8.6", "NVIDIA A40");
  const Finding f = only(judged(facts, target_request({"native"})), 916);
  CHECK(f.message == "nvcc 13.0 builds nothing that runs on 6.1 and 7.0 (last in 12.9)");
  CHECK(rows_of(f, "device") == 2);
  CHECK(rows_of(f, "toolkit") == 1);
  CHECK(starts_with(f.help[0], "install CUDA toolkit 12.9 (tables of "));
  CHECK(f.help[1] == "leave 6.1 and 7.0 out: -DTorchCudaStack_TARGETS=\"8.6\"");
}

TEST_CASE("the only GPU is not left out, and the older toolkit needs its PyTorch") {
  Facts facts = with_nvcc_release("13.0");
  add_device(facts, "6.1", "Tesla P40");
  facts.host.os = Text("linux");
  facts.host.arch = Text("x86_64");
  facts.torch.state = Text("found");
  facts.torch.cuda = Text("13.0");
  const char* way = "install CUDA toolkit 12.6, and PyTorch 2.14.1 for CUDA 12.6 (tables of ";
  CHECK(starts_with(only(judged(facts, target_request({"native"})), 916).help[0], way));
  CHECK(only(judged(facts, target_request({"native"})), 916).help.size() == 1);
  CHECK(starts_with(only(judged(facts, list_request("6.1")), 901).help[0], way));
}

TEST_CASE("the toolkit that is named builds all of them, or there is none") {
  Finding f = of_list("12.4", "10.1;10.3", 902);
  CHECK(f.message == "nvcc 12.4 does not know 10.1 (in 12.8 to 12.9), 10.3 (first in 12.9)");
  CHECK(starts_with(f.help[0], "install CUDA toolkit 12.9 (tables of "));
  CHECK(f.help[1] == "drop 10.1 and 10.3");
  f = of_list("12.4", "10.1;11.0", 902);
  CHECK(help_of(f) == "drop 10.1 and 11.0");
  CHECK(contains(join(f.notes, " "), "no CUDA release builds all of them"));
}

TEST_CASE("the release that nvidia-smi prints is said to be no toolkit") {
  Facts facts = with_nvcc_release("12.4");
  facts.driver.state = Text("ok");
  facts.driver.cuda = Text("12.9");
  const Finding f = only(judged(facts, list_request("12.0")), 902);
  CHECK(contains(join(f.notes, " "), "nvidia-smi"));
  facts.driver.cuda = Text("12.4");
  CHECK(!contains(join(only(judged(facts, list_request("12.0")), 902).notes, " "), "nvidia-smi"));
}

TEST_CASE("GPUs that a list misses are one finding, with a row for each") {
  Facts facts = with_nvcc_release("12.4");
  add_device(facts, "7.5", "Tesla T4");
  add_device(facts, "8.0", "NVIDIA A100");
  add_device(facts, "9.0", "NVIDIA H100");
  Request request = list_request("8.0");
  Finding f = only(judged(facts, request), 909);
  CHECK(f.severity == Severity::Warning);
  CHECK(f.message == "the list builds nothing that runs on 7.5 (Tesla T4) and 9.0 (NVIDIA H100)");
  CHECK(f.help[0] == "add 7.5;9.0 to the list");
  CHECK(rows_of(f, "device") == 2);
  CHECK(rows_of(f, "arch") == 1);
  request.targets_known = true;
  request.targets = {"native"};
  CHECK(only(judged(facts, request), 909).severity == Severity::Error);
  // A target is named by its capability; where it was named is a row.
  request = target_request({"9.0"});
  request.arch_list = Text("8.0", "CUDAARCHS (environment)");
  f = only(judged(with_nvcc_release("12.4"), request), 909);
  CHECK(f.message == "the list builds nothing that runs on 9.0");
}

TEST_CASE("Tegra targets that desktop code would have to serve are one finding") {
  Request request = target_request({"7.2", "8.7"});
  request.arch_list = Text("7.0;8.0", "CUDAARCHS (environment)");
  const Finding f = only(judged(with_nvcc_release("12.4"), request), 911);
  CHECK(f.message ==
        "the list has only images from across the desktop/Tegra border for 7.2 and 8.7");
  CHECK(rows_of(f, "target") == 2);
}

TEST_CASE("GPUs that nvcc does not know are one finding, whether a list or the plan serves them") {
  Facts facts = with_nvcc_release("12.4");
  add_device(facts, "10.0", "NVIDIA B200");
  add_device(facts, "12.0", "NVIDIA GeForce RTX 5090");
  Finding f = only(judged(facts, target_request({"native"})), 912);
  CHECK(f.message ==
        "nvcc 12.4 builds no code of its own for '10.0' and '12.0': only PTX serves them");
  CHECK(rows_of(f, "device") == 2);
  const char* way = "for its own code install CUDA toolkit 12.8 (tables of ";
  CHECK(starts_with(f.help[0], way));
  f = only(judged(facts, list_request("9.0+PTX")), 912);
  CHECK(starts_with(f.help[0], way));
  CHECK(contains(f.message, "10.0 (NVIDIA B200) and 12.0 (NVIDIA GeForce RTX 5090)"));
  CHECK(contains(f.message, "only PTX serves them"));
  only(judged(facts, list_request("native")), 912);
  // One that code of an older architecture of its major serves.
  facts = with_nvcc_release("12.8");
  add_device(facts, "10.3", "NVIDIA B300");
  f = only(judged(facts, target_request({"native"})), 912);
  CHECK(f.message ==
        "nvcc 12.8 builds no code of its own for '10.3': the nearest that it builds serves it");
  CHECK(f.severity == Severity::Note);
}

TEST_CASE("the nearest is a note within a family, and a warning where the device loses by it") {
  struct Row {
    const char *nvcc, *cc;
    Severity severity;
  };
  for (const Row& row :
       {Row{"12.8", "12.1", Severity::Note}, Row{"12.8", "10.3", Severity::Note},
        Row{"12.4", "12.0", Severity::Warning}, Row{"11.5", "8.9", Severity::Warning}}) {
    INFO(row.nvcc << " " << row.cc);
    Facts facts = with_nvcc_release(row.nvcc);
    add_device(facts, row.cc, "a GPU");
    CHECK(only(judged(facts, target_request({"native"})), 912).severity == row.severity);
  }
}

TEST_CASE("what PyTorch's Python does not read is quoted one by one, and no question by default") {
  Facts facts = with_nvcc_release("12.8");
  facts.torch.state = Text("found");
  facts.torch.flavour = Text("cuda");
  facts.torch.version = Text("2.3.0+cu121");
  facts.torch.cuda = Text("12.1");
  facts.torch.images = Names({"sm_90", "sm_100", "sm_120"});
  CHECK(contains(only(judged(facts, target_request({"10.0", "12.0"})), 914).message,
                 "'10.0' and '12.0'"));
  facts.devices.state = Text("none");
  const Report report = judged(facts, Request());
  only(report, 910);
  for (const Finding& f : report.findings) CHECK(f.id != 914);
}

TEST_CASE("a CUDA release is no capability") {
  for (const char* list : {"11.8", "12.4", "12.6", "12.8", "13.0", "124", "12.4+PTX"}) {
    INFO(list);
    const Finding f = of_list("12.4", list, 905);
    CHECK(contains(join(f.notes, " "), "is a CUDA release, not a compute capability"));
  }
  const Report report = judged(with_nvcc_release("12.4"), target_request({"12.4"}));
  CHECK(contains(join(only(report, 905).notes, " "), "is a CUDA release"));
  // 12.1 is one and an architecture as well.
  CHECK(of_list("12.4", "12.1", 902).message == "nvcc 12.4 does not know 12.1 (first in 12.9)");
}

TEST_CASE("of many entries the first are named, and what holds for all is said once") {
  const Finding f = of_list("12.4", "a1,;b2,;c3,;d4,;e5,;f6,;g7,;h8,;i9,;j10,;k11,;l12,", 906);
  CHECK(f.message ==
        "the arch list holds 'a1,', 'b2,', 'c3,', 'd4,', 'e5,' and 5 more, which are not "
        "architectures");
  CHECK(f.notes[0] == "an arch list is plain text: nothing in it is expanded or run");
  CHECK(f.notes[1] == "2 more entries are refused");
}

TEST_CASE("a GPU's name with a blank is one entry") {
  const Finding f = of_list("12.4", "8.6;RTX 4090", 907);
  CHECK(f.message == "the arch list holds 'RTX 4090', a GPU; a list takes its capability");
  CHECK(f.help[0] == "write \"8.9\"");
  CHECK(judged(with_nvcc_release("12.4"), list_request("8.6 RTX 4090")).outcome == "fail");
}

TEST_CASE("a name of several GPUs is told apart from one that nothing has") {
  const Facts facts = with_nvcc_release("13.0");
  Finding f = only(judged(facts, target_request({"RTX 5000"})), 907);
  CHECK(f.message == "'RTX 5000' names GPUs of more than one capability");
  CHECK(f.notes[0] ==
        "it may be Quadro RTX 5000 (7.5), RTX 5000 Ada Generation (8.9), RTX PRO 5000 Blackwell "
        "(12.0)");
  CHECK(help_of(f) == "give the capability as a number, e.g. 8.6");
  f = only(judged(facts, target_request({"RTX 4091"})), 907);
  CHECK(f.message == "'RTX 4091' is neither an architecture nor a GPU that is known");
  CHECK(starts_with(f.notes[0], "the nearest that are known: GeForce RTX 4090 (8.9), "));
  CHECK(f.help[0] == "write \"GeForce RTX 4090\"");
  CHECK(of_list("12.4", "8.6;RTX 5000", 907).message ==
        "'RTX 5000' names GPUs of more than one capability");
  CHECK(judged(facts, target_request({"4090"})).outcome == "ok");
}

TEST_CASE("+PTX that stands alone belongs to the entry before it") {
  CHECK(of_list("12.4", "8.0;+PTX", 906).help[0] == "write \"8.0+PTX\"");
  CHECK(of_list("12.4", "8.0 +ptx", 906).help[0] == "write \"8.0+PTX\"");
  const Finding first = of_list("12.4", "+PTX;8.0", 906);
  CHECK(first.help[0] == "separate architectures with ; or spaces, e.g. 8.0;8.6+PTX");
}

TEST_CASE("a GPU that is here keeps the number that it reports") {
  Facts facts = with_nvcc_release("12.9");
  CHECK(only(judged(facts, list_request("11.0")), 903).help[0] == "write \"10.1\"");
  add_device(facts, "11.0", "NVIDIA Thor");
  const Finding f = only(judged(facts, list_request("11.0")), 903);
  CHECK(starts_with(help_of(f), "install CUDA toolkit 13.0 (from PyPI: pip install "));
}

TEST_CASE("the place in a list is said where there are several entries") {
  CHECK(!contains(join(of_list("12.4", "99.9", 905).notes, " "), "at character"));
  CHECK(contains(join(of_list("12.4", "8.0;99.9", 905).notes, " "), "at character 5 of"));
  CHECK(contains(join(of_list("12.4", "99.9;8.0;8.3", 905).notes, " "), "at characters 1 and 10"));
}
