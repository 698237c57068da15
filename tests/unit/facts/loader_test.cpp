// SPDX-License-Identifier: Apache-2.0
#include "facts/loader.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"
#include "shared_object.h"

using namespace tcs;

namespace {

std::string object(const std::string& soname, List<std::string> needed = {},
                   const std::string& rpath = {}, const std::string& runpath = {}) {
  SharedObject so;
  so.soname = soname;
  so.needed = std::move(needed);
  so.rpath = rpath;
  so.runpath = runpath;
  return so.bytes();
}

const Loaded* find(const List<Loaded>& all, const std::string& soname) {
  for (const Loaded& one : all)
    if (one.soname == soname) return &one;
  return nullptr;
}

// A cache of the new form with one row a name.
std::string cache_bytes(const List<std::pair<std::string, std::string>>& rows) {
  std::string strings, table;
  const uint32_t base = static_cast<uint32_t>(48 + rows.size() * 24);
  auto u32 = [](std::string& out, uint32_t v) { out.append(reinterpret_cast<char*>(&v), 4); };
  for (const auto& row : rows) {
    u32(table, 0x303);
    u32(table, base + static_cast<uint32_t>(strings.size()));
    strings += row.first + '\0';
    u32(table, base + static_cast<uint32_t>(strings.size()));
    strings += row.second + '\0';
    table.append(12, '\0');
  }
  std::string out = "glibc-ld.so.cache1.1";
  u32(out, static_cast<uint32_t>(rows.size()));
  u32(out, static_cast<uint32_t>(strings.size()));
  out.append(20, '\0');
  return out + table + strings;
}

}  // namespace

TEST_CASE("RPATH is searched before LD_LIBRARY_PATH, RUNPATH after it") {
  for (bool runpath : {false, true}) {
    MemoryHost host;
    host.files["/t/lib/libtorch_cuda.so"] =
        object("libtorch_cuda.so", {"libcudnn.so.9"}, runpath ? "" : "$ORIGIN/../../nvidia/lib",
               runpath ? "$ORIGIN/../../nvidia/lib" : "");
    host.files["/nvidia/lib/libcudnn.so.9"] = object("libcudnn.so.9");
    host.files["/old/libcudnn.so.9"] = object("libcudnn.so.9");
    host.variables["LD_LIBRARY_PATH"] = "/nowhere:/old";
    auto all = load_closure(host, {"/t/lib/libtorch_cuda.so"}, read_loader_setting(host, ""));
    const Loaded* cudnn = find(all, "libcudnn.so.9");
    REQUIRE(cudnn != nullptr);
    CHECK(cudnn->needed_by == "libtorch_cuda.so");
    CHECK(host.real_path(cudnn->path) ==
          (runpath ? "/old/libcudnn.so.9" : "/nvidia/lib/libcudnn.so.9"));
    CHECK(cudnn->via == (runpath ? "LD_LIBRARY_PATH" : "RPATH of libtorch_cuda.so"));
    CHECK(cudnn->elsewhere.empty() != runpath);
    if (runpath) CHECK(host.real_path(cudnn->elsewhere) == "/nvidia/lib/libcudnn.so.9");
  }
}

TEST_CASE("the RPATH of the one that made a library load serves that library too") {
  MemoryHost host;
  host.files["/t/libtorch_cuda.so"] = object("libtorch_cuda.so", {"libcusparse.so.12"}, "/n");
  host.files["/n/libcusparse.so.12"] = object("libcusparse.so.12", {"libnvJitLink.so.13"});
  host.files["/n/libnvJitLink.so.13"] = object("libnvJitLink.so.13");
  auto all = load_closure(host, {"/t/libtorch_cuda.so"}, {});
  REQUIRE(find(all, "libnvJitLink.so.13") != nullptr);
  CHECK(find(all, "libnvJitLink.so.13")->path == "/n/libnvJitLink.so.13");
  CHECK(find(all, "libnvJitLink.so.13")->needed_by == "libcusparse.so.12");
  CHECK(find(all, "libnvJitLink.so.13")->via == "RPATH of libtorch_cuda.so");

  // ... unless that library brings a RUNPATH of its own.
  host.files["/n/libcusparse.so.12"] =
      object("libcusparse.so.12", {"libnvJitLink.so.13"}, "", "/empty");
  all = load_closure(host, {"/t/libtorch_cuda.so"}, {});
  CHECK(find(all, "libnvJitLink.so.13")->path.empty());
}

