// SPDX-License-Identifier: Apache-2.0
// Machines for the layers torch, python and runtime, hits beside near misses: what is reported of
// each, and nothing else.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/facts_io.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

const List<std::string> kImages = {"sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"};

// A PyTorch 2.6 of CUDA 12.4 on an RTX 3090, all of it known and nothing wrong.
Facts machine() {
  Facts f;
  f.origin = "replayed";
  Device device;
  device.index = Fact<int>(0);
  device.name = Text("NVIDIA GeForce RTX 3090");
  device.cc = Text("8.6");
  device.visible = Flag(true);
  f.devices.state = Text("measured");
  f.devices.list_known = true;
  f.devices.list.push_back(device);
  f.driver.state = Text("ok");
  f.driver.version = Text("550.54.15");
  f.driver.cuda = Text("12.4");
  Toolkit toolkit;
  toolkit.version = Text("12.4.131");
  toolkit.root = Text("/opt/cuda-12.4");
  toolkit.works = Flag(true);
  f.toolkits.list_known = true;
  f.toolkits.list.push_back(toolkit);
  f.toolkits.selected = Fact<int>(0);
  f.host_compiler.id = Text("GNU");
  f.host_compiler.version = Text("12.2.0");
  f.torch.state = Text("found");
  f.torch.version = Text("2.6.0+cu124");
  f.torch.flavour = Text("cuda");
  f.torch.cuda = Text("12.4");
  f.torch.cxx11_abi = Flag(false);
  f.torch.cxx_standard = Fact<int>(17);
  f.torch.python_tag = Text("cp312");
  f.torch.root = Text("/v/lib/python3.12/site-packages/torch");
  f.torch.images = Names(kImages);
  f.torch.libraries_known = true;
  TorchLibrary library;
  library.name = Text("libtorch_cuda.so");
  library.sets = {{kImages, 300}, {{"sm_90"}, 3}};
  f.torch.libraries.push_back(library);
  f.python.state = Text("found");
  f.python.executable = Text("/v/bin/python");
  f.python.version = Text("3.12.4");
  f.python.kind = Text("venv");
  f.python.prefix = Text("/v");
  f.python.elsewhere_known = true;
  f.libraries_known = true;
  f.extensions_known = true;
  return f;
}

Report judged(const Facts& facts, const Request& request = {}) {
  const Plan plan = make_plan(facts, request);
  return judge(RuleInput{facts, request, plan}, Policy{});
}

// "502 505": ids of errors, warnings and unknowns that belong to these layers.
std::string ids(const Facts& facts, const Request& request = {}) {
  List<std::string> out;
  for (const Finding& f : judged(facts, request).findings)
    if (f.severity != Severity::Note && (f.id == 340 || f.id == 410 || (f.id >= 500 && f.id < 800)))
      out.push_back(cat(f.id));
  return join(out, " ");
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

// The facts that the unknown findings of these layers name.
std::string lacking(const Facts& facts, const Request& request = {}) {
  List<std::string> out;
  const Report report = judged(facts, request);
  for (const Finding& f : report.findings) {
    if (f.severity != Severity::Unknown || f.id < 500 || f.id > 800) continue;
    CHECK_FALSE(report.complete);
    for (const std::string& name : f.missing) out.push_back(name);
  }
  return join(out, " ");
}

Library loaded(const char* soname, const char* version, const char* built, const char* via) {
  Library out;
  out.soname = Text(soname);
  out.needed_by = Text("libtorch_cuda.so");
  out.state = Text("found");
  if (*version) out.version = Text(version);
  if (*built) out.built_against = Text(built);
  if (*via) out.via = Text(via);
  return out;
}

std::string with(const List<Library>& libraries) {
  Facts facts = machine();
  facts.libraries = libraries;
  return ids(facts);
}

Extension extension() {
  Extension out;
  out.name = Text("ops.so");
  out.cuda = Text("12");
  out.cxx11_abi = Flag(false);
  out.images = Names({"sm_80", "sm_90"});
  return out;
}

std::string with(const Extension& one) {
  Facts facts = machine();
  facts.extensions.push_back(one);
  return ids(facts);
}

std::string on_device(const char* cc, const List<ImageSet>& sets) {
  Facts facts = machine();
  facts.devices.list[0].cc = Text(cc);
  facts.torch.libraries[0].sets = sets;
  List<std::string> all;
  for (const ImageSet& set : sets)
    for (const std::string& image : set.images) add_once(all, image);
  facts.torch.images = Names(all);
  return ids(facts);
}

}  // namespace

