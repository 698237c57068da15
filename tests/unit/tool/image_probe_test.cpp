// SPDX-License-Identifier: Apache-2.0
// Images from the plan to the report's facts, as configure and probe do it.
#include <catch2/catch_test_macros.hpp>

#include "facts/facts_io.h"
#include "facts/fake_images.h"
#include "tool/verbs.h"

using namespace tcs;

namespace {

// A 9.0 device whose driver runs what is for 9.0 and refuses the rest.
struct Machine {
  ImageHost host;
  int drivers = 0, number = 0;

  Machine() {
    auto nvcc = host.on_run;
    host.on_run = [this, nvcc](const Command& c) {
      if (contains(c.argv, "--nvml-probe")) return MemoryHost::exits(1);
      if (!contains(c.argv, "--driver-probe")) return nvcc(c);
      ++drivers;
      return MemoryHost::exits(
          0,
          "{\"probe\":\"tcs-driver/1\",\"version\":13020,\"init\":0,\"devices\":[{\"index\":0,"
          "\"cc\":\"9.0\",\"name\":\"NVIDIA H100\"}]}\n");
    };
    host.on_ask = [this](const std::string& line) {
      const bool runs = contains(line, "_90");
      return cat("{\"n\":", ++number,
                 runs ? ",\"result\":\"runs\"}\n"
                      : ",\"result\":\"refused\",\"error\":209,\"step\":\"cuModuleLoadData\"}\n");
    };
  }
  Facts facts(const std::string& file) {
    List<std::string> unknown;
    return *read_facts(host.files[file], unknown);
  }
  Facts configure(const List<std::string>& sets) {
    List<std::string> args = {"--dir", "/b", "--set", "CACHE_DIR=/cache", "--set", "FAIL_ON=never"};
    for (const std::string& set : sets) args.append({"--set", set});
    verb_configure(host, args);
    return facts("/b/facts.json");
  }
  Facts probe(const List<std::string>& more) {
    List<std::string> args = {"--out", "/f.json"};
    args.append(more);
    CHECK(verb_probe(host, args) == 0);
    return facts("/f.json");
  }
};

std::string built(const Facts& facts) {
  std::string out;
  for (const ImageBuild& row : facts.toolkit()->builds)
    out += cat(out.empty() ? "" : " ", row.image.value(), ":", row.result.value());
  return out;
}
std::string tried(const Facts& facts) {
  std::string out;
  for (const ImageProbe& row : facts.devices.list[0].image_probe)
    out += cat(out.empty() ? "" : " ", row.image.value(), ":", row.result.value());
  return out;
}

}  // namespace

TEST_CASE("configure builds the plan's images in one call and has one child try them") {
  Machine m;
  const Facts facts = m.configure({"TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX"});
  CHECK(built(facts) == "sm_80:built sm_90:built compute_90:built");
  CHECK(tried(facts) == "sm_80:refused sm_90:runs compute_90:runs");
  CHECK(m.host.compiled.size() == 1);
  CHECK(facts.toolkit()->works.is(true));
  CHECK(m.drivers == 1);
  CHECK_FALSE(m.host.stat("/b/probe/nvcc-try-self").exists());
  SECTION("the next project compiles nothing, and asks the device again") {
    m.host.files.erase("/b/stamp");
    m.number = 0;
    const Facts again = m.configure({"TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX"});
    CHECK(m.host.compiled.size() == 1);
    CHECK(tried(again) == tried(facts));
    CHECK(built(again) == built(facts));
  }
  SECTION("another list compiles what is new in it") {
    m.number = 0;
    CHECK(built(m.configure({"TORCH_CUDA_ARCH_LIST=8.0;10.0"})) == "sm_80:built sm_100:built");
    CHECK(ImageHost::asked_of(m.host.compiled.back()) == "sm_100");
  }
}

TEST_CASE("a cache that another user could have written to is neither read nor written") {
  Machine m;
  m.configure({"TORCH_CUDA_ARCH_LIST=9.0"});
  m.host.files.erase("/b/stamp");
  m.host.foreign.insert("/cache");
  m.number = 0;
  const auto before = m.host.files.size();
  CHECK(tried(m.configure({"TORCH_CUDA_ARCH_LIST=9.0;10.0"})) == "sm_90:runs sm_100:refused");
  CHECK(ImageHost::asked_of(m.host.compiled.back()) == "sm_90 sm_100");
  CHECK(m.host.files.size() == before + 1);  // the stamp
}

TEST_CASE("a cross-compiled build tests the toolkit, and neither images nor devices") {
  Machine m;
  const Facts facts = m.configure({"TORCH_CUDA_ARCH_LIST=9.0", "CROSSCOMPILING=ON"});
  CHECK(facts.toolkit()->works.is(true));
  CHECK(built(facts).empty());
  CHECK(m.host.compiled.size() == 1);
  CHECK(m.drivers == 0);
}

TEST_CASE("of recorded facts nothing is built or tried") {
  Machine m;
  m.configure({"TORCH_CUDA_ARCH_LIST=9.0"});
  m.host.files["/recorded.json"] = m.host.files["/b/facts.json"];
  m.host.files.erase("/b/stamp");
  m.host.compiled.clear();
  const Facts facts = m.configure({"FACTS=/recorded.json", "TORCH_CUDA_ARCH_LIST=8.0"});
  CHECK(m.host.compiled.empty());
  CHECK(m.drivers == 1);
  CHECK(tried(facts) == "sm_90:runs");  // as it was recorded
}

TEST_CASE("probe tries the plan's images, a list, or all that nvcc knows") {
  Machine m;
  CHECK(built(m.probe({})).empty());
  CHECK(m.host.compiled.empty());
  m.number = 0;
  CHECK(tried(m.probe({"--work-dir", "/w"})) == "sm_90:runs");  // the device that is there
  m.number = 0;
  m.host.unknown = {"compute_120"};
  const Facts listed = m.probe({"--work-dir", "/w", "--try", "8.0;9.0a+PTX;12.0"});
  CHECK(built(listed) == "sm_80:built sm_90a:built compute_90a:built sm_120:refused");
  CHECK(tried(listed) == "sm_80:refused sm_90a:runs compute_90a:runs");
  m.number = 0;
  const Facts all = m.probe({"--work-dir", "/w", "--try", "all"});
  CHECK(all.toolkit()->builds.size() == all.toolkit()->archs.value().size());
  CHECK(all.devices.list[0].image_probe.size() == all.toolkit()->archs.value().size());
}

TEST_CASE("probe --try without a place to compile in, of a recording, or of nonsense is refused") {
  Machine m;
  m.host.files["/r.json"] = "{}";
  CHECK(verb_probe(m.host, {"--try", "all"}) == 2);
  CHECK(verb_probe(m.host, {"--try", "all", "--work-dir", "/w", "--facts", "/r.json"}) == 2);
  for (const char* list : {"8.6+ptx", "", " "})
    CHECK(verb_probe(m.host, {"--try", list, "--work-dir", "/w"}) == 2);
  CHECK(m.host.ran.empty());
  for (const char* list : {"99.9", "8.0;9.0f", "8.0;99.9"})
    CHECK(verb_probe(m.host, {"--try", list, "--work-dir", "/w"}) == 2);
  CHECK(m.host.compiled.empty());
}