TEST_CASE("a name that is loaded already is not searched again") {
  MemoryHost host;
  host.files["/t/libtorch_global_deps.so"] =
      object("libtorch_global_deps.so", {"libcudart.so.13"}, "/first");
  host.files["/t/libtorch_cuda.so"] = object("libtorch_cuda.so", {"libcudart.so.13"}, "/second");
  host.files["/first/libcudart.so.13"] = object("libcudart.so.13");
  host.files["/second/libcudart.so.13"] = object("libcudart.so.13");
  auto all = load_closure(host, {"/t/libtorch_global_deps.so", "/t/libtorch_cuda.so"}, {});
  CHECK(find(all, "libcudart.so.13")->path == "/first/libcudart.so.13");
  CHECK(all.size() == 3);
}

TEST_CASE("a library of another machine is passed over, as the loader does") {
  MemoryHost host;
  SharedObject arm;
  arm.soname = "libcudart.so.13";
  arm.machine = EM_AARCH64;
  host.files["/t/libtorch_cuda.so"] = object("libtorch_cuda.so", {"libcudart.so.13"}, "/arm:/x86");
  host.files["/arm/libcudart.so.13"] = arm.bytes();
  host.files["/x86/libcudart.so.13"] = object("libcudart.so.13");
  auto all = load_closure(host, {"/t/libtorch_cuda.so"}, {});
  CHECK(find(all, "libcudart.so.13")->path == "/x86/libcudart.so.13");
}

TEST_CASE("ld.so.cache and the default folders come last") {
  MemoryHost host;
  host.files["/etc/ld.so.cache"] =
      cache_bytes({{"libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13"}});
  host.files["/usr/local/cuda/lib64/libcudart.so.13"] = object("libcudart.so.13");
  host.files["/usr/lib/x86_64-linux-gnu/libnccl.so.2"] = object("libnccl.so.2");
  host.files["/t/libtorch_cuda.so"] =
      object("libtorch_cuda.so", {"libcudart.so.13", "libnccl.so.2", "libcudnn.so.9"}, "$ORIGIN");
  auto all = load_closure(host, {"/t/libtorch_cuda.so"}, read_loader_setting(host, ""));
  CHECK(find(all, "libcudart.so.13")->via == "ld.so.cache");
  CHECK(find(all, "libnccl.so.2")->via == "default folders");
  CHECK(find(all, "libcudnn.so.9")->path.empty());
}

TEST_CASE("libraries that need each other end") {
  MemoryHost host;
  host.files["/t/libcudnn.so.9"] = object("libcudnn.so.9", {"libcudnn_ops.so.9"}, "$ORIGIN");
  host.files["/t/libcudnn_ops.so.9"] = object("libcudnn_ops.so.9", {"libcudnn.so.9"}, "$ORIGIN");
  CHECK(load_closure(host, {"/t/libcudnn.so.9"}, {}).size() == 2);
}

TEST_CASE("a loader cache that is cut off or lies gives the rows that are whole") {
  std::string whole = cache_bytes({{"liba.so.1", "/a/liba.so.1"}, {"libb.so.2", "/b/libb.so.2"}});
  REQUIRE(parse_loader_cache(whole).size() == 2);
  CHECK(parse_loader_cache(whole)[1].second == "/b/libb.so.2");
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK(parse_loader_cache(whole.substr(0, length)).size() <= 2);
  std::string lies = whole;
  lies[20] = lies[21] = lies[22] = lies[23] = '\xff';
  CHECK(parse_loader_cache(lies).empty());
  CHECK(parse_loader_cache("ld.so-1.7.0").empty());

  std::string old = std::string("ld.so-1.7.0") + '\0';
  old += std::string("\1\0\0\0", 4) + std::string(12, 'x') + std::string(4, '\0');
  CHECK(parse_loader_cache(old + whole).size() == 2);
}