TEST_CASE("a whole machine has nothing to say") {
  CHECK(ids(machine()).empty());
  CHECK(lacking(machine()).empty());
  CHECK(judged(machine()).outcome == "ok");
}

// --- torch: images

TEST_CASE("coverage counts fat binaries of several architectures") {
  CHECK(on_device("8.6", {{{"sm_80", "sm_90"}, 300}}) == "");
  CHECK(on_device("7.5", {{{"sm_80", "sm_90"}, 300}}) == "601");
  CHECK(on_device("12.0", {{{"sm_90", "compute_90"}, 300}}) == "");
  CHECK(on_device("7.5", {{{"sm_75", "sm_80"}, 200}, {{"sm_80", "sm_90"}, 100}}) == "605");
  CHECK(on_device("9.0", {{{"sm_75", "sm_80"}, 200}, {{"sm_90"}, 100}}) == "601");
  CHECK(on_device("9.0", {{{"sm_75", "sm_90"}, 200}, {{"sm_80"}, 100}}) == "");
}

TEST_CASE("a list of images alone is taken as full, and that is said") {
  Facts facts = machine();
  facts.torch.libraries.clear();
  CHECK(ids(facts).empty());
  facts.torch.libraries_known = false;
  CHECK(ids(facts) == "691");
  CHECK(lacking(facts) == "torch.libraries[].sets");
  facts.devices.list[0].cc = Text("12.0");
  CHECK(ids(facts) == "601");
}

TEST_CASE("sets and rows without a count or a name are unknown coverage, not none") {
  Facts facts = machine();
  facts.torch.libraries[0].sets[0].count = 0;
  CHECK(lacking(facts) == "torch.libraries[].sets[].count");
  facts = machine();
  facts.torch.libraries[0].sets[0].images.clear();
  CHECK(lacking(facts) == "torch.libraries[].sets[].images");
  facts = machine();
  facts.torch.libraries[0].sets.clear();
  facts.torch.libraries[0].coverage = {{"sm_86", 300, 300}, {"sm_90", 300, 0}};
  CHECK(lacking(facts) == "torch.libraries[].sets torch.libraries[].coverage[].fat_binaries");
  facts.torch.libraries[0].coverage[1].fat_binaries = 300;
  CHECK(lacking(facts) == "torch.libraries[].sets");  // which ones are specialised
  facts.torch.libraries[0].coverage[0].arch.clear();
  CHECK(lacking(facts) == "torch.libraries[].sets torch.libraries[].coverage[].arch");
}

TEST_CASE("a PyTorch without CUDA is one error, whatever else it lacks") {
  for (const char* flavour : {"cpu", "rocm", "xpu"}) {
    Facts facts = machine();
    facts.torch.flavour = Text(flavour);
    facts.torch.cuda = Text();
    facts.torch.images = Names();
    facts.torch.libraries.clear();
    facts.libraries_known = facts.extensions_known = facts.torch.libraries_known = false;
    facts.torch.python_tag = Text();
    CHECK(ids(facts) == "603");
  }
}

// --- torch: extensions

