// SPDX-License-Identifier: Apache-2.0
// Libraries that hold no images for a device that PyTorch serves, and compilers that do not know
// it. The images are those of the real packages (docs/libraries.md).
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

const char* const kTorch126 = "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90";
const char* const kTorch132 = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120";
const char* const kOps911 = "sm_75 sm_80 sm_90a sm_100f sm_120 compute_120";
const char* const kOps926 = "sm_75 sm_80 sm_90a sm_100f sm_120f sm_121 compute_121";

Facts machine(const char* torch, const char* cc) {
  Facts f;
  f.origin = "replayed";
  f.devices.state = Text("measured");
  f.devices.list_known = true;
  if (*cc) {
    Device device;
    device.index = Fact<int>(0);
    device.name = Text("a GPU");
    device.cc = Text(cc);
    f.devices.list.push_back(device);
  }
  f.torch.state = Text("found");
  f.torch.version = Text("2.8.0+cu126");
  f.torch.flavour = Text("cuda");
  f.torch.cuda = Text("12.6");
  f.torch.images = Names(split(torch, " "));
  f.libraries_known = true;
  return f;
}

Library library(const char* soname, const char* images) {
  Library out;
  out.soname = Text(soname);
  out.needed_by = Text("libtorch_cuda.so");
  out.state = Text("found");
  out.built_against = Text("none");
  out.via = Text("RPATH of libtorch_cuda.so");
  if (images) out.images = Names(split(images, " "));
  return out;
}

Library tool(const char* soname, const char* archs) {
  Library out = library(soname, nullptr);
  out.needed_by = Text("triton");
  if (archs) out.archs = Names(split(archs, " "));
  return out;
}

Report judged(const Facts& facts, const Request& request = {}) {
  return judge(RuleInput{facts, request, make_plan(facts, request)}, Policy{});
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

// Of 504, 506, 507 those that are reported, and libraries[] facts that are missed.
std::string said(const Facts& facts, const Request& request = {}) {
  List<std::string> out;
  for (const Finding& f : judged(facts, request).findings) {
    if (f.id == 504 || f.id == 506 || f.id == 507) out.push_back(cat(f.id));
    for (const std::string& fact : f.missing)
      if (fact == "libraries[].images" || fact == "libraries[].archs") out.push_back(fact);
  }
  return join(out, " ");
}

std::string on(const char* torch, const char* cc, const List<Library>& libraries) {
  Facts facts = machine(torch, cc);
  facts.libraries = libraries;
  return said(facts);
}

}  // namespace

TEST_CASE("cuDNN 9.11 has nothing for a 7.0 that PyTorch of CUDA 12.6 serves") {
  const List<Library> libraries = {library("libcublas.so.12", kTorch126),
                                   library("libcudnn_ops.so.9", kOps911)};
  CHECK(on(kTorch126, "7.0", libraries) == "506");
  CHECK(on(kTorch126, "6.1", libraries) == "506");
  for (const char* cc : {"7.5", "8.0", "8.6", "8.9", "9.0"})
    CHECK(on(kTorch126, cc, libraries) == "");
}

TEST_CASE("what PyTorch itself has nothing for is said of PyTorch alone") {
  CHECK(on(kTorch132, "7.0", {library("libcudnn_ops.so.9", kOps926)}) == "");
  CHECK(on(kTorch132, "11.0", {library("libcudnn_ops.so.9", kOps926)}) == "");
}

TEST_CASE("cuDNN 9.26 serves what PyTorch 2.15 serves: family images, minor releases, PTX") {
  for (const char* cc : {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "10.7", "12.0", "12.1"})
    CHECK(on(kTorch132, cc, {library("libcudnn_ops.so.9", kOps926)}) == "");
  // cuDNN 9.1 has PTX for 9.0: a driver translates it.
  CHECK(on(kTorch132, "12.0", {library("libcudnn_ops.so.9", "sm_80 sm_90 compute_90")}) == "");
}

TEST_CASE("a library without images computes nothing itself, one that was not read is asked for") {
  const Library read = library("libcudnn_adv.so.9", kTorch126);
  CHECK(on(kTorch126, "7.0", {read, library("libcudnn_graph.so.9", "")}) == "");
  CHECK(on(kTorch126, "7.0", {read, library("libcudnn_ops.so.9", nullptr)}) ==
        "libraries[].images");
  CHECK(on(kTorch126, "7.0", {read, library("libcufft.so.11", nullptr)}) == "");
  CHECK(on(kTorch126, "7.0", {read, library("libcudart.so.12", nullptr)}) == "");
}

TEST_CASE("a recording from before libraries were looked into misses nothing new") {
  CHECK(on(kTorch126, "7.0", {library("libcudnn.so.9", nullptr)}) == "");
}

TEST_CASE("libraries for some devices only are not held against the others") {
  for (const char* soname : {"libcusparseLt.so.0", "libnvshmem_host.so.3", "libcufile.so.0"})
    CHECK(on(kTorch126, "7.0", {library(soname, "sm_80 sm_90")}) == "");
}

TEST_CASE("NCCL matters where there are several GPUs") {
  Facts facts = machine(kTorch126, "5.0");
  facts.libraries.push_back(library("libnccl.so.2", "sm_70 sm_80 sm_90"));
  CHECK(said(facts) == "");
  facts.devices.list.push_back(facts.devices.list[0]);
  CHECK(said(facts) == "506");
}

TEST_CASE("a name that a wheel changed is the same library") {
  CHECK(on(kTorch126, "7.0", {library("libcublas-f80c68d1.so.12", "sm_80")}) == "506");
}

