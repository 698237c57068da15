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
  CHECK_FALSE(facts.environment.find("AWS_SECRET_KEY"));
  CHECK_FALSE(facts.environment.find("GITHUB_TOKEN"));
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

namespace {

HostFacts surroundings(const MemoryHost& prepared) {
  MemoryHost host = prepared;
  Facts facts;
  gather_host(host, facts);
  return facts.host;
}

class JetsonHost : public MemoryHost {
 public:
  SystemNames system() const override { return {"Linux", "aarch64", "5.15.148-tegra", "2.35"}; }
};

}  // namespace

TEST_CASE("a Jetson's releases are those of its installed packages where no file names them") {
  JetsonHost host;
  host.files["/var/lib/dpkg/status"] =
      "Package: nvidia-l4t-core\nStatus: install ok installed\nVersion: "
      "36.4.3-20250107174145\n\n"
      "Package: nvidia-jetpack\nStatus: install ok installed\nVersion: 6.2+b77\n\n";
  Facts elsewhere;
  gather_host(host, elsewhere);
  CHECK_FALSE(elsewhere.host.jetson_l4t.known());  // no Tegra: cross-compiling for one
  host.files["/dev/nvmap"] = "";
  Facts facts;
  gather_host(host, facts);
  CHECK(facts.host.jetson_l4t.is("36.4.3"));
  CHECK(facts.host.jetson_jetpack.is("6.2"));
  host.files["/var/lib/dpkg/status"] =
      "Package: nvidia-jetpack\nStatus: deinstall ok config-files\nVersion: 6.2+b77\n\n";
  Facts removed;
  gather_host(host, removed);
  CHECK_FALSE(removed.host.jetson_jetpack.known());
}

TEST_CASE("NVIDIA's GPUs on the bus are counted, not its sound and network controllers") {
  MemoryHost host;
  CHECK_FALSE(surroundings(host).nvidia_pci.known());
  auto add = [&](const std::string& place, const char* vendor, const char* kind, const char* id) {
    const std::string folder = "/sys/bus/pci/devices/" + place;
    host.files[folder + "/vendor"] = std::string(vendor) + "\n";
    host.files[folder + "/class"] = std::string(kind) + "\n";
    host.files[folder + "/device"] = std::string(id) + "\n";
  };
  add("0000:00:02.0", "0x8086", "0x030000", "0x9bc4");
  CHECK(surroundings(host).nvidia_pci.known());
  CHECK(surroundings(host).nvidia_pci.value().empty());
  add("0000:01:00.0", "0x10de", "0x030000", "0x2704");
  add("0000:01:00.1", "0x10de", "0x040300", "0x22bb");
  add("0000:81:00.0", "0x10de", "0x030200", "0x2335");
  CHECK(surroundings(host).nvidia_pci.value() ==
        List<std::string>{"0000:01:00.0 10de:2704", "0000:81:00.0 10de:2335"});
}

TEST_CASE("nouveau and secure boot are known only where the system shows them") {
  MemoryHost host;
  CHECK_FALSE(surroundings(host).nouveau.known());
  CHECK_FALSE(surroundings(host).secure_boot.known());
  host.files["/sys/module/ext4/refcnt"] = "1";
  host.files["/sys/firmware/acpi/pm_profile"] = "1";
  CHECK(surroundings(host).nouveau.is(false));
  CHECK(surroundings(host).secure_boot.is(false));  // not booted by EFI
  host.files["/sys/module/nouveau/version"] = "1.4";
  CHECK(surroundings(host).nouveau.is(true));
  const std::string variable =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  host.files["/sys/firmware/efi/runtime"] = "0x0";
  CHECK_FALSE(surroundings(host).secure_boot.known());  // its variables are not mounted
  host.files[variable] = std::string("\x06\0\0\0\1", 5);
  CHECK(surroundings(host).secure_boot.is(true));
  host.files[variable] = std::string("\x06\0\0\0\0", 5);
  CHECK(surroundings(host).secure_boot.is(false));
  host.files[variable] = "";
  CHECK_FALSE(surroundings(host).secure_boot.known());
}