TEST_CASE("what PyTorch's parser does not read is no trouble of its own without CUDA") {
  Facts facts = machine();
  Request request;
  request.arch_list = Text("sm_86");
  auto ids_of = [&] {
    std::string out;
    for (const Finding& f : judge({facts, request, make_plan(facts, request)}, Policy{}).findings)
      if (f.severity >= Severity::Warning) out += f.code() + " ";
    return out;
  };
  CHECK(ids_of() == "TCS914 ");
  facts.torch.flavour = Text("xpu");
  facts.torch.cuda = Text();
  CHECK(ids_of() == "TCS603 ");
}

TEST_CASE("an extension fits, or what does not fit is named") {
  CHECK(with(extension()) == "");
  Extension one = extension();
  one.cxx11_abi = Flag(true);
  CHECK(with(one) == "606");
  one = extension();
  one.cuda = Text("11.8");
  CHECK(with(one) == "608");
  one.cuda = Text("12.9");
  CHECK(with(one) == "");
  one.cuda = Text("none");
  CHECK(with(one) == "");
}

TEST_CASE("an extension for other devices is found before its first kernel is") {
  Extension one = extension();
  one.images = Names({"sm_70", "sm_90"});
  CHECK(with(one) == "609");
  one.images = Names({"sm_80"});
  CHECK(with(one) == "");
  one.images = Names(List<std::string>());
  CHECK(with(one) == "");
  one.images = Names({"sm_89"});  // newer than the device within its major
  CHECK(with(one) == "609");
  Facts facts = machine();
  facts.extensions.push_back(one);
  Request others;
  others.targets_known = true;
  others.targets = {"8.9"};
  const Report report = judged(facts, others);
  REQUIRE(find(report, 609));
  CHECK(find(report, 609)->severity == Severity::Warning);
}

TEST_CASE("an extension with PTX alone needs a driver that reads it") {
  Extension one = extension();
  one.images = Names({"sm_90", "compute_80"});
  one.ptx_isa = Text("8.4");  // CUDA 12.4
  CHECK(with(one) == "");
  one.ptx_isa = Text("8.7");  // CUDA 12.8
  CHECK(with(one) == "610");
  one.ptx_isa = Text();
  CHECK(with(one) == "692");
  one.cuda = Text("12.8");
  CHECK(with(one) == "610");
  one.cuda = Text("12.1");
  CHECK(with(one) == "692");  // its PTX may be another nvcc's
}

TEST_CASE("a runtime that only an extension asks for is the extension's trouble") {
  Facts facts = machine();
  Library gone = loaded("libcudart.so.11.0", "", "", "");
  gone.state = Text("missing");
  gone.needed_by = Text("ops.so");
  facts.libraries = {gone};
  CHECK(ids(facts) == "501");
  CHECK(contains(find(judged(facts), 501)->help[0], "ops.so"));
  Extension one = extension();
  one.cuda = Text("11.8");
  facts.extensions = {one};
  CHECK(ids(facts) == "608");
  CHECK(contains(find(judged(facts), 608)->consequences, std::string("TCS501")));
  facts.libraries[0].soname = Text("libcudart.so.12");
  CHECK(ids(facts) == "501 608");
}

TEST_CASE("what one other PyTorch would mend is one finding") {
  Facts facts = machine();
  Device second = facts.devices.list[0];
  second.index = Fact<int>(1);
  second.name = Text("Tesla K80");
  second.cc = Text("3.7");
  facts.devices.list[0].cc = Text("12.0");
  facts.devices.list.push_back(second);
  const Report report = judged(facts);
  int count = 0;
  for (const Finding& f : report.findings) count += f.id == 601;
  CHECK(count == 1);
  CHECK(find(report, 601)->message ==
        "PyTorch 2.6.0+cu124 has no kernel image that runs on sm_120, sm_37");

  facts = machine();
  Extension other = extension();
  other.name = Text("more.so");
  other.cxx11_abi = Flag(true);
  other.cuda = Text("11.8");
  other.images = Names({"sm_70"});
  facts.extensions = {other, other};
  facts.extensions[1].name = Text("ops.so");
  CHECK(ids(facts) == "606 608 609");
  CHECK(find(judged(facts), 608)->message ==
        "the extensions more.so, ops.so were built with CUDA 11.8, and PyTorch 2.6.0+cu124 with "
        "CUDA 12.4");
}

