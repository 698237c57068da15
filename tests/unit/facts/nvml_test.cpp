// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/driver.h"
#include "facts/facts_io.h"
#include "memory_host.h"

using namespace tcs;

namespace {

Device shown(int index, const char* name, const char* uuid) {
  Device device;
  device.index = Fact<int>(index);
  device.name = Text(name);
  device.uuid = Text(uuid);
  device.visible = Flag(true);
  return device;
}

Facts driver_shows(const List<Device>& devices) {
  Facts facts;
  facts.driver.state = Text("ok");
  facts.devices.list = devices;
  facts.devices.list_known = true;
  facts.devices.state = Text(devices.empty() ? "none" : "measured");
  return facts;
}

void learn(Facts& facts, const std::string& members) {
  learn_nvml(MemoryHost::exits(0, "{\"probe\":\"tcs-nvml/1\"," + members + "}\n"), facts);
}

const char a10[] =
    R"({"name":"NVIDIA A10","uuid":"GPU-aa","compute_mode":3,"cc":"8.6","mig":false})";
const char h100[] =
    R"({"name":"NVIDIA H100","uuid":"GPU-BB","compute_mode":0,"cc":"9.0","mig":false})";
std::string boards(const std::string& list) {
  return R"("nvml":"/l/libnvidia-ml.so.1","version":"570.86.10","error":0,"devices":[)" + list +
         "]";
}

}  // namespace

TEST_CASE("a board that the mask hides is listed, not visible, and the visible one is completed") {
  Facts facts = driver_shows({shown(0, "NVIDIA H100", "GPU-bb")});
  facts.environment["CUDA_VISIBLE_DEVICES"] = "1";
  learn(facts, boards(std::string(a10) + "," + h100));
  CHECK(facts.driver.nvml.state.is("ok"));
  CHECK(facts.driver.nvml.version.is("570.86.10"));
  CHECK(facts.driver.nvml.path.is("/l/libnvidia-ml.so.1"));
  CHECK(facts.driver.version.is("570.86.10"));  // nothing else told it
  REQUIRE(facts.devices.list.size() == 2);
  CHECK(facts.devices.list[0].state.is("ok"));
  CHECK(facts.devices.list[0].compute_mode.is("default"));
  CHECK(facts.devices.list[0].mig.is(false));
  const Device& hidden = facts.devices.list[1];
  CHECK(hidden.visible.is(false));
  CHECK(hidden.name.is("NVIDIA A10"));
  CHECK(hidden.cc.is("8.6"));
  CHECK(hidden.compute_mode.is("exclusive-process"));
  CHECK_FALSE(hidden.index.known());
  order_facts(facts);
  CHECK(facts.devices.list[0].index.is(0));
}

TEST_CASE("boards behind a mask that hides all are measured; without a mask CUDA ought to see") {
  Facts facts = driver_shows({});
  facts.environment["CUDA_VISIBLE_DEVICES"] = "";
  learn(facts, boards(a10));
  order_facts(facts);
  CHECK(facts.devices.state.is("measured"));
  REQUIRE(facts.devices.list.size() == 1);
  CHECK(facts.devices.list[0].visible.is(false));
  facts = driver_shows({});
  learn(facts, boards(a10));
  REQUIRE(facts.devices.list.size() == 1);
  CHECK(facts.devices.list[0].visible.is(true));
}

TEST_CASE("a driver that fails leaves the boards to NVML, unless a mask leaves open which") {
  Facts facts;
  facts.driver.state = Text("error");
  learn(facts, boards(a10));
  CHECK(facts.devices.state.is("measured"));
  REQUIRE(facts.devices.list.size() == 1);
  CHECK(facts.devices.list[0].visible.is(true));
  facts = Facts();
  facts.driver.state = Text("error");
  facts.environment["CUDA_VISIBLE_DEVICES"] = "0";
  learn(facts, boards(a10));
  CHECK_FALSE(facts.devices.state.known());
  CHECK(facts.devices.list.empty());
}

TEST_CASE("a board in MIG mode is that of its instance, and without instances it is hidden") {
  const std::string cut =
      R"({"name":"NVIDIA A100","uuid":"GPU-cc","compute_mode":0,"mig":true,"instances":["MIG-1","MIG-2"]})";
  Facts facts = driver_shows({shown(0, "NVIDIA A100 MIG 1g.5gb", "MIG-2")});
  learn(facts, boards(cut));
  REQUIRE(facts.devices.list.size() == 1);
  CHECK(facts.devices.list[0].mig.is(true));
  CHECK(facts.devices.list[0].compute_mode.is("default"));
  facts = driver_shows({shown(0, "NVIDIA H100", "GPU-bb")});
  learn(facts, boards(std::string(h100) +
                      R"(,{"name":"NVIDIA A100","uuid":"GPU-cc","mig":true,"instances":[]})"));
  REQUIRE(facts.devices.list.size() == 2);
  CHECK(facts.devices.list[1].visible.is(false));
  CHECK(facts.devices.list[1].mig.is(true));
}