TEST_CASE("one finding names all libraries, what fails, and the release that PyTorch names") {
  Facts facts = machine(kTorch126, "7.0");
  Library whole = library("libcudnn.so.9", "");
  whole.version = Text("9.11.0.98");
  whole.built_against = Text("9.10.2.21");
  Library ops = library("libcudnn_ops.so.9", kOps911), adv = library("libcudnn_adv.so.9", kOps911);
  ops.needed_by = adv.needed_by = Text("libcudnn.so.9");
  facts.libraries = {whole, ops, adv, library("libcublasLt.so.12", "sm_75 sm_80")};
  const Report report = judged(facts);
  const Finding* f = find(report, 506);
  REQUIRE(f);
  CHECK(f->severity == Severity::Warning);
  CHECK(f->message ==
        "libcudnn_ops.so.9 and 2 other libraries hold no kernel image that runs on sm_70");
  CHECK(f->notes[0] ==
        "PyTorch 2.8.0+cu126 itself has kernels for it: what fails at run time: convolutions and "
        "matrix products");
  CHECK(f->help[0] ==
        "install the release that this PyTorch names: pip install nvidia-cudnn-cu12==9.10.2.21");
  CHECK(f->help[1] == "use a PyTorch of an older CUDA, with the libraries that it names");
  CHECK(f->evidence.size() == 4);
}

TEST_CASE("on a device that is there it is an error where the machine is to run, else a warning") {
  Facts facts = machine(kTorch126, "7.0");
  facts.libraries = {library("libcudnn_ops.so.9", kOps911)};
  Request run;
  run.purpose = "run";
  CHECK(find(judged(facts, run), 506)->severity == Severity::Error);
  Request source;
  source.purpose = "pytorch-source";
  CHECK_FALSE(find(judged(facts, source), 506));
}

TEST_CASE("a target that is named counts like a device") {
  Facts facts = machine(kTorch126, "9.0");
  facts.libraries = {library("libcudnn_ops.so.9", kOps911)};
  Request request;
  request.targets_known = true;
  request.targets = {"7.0"};
  const Report report = judged(facts, request);
  REQUIRE(find(report, 506));
  CHECK(find(report, 506)->severity == Severity::Warning);
}

TEST_CASE("code from across the Tegra border is a warning of its own, unless the device ran it") {
  Facts facts = machine("sm_87", "8.7");
  facts.libraries = {library("libcudnn_ops.so.9", "sm_80 sm_90")};
  const Report report = judged(facts);
  REQUIRE(find(report, 506));
  CHECK(find(report, 506)->message ==
        "libcudnn_ops.so.9 holds for sm_87 only images from across the Tegra border");
  ImageProbe ran;
  ran.image = Text("sm_80");
  ran.result = Text("runs");
  facts.devices.list[0].image_probe.push_back(ran);
  CHECK(said(facts) == "");
}

TEST_CASE("an image that the device refused does not count for a library either") {
  Facts facts = machine("sm_80 sm_86", "8.6");
  facts.libraries = {library("libcudnn_ops.so.9", "sm_80")};
  CHECK(said(facts) == "");
  ImageProbe refused;
  refused.image = Text("sm_80");
  refused.result = Text("refused");
  facts.devices.list[0].image_probe.push_back(refused);
  CHECK(said(facts) == "506");
}

TEST_CASE("a Triton whose ptxas is older than the device cannot compile for it") {
  const char* const old = "sm_80 sm_90 sm_90a sm_100 sm_120";
  CHECK(on(kTorch132, "12.1", {tool("ptxas", old)}) == "507");
  CHECK(on(kTorch132, "12.0", {tool("ptxas", old)}) == "");
  CHECK(on(kTorch132, "12.1", {tool("ptxas", old), tool("ptxas-blackwell", "sm_121")}) == "");
  CHECK(on(kTorch132, "12.1", {tool("ptxas", nullptr)}) == "libraries[].archs");
  CHECK(on(kTorch132, "12.1", {}) == "");
}

TEST_CASE("who names the ptxas, and where a better one is, is in the help") {
  Facts facts = machine(kTorch132, "12.1");
  facts.libraries = {tool("ptxas", "sm_90")};
  const Report plain = judged(facts);
  CHECK(find(plain, 507)->help[0] == "let TRITON_PTXAS_PATH name the ptxas of CUDA 12.9 or newer");
  CHECK(contains(find(plain, 507)->notes[0], "Value 'sm_121a' is not defined"));

  Toolkit toolkit;
  toolkit.root = Text("/opt/cuda-13.0");
  toolkit.version = Text("13.0.88");
  toolkit.archs = Names({"sm_120", "sm_121"});
  facts.toolkits.list.push_back(toolkit);
  facts.toolkits.selected = Fact<int>(0);
  CHECK(find(judged(facts), 507)->help[0] ==
        "give Triton the toolkit's: export TRITON_PTXAS_PATH=/opt/cuda-13.0/bin/ptxas");

  facts.libraries[0].via = Text("TRITON_PTXAS_PATH");
  CHECK(contains(find(judged(facts), 507)->notes,
                 std::string("TRITON_PTXAS_PATH names the ptxas that Triton takes")));
}

TEST_CASE("NVRTC and ptxas are two checks") {
  Library nvrtc = library("libnvrtc.so.13", "");
  nvrtc.archs = Names({"compute_90"});
  CHECK(on(kTorch132, "12.1", {nvrtc, tool("ptxas", "sm_121")}) == "504");
  nvrtc.archs = Names({"compute_121"});
  CHECK(on(kTorch132, "12.1", {nvrtc, tool("ptxas", "sm_90")}) == "507");
}