TEST_CASE("what is not known of an extension is named") {
  Facts facts = machine();
  facts.extensions_known = false;
  CHECK(lacking(facts) == "extensions");
  facts.extensions.push_back(Extension());
  CHECK(lacking(facts) == "extensions[].cxx11_abi extensions[].cuda extensions[].images");
  facts.extensions[0] = extension();
  facts.torch.cxx11_abi = Flag();
  CHECK(lacking(facts) == "torch.cxx11_abi");
}

// --- the C++ level of PyTorch's headers

TEST_CASE("compilers below the C++ level of PyTorch's headers are told before anything compiles") {
  struct Row {
    const char* torch;
    int standard;
    const char *id, *version, *nvcc, *found;
  };
  for (const Row& row :
       {Row{"2.0.1", 0, "GNU", "7.5.0", "11.8", ""}, Row{"2.1.0", 0, "GNU", "7.5.0", "11.8", ""},
        Row{"2.1.0", 0, "GNU", "6.5.0", "11.8", "410"}, Row{"2.2.1", 0, "GNU", "8.5.0", "12.1", ""},
        Row{"2.2.2", 0, "GNU", "8.5.0", "12.1", "410"},
        Row{"2.6.0", 17, "GNU", "9.1.0", "12.4", ""}, Row{"2.13.0", 17, "GNU", "9.1.0", "12.6", ""},
        Row{"2.13.0", 20, "Clang", "9.0.1", "12.6", "410"},
        Row{"2.15.0", 0, "Clang", "14.0.6", "13.0", ""},
        Row{"2.15.0", 20, "MSVC", "19.28.29333", "13.0", "410"},
        Row{"2.15.0", 0, "GNU", "12.2.0", "11.8", "340"},
        Row{"2.6.0", 17, "GNU", "9.4.0", "10.2", "340"}}) {
    Facts facts = machine();
    facts.torch.version = Text(row.torch);
    facts.torch.cuda = Text(cat(Version::parse(row.nvcc).major(), ".0"));
    facts.torch.cxx_standard = row.standard ? Fact<int>(row.standard) : Fact<int>();
    facts.toolkits.list[0].version = Text(row.nvcc);
    facts.host_compiler.id = Text(row.id);
    facts.host_compiler.version = Text(row.version);
    INFO(row.torch << " " << row.id << " " << row.version << " nvcc " << row.nvcc);
    CHECK(ids(facts) == row.found);
    Request run;
    run.purpose = "run";
    CHECK(ids(facts, run).empty());
  }
}

TEST_CASE("another CUDA major is the cause where nvcc is too old for the headers as well") {
  Facts facts = machine();
  facts.torch.version = Text("2.15.0+cu130");
  facts.torch.cuda = Text("13.0");
  facts.torch.cxx_standard = Fact<int>(20);
  facts.toolkits.list[0].version = Text("11.8");
  const Report report = judged(facts);
  REQUIRE(find(report, 302));
  CHECK(contains(find(report, 302)->consequences, std::string("TCS340")));
}

// --- runtime

