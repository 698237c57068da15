// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/gather.h"
#include "facts/redact.h"

namespace tcs {
namespace {

// PRETTY_NAME of os-release(5), quotes off.
Text distribution(const Host& host) {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    Result<std::string> text = host.read(path, 65536);
    if (!text) continue;
    for (const std::string& line : lines_of(*text)) {
      if (!starts_with(line, "PRETTY_NAME=")) continue;
      std::string_view value = trim(std::string_view(line).substr(12));
      if (value.size() >= 2 && value.front() == value.back() &&
          (value[0] == '"' || value[0] == '\''))
        value = value.substr(1, value.size() - 2);
      if (!value.empty()) return Text(std::string(value), path);
    }
  }
  return {};
}

// The Version of an installed package, in dpkg's database; "" where it is none of Debian's.
std::string package_version(const std::string& database, const char* name) {
  const size_t at = database.find(cat("\nPackage: ", name, "\n"));
  if (at == std::string::npos) return {};
  const std::string entry = database.substr(at, database.find("\n\n", at) - at);
  if (!contains(entry, "\nStatus: install ok installed\n")) return {};
  const size_t version = entry.find("\nVersion: ");
  if (version == std::string::npos) return {};
  return entry.substr(version + 10, entry.find('\n', version + 1) - version - 10);
}

// "# R36 (release), REVISION: 4.3, GCID: ..." -> "36.4.3"
Text tegra_release(const Host& host) {
  const char* const path = "/etc/nv_tegra_release";
  Result<std::string> text = host.read(path, 65536);
  if (!text) return {};
  List<std::string> words = split(*text, " ,\n");
  if (words.size() < 5 || words[0] != "#" || words[1].size() < 2 || words[1][0] != 'R') return {};
  for (size_t i = 2; i + 1 < words.size(); ++i)
    if (words[i] == "REVISION:") {
      std::string release = cat(words[1].substr(1), '.', words[i + 1]);
      if (Version::parse(release).rest.empty()) return Text(release, path);
    }
  return {};
}

// "6.2+b77" of nvidia-jetpack and "36.4.3-2025..." of nvidia-l4t-core: up to what follows the
// release. Only a machine with a Tegra is asked: the database is large.
void learn_tegra(const Host& host, HostFacts& out) {
  const char* const database = "/var/lib/dpkg/status";
  out.jetson_l4t = tegra_release(host);
  const bool tegra = out.jetson_l4t.known() || host.stat("/dev/nvmap").exists();
  if (!tegra || !out.arch.is("aarch64")) return;
  Result<std::string> text = host.read(database);
  if (!text) return;
  auto learn = [&](Text& fact, const char* package) {
    const std::string version = package_version("\n" + *text, package);
    const std::string release = version.substr(0, version.find_first_not_of("0123456789."));
    if (!fact.known() && !release.empty()) fact = Text(release, cat(package, " in ", database));
  };
  learn(out.jetson_l4t, "nvidia-l4t-core");
  learn(out.jetson_jetpack, "nvidia-jetpack");
}

// NVIDIA's display controllers (class 03) on the bus; not known where the system has no such list.
Names nvidia_boards(const Host& host) {
  const std::string folder = "/sys/bus/pci/devices";
  Result<List<std::string>> names = host.list(folder);
  if (!names) return {};
  List<std::string> boards;
  for (const std::string& name : *names) {
    auto number = [&](const char* file) {
      Result<std::string> text = host.read(path_join(path_join(folder, name), file), 64);
      return text ? std::string(trim(*text)) : std::string();
    };
    const std::string vendor = number("vendor");
    if (vendor.empty()) return {};
    if (vendor != "0x10de" || !starts_with(number("class"), "0x03")) continue;
    const std::string device = number("device");
    boards.push_back(cat(name, " 10de:", starts_with(device, "0x") ? device.substr(2) : "?"));
  }
  return Names(boards, folder);
}

// EFI's variable: four bytes of attributes, and 1 or 0. A machine that was not booted by EFI has no
// secure boot; a container hides the whole folder.
Flag secure_boot(const Host& host) {
  const char* const variable =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  Result<std::string> bytes = host.read(variable, 64);
  if (bytes && bytes->size() == 5) return Flag((*bytes)[4] != 0, "EFI's variable SecureBoot");
  Result<List<std::string>> firmware = host.list("/sys/firmware");
  const bool without_efi = firmware && !firmware->empty() && !contains(*firmware, "efi");
  return without_efi ? Flag(false, "/sys/firmware") : Flag();
}

// Marks that a container's runtime leaves: '$' a variable, '/' a file, else a part of the text of
// /proc/1/cgroup. The first that is there decides.
struct ContainerMark {
  const char *mark, *kind;
};
constexpr ContainerMark kContainerMarks[] = {
    {"$KUBERNETES_SERVICE_HOST", "kubernetes"},
    {"/var/run/secrets/kubernetes.io", "kubernetes"},
    {"kubepods", "kubernetes"},
    {"/run/.containerenv", "podman"},
    {"/.dockerenv", "docker"},
    {"libpod", "podman"},
    {"docker", "docker"},
    {"lxc", "lxc"},
    {"$APPTAINER_CONTAINER", "other"},
    {"$SINGULARITY_CONTAINER", "other"},
    {"/.singularity.d", "other"},
};

Text container(const Host& host, bool wsl) {
  const Result<std::string> groups = host.read("/proc/1/cgroup", 1u << 20);
  for (const ContainerMark& row : kContainerMarks) {
    const std::string mark = row.mark;
    const bool found = mark[0] == '$'   ? !host.env_or(mark.substr(1), "").empty()
                       : mark[0] == '/' ? host.stat(mark).exists()
                                        : groups && contains(*groups, mark);
    if (found) return Text(row.kind, mark);
  }
  const char* const told = "/run/systemd/container";  // systemd writes it where it runs in one
  const Result<std::string> kind = host.read(told, 64);
  if (kind && trim(*kind) != "wsl") return Text(trim(*kind) == "lxc" ? "lxc" : "other", told);
  // Only outside of containers the kernel's threads are seen.
  const Result<std::string> second = host.read("/proc/2/comm", 64);
  if (second && trim(*second) == "kthreadd") return Text("none", "/proc/2/comm");
  if (wsl || host.stat("/run/systemd/system").is_dir()) return Text("none", "no sign of one");
  const std::string value = host.env_or("container", "");  // systemd.io/CONTAINER_INTERFACE
  return value.empty() ? Text() : Text(value == "lxc" ? "lxc" : "other", "$container");
}

List<std::string> words_in(const Host& host, const std::string& path) {
  const Result<std::string> text = host.read(path, 1u << 20);
  return text ? split(*text, " \t\n") : List<std::string>();
}

// False where the word is not there or no number ("max"), or so large that it stands for no limit.
bool number_at(const List<std::string>& words, size_t i, uint64_t& out) {
  return i < words.size() && parse_number(words[i], uint64_t{1} << 50, out);
}
bool number_after(const List<std::string>& words, const char* key, uint64_t& out) {
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == key) return number_at(words, i + 1, out);
  return false;
}

