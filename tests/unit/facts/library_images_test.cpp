// SPDX-License-Identifier: Apache-2.0
#include "facts/library_images.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "shared_object.h"

using namespace tcs;

namespace {

const char* const kHelp =
    "--gpu-name <gpu name>        (-arch)\n"
    "        Allowed values for this option:  'compute_100','compute_90','lto_90','sm_100',\n"
    "        'sm_100a','sm_90','sm_90a'.\n"
    "        Default value:  'sm_75'.\n"
    "--other\n        Example: 'sm_35'\n";

std::string holds(const char* soname, const List<List<uint32_t>>& fat) {
  SharedObject object;
  object.soname = soname;
  object.fat = fat;
  return object.bytes();
}

Library loaded(const std::string& folder, const char* soname) {
  Library out;
  out.soname = Text(soname);
  out.state = Text("found");
  out.path = Text(path_join(folder, soname));
  out.version = Text("12.8.93");
  return out;
}

struct Machine {
  MemoryHost host;
  Inputs in;
  Facts facts;
  std::string nvrtc = R"({"probe":"tcs-nvrtc/1","version":"12.8","archs":[75,80,90]})";

  Machine() {
    host.files["/n/libcublas.so.12"] = holds("libcublas.so.12", {{80, 90}, {90}});
    host.files["/n/libnvrtc.so.12"] = holds("libnvrtc.so.12", {});
    host.files["/n/libcudnn.so.9"] = holds("libcudnn.so.9", {});
    host.files["/n/libcudnn_ops.so.9"] = holds("libcudnn_ops.so.9", {{75, 80}, {75, 90}});
    host.files["/n/libcudnn_ops.so.8"] = holds("libcudnn_ops.so.8", {{50, 60}});
    host.program("/site/triton/backends/nvidia/bin/ptxas");
    host.on_run = [this](const Command& c) {
      if (c.argv[1] == "--nvrtc-probe") return MemoryHost::exits(0, nvrtc + "\n");
      if (c.argv[1] == "--help") return MemoryHost::exits(0, kHelp);
      return MemoryHost::exits(0, "Cuda compilation tools, release 12.8, V12.8.93\n");
    };
    facts.python.search_path = {"/site"};
    facts.torch.root = Text("/site/torch");
    facts.libraries_known = true;
    for (const char* name : {"libcublas.so.12", "libcudnn.so.9", "libnvrtc.so.12"})
      facts.libraries.push_back(loaded("/n", name));
    for (Library& lib : facts.libraries)
      if (lib.soname.is("libnvrtc.so.12")) lib.archs = Names({"compute_99"}, "the table");
  }
  Facts gather() {
    host.ran.clear();
    Facts out = facts;
    gather_library_images(host, in, out);
    return out;
  }
};

Library of(const Facts& facts, const std::string& soname) {
  for (const Library& lib : facts.libraries)
    if (lib.soname.is(soname)) return lib;
  FAIL("no " + soname);
  return {};
}

}  // namespace

TEST_CASE("each library's images are those of its own fat binaries, and one without any says so") {
  Machine m;
  const Facts facts = m.gather();
  CHECK(of(facts, "libcublas.so.12").images.value() == List<std::string>{"sm_80", "sm_90"});
  CHECK(of(facts, "libnvrtc.so.12").images.known());
  CHECK(of(facts, "libnvrtc.so.12").images.value().empty());
}

TEST_CASE("cuDNN's parts, which it opens by itself, are libraries of their own") {
  Machine m;
  const Facts facts = m.gather();
  const Library ops = of(facts, "libcudnn_ops.so.9");
  CHECK(ops.needed_by.is("libcudnn.so.9"));
  CHECK(ops.state.is("found"));
  CHECK(ops.via.is("beside libcudnn.so.9"));
  CHECK(ops.built_against.is("none"));
  CHECK(ops.images.value() == List<std::string>{"sm_75", "sm_80", "sm_90"});
  for (const Library& lib : facts.libraries) CHECK_FALSE(lib.soname.is("libcudnn_ops.so.8"));
}

TEST_CASE("one fat binary with one image is nvcc's own mark: where the kernels lie is not known") {
  Machine m;
  m.host.files["/n/libcufft.so.11"] = holds("libcufft.so.11", {{52}});
  m.facts.libraries.push_back(loaded("/n", "libcufft.so.11"));
  CHECK_FALSE(of(m.gather(), "libcufft.so.11").images.known());
}

TEST_CASE("a library that cannot be read leaves its images unknown and is tried again") {
  Machine m;
  m.in.cache_dir = "/cache";
  m.host.files["/n/libcublas.so.12"] = "no ELF file";
  CHECK_FALSE(of(m.gather(), "libcublas.so.12").images.known());
  m.gather();
  CHECK(m.host.ran.size() == 3);
}