TEST_CASE("a library that loads fits, is older, or hides another") {
  const char* path = "LD_LIBRARY_PATH";
  const char* own = "RPATH of libtorch_cuda.so";
  CHECK(with({loaded("libcudnn.so.9", "9.1.0.70", "9.1.0.70", own)}) == "");
  CHECK(with({loaded("libcudnn.so.9", "9.1.0", "9.1.0.70", path)}) == "");
  CHECK(with({loaded("libcudnn.so.9", "9.0.0", "9.1.0.70", own)}) == "502");
  CHECK(with({loaded("libcudnn.so.9", "9.0.0", "9.1.0.70", "ld.so.cache")}) == "502");
  CHECK(with({loaded("libcudnn.so.9", "9.5.1", "9.1.0.70", path)}) == "503");
  CHECK(with({loaded("libcudnn.so.9", "9.5.1", "9.1.0.70", own)}) == "");
  CHECK(with({loaded("libcudnn.so.9", "9.5.1", "none", own)}) == "");
  CHECK(with({loaded("libcudart.so.12", "12.4.127", "none", own)}) == "");
  CHECK(with({loaded("libcudart.so.11.0", "11.8.89", "none", own)}) == "502");
  CHECK(with({loaded("libcuda.so.1", "450.80.02", "550.54", path)}) == "");
  CHECK(with({loaded("libstdc++.so.6", "6.0.29", "6.0.30", own)}) == "505");
}

TEST_CASE("what LD_LIBRARY_PATH hides counts where no release is named") {
  Library one = loaded("libnccl.so.2", "2.20.5", "none", "LD_LIBRARY_PATH");
  CHECK(with({one}) == "590");
  one.shadows = Text("none");
  CHECK(with({one}) == "");
  one.shadows = Text("/v/nvidia/nccl/lib/libnccl.so.2");
  CHECK(with({one}) == "503");
}

TEST_CASE("libraries of one cause are one finding") {
  Facts facts = machine();
  facts.libraries = {loaded("libcublas.so.12", "12.5.0", "12.4.5.8", "LD_LIBRARY_PATH"),
                     loaded("libcudnn.so.9", "9.5.1", "9.1.0", "LD_LIBRARY_PATH")};
  CHECK(ids(facts) == "503");
  CHECK(find(judged(facts), 503)->evidence.size() == 2);
  CHECK(find(judged(facts), 503)->message ==
        "2 libraries are taken from LD_LIBRARY_PATH before PyTorch's own");
  facts.libraries.push_back(loaded("libcusparse.so.12", "12.0.1", "12.3.1", "LD_LIBRARY_PATH"));
  CHECK(ids(facts) == "502");
  CHECK(contains(find(judged(facts), 502)->consequences, std::string("TCS503")));
  for (Library& lib : facts.libraries) lib.state = Text("missing");
  CHECK(ids(facts) == "501");
  CHECK(find(judged(facts), 501)->evidence.size() == 3);
}

TEST_CASE("an nvJitLink that is older than cuSPARSE needs is named with its symptom") {
  Facts facts = machine();
  Library linker =
      loaded("libnvJitLink.so.12", "12.1.105", "12.4.127", "RUNPATH of libcusparse.so.12");
  linker.needed_by = Text("libcusparse.so.12");
  facts.libraries = {linker};
  const Report report = judged(facts);
  REQUIRE(find(report, 502));
  CHECK(contains(join(find(report, 502)->notes, " "), "__nvJitLinkComplete_12_4"));
}

TEST_CASE("a library without a name is missing information, never an error") {
  Library one = loaded("x", "1.0", "2.0", "LD_LIBRARY_PATH");
  one.soname = Text();
  CHECK(with({one}) == "590");
  one.state = Text("missing");
  CHECK(with({one}) == "590");
}

TEST_CASE("NVRTC is one check, and kernels that are there another") {
  Facts facts = machine();
  facts.libraries = {loaded("libnvrtc.so.12", "12.4.127", "none", "RPATH")};
  CHECK(lacking(facts) == "libraries[].archs");
  facts.libraries[0].archs = Names({"compute_80", "compute_86", "compute_90"});
  CHECK(ids(facts).empty());
  facts.devices.list[0].cc = Text("8.9");  // served by 8.6's kernels
  CHECK(ids(facts) == "504");
  facts.devices.list[0].cc = Text("7.0");  // not served at all: that is the cause
  facts.torch.images = Names({"sm_80", "sm_90"});
  CHECK(ids(facts) == "601");
}

