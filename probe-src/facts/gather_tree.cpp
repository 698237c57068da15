// SPDX-License-Identifier: Apache-2.0
// PyTorch's own source tree: what it asks for, read from the few lines of its CMake files that say
// so, and what an existing build folder of it was configured for.
#include "base/text.h"
#include "facts/gather.h"

namespace tcs {

bool is_pytorch_tree(const Host& host, const std::string& folder) {
  for (const char* part : {"aten", "c10", "torch"})
    if (!host.stat(path_join(folder, part)).is_dir()) return false;
  return host.stat(path_join(folder, "version.txt")).is_file() &&
         host.stat(path_join(folder, "cmake/Dependencies.cmake")).is_file();
}

namespace {

// The value of `name = "value"` in a TOML file.
std::string toml_text(const std::string& text, const char* name) {
  for (const std::string& line : lines_of(text)) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos || trim(line.substr(0, equals)) != name) continue;
    const List<std::string> parts = split(std::string(trim(line.substr(equals + 1))), "\"'");
    if (!parts.empty()) return parts[0];
  }
  return {};
}

// X of `if(<what> VERSION_LESS X)`, where the next lines stop the configure; "" = there is none.
std::string stops_below(const std::string& text, const char* what) {
  const List<std::string> lines = lines_of(text);
  const std::string question = cat(what, " VERSION_LESS ");
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t at = lines[i].find(question);
    if (at == std::string::npos || !starts_with(std::string(trim(lines[i])), "if(")) continue;
    const std::string number = lines[i].substr(at + question.size());
    const List<std::string> words = split(number, " \")");
    for (size_t next = i + 1; next < lines.size() && next < i + 4; ++next)
      if (contains(lines[next], "FATAL_ERROR") && !words.empty() &&
          Version::parse(words[0]).known())
        return words[0];
  }
  return {};
}

struct TreeFile {
  std::string path, text;
  bool read = false;
};
TreeFile tree_file(const Host& host, const std::string& root, const char* name) {
  TreeFile file;
  file.path = path_join(root, name);
  Result<std::string> text = host.read(file.path, 1u << 20);
  file.read = static_cast<bool>(text);
  if (text) file.text = *text;
  return file;
}

void learn_needs(const Host& host, TreeFacts& tree) {
  const TreeFile cuda = tree_file(host, tree.root.value(), "cmake/public/cuda.cmake"),
                 top = tree_file(host, tree.root.value(), "CMakeLists.txt");
  const std::string oldest = stops_below(cuda.text, "CUDA_VERSION");
  if (!oldest.empty())
    tree.cuda_min = Text(oldest, cuda.path);
  else
    tree.reason = cat(cuda.path, cuda.read ? " does not say" : " cannot be read");
  if (!top.read) return;
  const std::string gcc = stops_below(top.text, "CMAKE_CXX_COMPILER_VERSION");
  tree.gcc_min = Text(gcc.empty() ? "none" : gcc, top.path);
}

// setup.py runs cmake once and then keeps what it finds; which words make it begin anew depends on
// the release.
void learn_era(const Host& host, TreeFacts& tree) {
  const TreeFile project = tree_file(host, tree.root.value(), "pyproject.toml"),
                 setup = tree_file(host, tree.root.value(), "setup.py");
  const std::string backend = toml_text(project.text, "build-backend");
  if (contains(backend, "scikit_build_core")) {
    tree.era = Text("scikit-build-core", project.path);
    tree.fresh = Text("SKBUILD_CMAKE_FRESH=1", project.path);
  } else if (setup.read && (backend.empty() || contains(backend, "setuptools"))) {
    tree.era = Text("setup.py", project.read ? project.path : setup.path);
    if (contains(setup.text, "CMAKE_FRESH")) tree.fresh = Text("CMAKE_FRESH=1", setup.path);
  }
}

std::string build_folder(const Host& host, const Inputs& in, const TreeFacts& tree) {
  if (const std::string* named = in.find("BINARY_DIR"); named && !named->empty()) return *named;
  std::string folder;
  if (tree.era.is("scikit-build-core"))
    folder = toml_text(tree_file(host, tree.root.value(), "pyproject.toml").text, "build-dir");
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  // One that is named by the Python that builds ("build/{wheel_tag}") is made by the build alone.
  if (folder.empty() || contains(folder, "{")) folder = "build";
  return path_join(tree.root.value(), folder);
}