TEST_CASE("a board that a driver which works does not show is not visible, though NVML lists it") {
  Facts facts;
  facts.driver.state = Text("ok");
  facts.driver.error_code = Fact<int>(0, "cuInit");
  facts.devices.state = Text("none");
  learn(facts, boards(h100));
  REQUIRE(facts.devices.list.size() == 1);
  CHECK(facts.devices.list[0].visible.is(false));
  // cuInit's own 100 is told of the driver.
  Facts none = facts;
  none.devices = DeviceFacts();
  none.driver.error_code = Fact<int>(100, "cuInit");
  learn(none, boards(h100));
  CHECK(none.devices.list[0].visible.is(true));
}

TEST_CASE("a lost board and one that wants a reset say so, visible or not") {
  Facts facts = driver_shows({shown(0, "NVIDIA A10", "GPU-aa"), shown(1, "NVIDIA H100", "GPU-bb")});
  learn(facts, boards(R"({"error":15},{"name":"NVIDIA A10","uuid":"GPU-aa","error":16})"));
  REQUIRE(facts.devices.list.size() == 2);
  CHECK(facts.devices.list[0].state.is("reset-required"));
  CHECK(facts.devices.list[1].state.is("lost"));  // the one that is left over
  facts = driver_shows({shown(0, "NVIDIA A10", "GPU-aa")});
  learn(facts, boards(std::string(a10) + R"(,{"error":15})"));
  REQUIRE(facts.devices.list.size() == 2);
  CHECK(facts.devices.list[1].state.is("lost"));
  CHECK(facts.devices.list[1].visible.is(false));
}

TEST_CASE("boards that cannot be matched are not counted twice") {
  Facts facts = driver_shows({shown(0, "Orin", "GPU-of-cuda")});
  learn(facts, boards(R"({"name":"Orin nvgpu","uuid":"GPU-of-nvml"
})"));
  CHECK(facts.devices.list.size() == 1);
  CHECK(facts.devices.list[0].name.is("Orin"));
}

TEST_CASE("NVML that starts says that the kernel module is loaded") {
  Facts facts;
  facts.driver.state = Text("no-kernel-module");
  facts.driver.error_code = Fact<int>(100);
  learn(facts, boards(""));
  CHECK(facts.driver.state.is("ok"));
  CHECK(facts.devices.state.is("none"));
  facts = Facts();
  facts.driver.state = Text("no-kernel-module");
  facts.driver.error_code = Fact<int>(999);
  learn(facts, boards(""));
  CHECK(facts.driver.state.is("error"));
  CHECK(facts.driver.reason == "cuInit answered 999, and NVML finds the kernel module loaded");
}

TEST_CASE("where NVML is absent or fails, the facts are those of the driver") {
  for (const char* text :
       {"", "42", "{\"probe\":\"tcs-driver/1\",\"error\":0,\"devices\":[{\"uuid\":\"GPU-x\"}]}",
        "{\"probe\":\"tcs-nvml/1\",\"error\":0,\"devices\":[{\"uuid\":\"GPU-x\"}"}) {
    Facts facts = driver_shows({shown(0, "NVIDIA A10", "GPU-aa")});
    learn_nvml(MemoryHost::exits(0, text), facts);
    CHECK(facts.driver.nvml.state.is("error"));
    CHECK(facts.devices.list.size() == 1);
  }
  Facts facts;
  learn(facts,
        "\"load_error\":\"libnvidia-ml.so.1: cannot open shared object file: No such file\"");
  CHECK(facts.driver.nvml.state.is("absent"));
  learn(facts, "\"load_error\":\"/l/libnvidia-ml.so.1: file too short\"");
  CHECK(facts.driver.nvml.state.is("error"));
  CHECK(facts.driver.nvml.reason ==
        "libnvidia-ml.so.1 does not load: /l/libnvidia-ml.so.1: file too short");
  learn(facts, "\"nvml\":\"/l/libnvidia-ml.so.1\",\"error\":9");
  CHECK(facts.driver.nvml.state.is("error"));
  CHECK(facts.driver.nvml.error_code.is(9));
  CHECK_FALSE(facts.devices.state.known());
}

TEST_CASE("NVML's child starts before the driver's, and hears after it") {
  MemoryHost host;
  host.on_run = [](const Command& command) {
    return MemoryHost::exits(0, command.argv[1] == "--nvml-probe"
                                    ? "{\"probe\":\"tcs-nvml/1\",\"error\":0,\"devices\":[]}\n"
                                    : "{\"probe\":\"tcs-driver/1\",\"init\":0,\"devices\":[]}\n");
  };
  DriverChild child = start_driver(host, {});
  REQUIRE(host.ran.size() == 2);
  CHECK(host.ran[0].argv == List<std::string>{"/self/tcstack", "--nvml-probe"});
  Facts facts;
  gather_driver(host, {}, child, facts);
  CHECK_FALSE(facts.driver.nvml.state.known());
  gather_nvml({}, child, facts);
  CHECK(facts.driver.nvml.state.is("ok"));
  CHECK(child.nvml == nullptr);
  CHECK(facts.devices.state.is("none"));
}
