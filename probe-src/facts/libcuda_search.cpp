// SPDX-License-Identifier: Apache-2.0
// Every libcuda.so.1 on the machine, whether the loader knows of it or not: a stray one explains a
// mismatch, a compat package helps an old driver. Never libcuda.so: that name is for linking.
#include "base/text.h"
#include "facts/driver_files.h"
#include "facts/loader.h"

namespace tcs {
namespace {

constexpr size_t most_found = 64;

// The container's runtime mounts the host's files one by one; Kubernetes' GPU nodes a folder.
bool is_injected(const Host& host, const HostFacts& machine, const std::string& real) {
  if (!machine.container.known() || machine.container.is("none")) return false;
  if (starts_with(real, "/usr/local/nvidia/")) return true;
  Result<std::string> mounts = host.read("/proc/self/mountinfo");
  return mounts && contains(*mounts, cat(" ", real, " "));
}

const char* kind_of(const Host& host, const HostFacts& machine, const std::string& real) {
  const std::string folder = path_parent(real);
  if (contains(folder, "/stubs")) return "stub";
  if (contains(folder, "compat")) return "compat";
  if (contains(real, "/wsl/")) return "wsl";
  if (is_injected(host, machine, real)) return "container";
  if (host.stat(path_join(path_parent(folder), "conda-meta")).is_dir()) return "conda";
  return "driver";
}

// Class and machine of an ELF header; "" where the file has none. A 32-bit library serves others.
std::string elf_machine(const Host& host, const std::string& path) {
  std::string bytes;
  Result<std::unique_ptr<File>> file = host.open(path);
  if (!file || !(*file)->read(0, 20, bytes) || !starts_with(bytes, "\x7f\x45LF")) return {};
  return bytes.substr(4, 1) + bytes.substr(18, 2);
}

class LibcudaSearch {
 public:
  LibcudaSearch(const Host& host, const HostFacts& machine, List<LibCuda>& out)
      : host_(host), machine_(machine), out_(out), own_(elf_machine(host, host.self())) {
    for (const LibCuda& lib : out) seen_.push_back(host.real_path(lib.path.value()));
  }

  void in(const std::string& folder, const char* from) {
    const std::string path = path_join(folder, "libcuda.so.1");
    if (!starts_with(folder, "/") || out_.size() >= most_found || !host_.stat(path).is_file())
      return;
    const std::string real = host_.real_path(path);
    if (contains(seen_, real)) return;
    seen_.push_back(real);
    const std::string machine = elf_machine(host_, real);
    if (!own_.empty() && !machine.empty() && machine != own_) return;
    out_.push_back(describe_libcuda(host_, machine_, path));
    out_.back().path.from = from;
    out_.back().role = Text("other", from);
  }

  void as_loader() {
    const LoaderSetting loader = read_loader_setting(host_, "");
    for (const std::string& folder : split(loader.library_path, ":;"))
      in(folder, "LD_LIBRARY_PATH");
    for (const auto& row : loader.cache)
      if (row.first == "libcuda.so.1") in(path_parent(row.second), "ld.so.cache");
    for (const std::string& folder : loader.default_folders) in(folder, "default folders");
    // What ldconfig was not yet run for.
    const std::string conf = "/etc/ld.so.conf.d";
    Result<List<std::string>> names = host_.list(conf);
    for (const std::string& name : names ? *names : List<std::string>())
      if (Result<std::string> text = host_.read(path_join(conf, name), 65536))
        for (const std::string& line : lines_of(*text)) in(std::string(trim(line)), "ld.so.conf");
  }

  void as_toolkits() {
    if (const std::string prefix = host_.env_or("CONDA_PREFIX", ""); !prefix.empty())
      for (const char* part : {"lib", "cuda-compat"}) in(path_join(prefix, part), "CONDA_PREFIX");
    Result<List<std::string>> names = host_.list("/usr/local");
    for (const std::string& name : names ? *names : List<std::string>())
      if (starts_with(name, "cuda"))
        for (const char* part : {"compat", "compat/lib.real"})
          in(cat("/usr/local/", name, "/", part), "/usr/local");
  }

 private:
  const Host& host_;
  const HostFacts& machine_;
  List<LibCuda>& out_;
  std::string own_;
  List<std::string> seen_;
};

}  // namespace

LibCuda describe_libcuda(const Host& host, const HostFacts& machine, const std::string& path) {
  LibCuda out;
  std::string real = host.real_path(path);
  if (real.empty()) real = path;
  out.path = Text(path);
  const std::string name = path_name(real), prefix = "libcuda.so.";
  if (starts_with(name, prefix)) {
    std::string release = name.substr(prefix.size());
    // "libcuda.so.1" and "libcuda.so.1.1" (WSL, Tegra) name the interface, not the release.
    if (Version::parse(release).major() > 1) out.version = Text(release, real);
  }
  out.kind = Text(kind_of(host, machine, real), real);
  return out;
}

void find_other_libcuda(const Host& host, const HostFacts& machine, List<LibCuda>& out) {
  LibcudaSearch search(host, machine, out);
  search.as_loader();
  search.as_toolkits();
  // WSL, Kubernetes' nodes, Colab, NixOS, Debian's alternatives, Jetson.
  for (const char* folder :
       {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/lib64-nvidia",
        "/run/opengl-driver/lib", "/usr/lib/x86_64-linux-gnu/nvidia/current",
        "/usr/lib/aarch64-linux-gnu/nvidia/current", "/usr/lib/aarch64-linux-gnu/nvidia",
        "/usr/lib/aarch64-linux-gnu/tegra"})
    search.in(folder, "a folder of drivers");
}

}  // namespace tcs
