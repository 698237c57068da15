// SPDX-License-Identifier: Apache-2.0
#include "tool/stamp.h"

#include "base/text.h"
#include "tool/settings.h"

namespace tcs {

namespace {

const char watch_prefix[] = "watch ";

// Those that change an answer, and those that say where a user's files are.
bool in_stamp(const std::string& name) {
  return variable_matters(name) || starts_with(name, "CONDA_") || name == "HOME" ||
         name == "XDG_CACHE_HOME";
}

// Values may hold line ends; a stamp is lines.
std::string one_line(const std::string& text) {
  return replace_all(replace_all(text, "\\", "\\\\"), "\n", "\\n");
}
std::string from_one_line(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool escaped = text[i] == '\\' && i + 1 < text.size();
    if (escaped) ++i;
    out += escaped && text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

// A device's rights may change, and its times do not.
std::string file_line(const Host& host, const std::string& path) {
  FileStat stat = host.stat(path);
  const bool closed = starts_with(path, "/dev/") && !host.may_open(path);
  return cat(watch_prefix, one_line(path), "\n  ", one_line(host.real_path(path)), " ", stat.size,
             " ", stat.mtime_ns, " ", stat.inode, closed ? " closed\n" : "\n");
}

// Files of /proc and /sys have no useful times: their text counts.
std::string text_line(const Host& host, const std::string& path) {
  Result<std::string> text = host.read(path, 65536);
  return cat("text ", path, " ", text ? one_line(*text) : "-", "\n");
}

std::string stamp_text(const Host& host, const Inputs& in, const List<std::string>& watched) {
  FileStat self = host.stat(host.self());
  std::string out =
      cat("torch-cuda-stack/stamp/1 " TCS_VERSION " ", self.size, " ", self.mtime_ns, "\n");
  for (const auto& pair : in.set) out += cat("set ", pair.first, "=", one_line(pair.second), "\n");
  if (Result<Language> language = make_language(host, in);
      language && *language != Language::English)
    out += "lang zh\n";
  for (const auto& pair : host.environment()) {
    if (in_stamp(pair.first)) out += cat("env ", pair.first, "=", one_line(pair.second), "\n");
  }
  for (const char* path : {"/proc/sys/kernel/random/boot_id", "/proc/driver/nvidia/version",
                           "/sys/module/nvidia/version", "/etc/nv_tegra_release"}) {
    out += text_line(host, path);
  }
  for (const std::string& path : watched) out += file_line(host, path);
  return out;
}

void watch(List<std::string>& paths, const std::string& path) {
  if (!path.empty()) paths.push_back(path);
}

// Folders and files that the user named, there or not: they may come, go or change.
void watch_named(List<std::string>& paths, const std::string& value) {
  for (const std::string& path : split(value, ":;")) {
    if (!starts_with(path, "/")) continue;
    watch(paths, path);
    watch(paths, path_join(path, "bin"));
  }
}

List<std::string> files_behind(const Host& host, const Inputs& in, const Facts& facts) {
  List<std::string> paths = {"/etc/ld.so.cache", "/usr/local", "/dev/nvidia0", "/dev/nvidiactl",
                             "/dev/dxg"};
  for (const auto& input : in.set) {
    const bool project = input.first == "SOURCE_DIR" || input.first == "BINARY_DIR";
    if (!project) watch_named(paths, input.second);  // each build changes those
  }
  for (const auto& variable : host.environment())
    if (variable_matters(variable.first)) watch_named(paths, variable.second);
  for (const std::string& folder : facts.python.search_path) watch(paths, folder);
  for (const std::string& folder : split(host.env_or("LD_LIBRARY_PATH", ""), ":")) {
    watch(paths, path_join(folder, "libcuda.so.1"));
  }
  for (const LibCuda& lib : facts.driver.libcuda) watch(paths, lib.path.value());
  for (const DeviceNode& node : facts.driver.nodes) watch(paths, node.path.value());
  watch(paths, facts.driver.nvml.path.value());
  for (const Toolkit& toolkit : facts.toolkits.list) {
    watch(paths, toolkit.nvcc.value());
    watch(paths, toolkit.root.value());
    if (toolkit.root.known()) watch(paths, path_join(toolkit.root.value(), "bin"));
  }
  watch(paths, facts.host_compiler.path.value());
  watch(paths, facts.python.executable.value());
  watch(paths, facts.python.prefix.value());
  if (facts.torch.root.known()) {
    std::string root = facts.torch.root.value();
    for (const char* part : {"", "version.py", "build-version", "lib", "lib/libtorch_cuda.so",
                             "share/cmake/Torch/TorchConfig.cmake"}) {
      watch(paths, *part == '\0' ? root : path_join(root, part));
    }
    watch(paths, path_parent(root));  // the site folder: a new or removed dist-info shows here
  }
  if (facts.tree.root.known())
    for (const char* part : {"version.txt", "CMakeLists.txt", "cmake/public/cuda.cmake"})
      watch(paths, path_join(facts.tree.root.value(), part));
  for (const Library& library : facts.libraries) watch(paths, library.path.value());
  if (!in.work_dir.empty()) watch(paths, path_join(path_parent(in.work_dir), "toolkit"));
  if (!in.cache_dir.empty()) watch(paths, path_join(in.cache_dir, "toolkits"));
  Setting replayed = own_input(host, in, "FACTS");
  watch(paths, replayed.value);
  sort_unique(paths);
  return paths;
}

}  // namespace

std::string make_stamp(const Host& host, const Inputs& in, const Facts& facts) {
  return stamp_text(host, in, files_behind(host, in, facts));
}

bool stamp_holds(const Host& host, const Inputs& in, const std::string& stamp) {
  List<std::string> watched;
  for (const std::string& line : lines_of(stamp)) {
    if (starts_with(line, watch_prefix)) watched.push_back(from_one_line(line.substr(6)));
  }
  return !watched.empty() && stamp_text(host, in, watched) == stamp;
}

}  // namespace tcs
