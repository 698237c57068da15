// SPDX-License-Identifier: Apache-2.0
// The environment's variables: how each form is read, and what is said of it.
#include "findings/rules/environment.h"

#include <catch2/catch_test_macros.hpp>

#include "findings/finding.h"

using namespace tcs;

namespace {

constexpr const char* kFirst = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
constexpr const char* kSecond = "GPU-8932aaaa-1111-2222-3333-444455556666";
constexpr const char* kMig = "MIG-c7384736-a75d-5afc-978f-d2f1294409fd";

std::string with_ids(std::string mask) {
  mask = replace_all(mask, "{1}", kFirst);
  mask = replace_all(mask, "{2}", kSecond);
  return replace_all(mask, "{M}", kMig);
}

// Facts of a machine with nothing wrong: RTX 3090, driver 550, CUDA 12.4, PyTorch 2.6.
Facts machine() {
  Facts f;
  f.origin = "replayed";
  f.host.os = Text("linux");
  Device device;
  device.index = 0;
  device.name = Text("NVIDIA GeForce RTX 3090");
  device.cc = Text("8.6");
  device.uuid = Text(kFirst);
  device.visible = true;
  f.devices.state = Text("measured");
  f.devices.list_known = true;
  f.devices.list.push_back(device);
  f.driver.state = Text("ok");
  f.driver.version = Text("550.54.15");
  f.driver.cuda = Text("12.4");
  Toolkit toolkit;
  toolkit.root = Text("/opt/cuda-12.4");
  toolkit.nvcc = Text("/opt/cuda-12.4/bin/nvcc");
  toolkit.version = Text("12.4");
  toolkit.origin = Text("/opt/cuda-12.4");
  f.toolkits.list_known = true;
  f.toolkits.list.push_back(toolkit);
  f.toolkits.selected = 0;
  f.host_compiler.id = Text("GNU");
  f.host_compiler.version = Text("12.2.0");
  f.torch.state = Text("found");
  f.torch.version = Text("2.6.0+cu124");
  f.torch.flavour = Text("cuda");
  f.torch.cuda = Text("12.4");
  f.torch.images = Names({"sm_70", "sm_80", "sm_86", "sm_90"});
  return f;
}

void add_gpu(Facts& f, bool visible, const char* uuid = "", const char* cc = "8.6") {
  Device device = f.devices.list[0];
  device.index = static_cast<int>(f.devices.list.size());
  device.visible = visible;
  device.uuid = *uuid ? Text(uuid) : Text();
  device.cc = Text(cc);
  f.devices.list.push_back(device);
}

Request asks(const char* list, const List<std::string>& targets = {}) {
  Request r;
  if (*list) r.arch_list = Text(list, "TORCH_CUDA_ARCH_LIST (environment)");
  r.targets_known = !targets.empty();
  r.targets = targets;
  return r;
}

Report judged(const Facts& facts, const Request& request = {}) {
  const Plan plan = make_plan(facts, request);
  return judge({facts, request, plan}, {});
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

// "warning", "" for none.
std::string weight(const Report& report, int id) {
  const Finding* f = find(report, id);
  return f ? name_of(f->severity) : "";
}

Facts with(const char* name, const std::string& value) {
  Facts f = machine();
  f.environment[name] = value;
  return f;
}

List<MaskDevice> gpus(const char* visible) {
  List<MaskDevice> out;
  for (const char* c = visible; *c; ++c) {
    MaskDevice device;
    device.visible = *c == 'v';
    if (out.empty()) device.uuid = Text(kFirst);
    if (out.size() == 1) device.uuid = Text(kSecond);
    if (out.size() > 1) device.uuid = Text(cat("GPU-0000000", out.size()));
    out.push_back(device);
  }
  return out;
}

}  // namespace

TEST_CASE("each form of CUDA_VISIBLE_DEVICES is read as CUDA and PyTorch read it") {
  struct Row {
    const char* mask;
    int fault;            // position of the first entry that is not obeyed, -1 = none
    const char* entries;  // what is named up to there
  };
  const Row rows[] = {
      // right
      {"0", -1, "0"},
      {"0,1", -1, "0 1"},
      {"2,1", -1, "2 1"},
      {" 0 , 1 ", -1, "0 1"},
      {"+1", -1, "1"},
      {"00,01", -1, "0 1"},
      {"{1}", -1, "{1}"},
      {"{1},{2}", -1, "{1} {2}"},
      {"GPU-8932f937", -1, "GPU-8932f937"},
      {"{M}", -1, "{M}"},
      {"MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0", -1,
       "MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0"},
      // hides on purpose
      {"", -1, ""},
      {"  ", -1, ""},
      {"-1", -1, ""},
      {"0,-1", -1, "0"},
      {"NoDevFiles", -1, ""},
      {"none", -1, ""},
      {"void", -1, ""},
      {"0,", -1, "0"},
      {"0,,", -1, "0"},
      // hides by mistake
      {"all", 0, ""},
      {"ALL", 0, ""},
      {"none,0", 0, ""},
      {"0,2,-1,1", 2, "0 2"},
      {"-1,0", 0, ""},
      {",0", 0, ""},
      {"0,,1", 1, "0"},
      {"0,0", 1, "0"},
      {"0,1,0", 2, "0 1"},
      {"0,00", 1, "0"},
      {"{1},{1}", 1, "{1}"},
      {"\"0,1\"", 0, ""},
      {"'0'", 0, ""},
      {"0;1", 0, "0"},
      {"0 1", 0, "0"},
      {"0:1", 0, "0"},
      {"0-3", 0, "0"},
      {"0|1", 0, "0"},
      {"1gpu2,2", 0, "1"},
      {"0.5", 0, "0"},
      {"cuda:0", 0, ""},
      {"gpu0", 0, ""},
      {"[0,1]", 0, ""},
      {"x", 0, ""},
      {"8932f937-d72c-4106-c12f-20bd9faed9f6", 0, "8932"},
      {"gpu-8932f937", 0, ""},
      {"GPU-xyz", 0, ""},
      {"mig-c7384736", 0, ""},
      {"0,{1}", 1, "0"},
      {"{1},0", 1, "{1}"},
      {"{1},{M}", 1, "{1}"},
      {"{M},MIG-aaaaaaaa", 1, "{M}"},
      {"0,all", 1, "0"},
      {"$GPUS", 0, ""},
  };
  for (const Row& row : rows) {
    const std::string mask = with_ids(row.mask);
    INFO(mask);
    List<std::string> entries;
    const MaskFault fault = fault_in_form(mask, entries);
    CHECK(fault.entry == row.fault);
    CHECK(join(entries, " ") == with_ids(row.entries));
    CHECK(fault.why.empty() == (row.fault < 0));
    CHECK_FALSE(contains(fault.why, "  "));
  }
}

TEST_CASE("CUDA_VISIBLE_DEVICES is held against the GPUs that are known") {
  struct Row {
    const char* mask;
    const char* gpus;  // v visible, h hidden: with one that is hidden all of the machine are listed
    int fault;
    bool hides;  // more than the entry itself
  };
  const Row rows[] = {
      {"0", "v", -1, false},
      {"1", "v", -1, false},     // the driver shows one, as it counts anew
      {"3,2", "vv", -1, false},  // two of four
      {"0,1", "v", 1, false},    // where there is one
      {"0,7,1", "v", 1, true},   // and the last one is hidden
      {"0,1,2", "vv", 2, false},
      {"0", "vh", -1, false},
      {"1", "hv", -1, false},
      {"2", "hh", 0, true},
      {"0,2,1", "vh", 1, true},
      {"0,2", "vh", 1, true},
      {"99999999999999999999", "hh", 0, true},
      {"GPU-8932f9", "vh", -1, false},
      {"GPU-8932F9", "vh", -1, false},
      {"GPU-8932", "hh", 0, true},  // two begin so
      {"GPU-ffff", "hh", 0, true},
      {"{1},GPU-ffff", "vh", 1, true},
      {"{2},{1}", "vv", -1, false},
      {"all", "hh", 0, true},
      {"", "hh", -1, false},
      {"-1", "hh", -1, false},
      {"5", "", -1, false},  // nothing is known of what is there
      {"all", "", 0, true},
      {"0,0", "hh", 1, true},
      {"{M}", "v", -1, false},
      {"0;1", "v", 0, true},
      {"0,1;2", "v", 1, true},
  };
  for (const Row& row : rows) {
    INFO(row.mask << " " << row.gpus);
    const MaskFault fault = fault_in_mask(with_ids(row.mask), gpus(row.gpus));
    CHECK(fault.entry == row.fault);
    if (row.fault >= 0) CHECK(fault.hides == row.hides);
  }
  List<MaskDevice> half = gpus("hh");
  half[1].uuid = Text();
  CHECK(fault_in_mask("GPU-8932f937", half).entry == -1);
  CHECK_FALSE(fault_in_mask("GPU-8932f937", half).lacks_uuid);
  CHECK(fault_in_mask("GPU-ffff", half).lacks_uuid);
}

TEST_CASE(
    "an entry that hides a GPU is a warning, all hidden by mistake an error where one was asked") {
  Facts f = with("CUDA_VISIBLE_DEVICES", "0,7,1");
  CHECK(weight(judged(f), 801) == "warning");
  f.environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  CHECK(weight(judged(f), 801) == "note");  // one GPU, and it is visible
  CHECK(find(judged(f), 801)->notes[0] == "2 entries, and one GPU is visible");
  f.environment["CUDA_VISIBLE_DEVICES"] = "all";
  f.devices.list[0].visible = false;
  CHECK(weight(judged(f, asks("", {"8.6"})), 801) == "warning");
  const Report native = judged(f, asks("", {"native"}));
  CHECK(weight(native, 801) == "error");
  CHECK(weight(native, 101) == "");  // it is its consequence
  CHECK(contains(find(native, 801)->message, "'all'"));
  CHECK(contains(find(native, 801)->notes[0], "NVIDIA_VISIBLE_DEVICES"));
}

TEST_CASE("hiding on purpose is no mistake: it is said with the missing GPU") {
  for (const char* mask : {"", "-1", "NoDevFiles", "none"}) {
    INFO(mask);
    Facts f = with("CUDA_VISIBLE_DEVICES", mask);
    f.devices = DeviceFacts();
    f.devices.state = Text("none");
    f.devices.list_known = true;
    const Report report = judged(f);
    CHECK(weight(report, 801) == "");
    CHECK(weight(report, 102) == "note");
    CHECK(contains(find(report, 102)->message, "CUDA_VISIBLE_DEVICES"));
    CHECK(weight(judged(f, asks("", {"native"})), 101) == "error");
  }
}

TEST_CASE("without the GPUs an index is not judged, and that is said") {
  Facts f = with("CUDA_VISIBLE_DEVICES", "0,1");
  f.devices = DeviceFacts();
  Report report = judged(f);
  CHECK(weight(report, 801) == "");
  CHECK_FALSE(report.complete);
  REQUIRE(find(report, 190));
  CHECK(contains(find(report, 190)->missing, std::string("devices.list")));
  // Nor where it is not known which of them are visible.
  f = with("CUDA_VISIBLE_DEVICES", "5");
  f.devices.list[0].visible = Flag();
  report = judged(f);
  CHECK(weight(report, 801) == "");
  CHECK(contains(find(report, 190)->missing, std::string("devices.list[].visible")));
  // Without a driver no GPU is to be seen anyway.
  f = with("CUDA_VISIBLE_DEVICES", "0,1");
  f.devices = DeviceFacts();
  f.driver.state = Text("absent");
  CHECK(weight(judged(f), 190) == "");
}

TEST_CASE("a mask that leaves no GPU visible says so first") {
  Facts f = machine();
  f.devices.list[0].visible = false;
  f.environment["CUDA_VISIBLE_DEVICES"] = "GPU-00000000";
  CHECK(find(judged(f, asks("", {"native"})), 801)->message ==
        "the entry 'GPU-00000000' of CUDA_VISIBLE_DEVICES leaves no GPU visible");
  f.environment["CUDA_VISIBLE_DEVICES"] = "-1";
  CHECK(find(judged(f, asks("", {"native"})), 101)->message ==
        "CUDA_VISIBLE_DEVICES='-1' hides the only GPU, and one was asked for");
  add_gpu(f, false, kSecond);
  f.environment["CUDA_VISIBLE_DEVICES"] = "";
  CHECK(find(judged(f, asks("", {"native"})), 101)->message ==
        "CUDA_VISIBLE_DEVICES='' hides all 2 GPUs, and one was asked for");
}

TEST_CASE("of several folders in CUDA_HOME the one in use is offered") {
  Facts f = with("CUDA_HOME", "/opt/cuda:/opt/cuda-12.4/");
  CHECK(find(judged(f), 809)->help[0] == "export CUDA_HOME=/opt/cuda-12.4");
}

TEST_CASE("the order of the GPUs is noted where an index may mean another one") {
  Facts f = with("CUDA_VISIBLE_DEVICES", "0");
  CHECK(weight(judged(f), 802) == "");
  add_gpu(f, false);
  CHECK(weight(judged(f), 802) == "");  // two alike
  add_gpu(f, false, "", "8.0");
  CHECK(weight(judged(f), 802) == "note");
  f.environment["CUDA_DEVICE_ORDER"] = "FASTEST_FIRST";
  CHECK(weight(judged(f), 802) == "note");
  f.environment["CUDA_DEVICE_ORDER"] = "pci_bus_id";
  CHECK(contains(find(judged(f), 802)->message, "'pci_bus_id'"));
  f.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  CHECK(weight(judged(f), 802) == "");
  f.environment.erase("CUDA_DEVICE_ORDER");
  f.environment["CUDA_VISIBLE_DEVICES"] = kFirst;
  CHECK(weight(judged(f), 802) == "");
}

TEST_CASE("forced and forbidden PTX are errors where nothing is left to run") {
  struct Row {
    const char* name;
    const char* value;
    const char* images;  // of PyTorch; the list is machine code and PTX
    const char* list;
    const char* says;  // of 803, 804
  };
  const Row rows[] = {
      {"CUDA_FORCE_PTX_JIT", "1", "sm_86", "8.6+PTX", "803 error"},
      {"CUDA_FORCE_JIT", "1", "sm_86", "8.6+PTX", "803 error"},
      {"CUDA_FORCE_PTX_JIT", "0", "sm_86", "8.6+PTX", ""},
      {"CUDA_FORCE_PTX_JIT", "", "sm_86", "8.6+PTX", ""},
      {"CUDA_FORCE_PTX_JIT", "1", "sm_80 compute_80", "8.6+PTX", ""},
      {"CUDA_FORCE_PTX_JIT", "1", "sm_80 compute_80", "8.6", "803 error"},
      {"CUDA_FORCE_PTX_JIT", "1", "sm_80 compute_90", "8.6+PTX", "803 error"},
      {"CUDA_DISABLE_PTX_JIT", "1", "sm_86 compute_86", "8.6+PTX", ""},
      {"CUDA_DISABLE_PTX_JIT", "1", "sm_75 compute_75", "8.6", "804 error"},
      {"CUDA_DISABLE_JIT", "1", "sm_75 compute_75", "8.6", "804 error"},
      {"CUDA_DISABLE_JIT", "0", "sm_75 compute_75", "8.6", ""},
      {"CUDA_CACHE_DISABLE", "1", "sm_86", "8.6", ""},
      {"CUDA_MODULE_LOADING", "EAGER", "sm_86", "8.6", ""},
  };
  for (const Row& row : rows) {
    INFO(row.name << "=" << row.value << " " << row.images << " " << row.list);
    Facts f = with(row.name, row.value);
    f.torch.images = Names(split(row.images, " "));
    const Report report = judged(f, asks(row.list, {"native"}));
    std::string says;
    for (int id : {803, 804})
      if (find(report, id)) says = cat(id, " ", weight(report, id));
    CHECK(says == row.says);
  }
  Facts both = with("CUDA_FORCE_JIT", "1");
  both.environment["CUDA_FORCE_PTX_JIT"] = "0";  // counts before the other name
  CHECK(weight(judged(both), 803) == "");
  // Others' machines: a warning. None known: not judged, and said.
  CHECK(weight(judged(with("CUDA_FORCE_PTX_JIT", "1"), asks("9.0")), 803) == "warning");
  Facts f = with("CUDA_FORCE_PTX_JIT", "1");
  f.torch.images = Names();
  CHECK(contains(find(judged(f, asks("8.6+PTX")), 890)->missing, std::string("torch.images")));
}

TEST_CASE("architectures in the variables of nvcc are held against nvcc and the plan") {
  struct Row {
    const char* name;
    const char* value;
    const char* says;  // for the list 8.6 and nvcc 12.4
  };
  const Row rows[] = {
      {"NVCC_APPEND_FLAGS", "-gencode arch=compute_86,code=sm_86", ""},
      {"NVCC_APPEND_FLAGS", "-gencode=arch=compute_86,code=[sm_86,compute_86]", ""},
      {"NVCC_APPEND_FLAGS", "-arch=sm_86", ""},
      {"NVCC_APPEND_FLAGS", "-arch sm_86 -O3", ""},
      {"NVCC_APPEND_FLAGS", "--threads 4 -lineinfo", ""},
      {"NVCC_APPEND_FLAGS", "-Xcompiler -march=native", ""},
      {"NVCC_APPEND_FLAGS", "-arch=native", ""},
      {"NVCC_APPEND_FLAGS", "", ""},
      {"NVCC_APPEND_FLAGS", "-arch=sm_70", "806 warning"},
      {"NVCC_PREPEND_FLAGS", "--gpu-architecture=compute_80 --gpu-code=sm_80", "806 warning"},
      {"NVCC_PREPEND_FLAGS", "--generate-code arch=compute_90,code=sm_90", "806 warning"},
      {"CUDAFLAGS", "-gencode;arch=compute_75,code=sm_75", "806 warning"},
      {"CMAKE_CUDA_FLAGS", "-arch=sm_90a", "806 warning"},
      {"NVCC_APPEND_FLAGS", "-gencode arch=compute_35,code=sm_35", "805 error"},
      {"NVCC_APPEND_FLAGS", "-arch=sm_120", "805 error"},
      {"NVCC_PREPEND_FLAGS", "-gencode \"arch=compute_100,code=\\\"sm_100,compute_100\\\"\"",
       "805 error"},
      {"CUDAFLAGS", "-arch=sm_70 -gencode arch=compute_103,code=sm_103", "805 error"},
      {"NVCC_APPEND_FLAGS", "-arch=8.6", "805 error"},
      {"NVCC_APPEND_FLAGS", "-arch=sm86", "805 error"},
      {"PATH", "-arch=sm_35", ""},
  };
  for (const Row& row : rows) {
    INFO(row.name << "=" << row.value);
    const Report report = judged(with(row.name, row.value), asks("8.6"));
    std::string says;
    for (int id : {805, 806})
      if (find(report, id)) says = cat(id, " ", weight(report, id));
    CHECK(says == row.says);
  }
  Report report =
      judged(with("NVCC_APPEND_FLAGS", "-gencode arch=compute_35,code=sm_35"), asks("8.6"));
  CHECK(find(report, 805)->message ==
        "NVCC_APPEND_FLAGS asks for sm_35, which nvcc 12.4 does not build");
  CHECK(contains(find(report, 805)->notes[0], "11.8"));
  // What nvcc builds is unknown: nothing is made up.
  Facts f = with("NVCC_APPEND_FLAGS", "-arch=sm_35");
  f.toolkits = ToolkitFacts();
  report = judged(f, asks("8.6"));
  CHECK(weight(report, 805) == "");
  CHECK(weight(report, 806) == "");
  // PyTorch's own build reads one more.
  Request source = asks("8.6");
  CHECK(weight(judged(with("TORCH_NVCC_FLAGS", "-arch=sm_35"), source), 805) == "");
  source.purpose = "pytorch-source";
  CHECK(weight(judged(with("TORCH_NVCC_FLAGS", "-arch=sm_35"), source), 805) == "error");
  CHECK(weight(judged(with("TORCH_NVCC_FLAGS", "-Xfatbin -compress-all"), source), 805) == "");
  // Nothing is compiled: the flags do not matter.
  Request run;
  run.purpose = "run";
  CHECK(weight(judged(with("NVCC_APPEND_FLAGS", "-arch=sm_35"), run), 805) == "");
}

TEST_CASE("a host compiler in nvcc's variables is noted, two are a warning") {
  CHECK(weight(judged(with("NVCC_APPEND_FLAGS", "-ccbin g++-11")), 807) == "note");
  CHECK(weight(judged(with("NVCC_CCBIN", "g++-11")), 807) == "note");
  CHECK(weight(judged(with("NVCC_CCBIN", "")), 807) == "");
  CHECK(weight(judged(with("NVCC_PREPEND_FLAGS", "--compiler-bindir=/usr/bin/g++-11")), 807) ==
        "note");
  Facts f = with("NVCC_APPEND_FLAGS", "-ccbin g++-11");
  f.environment["CUDAHOSTCXX"] = "g++-11";
  CHECK(weight(judged(f), 807) == "note");
  f.environment["CUDAHOSTCXX"] = "g++-12";
  CHECK(weight(judged(f), 807) == "warning");
}

TEST_CASE("a flag with the letters 'arch' that a setup.py hands on is a warning") {
  for (const char* flags : {"-Xcompiler -march=native", "-arch=sm_80",
                            "-gencode arch=compute_80,code=sm_80", "--gpu-architecture=sm_80"}) {
    INFO(flags);
    CHECK(weight(judged(with("NVCC_FLAGS", flags)), 808) == "warning");
    CHECK(weight(judged(with("CXXFLAGS", flags)), 808) == "");
  }
  CHECK(weight(judged(with("NVCC_FLAGS", "-O3 -lineinfo")), 808) == "");
  // The whole plan is named there.
  CHECK(weight(judged(with("NVCC_FLAGS", "-gencode arch=compute_86,code=sm_86")), 808) == "");
}

TEST_CASE("the forms of CUDA_HOME that others do not understand") {
  struct Row {
    const char* name;
    const char* value;
    const char* meant;  // "" = it is right
  };
  const Row rows[] = {
      {"CUDA_HOME", "/opt/cuda-12.4", ""},
      {"CUDA_HOME", "/opt/cuda-12.4/", ""},
      {"CUDA_HOME", "", ""},
      {"CUDA_HOME", "/opt/cuda-12.4/bin", "/opt/cuda-12.4"},
      {"CUDA_HOME", "/opt/cuda-12.4/bin/", "/opt/cuda-12.4"},
      {"CUDA_HOME", "/opt/cuda-12.4/bin/nvcc", "/opt/cuda-12.4"},
      {"CUDA_HOME", "/opt/cuda-12.4:/usr/local/cuda", "/opt/cuda-12.4"},
      {"CUDA_HOME", ":/opt/cuda-12.4", "/opt/cuda-12.4"},
      {"CUDA_HOME", "\"/opt/cuda-12.4\"", "/opt/cuda-12.4"},
      {"CUDA_HOME", " /opt/cuda-12.4", "/opt/cuda-12.4"},
      {"CUDA_PATH", "/opt/cuda-12.4/bin", "/opt/cuda-12.4"},
      {"CUDAToolkit_ROOT", "/opt/cuda-12.4:/usr/local/cuda", ""},  // CMake takes a list there
      {"CUDA_PATH", "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4", ""},
      {"CUDA_PATH_V12_4", "/opt/cuda-12.4/bin", ""},
  };
  for (const Row& row : rows) {
    INFO(row.name << "=" << row.value);
    const Report report = judged(with(row.name, row.value));
    CHECK(weight(report, 809) == (*row.meant ? "warning" : ""));
    if (*row.meant) CHECK(find(report, 809)->help[0] == cat("export ", row.name, "=", row.meant));
  }
  Facts f = with("CUDA_HOME", "/opt/cuda-12.4/bin");
  f.toolkits.list.clear();
  f.toolkits.selected = Fact<int>();
  const Report report = judged(f);
  CHECK(weight(report, 809) == "error");  // the cause of there being none
  CHECK(weight(report, 301) == "");
}

TEST_CASE("CUDA_HOME of another release than the toolkit in use is a warning") {
  Facts f = with("CUDA_HOME", "/opt/cuda-11.8");
  CHECK(weight(judged(f), 810) == "warning");  // by its name
  Toolkit other = f.toolkits.list[0];
  other.root = Text("/usr/local/cuda");
  other.nvcc = Text("/usr/local/cuda/bin/nvcc");
  other.version = Text("11.8");
  f.toolkits.list.push_back(other);
  f.environment["CUDA_HOME"] = "/usr/local/cuda";
  CHECK(weight(judged(f), 810) == "warning");
  f.toolkits.list[1].version = Text("12.4.131");  // a second copy of the same release
  CHECK(weight(judged(f), 810) == "");
  f.toolkits.list[1].version = Text();
  CHECK(find(judged(f), 890));
  f.environment["CUDA_HOME"] = "/opt/cuda-12.4";
  CHECK(weight(judged(f), 810) == "");
  // CUDA_HOME counts before CUDA_PATH.
  f.environment["CUDA_PATH"] = "/opt/cuda-11.8";
  CHECK(weight(judged(f), 810) == "");
  f.environment.erase("CUDA_HOME");
  CHECK(weight(judged(f), 810) == "warning");
}

TEST_CASE("what the loader is told to search or to load first") {
  struct Row {
    const char* name;
    const char* value;
    const char* says;
  };
  const Row rows[] = {
      {"LD_LIBRARY_PATH", "/usr/lib:/opt/cuda-12.4/lib64/stubs/", "811 note"},
      {"LD_LIBRARY_PATH", "/usr/local/cuda/compat", "811 note"},
      {"LD_LIBRARY_PATH", "/usr/local/cuda-12.1/lib64", "811 note"},  // PyTorch is of 12.4
      {"LD_LIBRARY_PATH", "/usr/local/cuda-12.4/lib64", ""},
      {"LD_LIBRARY_PATH", "/usr/local/cuda-11.8/lib64", ""},  // other names, never mixed up
      {"LD_LIBRARY_PATH", "", ""},
      {"LIBRARY_PATH", "/opt/cuda-12.4/lib64/stubs", ""},
      {"LD_PRELOAD", "/x/libcudart.so.12", "812 warning"},
      {"LD_PRELOAD", "/x/libjemalloc.so.2:/x/libcuda.so.1", "812 warning"},
      {"LD_PRELOAD", "/x/libjemalloc.so.2", ""},
  };
  for (const Row& row : rows) {
    INFO(row.name << "=" << row.value);
    const Report report = judged(with(row.name, row.value));
    std::string says;
    for (int id : {811, 812})
      if (find(report, id)) says = cat(id, " ", weight(report, id));
    CHECK(says == row.says);
  }
}

TEST_CASE("what a container was started with explains a missing GPU") {
  struct Row {
    const char* name;
    const char* value;
    bool driver;
    bool says;
  };
  const Row rows[] = {
      {"NVIDIA_VISIBLE_DEVICES", "void", true, true},
      {"NVIDIA_VISIBLE_DEVICES", "none", true, true},
      {"NVIDIA_VISIBLE_DEVICES", "", true, true},
      {"NVIDIA_VISIBLE_DEVICES", "void", false, true},
      {"NVIDIA_VISIBLE_DEVICES", "all", false, true},
      {"NVIDIA_VISIBLE_DEVICES", "all", true, false},
      {"NVIDIA_DRIVER_CAPABILITIES", "utility", false, true},
      {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility", false, false},
      {"NVIDIA_DRIVER_CAPABILITIES", "utility", true, false},
  };
  for (const Row& row : rows) {
    INFO(row.name << "=" << row.value << " driver " << row.driver);
    Facts f = with(row.name, row.value);
    f.devices = DeviceFacts();
    f.devices.state = Text("none");
    f.devices.list_known = true;
    if (!row.driver) f.driver.state = Text("absent");
    CHECK((find(judged(f, asks("8.6")), 813) != nullptr) == row.says);
    f.devices = machine().devices;
    if (row.driver) CHECK(find(judged(f, asks("8.6")), 813) == nullptr);
  }
}

TEST_CASE("where a GPU was asked for, how the container was started is the one error") {
  for (const char* state : {"absent", "ok"}) {
    INFO(state);
    Facts f = with("NVIDIA_VISIBLE_DEVICES", "void");
    f.devices = DeviceFacts();
    f.devices.state = Text("none");
    f.devices.list_known = true;
    f.driver.state = Text(state);
    const Report asked = judged(f, asks("", {"native"}));
    CHECK(weight(asked, 813) == "error");
    for (int id : {101, 102, 201, 801, 908}) CHECK(find(asked, id) == nullptr);
    CHECK(contains(join(find(asked, 813)->help, " "), "TARGETS"));
    CHECK(weight(judged(f, asks("8.6")), 813) == "note");
  }
}

TEST_CASE("a value is quoted so that it can be told from its quotes") {
  const Report report = judged(with("CUDA_HOME", "'/usr/local/cuda'"));
  REQUIRE(find(report, 809));
  CHECK(find(report, 809)->evidence[0].has == "CUDA_HOME=\"'/usr/local/cuda'\"");
}

TEST_CASE("what an image asks of the driver is compared as the container runtime does") {
  struct Row {
    const char* needs;
    bool says;  // for driver 550.54.15, CUDA 12.4
  };
  const Row rows[] = {
      {"cuda>=12.4", false},
      {"cuda>=12.5", true},
      {"cuda>=12.5 cuda>=11.0", false},
      {"cuda>=12.8 brand=tesla,driver>=550,driver<551", false},
      {"cuda>=12.8 brand=tesla,driver>=535,driver<536", true},
      {"cuda>11.8", false},
      {"cuda<12.4", true},
      {"", false},
      {"nonsense", false},
  };
  for (const Row& row : rows) {
    INFO(row.needs);
    Facts f = with("NVIDIA_REQUIRE_CUDA", row.needs);
    CHECK((find(judged(f), 814) != nullptr) == row.says);
    f.environment["NVIDIA_DISABLE_REQUIRE"] = "1";
    CHECK(find(judged(f), 814) == nullptr);
  }
}

TEST_CASE("PTX for a device that nvcc does not know is a warning, not a failure") {
  Facts f = machine();
  f.devices.list[0].cc = Text("12.0");
  f.driver.cuda = Text("13.0");
  f.torch.images = Names({"sm_120"});
  const Report report = judged(f, asks("8.0;9.0+PTX"));
  CHECK(weight(report, 912) == "warning");
  CHECK(weight(report, 909) == "");
  CHECK(weight(judged(f, asks("8.0;9.0+PTX", {"native"})), 912) == "warning");
  f.toolkits.list[0].version = Text("12.8");  // knows it, and the list is the user's
  CHECK(weight(judged(f, asks("8.0;9.0+PTX")), 912) == "");
}

TEST_CASE("what nvcc refuses of a list is the cause of what the list lacks") {
  for (const char* list : {"12.0", "9.0a+PTX;12.0", "10.0f+PTX", "3.5", "11.0"}) {
    INFO(list);
    Facts f = machine();
    const Report known = judged(f, asks(list));
    List<std::string> told;
    for (const Finding& finding : known.findings) {
      told.push_back(finding.code());
      told.append(finding.consequences);
    }
    CHECK(known.outcome == "fail");
    CHECK(weight(known, 908) == "");
    CHECK(weight(known, 909) == "");
    // Where nvcc is unknown nothing comes up that was not told before, if only as a consequence.
    f.toolkits = ToolkitFacts();
    for (const Finding& finding : judged(f, asks(list)).findings) {
      INFO(finding.code());
      const bool expected = finding.severity < Severity::Warning || contains(told, finding.code());
      CHECK(expected);
    }
  }
}

TEST_CASE("a list is read as a person would have written it, and said so") {
  struct Row {
    const char* list;
    int id;
    const char* help;
  };
  const Row rows[] = {
      {"'8.6'", 906, "write \"8.6\""},
      {"\"8.6\"", 906, "write \"8.6\""},
      {"8.6+ptx", 906, "write \"8.6+PTX\""},
      {"8.0,8.6", 906, "write \"8.0;8.6\""},
      {"compute_86", 906, "write \"8.6+PTX\""},
      {"RTX3090", 907, ""},
      {"ampere", 906, ""},
      {"99.9", 905, ""},
      {"9.0f", 904, ""},
  };
  for (const Row& row : rows) {
    INFO(row.list);
    const Report report = judged(machine(), asks(row.list));
    int errors = 0, id = 0;
    for (const Finding& finding : report.findings)
      if (finding.severity == Severity::Error) {
        ++errors;
        id = finding.id;
      }
    CHECK(errors == 1);
    if (*row.help) {
      CHECK(id == row.id);
      CHECK(find(report, row.id)->help[0] == row.help);
    } else {
      CHECK(id >= 904);
      CHECK(id <= 907);
    }
  }
  for (const char* list : {"", "  ", ";"}) {
    INFO(list);
    CHECK(judged(machine(), asks(list)).outcome == "ok");
  }
}