// The control groups that this process is in, each with those around it: cgroups(7), both versions.
// In a container the outer ones, and in version 1 its own, are not where the kernel says they are.
List<std::string> control_groups(const Host& host, const char* controller) {
  List<std::string> folders;
  const Result<std::string> text = host.read("/proc/self/cgroup", 1u << 20);
  for (const std::string& line : text ? lines_of(*text) : List<std::string>()) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (!names.empty() && !contains(split(names, ","), controller)) continue;
    const std::string top = names.empty() ? "/sys/fs/cgroup" : cat("/sys/fs/cgroup/", controller);
    for (std::string path = line.substr(second + 1); path.size() > 1; path = path_parent(path))
      folders.push_back(top + path);
    folders.push_back(top);
  }
  return folders;
}

void learn_cores(const Host& host, HostFacts& out) {
  out.cores = Fact<int>(host.cores(), "sched_getaffinity");
  for (const std::string& group : control_groups(host, "cpu")) {
    uint64_t quota = 0, period = 0;
    const List<std::string> both = words_in(host, group + "/cpu.max");
    const bool limited = (number_at(both, 0, quota) && number_at(both, 1, period)) ||
                         (number_at(words_in(host, group + "/cpu.cfs_quota_us"), 0, quota) &&
                          number_at(words_in(host, group + "/cpu.cfs_period_us"), 0, period));
    if (!limited || period == 0 || quota == 0) continue;
    const uint64_t cores = (quota + period - 1) / period;
    if (cores < static_cast<uint64_t>(out.cores.value()))
      out.cores = Fact<int>(static_cast<int>(cores), group);
  }
}

