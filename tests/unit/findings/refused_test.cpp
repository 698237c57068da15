// SPDX-License-Identifier: Apache-2.0
// Whose trouble it is that a device refused an image.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

// nvcc 12.4, driver 535 (CUDA 12.2); each device "9.0 sm_90=refused:999", with NVML's state behind.
Report judged(const List<std::string>& devices, const char* torch, const char* list = "",
              const char* library = "") {
  std::string rows;
  for (const std::string& device : devices) {
    const List<std::string> words = split(device, " ");
    std::string probes;
    for (const std::string& answer : split(words[1], ",")) {
      const List<std::string> parts = split(answer, "=:");
      probes += cat(probes.empty() ? "" : ",", R"({"image":")", parts[0], R"(","result":")",
                    parts[1], "\"", parts.size() > 2 ? cat(R"(,"error":)", parts[2]) : "", "}");
    }
    rows += cat(rows.empty() ? "" : ",", R"({"name":"a GPU","visible":true,"cc":")", words[0],
                R"(","image_probe":[)", probes, "]",
                words.size() > 2 ? cat(R"(,"state":")", words[2], "\"") : "", "}");
  }
  const std::string facts = cat(
      R"({"schema":"torch-cuda-stack/facts/1","devices":{"state":"measured","list":[)", rows,
      R"(]},"driver":{"state":"ok","version":"535.54.03","cuda":"12.2"},)",
      R"("toolkits":{"list":[{"version":"12.4"}],"selected":0},"torch":{"state":"found",)",
      R"("version":"2.6.0+cu124","flavour":"cuda","cuda":"12.4","images":[")",
      replace_all(torch, " ", "\",\""), "\"]}",
      *library ? cat(R"(,"libraries":[{"soname":"libcudnn_ops.so.9","state":"found","images":[")",
                     library, "\"]}]")
               : "",
      "}");
  List<std::string> unknown;
  const Result<Facts> read = read_facts(facts, unknown);
  INFO(facts);
  REQUIRE(read);
  Request request;
  if (*list) request.arch_list = Text(list);
  return judge({*read, request, make_plan(*read, request)}, {});
}

// Errors and warnings: "601 error, 205 warning".
std::string said(const Report& report) {
  List<std::string> out;
  for (const Finding& f : report.findings)
    if (f.severity >= Severity::Warning && f.id != 303)
      out.push_back(cat(f.id, " ", name_of(f.severity)));
  return join(out, ", ");
}

}  // namespace

TEST_CASE("a lost board that refuses code is a lost board, and no fault of PyTorch's") {
  CHECK(said(judged({"9.0 sm_90=runs", "9.0 sm_90=refused:999 lost"}, "sm_80 sm_90")) ==
        "105 warning");
}

TEST_CASE("PyTorch's error names the devices that it lacks, not one that refuses what fits") {
  const Report report =
      judged({"12.0 compute_90=refused:209", "9.0 sm_90=refused:999"}, "sm_80 sm_90", "9.0;8.0");
  for (const Finding& f : report.findings)
    if (f.id == 601) CHECK_FALSE(contains(f.message, "sm_90"));
  CHECK(contains(said(report), "601"));
  CHECK(contains(said(report), "922"));
}

TEST_CASE("PTX of PyTorch's that a device cannot read is told, and told once") {
  CHECK(said(judged({"8.9 sm_89=runs,compute_70=refused:222"}, "sm_70 compute_70")) == "205 error");
}

TEST_CASE("PTX that ran on the device is not too new for its driver, whatever the releases say") {
  CHECK(said(judged({"9.0 sm_90=runs,compute_80=runs"}, "sm_90", "8.0+PTX")) == "");
  CHECK(said(judged({"9.0 sm_90=runs"}, "sm_90", "8.0+PTX")) == "205 warning");
}

TEST_CASE("a library whose image the device refuses lacks none: the device is at fault") {
  CHECK(said(judged({"8.9 sm_89=runs,sm_86=refused:999,sm_80=runs"}, "sm_80 sm_86", "", "sm_86")) ==
        "922 warning");
  CHECK(said(judged({"8.9 sm_89=runs"}, "sm_80 sm_86", "", "sm_75")) == "506 warning");
}