TEST_CASE("NVRTC is asked by a child, and its answer replaces the table's") {
  Machine m;
  const Library nvrtc = of(m.gather(), "libnvrtc.so.12");
  CHECK(nvrtc.archs.value() == List<std::string>{"compute_75", "compute_80", "compute_90"});
  CHECK(nvrtc.archs.from == "nvrtcGetSupportedArchs");
  CHECK(m.host.ran[0].argv ==
        List<std::string>{"/self/tcstack", "--nvrtc-probe", "/n/libnvrtc.so.12"});
  CHECK(m.host.ran[0].timeout_ms == 10000);
}

TEST_CASE("an NVRTC that crashes, hangs, prints garbage or is too old to say: the table speaks") {
  for (int how = 0; how < 4; ++how) {
    Machine m;
    m.in.cache_dir = "/cache";
    m.nvrtc = how == 0 ? R"({"probe":"tcs-nvrtc/1","version":"11.1"})" : "not JSON";
    const auto answers = m.host.on_run;
    m.host.on_run = [&](const Command& c) {
      Outcome said = answers(c);
      if (c.argv[1] != "--nvrtc-probe" || how < 2) return said;
      said.state = how == 2 ? Outcome::State::Signalled : Outcome::State::TimedOut;
      return said;
    };
    const Library nvrtc = of(m.gather(), "libnvrtc.so.12");
    CHECK(nvrtc.archs.from == "the table");
    m.gather();
    CHECK(m.host.ran.size() == 3);  // asked again
  }
}

TEST_CASE("Triton's own ptxas is asked for its architectures and its release") {
  Machine m;
  const Library tool = of(m.gather(), "ptxas");
  CHECK(tool.needed_by.is("triton"));
  CHECK(tool.path.is("/site/triton/backends/nvidia/bin/ptxas"));
  CHECK(tool.version.is("12.8.93"));
  CHECK(tool.archs.value() == List<std::string>{"sm_90", "sm_90a", "sm_100", "sm_100a"});
  for (const Library& lib : m.gather().libraries) CHECK_FALSE(lib.soname.is("ptxas-blackwell"));
}

TEST_CASE("a ptxas that does not list them is held against the table for its release") {
  Machine m;
  m.host.on_run = [](const Command& c) {
    return c.argv[1] == "--version" ? MemoryHost::exits(0, "release 12.8, V12.8.93")
                                    : MemoryHost::exits(139);
  };
  const Library tool = of(m.gather(), "ptxas");
  CHECK(tool.archs.from == "the table for CUDA 12.8");
  CHECK(contains(tool.archs.value(), std::string("sm_120a")));
  CHECK_FALSE(contains(tool.archs.value(), std::string("sm_121a")));
}

TEST_CASE("TRITON_PTXAS_PATH comes before Triton's own where it can be run") {
  Machine m;
  m.host.variables["TRITON_PTXAS_PATH"] = "/cuda/bin/ptxas";
  CHECK(of(m.gather(), "ptxas").path.is("/site/triton/backends/nvidia/bin/ptxas"));
  m.host.program("/cuda/bin/ptxas");
  const Library tool = of(m.gather(), "ptxas");
  CHECK(tool.path.is("/cuda/bin/ptxas"));
  CHECK(tool.via.is("TRITON_PTXAS_PATH"));
}

TEST_CASE("what was learnt is kept for as long as the files are the same") {
  Machine m;
  m.in.cache_dir = "/cache";
  const Facts first = m.gather();
  CHECK(m.host.ran.size() == 3);
  const Facts second = m.gather();
  CHECK(m.host.ran.empty());
  for (const char* name : {"libcublas.so.12", "libcudnn_ops.so.9", "libnvrtc.so.12", "ptxas"}) {
    CHECK(of(second, name).images.value() == of(first, name).images.value());
    CHECK(of(second, name).archs.value() == of(first, name).archs.value());
    CHECK(of(second, name).archs.from == of(first, name).archs.from);
    CHECK(of(second, name).version.value() == of(first, name).version.value());
  }
  m.host.files["/n/libcublas.so.12"] = holds("libcublas.so.12", {{80, 90}, {100, 120}, {90}});
  CHECK(contains(of(m.gather(), "libcublas.so.12").images.value(), std::string("sm_120")));
  CHECK(m.host.ran.size() == 3);
}

TEST_CASE("a torn or foreign file in the cache is not believed") {
  Machine m;
  m.in.cache_dir = "/cache";
  m.gather();
  for (auto& file : m.host.files)
    if (starts_with(file.first, "/cache/")) file.second.resize(file.second.size() / 2);
  CHECK(of(m.gather(), "libcublas.so.12").images.value().size() == 2);
  CHECK(m.host.ran.size() == 3);
}

TEST_CASE("for another machine nothing is run") {
  Machine m;
  m.in.cross_compiling = true;
  CHECK(of(m.gather(), "libcublas.so.12").images.known());
  CHECK(m.host.ran.empty());
}