TEST_CASE("what is not known of libraries is named wherever PyTorch is found") {
  Facts facts = machine();
  facts.libraries_known = false;
  CHECK(lacking(facts) == "libraries");
  facts.torch.state = Text("absent");
  CHECK(ids(facts) == "602");
  facts = machine();
  const char* path = "LD_LIBRARY_PATH";
  for (const auto& [lib, lacks] : List<std::pair<Library, const char*>>{
           {loaded("libcudnn.so.9", "", "9.1.0", path), "libraries[].version"},
           {loaded("libcudnn.so.9", "9.0.0", "", path), "libraries[].built_against"},
           {loaded("libcudnn.so.9", "9.5.1", "9.1.0", ""), "libraries[].via"}}) {
    facts.libraries = {lib};
    CHECK(lacking(facts) == lacks);
  }
  facts.libraries[0].state = Text();
  CHECK(lacking(facts) == "libraries[].state");
}

// --- python

TEST_CASE("a PyTorch for another Python is an error that names both") {
  struct Row {
    const char *tag, *version, *found;
  };
  for (const Row& row :
       {Row{"cp312", "3.12.4", ""}, Row{"cp312", "3.11.9", "703"}, Row{"cp39", "3.9.18", ""},
        Row{"cp310", "3.10", ""}, Row{"cp312-cp312-manylinux_2_28_x86_64", "3.12.1", ""},
        Row{"cp310-abi3", "3.13.0", ""}, Row{"none", "3.8.1", ""}, Row{"cp313t", "3.13t", ""},
        Row{"cp313", "3.13t", "703"}, Row{"cp313t", "3.13.1", "790"}, Row{"cp313", "3.12.4", "703"},
        Row{"cp312", "", "790"}}) {
    Facts facts = machine();
    facts.torch.python_tag = Text(row.tag);
    facts.python.version = *row.version ? Text(row.version) : Text();
    INFO(row.tag << " " << row.version);
    CHECK(ids(facts) == row.found);
  }
  Facts facts = machine();
  facts.torch.python_tag = Text("cp313t");
  facts.python.version = Text("3.13.1");
  facts.python.free_threaded = Flag(false);
  const Report report = judged(facts);
  REQUIRE(find(report, 703));
  CHECK(contains(find(report, 703)->message, "free-threaded Python 3.13"));
  facts.python.free_threaded = Flag(true);
  CHECK(ids(facts).empty());
}

TEST_CASE("a PyTorch named for its C++ part is a warning under another Python") {
  Facts facts = machine();
  facts.torch.python_tag = Text("cp311");
  facts.torch.root.from = "Torch_DIR";
  CHECK(find(judged(facts), 703)->severity == Severity::Warning);
}

TEST_CASE("where PyTorch is absent the reason is named, once") {
  Facts facts = machine();
  facts.torch = TorchFacts();
  facts.torch.state = Text("absent");
  facts.libraries_known = facts.extensions_known = false;
  CHECK(ids(facts) == "602");
  facts.python.elsewhere = {"/opt/conda/bin/python"};
  CHECK(ids(facts) == "701");
  for (const char* kind : {"isolated-build", "pip's isolated environment"}) {
    facts.python.kind = Text(kind);
    CHECK(ids(facts) == "705");
  }
  facts.python.kind = Text();
  CHECK(ids(facts) == "701 790");
  facts.python.elsewhere.clear();
  facts.python.elsewhere_known = false;
  CHECK(lacking(facts) == "python.kind python.elsewhere");
  facts.python = PythonFacts();
  CHECK(lacking(facts) == "python.state");
}

