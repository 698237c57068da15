// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "tables/tables.h"

using namespace tcs;

namespace {

// "8.9", "7.5 8.9 12.0" where a name does not tell, "" where nothing has it.
std::string means(std::string_view name) {
  List<std::string> out;
  for (const GpuRow* gpu : gpus_named(name)) out.push_back(gpu->sm.dotted());
  return join(out, " ");
}

}  // namespace

TEST_CASE("every name of the table means its own capability, with and without the maker") {
  List<std::string> two_chips;
  for (const GpuRow& row : gpu_rows()) {
    INFO(row.name);
    for (const std::string& name : {std::string(row.name), cat("NVIDIA ", row.name)}) {
      const std::string sm = means(name);
      if (sm == row.sm.dotted()) continue;
      CHECK(contains(split(sm, " "), row.sm.dotted()));
      add_once(two_chips, std::string(row.name));
    }
  }
  // Sold with a chip of either capability: no name that tells.
  CHECK(join(two_chips, ", ") ==
        "GeForce GT 730, GeForce GT 730M, GeForce GT 740M, GeForce GT 1030, GeForce GTX 750 Ti, "
        "GeForce GTX 860M");
}

TEST_CASE("the rows are sorted by capability, and none comes twice") {
  const Rows<GpuRow> rows = gpu_rows();
  CHECK(rows.count > 500);
  CHECK(std::is_sorted(rows.begin(), rows.end(),
                       [](const GpuRow& a, const GpuRow& b) { return a.sm < b.sm; }));
  List<std::string> seen;
  for (const GpuRow& row : rows) {
    INFO(row.name);
    const std::string key = cat(row.name, " ", row.sm.dotted());
    CHECK_FALSE(contains(seen, key));
    seen.push_back(key);
    CHECK(find_arch(row.sm) != nullptr);
  }
}

TEST_CASE("names as nvidia-smi prints them are known") {
  const std::pair<const char*, const char*> names[] = {
      {"NVIDIA A100-SXM4-80GB", "8.0"},
      {"NVIDIA A100-SXM4-80GB MIG 1g.10gb", "8.0"},
      {"A100-PCIE-40GB", "8.0"},
      {"NVIDIA H100 80GB HBM3", "9.0"},
      {"NVIDIA H100 PCIe", "9.0"},
      {"NVIDIA H200", "9.0"},
      {"NVIDIA GH200 144G HBM3e", "9.0"},
      {"NVIDIA B200", "10.0"},
      {"NVIDIA B300 SXM6 AC", "10.3"},
      {"NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"},
      {"NVIDIA GeForce RTX 3050 Ti Laptop GPU", "8.6"},
      {"NVIDIA GeForce RTX 4060 Ti", "8.9"},
      {"GeForce GTX 1080 Ti", "6.1"},
      {"GeForce GTX 1070 with Max-Q Design", "6.1"},
      {"Tesla V100-SXM2-16GB", "7.0"},
      {"Tesla P100-PCIE-16GB", "6.0"},
      {"Tesla T4", "7.5"},
      {"NVIDIA TITAN RTX", "7.5"},
      {"NVIDIA TITAN Xp", "6.1"},
      {"NVIDIA RTX A6000", "8.6"},
      {"NVIDIA RTX 6000 Ada Generation", "8.9"},
      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"},
      {"Quadro RTX 6000", "7.5"},
      {"NVIDIA GB10", "12.1"},
      {"NVIDIA\xc2\xae GeForce RTX\xe2\x84\xa2 4090", "8.9"},  // as shops write it
  };
  for (const auto& [name, sm] : names) {
    INFO(name);
    CHECK(means(name) == sm);
  }
}

TEST_CASE("a part of a name is taken where all that have it are of one capability") {
  const std::pair<const char*, const char*> parts[] = {{"4090", "8.9"},
                                                       {"rtx4090", "8.9"},
                                                       {"RTX 4090", "8.9"},
                                                       {"4090 D", "8.9"},
                                                       {"a100", "8.0"},
                                                       {"H100", "9.0"},
                                                       {"1080 ti", "6.1"},
                                                       {"1080ti", "6.1"},
                                                       {"rtx pro 6000 blackwell", "12.0"},
                                                       {"rtx pro 6000", "12.0"},
                                                       {"RTX 6000 Blackwell", "12.0"},
                                                       {"rtx 6000 ada", "8.9"},
                                                       {"Orin", "8.7"},
                                                       {"Jetson Orin", "8.7"},
                                                       {"AGX Thor", "11.0"},
                                                       {"Jetson Thor", "11.0"},
                                                       {"Xavier", "7.2"},
                                                       {"spark", "12.1"},
                                                       {"M500M", "5.0"},
                                                       {"K80", "3.7"},
                                                       {"titan v", "7.0"},
                                                       {"Vera Rubin", "10.7"}};
  for (const auto& [name, sm] : parts) {
    INFO(name);
    CHECK(means(name) == sm);
  }
  CHECK(std::string(find_gpu("4090")->name) == "GeForce RTX 4090");
}

TEST_CASE("a part that GPUs of several capabilities have is a guess, and none is taken") {
  CHECK(means("RTX 5000") == "7.5 8.9 12.0");
  CHECK(means("RTX 6000") == "7.5 8.9 12.0");
  CHECK(means("RTX 4000") == "7.5 8.9 12.0");
  CHECK(means("titan") == "3.5 5.2 6.1 7.0 7.5");
  CHECK(means("GTX 750 Ti") == "3.0 5.0");
  CHECK(means("Jetson Nano") == "5.3");
  CHECK(means("nano") == "5.3 8.7");
  CHECK(means("RTX") == "7.5 8.6 8.9 12.0");
  CHECK(means("AGX") == "7.2 8.7 11.0");
  for (const char* name : {"RTX 5000", "titan", "GTX 750 Ti", "nano"})
    CHECK(find_gpu(name) == nullptr);
  CHECK(gpu_texts(gpus_named("GeForce GT 1030")) == "GeForce GT 1030 (3.0), GeForce GT 1030 (6.1)");
  CHECK(ends_with(gpu_texts(gpus_named("quadro")), ", ..."));
}

TEST_CASE("a part is made of whole words") {
  for (const char* name :
       {"409",     "RTX 40", "RTX 409", "40 90",   "50 80",     "4090 RTX",
        "TX 4090", "NVIDIA", "GPU",     "GeForce", "Tesla GPU", "80GB",
        "",        " ",      "8.6",     "12.4",    "9.0 10.0",  "RTX 9999",
        "Boost",   "FAKE",   "Server",  "Mac",     "H100 RTX",  "RTX 4090 Super"}) {
    INFO(name);
    CHECK(means(name).empty());
  }
  CHECK(means("RTX 4090" + std::string(100, ' ') + "x").empty());
}

TEST_CASE(
    "the nearest names are offered, each once; one that is nearer than all others is advised") {
  bool one = false;
  CHECK(gpu_texts(nearest_gpus("GeForce RTX 4091", one)) ==
        "GeForce RTX 4090 (8.9), GeForce RTX 3090 (8.6), GeForce RTX 4050 (8.9)");
  CHECK(one);
  CHECK(nearest_gpus("RTX 4900", one)[0]->name == std::string("GeForce RTX 4090"));
  CHECK(one);
  CHECK(nearest_gpus("RTX 9070", one).size() == 3);  // as near to 2070 as to 5070
  CHECK_FALSE(one);
  for (const std::string& name :
       {std::string("xyzzy-and-more"), std::string("12.4"), std::string(5000, '4')}) {
    CHECK(nearest_gpus(name, one).empty());
    CHECK_FALSE(one);
  }
}