TEST_CASE("a container is known by what its runtime leaves, and none by the kernel's threads") {
  auto container = [](const std::map<std::string, std::string>& files,
                      const std::map<std::string, std::string>& variables = {}) {
    MemoryHost host;
    host.files = files;
    host.variables = variables;
    return surroundings(host).container.or_else("unknown");
  };
  const std::string thread = "/proc/2/comm", cgroup = "/proc/1/cgroup";
  CHECK(container({}) == "unknown");
  CHECK(container({{thread, "kthreadd\n"}, {cgroup, "0::/init.scope\n"}}) == "none");
  CHECK(container({{thread, "kthreadd\n"}}, {{"container", "of mine"}}) == "none");
  CHECK(container({{"/docker/data", ""}, {thread, "kthreadd\n"}}) == "none");
  CHECK(container({{"/.dockerenv", ""}, {thread, "kthreadd\n"}}) == "docker");  // --pid=host
  CHECK(container({{"/.dockerenv", ""}}, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}) ==
        "kubernetes");
  CHECK(container({{cgroup, "5:memory:/kubepods/besteffort/pod1/2\n"}}) == "kubernetes");
  CHECK(container({{cgroup, "5:memory:/docker/0123\n"}}) == "docker");
  CHECK(container({{"/run/.containerenv", ""}}, {{"container", "oci"}}) == "podman");
  CHECK(container({{"/run/systemd/container", "lxc\n"}}) == "lxc");
  CHECK(container({{"/run/systemd/container", "systemd-nspawn\n"}}) == "other");
  CHECK(container({}, {{"container", "lxc"}}) == "lxc");
  CHECK(container({{thread, "kthreadd\n"}}, {{"APPTAINER_CONTAINER", "/i.sif"}}) == "other");
}

TEST_CASE("what the Multi-Process Service and container runtimes are told is kept, no keys") {
  for (const char* name : {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                           "NVIDIA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE"})
    CHECK(variable_matters(name));
  CHECK_FALSE(variable_matters("NVIDIA_API_KEY"));
  CHECK_FALSE(variable_matters("KUBERNETES_SERVICE_HOST"));
}

TEST_CASE(
    "without control groups the cores are the scheduler's and the memory is what is available") {
  MemoryHost host;
  CHECK(surroundings(host).cores.is(2));
  CHECK_FALSE(surroundings(host).memory_mib.known());
  host.files["/proc/meminfo"] =
      "MemTotal:  8000000 kB\nMemFree:  1 kB\nMemAvailable:  4194304 kB\n";
  CHECK(surroundings(host).memory_mib.is(4096));
  CHECK(surroundings(host).memory_mib.from == "MemAvailable");
}

TEST_CASE(
    "a control group's quota and limit count, version 2, whichever of the nested ones is less") {
  MemoryHost host;
  host.files["/proc/meminfo"] = "MemAvailable:  4194304 kB\n";
  host.files["/proc/self/cgroup"] = "0::/a/b\n";
  host.files["/sys/fs/cgroup/a/b/cpu.max"] = "max 100000\n";
  host.files["/sys/fs/cgroup/a/cpu.max"] = "50000 100000\n";
  host.files["/sys/fs/cgroup/a/b/memory.max"] = "max\n";
  host.files["/sys/fs/cgroup/a/b/memory.current"] = "12345\n";
  host.files["/sys/fs/cgroup/a/memory.max"] = "2147483648\n";
  host.files["/sys/fs/cgroup/a/memory.current"] = "1610612736\n";
  host.files["/sys/fs/cgroup/a/memory.stat"] = "anon 1\ninactive_file 536870912\nactive_file 7\n";
  CHECK(surroundings(host).cores.is(1));
  CHECK(surroundings(host).cores.from == "/sys/fs/cgroup/a");
  CHECK(surroundings(host).memory_mib.is(1024));  // 2 GiB, of which 1 is used and not given up
  CHECK(surroundings(host).memory_mib.from == "/sys/fs/cgroup/a");
}

TEST_CASE("a container's own control groups are at the top, version 1") {
  MemoryHost host;
  host.files["/proc/self/cgroup"] =
      "9:memory:/docker/0123\n4:cpu,cpuacct:/docker/0123\n2:cpuset:/docker/0123\n";
  host.files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "150000\n";
  host.files["/sys/fs/cgroup/cpu/cpu.cfs_period_us"] = "100000\n";
  host.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "1073741824\n";
  host.files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = "2073741824\n";
  CHECK(surroundings(host).cores.is(2));  // one and a half
  CHECK(surroundings(host).memory_mib.is(0));
  host.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n";
  host.files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "-1\n";
  CHECK_FALSE(surroundings(host).memory_mib.known());
  CHECK(surroundings(host).cores.from == "sched_getaffinity");
}
