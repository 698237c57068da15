// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/fake_toolkit.h"

using namespace tcs;

namespace {
Toolkit pip(ToolkitHost& host, const std::string& root) {
  host.toolkit(root, "13.2.78", "lib", {"libcudart.so.13", "libcudart_static.a", "libnvrtc.so.13"});
  Inputs in;
  in.set["TOOLKIT"] = root;
  Facts facts;
  gather_toolkits(host, in, facts);
  return *facts.toolkit();
}
}  // namespace

TEST_CASE("a whole toolkit needs no link farm") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  Facts facts;
  gather_toolkits(host, {}, facts);
  Result<std::string> root = lay_link_farm(host, *facts.toolkit(), "/b/toolkit");
  REQUIRE(root);
  CHECK(*root == "/usr/local/cuda");
  CHECK_FALSE(host.stat("/b/toolkit").exists());
}

TEST_CASE("the farm of a pip toolkit is a whole root, and the toolkit stays as it is") {
  ToolkitHost host;
  Toolkit t = pip(host, "/v e/nvidia/cu13");
  auto before = host.files;
  Result<std::string> root = lay_link_farm(host, t, "/b \"q\";1/toolkit");
  REQUIRE(root);
  CHECK(*root == "/b \"q\";1/toolkit");
  auto leads = [&](const char* path) { return host.real_path(*root + path); };
  CHECK(leads("/bin/nvcc") == "/v e/nvidia/cu13/bin/nvcc");
  CHECK(leads("/bin/nvcc.profile") == "/v e/nvidia/cu13/bin/nvcc.profile");
  CHECK(leads("/bin/..") == *root);  // where nvcc takes its root from
  CHECK(leads("/include/cuda.h") == "/v e/nvidia/cu13/include/cuda.h");
  CHECK(leads("/nvvm/bin/cicc") == "/v e/nvidia/cu13/nvvm/bin/cicc");
  CHECK(leads("/lib64/libcudart.so") == "/v e/nvidia/cu13/lib/libcudart.so.13");
  CHECK(leads("/lib64/libnvrtc.so") == "/v e/nvidia/cu13/lib/libnvrtc.so.13");
  CHECK(leads("/lib/libcudart_static.a") == "/v e/nvidia/cu13/lib/libcudart_static.a");
  CHECK(host.files == before);
}

TEST_CASE("laying the farm again changes nothing, and another toolkit's farm replaces it") {
  ToolkitHost host;
  Toolkit t = pip(host, "/v/nvidia/cu13");
  REQUIRE(lay_link_farm(host, t, "/b/toolkit"));
  auto links = host.links;
  REQUIRE(lay_link_farm(host, t, "/b/toolkit"));
  CHECK(host.links == links);
  ToolkitHost other;
  other.links = links;
  other.toolkit("/v/nvidia/cu13", "13.2.78", "lib", {"libcudart.so.13", "libold.so.1"});
  Toolkit next = pip(other, "/w/nvidia/cu13");
  other.links["/b/toolkit/lib64/libold.so"] = "/v/nvidia/cu13/lib/libold.so.1";
  REQUIRE(lay_link_farm(other, next, "/b/toolkit"));
  CHECK(other.real_path("/b/toolkit/lib64/libcudart.so") == "/w/nvidia/cu13/lib/libcudart.so.13");
  CHECK_FALSE(other.stat("/b/toolkit/lib64/libold.so").exists());
}

TEST_CASE("a farm takes what the toolkit lacks from PyTorch's packages, and nothing that it has") {
  ToolkitHost host;
  Toolkit t = pip(host, "/v/nvidia/cu13");
  for (const char* name : {"include/cusparse.h", "include/cuda.h", "lib/libcublas.so.13",
                           "lib/libcudart.so.13", "lib/libnvrtc.so.13"})
    host.files[cat("/s/nvidia/cu13/", name)] = "PyTorch's";
  host.files["/lib/libother.so.1"] = "the system's";
  auto leads = [&](const char* path) { return host.real_path(cat("/b/toolkit", path)); };
  auto before = host.files;
  // Laid before PyTorch was there, with it, and without it again.
  for (const char* torchs : {"", "/s/nvidia/cu13", "/s/nvidia/cu13", ""}) {
    REQUIRE(lay_link_farm(host, t, "/b/toolkit", torchs));
    CHECK(host.files == before);
    CHECK(leads("/include/cuda.h") == "/v/nvidia/cu13/include/cuda.h");
    CHECK(leads("/lib64/libcudart.so") == "/v/nvidia/cu13/lib/libcudart.so.13");
    CHECK(leads("/lib64/libnvrtc.so") == "/v/nvidia/cu13/lib/libnvrtc.so.13");
    CHECK_FALSE(host.stat("/b/toolkit/lib64/libother.so").exists());
    CHECK(host.stat("/b/toolkit/include/cusparse.h").exists() == (*torchs != 0));
    if (*torchs == 0) continue;
    CHECK(leads("/include/cusparse.h") == "/s/nvidia/cu13/include/cusparse.h");
    CHECK(leads("/lib64/libcublas.so") == "/s/nvidia/cu13/lib/libcublas.so.13");
  }
  for (const auto& link : host.links) CHECK(starts_with(link.first, "/b/toolkit/"));
}

