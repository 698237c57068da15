// SPDX-License-Identifier: Apache-2.0
#include "facts/toolkit_parts.h"

#include "base/text.h"
#include "readers/elf.h"

namespace tcs {
namespace {

// Of nvcc, as Debian and Ubuntu lay it; the rest of that toolkit is spread over the prefix above.
constexpr const char* kDistribution = "/lib/nvidia-cuda-toolkit/bin";

struct TargetFolder {
  const char* folder;     // under targets/ of NVIDIA's and conda's packages
  const char* multiarch;  // of Debian's
};
constexpr TargetFolder kTargets[] = {{"x86_64-linux", "x86_64-linux-gnu"},
                                     {"sbsa-linux", "aarch64-linux-gnu"},
                                     {"aarch64-linux", "aarch64-linux-gnu"}};

bool has(const Host& host, const std::string& folder, std::string_view name) {
  return host.stat(path_join(folder, name)).exists();
}

// The longest name in `folder` that starts so: "libcudart.so.12.4.127" rather than
// "libcudart.so.12".
std::string longest(const Host& host, const std::string& folder, std::string_view prefix) {
  Result<List<std::string>> names = host.list(folder);
  std::string best;
  if (names)
    for (const std::string& name : *names)
      if (starts_with(name, prefix) && name.size() > best.size()) best = name;
  return best;
}

List<std::string> library_folders(const std::string& root, const DryRun& dry) {
  List<std::string> folders{root + "/lib64", root + "/lib"};
  for (const TargetFolder& t : kTargets) {
    folders.push_back(cat(root, "/targets/", t.folder, "/lib"));
    folders.push_back(cat(root, "/lib/", t.multiarch));
  }
  folders.append(dry.library_dirs);
  return folders;
}

List<std::string> include_folders(const std::string& root, const DryRun& dry) {
  List<std::string> folders{root + "/include"};
  for (const TargetFolder& t : kTargets)
    folders.push_back(cat(root, "/targets/", t.folder, "/include"));
  folders.append(dry.include_dirs);
  return folders;
}

// A pip package's file carries only its major; the package beside it names the release.
std::string package_release(const Host& host, const std::string& root, std::string_view package) {
  for (const std::string& folder : {path_parent(path_parent(root)), root + "/dist-info"}) {
    Result<List<std::string>> names = host.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!starts_with(name, package) || !ends_with(name, ".dist-info")) continue;
      Version v = Version::parse(std::string_view(name).substr(name.find('-') + 1));
      if (v.known()) return v.dotted();
    }
  }
  return {};
}

// Three numbers are a release; fewer are a soname ("13", and "11.0" for every 11.x).
void find_cudart(const Host& host, Toolkit& t) {
  std::string folder = t.library_dir.value(), name = longest(host, folder, "libcudart.so.");
  std::string real = path_name(host.real_path(path_join(folder, name)));
  Version version = Version::parse(starts_with(real, "libcudart.so.") ? real.substr(13) : "");
  if (version.numbers.size() >= 3) {
    t.cudart = Text(version.dotted(), path_join(folder, real));
  } else if (version.known()) {
    std::string release = package_release(host, t.root.value(), "nvidia_cuda_runtime");
    if (Version::parse(release).major() == version.major()) t.cudart = Text(release, "dist-info");
  }
}

void find_headers(const Host& host, const DryRun& dry, Toolkit& t) {
  for (const std::string& folder : include_folders(t.root.value(), dry))
    if (!t.include_dir.known() &&
        (has(host, folder, "cuda_runtime.h") || has(host, folder, "cuda.h")))
      t.include_dir = Text(folder, "cuda_runtime.h");
  if (!t.include_dir.known()) return;
  const std::string& folder = t.include_dir.value();
  // CUDA_VERSION stands in the first lines of a file of a megabyte.
  Result<std::unique_ptr<File>> header = host.open(path_join(folder, "cuda.h"));
  std::string text;
  uint64_t size = header ? (*header)->size() : 0;
  if (header && (*header)->read(0, static_cast<size_t>(size < 131072 ? size : 131072), text)) {
    std::string version = parse_cuda_version(text);
    if (!version.empty()) t.headers = Text(version, path_join(folder, "cuda.h"));
  }
  Result<std::string> limits = host.read(path_join(folder, "crt/host_config.h"), 1u << 20);
  if (limits) parse_host_limits(*limits, t.gcc_max, t.clang_max);
}

std::string tool_path(const Host& host, const Toolkit& t, const DryRun& dry,
                      const std::string& name) {
  std::string bin = t.driver_dir.value();
  std::string path = cat(bin, ":", t.root.value(), "/bin:", bin, "/../nvvm/bin:", dry.cicc_dir);
  // A distribution spreads its tools; its nvcc.profile puts their folders into PATH.
  if (t.layout.is("distribution")) path += ":" + dry.path;
  return find_program(host, name, path);
}