std::string cached(const List<std::string>& cache, const char* name) {
  for (const std::string& line : cache) {
    const size_t colon = line.find(':'), equals = line.find('=', colon + 1);
    if (colon == std::string::npos || equals == std::string::npos) continue;
    if (line.compare(0, colon, name) == 0 && equals + 1 < line.size())
      return line.substr(equals + 1);
  }
  return "none";
}

// "arch=compute_90a,code=sm_90a" of each -gencode in a line of flags; code=[compute_90,sm_90] is
// two.
List<std::string> gencodes_in(const std::string& flags) {
  List<std::string> found;
  for (size_t at = 0; (at = flags.find("-gencode", at)) != std::string::npos;) {
    at = flags.find("arch=", at);
    if (at == std::string::npos) break;
    const size_t end = flags.find_first_of(" \"'\n\\", at);
    const std::string flag = flags.substr(at, end == std::string::npos ? end : end - at);
    const size_t code = flag.find("code=") + 5;  // within the flag, also where it has none
    for (const std::string& each : split(flag.substr(code), "[],"))
      add_once(found, flag.substr(0, code) + each);
  }
  sort_unique(found);
  return found;
}

// Some sources have more of their own, so that the shortest of several lines is what all have. The
// file of a whole PyTorch has tens of MB.
void read_ninja(const Host& host, const std::string& path, TreeBuild& build) {
  constexpr size_t kWindow = 1u << 20, kMost = 128;
  constexpr int kLines = 64;
  Result<std::unique_ptr<File>> file = host.open(path);
  if (!file) return;
  List<std::string> shortest;
  std::string window, rest;
  int lines = 0;
  for (uint64_t at = 0; at < (*file)->size() && at < kMost * kWindow && lines < kLines;
       at += kWindow) {
    const uint64_t left = (*file)->size() - at;
    if (!(*file)->read(at, left < kWindow ? static_cast<size_t>(left) : kWindow, window)) return;
    window = rest + window;
    const size_t end = window.rfind('\n');
    rest = end == std::string::npos || window.size() - end > kWindow ? "" : window.substr(end + 1);
    for (size_t hit = 0; lines < kLines && (hit = window.find("-gencode", hit)) < end; ++lines) {
      const size_t start = window.rfind('\n', hit) + 1, stop = window.find('\n', hit);
      const List<std::string> found = gencodes_in(window.substr(start, stop - start));
      if (shortest.empty() || found.size() < shortest.size()) shortest = found;
      hit = stop;
    }
  }
  build.gencodes = Names(shortest, path);
}

// A configure that is under way writes its build.ninja anew, and one from scratch all.
void learn_build(const Host& host, const Inputs& in, TreeFacts& tree) {
  TreeBuild& build = tree.build;
  std::string folder = build_folder(host, in, tree), value;
  const std::string cache = path_join(folder, "CMakeCache.txt");
  if (!host.stat(cache).exists()) return void(build.path = Text("none", cache));
  for (const char* name : {"CMAKE_FRESH", "SKBUILD_CMAKE_FRESH"})
    if (starts_with(tree.fresh.value(), cat(name, "=")) && host.env(name, value) &&
        !value.empty() && value != "0")
      return void(build.path = Text("none", name));
  if (in.find("FRESH")) return void(build.path = Text("none", "it is configured anew"));
  Result<std::string> text = host.read(cache, 16u << 20);
  if (!text) return void(build.reason = text.error().str());
  build.path = Text(folder, cache);
  const List<std::string> lines = lines_of(*text);
  build.list = Text(cached(lines, "TORCH_CUDA_ARCH_LIST"), cache);
  build.compiler = Text(cached(lines, "CMAKE_CUDA_COMPILER"), cache);
  if (in.find("CMAKE_VERSION"))
    build.gencodes = Names({}, "this configure");
  else
    read_ninja(host, path_join(folder, "build.ninja"), build);
}

}  // namespace

void gather_tree(const Host& host, const Inputs& in, Facts& facts) {
  const std::string* source = in.find("SOURCE_DIR");
  if (!source || source->empty()) return;
  TreeFacts& tree = facts.tree;
  const std::string root = path_join(host.cwd(), *source);
  if (!is_pytorch_tree(host, root)) return void(tree.state = Text("absent", root));
  tree.state = Text("found", root);
  tree.root = Text(root, "SOURCE_DIR");
  const TreeFile version = tree_file(host, root, "version.txt");
  if (!trim(version.text).empty())
    tree.version = Text(std::string(trim(version.text)), version.path);
  learn_era(host, tree);
  learn_needs(host, tree);
  learn_build(host, in, tree);
}

}  // namespace tcs