TEST_CASE("an active conda environment and another side's Python or PyTorch are a warning") {
  Facts facts = machine();
  facts.environment["CONDA_PREFIX"] = "/opt/conda/envs/x";
  CHECK(ids(facts).empty());  // a venv that was made from it
  facts.python.kind = Text("system");
  CHECK(ids(facts) == "704");
  facts.python.kind = Text("conda");
  CHECK(ids(facts).empty());
  facts.torch.root = Text("/home/u/.local/lib/python3.12/site-packages/torch");
  CHECK(ids(facts) == "704");
  facts.environment.clear();
  CHECK(ids(facts).empty());
}

TEST_CASE("a source build of PyTorch asks for no PyTorch, and for no Python that has one") {
  Facts facts = machine();
  facts.torch = TorchFacts();
  facts.torch.state = Text("absent");
  facts.libraries_known = facts.extensions_known = false;
  facts.python.kind = Text("isolated-build");
  Request source;
  source.purpose = "pytorch-source";
  CHECK(ids(facts, source).empty());
}

TEST_CASE("the order of libraries and extensions changes nothing") {
  Facts facts = machine();
  facts.libraries = {loaded("libcudnn.so.9", "9.0.0", "9.1.0", "LD_LIBRARY_PATH"),
                     loaded("libcublas.so.12", "12.0", "12.4.5", "LD_LIBRARY_PATH"),
                     loaded("libcusparse.so.12", "12.0", "12.4.5", "RPATH")};
  Extension other = extension();
  other.name = Text("a.so");
  other.images = Names({"sm_70"});
  facts.extensions = {extension(), other};
  Facts turned = facts;
  turned.libraries = {facts.libraries[2], facts.libraries[1], facts.libraries[0]};
  turned.extensions = {other, extension()};
  order_facts(facts);
  order_facts(turned);
  const Report a = judged(facts), b = judged(turned);
  REQUIRE(a.findings.size() == b.findings.size());
  for (size_t i = 0; i < a.findings.size(); ++i) {
    CHECK(a.findings[i].message == b.findings[i].message);
    CHECK(a.findings[i].help == b.findings[i].help);
  }
}

TEST_CASE("an image that the device refused is why") {
  Facts facts = machine();
  facts.devices.list[0].cc = Text("8.7");
  facts.torch.images = Names({"sm_80"});
  ImageProbe probe;
  probe.image = Text("sm_80");
  probe.result = Text("refused");
  probe.error = Fact<int>(209);
  facts.devices.list[0].image_probe.push_back(probe);
  const Report report = judged(facts);
  REQUIRE(find(report, 601));
  CHECK(find(report, 601)->notes[0] ==
        "sm_80 was tried on the device, which refused it: 209 CUDA_ERROR_NO_BINARY_FOR_GPU");
}

TEST_CASE("a missing library and an extension without the device's image decide alone") {
  Facts facts = machine();
  Library gone = loaded("libcudart.so.12", "", "", "");
  gone.state = Text("missing");
  facts.libraries = {gone};
  Extension one = extension();
  one.images = Names({"sm_90"});
  facts.extensions = {one};
  facts.torch = TorchFacts();
  CHECK(ids(facts) == "501 609 690");
  facts.torch.state = Text("absent");  // then they follow from that
  CHECK(ids(facts) == "602");
  CHECK(contains(find(judged(facts), 602)->consequences, std::string("TCS609")));
  facts.torch.state = Text("found");
  facts.torch.flavour = Text("cpu");
  CHECK(contains(find(judged(facts), 603)->consequences, std::string("TCS501")));
}

TEST_CASE("libraries that an extension misses are told as the extension's") {
  Facts facts = machine();
  Library gone = loaded("libtorch_cuda_cu.so", "", "", "");
  gone.state = Text("missing");
  gone.needed_by = Text("ops.so");
  facts.libraries = {gone};
  const Report report = judged(facts);
  CHECK(contains(find(report, 501)->notes[0], "ops.so was built for that one"));
  CHECK(find(report, 501)->help.size() == 1);
}

