// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/gather.h"
#include "memory_host.h"

using namespace tcs;

TEST_CASE("only the environment that matters to the stack is kept") {
  MemoryHost host;
  host.variables = {
      {"CUDA_HOME", "/c"},         {"CUDAARCHS", "90"},        {"TORCH_CUDA_ARCH_LIST", "9.0"},
      {"LD_LIBRARY_PATH", "/l"},   {"AWS_SECRET_KEY", "s"},    {"HOME", "/root"},
      {"NVCC_APPEND_FLAGS", "-g"}, {"GITHUB_TOKEN", "secret"}, {"MAX_JOBS", "4"}};
  Facts facts;
  gather_host(host, facts);
  CHECK(facts.environment.size() == 6);
  CHECK(facts.environment.count("AWS_SECRET_KEY") == 0);
  CHECK(facts.environment.count("GITHUB_TOKEN") == 0);
  CHECK(facts.environment["CUDAARCHS"] == "90");
}

TEST_CASE("the distribution is os-release's pretty name") {
  MemoryHost host;
  host.files["/etc/os-release"] =
      "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
  Facts facts;
  gather_host(host, facts);
  CHECK(facts.host.distro.value() == "Debian GNU/Linux 12 (bookworm)");
  CHECK(facts.host.os.is("linux"));
  CHECK_FALSE(facts.host.jetson_l4t.known());
}

TEST_CASE("a Jetson's L4T release is read from nv_tegra_release") {
  MemoryHost host;
  host.files["/etc/nv_tegra_release"] =
      "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n";
  Facts facts;
  gather_host(host, facts);
  CHECK(facts.host.jetson_l4t.is("36.4.3"));
  host.files["/etc/nv_tegra_release"] = "# R36 (release), REVISION: $(id), GCID: 1\n";
  Facts hostile;
  gather_host(host, hostile);
  CHECK_FALSE(hostile.host.jetson_l4t.known());
}
