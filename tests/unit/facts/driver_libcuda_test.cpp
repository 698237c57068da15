// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/driver_files.h"
#include "memory_host.h"

using namespace tcs;

namespace {

// A driver's library as packages lay it out: the release in the real name, and a link.
void install(MemoryHost& host, const std::string& folder, const std::string& release) {
  host.files[folder + "/libcuda.so." + release] = "";
  host.links[folder + "/libcuda.so.1"] = "libcuda.so." + release;
}

List<LibCuda> others(const MemoryHost& host, const HostFacts& machine = {},
                     const std::string& loaded = {}) {
  List<LibCuda> out;
  if (!loaded.empty()) out.push_back(describe_libcuda(host, machine, loaded));
  find_other_libcuda(host, machine, out);
  return out;
}

std::string words(const List<LibCuda>& libs) {
  List<std::string> out;
  for (const LibCuda& lib : libs)
    out.push_back(join(List<std::string>{path_parent(lib.path.value()), lib.version.or_else("-"),
                                         lib.kind.value(), lib.role.or_else("-")},
                       " "));
  return join(out, ", ");
}

}  // namespace

TEST_CASE("each libcuda.so.1 on the machine is found once, whoever leads there") {
  MemoryHost host;
  install(host, "/usr/lib/x86_64-linux-gnu", "535.261.03");
  install(host, "/usr/local/cuda-12.8/compat", "570.172.08");
  install(host, "/opt/driver", "550.54.15");
  host.links["/usr/local/cuda"] = "cuda-12.8";
  host.links["/lib"] = "/usr/lib";
  host.variables["LD_LIBRARY_PATH"] = "/opt/driver::relative:/opt/none";
  const List<LibCuda> libs = others(host, {}, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  CHECK(words(libs) ==
        "/usr/lib/x86_64-linux-gnu 535.261.03 driver -, /opt/driver 550.54.15 driver other, "
        "/usr/local/cuda/compat 570.172.08 compat other");
  CHECK(libs[1].role.from == "LD_LIBRARY_PATH");
}

TEST_CASE("what the loader's configuration names counts before ldconfig was run") {
  MemoryHost host;
  install(host, "/opt/nv/lib", "580.65.06");
  host.files["/etc/ld.so.conf.d/nv.conf"] = "# NVIDIA\n  /opt/nv/lib \n";
  CHECK(words(others(host)) == "/opt/nv/lib 580.65.06 driver other");
}

TEST_CASE("stub, compat, WSL, conda and what a container's runtime mounts are told apart") {
  MemoryHost host;
  host.files["/opt/cuda/lib64/stubs/libcuda.so"] = "";
  host.links["/opt/cuda/lib64/stubs/libcuda.so.1"] = "libcuda.so";
  host.files["/opt/cuda/lib64/stubs-of-none/libcuda.so"] = "";
  host.variables["LD_LIBRARY_PATH"] = "/opt/cuda/lib64/stubs:/opt/cuda/lib64/stubs-of-none";
  CHECK(words(others(host)) == "/opt/cuda/lib64/stubs - stub other");

  MemoryHost wsl;
  wsl.files["/usr/lib/wsl/lib/libcuda.so.1.1"] = "";
  wsl.links["/usr/lib/wsl/lib/libcuda.so.1"] = "libcuda.so.1.1";
  CHECK(words(others(wsl)) == "/usr/lib/wsl/lib - wsl other");

  MemoryHost conda;
  install(conda, "/c/envs/e/cuda-compat", "575.57.08");
  install(conda, "/c/envs/e/lib", "550.54.15");
  conda.directories.insert("/c/envs/e/conda-meta");
  conda.variables["CONDA_PREFIX"] = "/c/envs/e";
  CHECK(words(others(conda)) ==
        "/c/envs/e/lib 550.54.15 conda other, /c/envs/e/cuda-compat 575.57.08 compat other");

  MemoryHost inside;
  install(inside, "/usr/lib/x86_64-linux-gnu", "535.261.03");
  install(inside, "/usr/local/nvidia/lib64", "550.54.15");
  inside.files["/proc/self/mountinfo"] =
      "1 2 8:1 /u/libcuda.so.535.261.03 /usr/lib/x86_64-linux-gnu/libcuda.so.535.261.03 ro - ext4 "
      "/dev/sda1 ro\n";
  HostFacts machine;
  CHECK(words(others(inside, machine)) ==
        "/usr/lib/x86_64-linux-gnu 535.261.03 driver other, /usr/local/nvidia/lib64 550.54.15 "
        "driver other");
  machine.container = Text("docker");
  CHECK(words(others(inside, machine)) ==
        "/usr/lib/x86_64-linux-gnu 535.261.03 container other, /usr/local/nvidia/lib64 550.54.15 "
        "container other");
}

TEST_CASE("a library for another machine is passed over, as the loader does") {
  MemoryHost host;
  auto elf = [](char bits, char machine) {
    std::string bytes(64, '\0');
    bytes.replace(0, 4, "\x7f\x45LF");
    bytes[4] = bits;
    bytes[18] = machine;
    return bytes;
  };
  host.files["/self/tcstack"] = elf(2, 62);
  host.files["/lib/libcuda.so.1"] = elf(1, 3);
  CHECK(others(host).empty());
  host.files["/lib/libcuda.so.1"] = elf(2, 62);
  CHECK(words(others(host)) == "/lib - driver other");
  host.files["/lib/libcuda.so.1"] = "short";
  CHECK(others(host).size() == 1);
}
