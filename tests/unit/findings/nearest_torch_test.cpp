// SPDX-License-Identifier: Apache-2.0
// Which of PyTorch's own builds is advised: it fits in all respects, and is the nearest that does.
#include "findings/nearest_torch.h"

#include <catch2/catch_test_macros.hpp>

#include "findings/rules/driver.h"

using namespace tcs;

namespace {

Facts machine(const char* cc, const char* driver = "580.95.05", const char* cuda = "13.0") {
  Facts f;
  f.host.os = Text("linux");
  f.host.arch = Text("x86_64");
  Device device;
  device.name = Text("NVIDIA GPU");
  device.cc = Text(cc);
  f.devices.state = Text("measured");
  f.devices.list.push_back(device);
  f.driver.state = Text("ok");
  f.driver.version = Text(driver);
  f.driver.cuda = Text(cuda);
  f.python.version = Text("3.10.12");
  f.torch.state = Text("absent");
  return f;
}

void add_toolkit(Facts& f, const char* version) {
  Toolkit toolkit;
  toolkit.version = Text(version);
  toolkit.root = Text(cat("/opt/cuda-", version));
  f.toolkits.list.push_back(toolkit);
  f.toolkits.list_known = true;
  f.toolkits.selected = 0;
}

void set_torch(Facts& f, const char* version, const char* cuda, List<std::string> images) {
  f.torch.state = Text("found");
  f.torch.flavour = Text("cuda");
  f.torch.version = Text(version);
  f.torch.cuda = Text(cuda);
  f.torch.images = Names(images);
}

template <class Ask>
auto ask(const Facts& f, Ask asked) {
  Request request;
  const Plan plan = make_plan(f, request);
  const RuleInput in{f, request, plan};
  return asked(in);
}

// "2.7.1 cu128", "" for none.
std::string nearest(const Facts& f, int major = 0, int loose = 0) {
  return ask(f, [&](const RuleInput& in) {
    const TorchRow* row = nearest_torch(in, {to_serve(in), major, loose});
    return row ? cat(row->version, " ", row->index) : std::string();
  });
}
std::string way(const Facts& f) {
  return ask(f, [](const RuleInput& in) { return torch_way(in, to_serve(in)); });
}
std::string elsewhere(const Facts& f) {
  return ask(f, [](const RuleInput& in) { return torch_elsewhere(in, to_serve(in)); });
}

}  // namespace

TEST_CASE("no row holds PTX, of which no advice is made, and each lists known architectures") {
  for (const TorchRow& row : torch_rows())
    for (const char* names : {row.x86_64, row.aarch64})
      for (const std::string& name : split(names, " ")) {
        Image image;
        INFO(row.version << " " << row.index << " " << name);
        REQUIRE(parse_image(name, image));
        CHECK_FALSE(image.ptx);
        CHECK(find_arch(image.sm) != nullptr);
      }
}

TEST_CASE("the same minor release comes first, then the newest") {
  Facts f = machine("6.1");
  set_torch(f, "2.9.0+cu128", "12.8", {"sm_70"});
  CHECK(nearest(f) == "2.9.1 cu126");
  CHECK(nearest(f, 11).substr(0, 5) == "2.7.1");
  f.torch.version = Text("2.3.1");
  CHECK(nearest(f, 12) == "2.3.1 cu121");
  f.torch = TorchFacts();
  CHECK(starts_with(nearest(f, 12), "2.14."));
}

TEST_CASE("the toolkit's own minor release is preferred, then what pip takes without an index") {
  Facts f = machine("8.6");
  set_torch(f, "2.5.0+cpu", "12.4", {});
  CHECK(nearest(f) == "2.5.1 cu124");
  add_toolkit(f, "12.1");
  CHECK(nearest(f, 12) == "2.5.1 cu121");
}

TEST_CASE("the one that is here is not advised") {
  Facts f = machine("8.6");
  set_torch(f, "2.5.1+cu124", "12.4", {"sm_90"});
  CHECK(nearest(f, 12) == "2.5.1 cu121");
  f.torch.version = Text("2.5.1");  // of others: PyTorch's own build is another
  CHECK(nearest(f, 12) == "2.5.1 cu124");
}

TEST_CASE("what fits must fit all: images, driver, Python, the machine's kind") {
  CHECK(starts_with(nearest(machine("12.0", "570.86.10", "12.8")), "2.11.0 cu128"));
  CHECK(starts_with(nearest(machine("8.0", "470.223.02", "11.4")), "2.7.1 cu118"));
  Facts f = machine("8.0", "470.223.02", "11.4");
  f.python.version = Text("3.14.0");
  CHECK(nearest(f).empty());
  CHECK(nearest(f, 0, 1) == "2.7.1 cu118");
  CHECK(ends_with(way(f), "/whl/cu118, in Python 3.9 to 3.13"));  // once
  f.python.version = Text("3.8.10");
  CHECK(nearest(f) == "2.4.1 cu118");
  f.host.arch = Text("aarch64");
  CHECK(nearest(f).empty());
  f.host.arch = Text("ppc64le");
  CHECK(nearest(f, 0, 2).empty());
  f = machine("8.6");
  f.host.os = Text("windows");
  CHECK(nearest(f, 0, 2).empty());
}

TEST_CASE("a free-threaded Python has builds from 2.6 on") {
  Facts f = machine("8.6", "550.54.15", "12.4");
  set_torch(f, "2.5.1+cpu", "12.4", {});
  f.python.version = Text("3.13.1");
  CHECK(nearest(f) == "2.5.1 cu124");
  f.python.free_threaded = Flag(true);
  CHECK(nearest(f) != "2.5.1 cu124");
}