// Of what a group uses, files that are merely kept in memory are given up when asked for.
void learn_memory(const Host& host, HostFacts& out) {
  auto take = [&](uint64_t bytes, const std::string& from) {
    const int mib = static_cast<int>(bytes >> 20 & 0x7fffffff);
    if (!out.memory_mib.known() || mib < out.memory_mib.value())
      out.memory_mib = Fact<int>(mib, from);
  };
  uint64_t limit = 0, used = 0, kept = 0;
  if (number_after(words_in(host, "/proc/meminfo"), "MemAvailable:", limit))
    take(limit << 10, "MemAvailable");
  for (const std::string& group : control_groups(host, "memory")) {
    const List<std::string> stat = words_in(host, group + "/memory.stat");
    if (number_at(words_in(host, group + "/memory.max"), 0, limit) &&
        number_at(words_in(host, group + "/memory.current"), 0, used)) {
      if (!number_after(stat, "inactive_file", kept)) kept = 0;
    } else if (number_at(words_in(host, group + "/memory.limit_in_bytes"), 0, limit) &&
               number_at(words_in(host, group + "/memory.usage_in_bytes"), 0, used)) {
      if (!number_after(stat, "total_inactive_file", kept)) kept = 0;
    } else {
      continue;
    }
    used -= kept < used ? kept : used;
    take(limit > used ? limit - used : 0, group);
  }
}

void learn_surroundings(const Host& host, HostFacts& out) {
  out.container = container(host, out.wsl.is(true));
  out.nvidia_pci = nvidia_boards(host);
  if (host.stat("/sys/module").is_dir())
    out.nouveau = Flag(host.stat("/sys/module/nouveau").exists(), "/sys/module");
  out.secure_boot = secure_boot(host);
}

}  // namespace

bool variable_matters(const std::string& name) {
  if (names_a_secret(name)) return false;
  for (const char* prefix : {"CUDA", "NVCC_", "TORCH_", "CUDNN_", "NCCL_ROOT", "Torch_", "Python_",
                             "CMAKE_CUDA_", "NVIDIA_", "TRITON_PTXAS"})
    if (starts_with(name, prefix)) return true;
  for (const char* exact : {"LD_LIBRARY_PATH",
                            "LIBRARY_PATH",
                            "LD_PRELOAD",
                            "CPATH",
                            "CPLUS_INCLUDE_PATH",
                            "PATH",
                            "VIRTUAL_ENV",
                            "CONDA_PREFIX",
                            "PYTHONPATH",
                            "PYTHONHOME",
                            "PYTHONNOUSERSITE",
                            "PYTHONUSERBASE",
                            "CC",
                            "CXX",
                            "CXXFLAGS",
                            "MAX_JOBS",
                            "FORCE_CUDA",
                            "USE_CUDA",
                            "CMAKE_PREFIX_PATH",
                            "NVHPC_ROOT",
                            "CMAKE_ARGS",
                            "PIP_NO_BUILD_ISOLATION",
                            "VLLM_ENABLE_CUDA_COMPATIBILITY"})
    if (name == exact) return true;
  return false;
}

void gather_host(Host& host, Facts& facts) {
  HostFacts& out = facts.host;
  const SystemNames names = host.system();
  auto learn = [](Text& fact, const std::string& value, const char* from) {
    if (!value.empty()) fact = Text(value, from);
  };
  learn(out.os, lower(names.os), "uname");
  learn(out.arch, names.arch, "uname");
  learn(out.kernel, names.kernel, "uname");
  learn(out.glibc, names.glibc, "gnu_get_libc_version");
  const std::string release = lower(names.kernel);
  if (!release.empty())
    out.wsl = Flag(contains(release, "microsoft") || contains(release, "wsl"), "uname");
  out.distro = distribution(host);
  learn_tegra(host, out);
  learn_surroundings(host, out);
  learn_cores(host, out);
  learn_memory(host, out);
  for (const auto& variable : host.environment())
    if (variable_matters(variable.first)) facts.environment[variable.first] = variable.second;
}

}  // namespace tcs