TEST_CASE("an environment that is recorded by its folder is named by its interpreter") {
  Facts facts = machine();
  facts.torch = TorchFacts();
  facts.torch.state = Text("absent");
  facts.python.elsewhere = {"/opt/conda/envs/gs"};
  CHECK(contains(find(judged(facts), 701)->help[0], "=/opt/conda/envs/gs/bin/python3"));
  facts.python.elsewhere = {"/opt/conda/bin/python3.11"};
  CHECK(ends_with(find(judged(facts), 701)->help[0], "=/opt/conda/bin/python3.11"));
}

TEST_CASE("an extension that is merely installed is a warning at most, whatever is asked for") {
  Facts facts = machine();
  Extension old = extension();
  old.cxx11_abi = Flag(true);
  old.cuda = Text("11.8");
  old.images = Names({"sm_90"});
  for (const char* role : {"neighbour", "subject", ""}) {
    INFO(role);
    old.role = *role ? Text(role) : Text();
    facts.extensions = {old};
    const bool neighbour = std::string(role) == "neighbour";
    for (const char* purpose : {"extension", "run"}) {
      Request request;
      request.purpose = purpose;
      const Report report = judged(facts, request);
      for (int id : {606, 608, 609}) {
        REQUIRE(find(report, id));
        CHECK(find(report, id)->severity == (neighbour ? Severity::Warning : Severity::Error));
        CHECK(contains(join(find(report, id)->notes, "|"), "and not what is built") == neighbour);
      }
    }
  }
}

TEST_CASE("a library that only another package's module needs is a warning") {
  Facts facts = machine();
  Library gone = loaded("libfoo.so.3", "", "", "");
  gone.state = Text("missing");
  struct Row {
    const char *soname, *needed_by;
    Severity severity;
  };
  for (const Row& row : {Row{"libfoo.so.3", "plugin.so", Severity::Warning},
                         Row{"libfoo.so.3", "libtorch_cpu.so", Severity::Error},
                         Row{"libfoo.so.3", "libcudnn.so.9", Severity::Error},
                         Row{"libfoo.so.3", "", Severity::Error},
                         Row{"libcudart.so.12", "plugin.so", Severity::Error}}) {
    INFO(row.soname << " of " << row.needed_by);
    gone.soname = Text(row.soname);
    gone.needed_by = *row.needed_by ? Text(row.needed_by) : Text();
    facts.libraries = {gone};
    const Report report = judged(facts);
    REQUIRE(find(report, 501));
    CHECK(find(report, 501)->severity == row.severity);
  }
}

TEST_CASE("an NVRTC that lacks several devices names them all") {
  Facts facts = machine();
  Library nvrtc = loaded("libnvrtc.so.12", "12.4.127", "12.4.127", "");
  nvrtc.archs = Names({"compute_80", "compute_86"});
  facts.libraries = {nvrtc};
  for (const char* cc : {"8.9", "9.0"}) {
    facts.devices.list.push_back(facts.devices.list[0]);
    facts.devices.list.back().cc = Text(cc);
    facts.devices.list.back().name = Text(cat("GPU of ", cc));
  }
  const Report report = judged(facts);
  REQUIRE(find(report, 504));
  CHECK(find(report, 504)->message ==
        "libnvrtc.so.12 cannot compile for 8.9 and 9.0, the capabilities of GPU of 8.9 and GPU of "
        "9.0");
}

TEST_CASE("an older library is told with the package that brings a newer one") {
  Facts facts = machine();
  facts.libraries = {loaded("libcudnn.so.9", "9.0.0", "9.1.0", "ld.so.cache")};
  const Report report = judged(facts);
  REQUIRE(find(report, 502));
  CHECK(starts_with(find(report, 502)->message, "the libcudnn.so.9 that loads is 9.0.0"));
  CHECK(find(report, 502)->help[0] ==
        "install libcudnn.so.9 9.1.0 or newer: pip install \"nvidia-cudnn-cu12>=9.1.0\"");
}