TEST_CASE("a host compiler that is too old for the headers goes with an older PyTorch") {
  Facts f = machine("8.6");
  f.host_compiler.id = Text("GNU");
  f.host_compiler.version = Text("8.5.0");
  CHECK(starts_with(nearest(f), "2.1.2"));
  set_torch(f, "2.9.0+cpu", "12.4", {});
  f.python.version = Text("3.13.1");  // for which none of those was made
  CHECK(contains(way(f), "with GCC 9 or newer"));
}

TEST_CASE("an advised PyTorch serves each device, on each kind of machine") {
  for (const char* arch : {"x86_64", "aarch64", ""})
    for (const char* a : {"3.7", "5.2", "6.1", "7.0", "7.5", "8.6", "8.7", "8.9", "9.0", "10.0",
                          "10.3", "11.0", "12.0", "12.1", "13.0"})
      for (const char* b : {"6.1", "8.0", "12.0"})
        for (const char* driver :
             {"470.57.02 11.4", "535.104.05 12.2", "570.86.10 12.8", "580.95.05 13.0"}) {
          const List<std::string> words = split(driver, " ");
          Facts f = machine(a, words[0].c_str(), words[1].c_str());
          f.devices.list.push_back(f.devices.list[0]);
          f.devices.list[1].cc = Text(b);
          f.host.arch = *arch ? Text(arch) : Text();
          INFO(a << " and " << b << ", " << driver << ", " << arch << ": " << nearest(f));
          ask(f, [&](const RuleInput& in) {
            const TorchRow* row = nearest_torch(in, {to_serve(in), 0, 0});
            if (!row) return;
            CHECK(row->cuda / 100 <= Version::parse(words[1]).major());
            for (const Sm& sm : to_serve(in))
              for (const char* kind : {"x86_64", "aarch64"}) {
                if (*arch && std::string_view(arch) != kind) continue;
                const char* names = std::string_view(kind) == "x86_64" ? row->x86_64 : row->aarch64;
                CHECK(best_fit(images_in(split(names, " ")), sm) == Fit::Native);
              }
          });
        }
}

TEST_CASE("a device that refused an image is not sent one with it") {
  Facts f = machine("8.9");
  set_torch(f, "2.6.0+cu124", "12.4", {"sm_90"});
  CHECK_FALSE(nearest(f).empty());
  for (const char* image : {"sm_80", "sm_86"}) {
    ImageProbe no;
    no.image = Text(image);
    no.result = Text("refused");
    no.error = Fact<int>(209);
    f.devices.list[0].image_probe.push_back(no);
  }
  CHECK(nearest(f).empty());
}

TEST_CASE("the way says what else changes: a toolkit that is here, or the one to install") {
  Facts f = machine("6.1");
  set_torch(f, "2.9.1+cu130", "13.0", {"sm_75"});
  CHECK(way(f) ==
        "PyTorch 2.9.1 for CUDA 12.6, which serves 6.1: pip install --force-reinstall "
        "torch==2.9.1 --index-url https://download.pytorch.org/whl/cu126");
  add_toolkit(f, "13.0");
  CHECK(ends_with(way(f), ", and build with a toolkit of CUDA 12.6"));
  add_toolkit(f, "12.8");
  CHECK(ends_with(way(f), ", and build with -DTorchCudaStack_TOOLKIT=/opt/cuda-12.8"));
}

TEST_CASE("of a Python that is not known it is said which ones have that build") {
  Facts f = machine("12.0", "570.86.10", "12.8");
  CHECK(ends_with(way(f), "/whl/cu128"));
  f.python.version = Text();
  CHECK(ends_with(way(f), "/whl/cu128, in Python 3.10 to 3.14"));
}

TEST_CASE("PyPI is named where it is known to hold that build") {
  Facts f = machine("8.6");
  set_torch(f, "2.5.0+cpu", "12.4", {});
  CHECK(ends_with(way(f), "pip install torch==2.5.1"));
  f.host.arch = Text();
  CHECK(contains(way(f), "--index-url"));
}

TEST_CASE("where no build fits, others' are named, or the source with the toolkits that do") {
  CHECK(contains(elsewhere(machine("13.0")), "built from source: none of PyTorch's own does"));
  CHECK(contains(elsewhere(machine("3.5")), "built from source"));
  CHECK(contains(elsewhere(machine("8.7")), "Jetson"));
  Facts f = machine("12.0");
  f.host.os = Text("windows");
  CHECK(elsewhere(f) ==
        "a PyTorch of CUDA 12.8 or newer that serves 12.0: "
        "https://pytorch.org/get-started/locally");
  add_toolkit(f, "13.0");
  CHECK(starts_with(elsewhere(f), "a PyTorch of CUDA 13 that"));
  f.toolkits.list[0].version = Text("11.8");
  CHECK(starts_with(elsewhere(f), "a PyTorch of CUDA 12.8 or newer that"));
}

TEST_CASE("GPUs that no one PyTorch serves have one each, the one that is here among them") {
  Facts f = machine("6.1");
  f.devices.list.push_back(f.devices.list[0]);
  f.devices.list[1].cc = Text("12.0");
  set_torch(f, "2.9.1+cu126", "12.6", {"sm_50", "sm_60", "sm_90"});
  CHECK(way(f).empty());
  const std::string each =
      ask(f, [](const RuleInput& in) { return torch_for_each(in, to_serve(in)); });
  CHECK(each == "6.1 with PyTorch 2.9.1+cu126 or 12.0 with PyTorch 2.9.1 for CUDA 12.8");
  f.devices.list[1].cc = Text("13.0");
  CHECK(ask(f, [](const RuleInput& in) { return torch_for_each(in, to_serve(in)); }).empty());
}