void find_missing(const Host& host, const DryRun& dry, Toolkit& t) {
  List<std::string> missing;
  auto need = [&](bool there, const char* name) {
    if (!there) missing.push_back(name);
  };
  const std::string &root = t.root.value(), &lib = t.library_dir.value();
  const std::string& include = t.include_dir.value();
  for (const char* tool : {"ptxas", "cicc", "cudafe++", "fatbinary"})
    need(t.layout.is("clang") || !tool_path(host, t, dry, tool).empty(), tool);
  bool libdevice = !dry.libdevice_dir.empty() && has(host, dry.libdevice_dir, "libdevice.10.bc");
  need(libdevice || has(host, root, "nvvm/libdevice/libdevice.10.bc") ||
           has(host, path_parent(t.driver_dir.value()), "libdevice/libdevice.10.bc"),
       "libdevice");
  for (const char* header : {"cuda.h", "cuda_runtime.h", "crt/host_config.h"})
    need(t.include_dir.known() && has(host, include, header), header);
  need(!longest(host, lib, "libcudart.so.").empty(), "cudart");
  need(t.library_dir.known() && has(host, lib, "libcudart.so"), "libcudart.so");
  need(has(host, root, "lib64") || t.layout.is("distribution") || t.layout.is("conda"), "lib64");
  need(t.include_dir.known() && has(host, include, "nvrtc.h") &&
           !longest(host, lib, "libnvrtc.so").empty(),
       "nvrtc");
  t.missing = Names(missing, "its files");
}

}  // namespace

void place_toolkit(const Host& host, const std::string& program, const DryRun& dry, Toolkit& t) {
  std::string here = dry.here.empty() ? path_parent(program) : host.real_path(dry.here);
  if (here.empty()) here = path_parent(program);
  t.driver_dir = Text(here, dry.here.empty() ? "path of nvcc" : "nvcc --dryrun");
  std::string called = path_parent(path_parent(program));
  if (ends_with(here, kDistribution)) {
    t.layout = Text("distribution");
    t.root = Text(here.substr(0, here.size() - std::string_view(kDistribution).size()), here);
    if (host.real_path(called) == host.real_path(t.root.value())) t.root = Text(called, program);
    if (t.root.value().empty()) t.root = Text("/", here);
    return;
  }
  // The root as the user spells it, unless nvcc says that it is another folder.
  std::string top = dry.top.empty() ? std::string() : host.real_path(dry.top);
  t.root = Text(called, "path of nvcc");
  if (!top.empty() && host.real_path(called) != top) t.root = Text(top, "nvcc --dryrun");
  if (t.root.value().empty()) t.root = Text("/", "path of nvcc");
  const std::string& root = t.root.value();
  if (has(host, root, "conda-meta"))
    t.layout = Text("conda");
  else if (path_name(path_parent(root)) == "nvidia" && starts_with(path_name(root), "cu"))
    t.layout = Text("pip");
  else
    t.layout = Text(root == "/usr" ? "distribution" : "default");
}

void find_parts(const Host& host, const DryRun& dry, Toolkit& t) {
  for (const std::string& folder : library_folders(t.root.value(), dry))
    if (!t.library_dir.known() && (!longest(host, folder, "libcudart.so.").empty() ||
                                   has(host, folder, "libcudart_static.a")))
      t.library_dir = Text(folder, "libcudart");
  find_headers(host, dry, t);
  find_cudart(host, t);
  find_missing(host, dry, t);
}

void read_cicc_release(const Host& host, const DryRun& dry, Toolkit& t) {
  const std::string path = tool_path(host, t, dry, "cicc");
  Result<std::unique_ptr<File>> file = host.open(path);
  if (path.empty() || !file) return;
  Result<ElfFile> elf = read_elf(**file, 0, (*file)->size());
  const ElfSection* data = elf ? elf->section(".rodata") : nullptr;
  if (!data) return;
  // Windows that overlap by more than the text is long.
  constexpr uint64_t kWindow = 1u << 20, kOverlap = 64;
  std::string text;
  for (uint64_t at = 0; at < data->size; at += kWindow - kOverlap) {
    const uint64_t left = data->size - at;
    const size_t length = static_cast<size_t>(left < kWindow ? left : kWindow);
    if (!(*file)->read(data->offset + at, length, text)) return;
    const size_t found = text.find("Cuda compilation tools, release ");
    // One that the window may cut is whole in the next.
    if (found == std::string::npos || (length < left && found + kOverlap > length)) continue;
    const std::string release = parse_release(text.substr(found, kOverlap));
    if (release.empty()) continue;
    t.cicc = Text(release, path);
    return;
  }
}

}  // namespace tcs