TEST_CASE("where the PyTorch of a farm is another by now, its headers and libraries are") {
  ToolkitHost host;
  Toolkit t = pip(host, "/v/nvidia/cu13");
  for (const char* site : {"/s", "/t"})
    for (const char* name : {"include/cusparse.h", "include/cuda.h", "lib/libcublas.so.13",
                             "lib/libcudart.so.13", "lib/libnvrtc.so.13.9"})
      host.files[cat(site, "/nvidia/cu13/", name)] = "PyTorch's";
  for (const char* site : {"/s", "/t", "/s"}) {
    REQUIRE(lay_link_farm(host, t, "/b/toolkit", cat(site, "/nvidia/cu13")));
    auto leads = [&](const char* path) { return host.real_path(cat("/b/toolkit", path)); };
    CHECK(leads("/include/cusparse.h") == cat(site, "/nvidia/cu13/include/cusparse.h"));
    CHECK(leads("/lib64/libcublas.so") == cat(site, "/nvidia/cu13/lib/libcublas.so.13"));
    CHECK(leads("/include/cuda.h") == "/v/nvidia/cu13/include/cuda.h");
    CHECK(leads("/lib64/libcudart.so") == "/v/nvidia/cu13/lib/libcudart.so.13");
    CHECK(leads("/lib64/libnvrtc.so") == "/v/nvidia/cu13/lib/libnvrtc.so.13");
  }
}

TEST_CASE("nothing is laid for an nvcc that does not answer, nor for clang") {
  ToolkitHost host;
  Result<std::string> root = lay_link_farm(host, Toolkit{}, "/b/toolkit");
  REQUIRE(root);
  CHECK(root->empty());
  Toolkit clang;
  clang.root = Text("/v/nvidia/cu13");
  clang.layout = Text("clang");
  clang.missing = Names(List<std::string>{"lib64"});
  CHECK(*lay_link_farm(host, clang, "/b/toolkit") == "/v/nvidia/cu13");
  CHECK(host.links.empty());
}

TEST_CASE("a farm that cannot be written is an error with the place") {
  class ReadOnly : public ToolkitHost {
    Result<Done> make_directories(const std::string& path, unsigned) override {
      return Error{"Read-only file system", path};
    }
  } host;
  Result<std::string> root = lay_link_farm(host, pip(host, "/v/nvidia/cu13"), "/b/toolkit");
  REQUIRE_FALSE(root);
  CHECK(root.error().str() == "/b/toolkit: Read-only file system");
}

TEST_CASE("a build tree that uses our farm uses the toolkit behind it, and keeps the farm") {
  ToolkitHost host;
  Toolkit t = pip(host, "/v/nvidia/cu13");
  REQUIRE(lay_link_farm(host, t, "/b/toolkit"));
  Inputs in;
  in.set["TREE_CUDA_COMPILER"] = "/b/toolkit/bin/nvcc";
  Facts facts;
  gather_toolkits(host, in, facts);
  CHECK(facts.toolkits.list.size() == 1);
  CHECK(facts.toolkit()->root.is("/v/nvidia/cu13"));
  CHECK(facts.toolkit()->layout.is("pip"));
  Result<std::string> root = lay_link_farm(host, *facts.toolkit(), "/b/toolkit");
  REQUIRE(root);
  CHECK(*root == "/b/toolkit");
}

TEST_CASE("a split toolkit in a prefix gets lib64, nvvm and crt where FindCUDA and CMake look") {
  ToolkitHost host;
  host.wrapper("/p/bin/nvcc", "/p/lib/nvidia-cuda-toolkit/bin/nvcc");
  for (const char* name : {"bin/cicc", "libdevice/libdevice.10.bc", "bin/crt/link.stub"})
    host.program(cat("/p/lib/nvidia-cuda-toolkit/", name), "ELF");
  host.files["/p/lib/x86_64-linux-gnu/libcudart.so"] = "SO";
  host.files["/p/lib/x86_64-linux-gnu/libcudart.so.12"] = "SO";
  host.files["/p/include/cuda.h"] = "#define CUDA_VERSION 12040";
  Toolkit t;
  t.root = Text("/p");
  t.nvcc = Text("/p/bin/nvcc");
  t.driver_dir = Text("/p/lib/nvidia-cuda-toolkit/bin");
  t.include_dir = Text("/p/include");
  t.library_dir = Text("/p/lib/x86_64-linux-gnu");
  t.layout = Text("distribution");
  Result<std::string> root = lay_link_farm(host, t, "/b/toolkit");
  REQUIRE(root);
  CHECK(*root == "/b/toolkit");
  CHECK(host.real_path("/b/toolkit/bin/nvcc") == "/p/bin/nvcc");
  CHECK(host.stat("/b/toolkit/lib64/libcudart.so").exists());
  CHECK(host.stat("/b/toolkit/nvvm/libdevice/libdevice.10.bc").exists());
  CHECK(host.stat("/b/toolkit/bin/crt/link.stub").exists());
  t.root = Text("/usr");  // CMake searches the triplet's folder there
  CHECK(*lay_link_farm(host, t, "/b/other") == "/usr");
}
