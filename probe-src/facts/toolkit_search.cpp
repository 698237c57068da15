// SPDX-License-Identifier: Apache-2.0
#include "facts/toolkit_search.h"

#include "base/text.h"

namespace tcs {
namespace {

bool is_launcher(const std::string& path) {
  for (const char* name : {"ccache", "sccache", "buildcache", "distcc", "icecc", "fastbuild"})
    if (path_name(path) == name) return true;
  return false;
}

bool is_executable_file(const Host& host, const std::string& path) {
  FileStat s = host.stat(path);
  return s.is_file() && s.executable;
}

std::string what_is_there(const Host& host, const std::string& path) {
  FileStat s = host.stat(path);
  if (s.is_dir()) return path + " is a directory; expected the compiler";
  if (s.is_file()) return path + " is not executable";
  return cat(path, ": ", s.reason.empty() ? "not a file" : s.reason);
}

struct ToolkitSearch {
  const Host& host;
  std::string path;  // PATH
  List<NvccPlace> places;

  // Equal programs are sorted out later; here only what the links and launchers hide is resolved.
  void settle(NvccPlace& place) const {
    if (place.program.empty()) return;
    std::string real = host.real_path(place.program);
    place.clang =
        starts_with(path_name(real), "clang") || starts_with(path_name(place.program), "clang");
    if (place.clang) return;
    if (is_launcher(real)) return behind_launcher(place, real);
    // nvcc does not follow a link to itself: it takes its nvcc.profile from beside the link. With
    // one there that is a link too, this is a link farm, perhaps our own, and the toolkit lies
    // behind it. With none it will not work; what the user named stays so, as CMake would call it
    // that way too.
    std::string folder = path_parent(place.program), behind = path_parent(real) + "/nvcc.profile";
    if (host.real_path(folder) == path_parent(real) || !host.stat(behind).exists()) return;
    std::string profile = host.real_path(folder + "/nvcc.profile");
    if (profile == host.real_path(behind) || (profile.empty() && place.say != Say::Explicit))
      place.program = real;
  }

  // ccache under the name nvcc calls the next nvcc on PATH.
  void behind_launcher(NvccPlace& place, const std::string& launcher) const {
    place.reason = cat(place.program, " is ", path_name(launcher));
    place.program.clear();
    for (const std::string& folder : split(path, ":")) {
      std::string program = path_join(folder, "nvcc");
      if (!is_executable_file(host, program) || is_launcher(host.real_path(program))) continue;
      place.program = program;
      return;
    }
    place.reason += ", and PATH has no nvcc for it to call";
  }

  void add(NvccPlace place) {
    if (place.program.empty() && place.say == Say::None) return;
    // What is compiled to try it, and the build, are started in folders of their own.
    if (!place.program.empty()) place.program = path_join(host.cwd(), place.program);
    settle(place);
    places.push_back(place);
  }

  // A compiler as CMake takes it: a path (blanks allowed), a name on PATH, or a list / command
  // line whose first words may be launchers.
  void compiler(const std::string& origin, const std::string& text) {
    NvccPlace place;
    place.origin = origin;
    place.say = Say::Explicit;
    if (trim(text).empty()) return;
    List<std::string> words{text};
    if (!host.stat(text).exists() && contains(text, ";")) words = split(text, ";");
    if (words.size() == 1 && !host.stat(text).exists()) words = split(text, " \t");
    size_t at = 0;
    while (at + 1 < words.size() && is_launcher(words[at])) ++at;
    if (at > 0) place.origin += cat(" (through ", path_name(words[0]), ")");
    std::string program = words[at];
    if (!contains(program, "/")) {
      place.program = find_program(host, program, path);
      if (place.program.empty()) place.reason = cat("PATH has no ", program);
      place.named = program;
    } else if (is_executable_file(host, program)) {
      place.program = program;
    } else {
      place.named = words.size() == 1 ? text : program;
      place.reason = what_is_there(host, place.named);
    }
    add(place);
  }

  // A toolkit folder; users also name its bin folder, nvcc itself, or a PATH-like list.
  void root(const std::string& origin, Say say, const std::string& text) {
    if (trim(text).empty()) return;
    NvccPlace place;
    place.origin = origin;
    place.say = say;
    List<std::string> roots{text};
    if (!host.stat(text).exists() && contains(text, ":")) roots = split(text, ":");
    for (std::string root : roots) {
      while (root.size() > 1 && root.back() == '/') root.pop_back();
      for (const char* inside : {"bin/nvcc", "nvcc", "nvidia/cu13/bin/nvcc", ""}) {
        std::string program = *inside == 0 ? root : path_join(root, inside);
        if (!place.program.empty() || !is_executable_file(host, program)) continue;
        place.program = program;
      }
    }
    if (place.program.empty()) {
      FileStat s = host.stat(text);
      place.named = path_join(text, "bin/nvcc");
      place.reason = s.is_dir() ? cat(text, " holds no bin/nvcc") : what_is_there(host, text);
    } else if (roots.size() > 1) {
      place.reason = cat("'", text, "' is a list; took the first toolkit in it");
    }
    add(place);
  }

  void usual_places() {
    root("/usr/local/cuda", Say::None, "/usr/local/cuda");
    Result<List<std::string>> names = host.list("/usr/local");
    for (size_t i = names ? names->size() : 0; i-- > 0;)
      if (starts_with((*names)[i], "cuda-"))
        root("/usr/local/" + (*names)[i], Say::None, "/usr/local/" + (*names)[i]);
    root("/opt/cuda", Say::None, "/opt/cuda");
    root("distribution", Say::None, "/usr/bin/nvcc");
  }
};

}  // namespace

List<NvccPlace> nvcc_places(const Host& host, const Inputs& in, const Facts& facts) {
  ToolkitSearch s{host, host.env_or("PATH", ""), {}};
  auto input = [&](const char* name) {
    const std::string* value = in.find(name);
    return value ? *value : std::string();
  };
  for (const char* name : {"TREE_CUDA_COMPILER", "CMAKE_CUDA_COMPILER"})
    s.compiler(name, input(name));
  const Text& kept = facts.tree.build.compiler;
  if (!in.find("TREE_CUDA_COMPILER") && !in.find("CMAKE_VERSION") && kept.known() &&
      !kept.is("none"))
    s.compiler("TREE_CUDA_COMPILER", kept.value());
  s.root("TorchCudaStack_TOOLKIT", Say::Explicit, input("TOOLKIT"));
  if (!in.find("TOOLKIT"))
    s.root("TORCH_CUDA_STACK_TOOLKIT", Say::Explicit, host.env_or("TORCH_CUDA_STACK_TOOLKIT", ""));
  s.root("TorchCudaStack_PROVISION", Say::Explicit, input("PROVISIONED"));
  for (const char* name : {"CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR"})
    s.root(cat(name, " (variable)"), Say::Explicit, input(name));
  s.compiler("CUDACXX", host.env_or("CUDACXX", ""));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"})
    s.root(name, Say::Environment, host.env_or(name, ""));
  NvccPlace on_path;
  on_path.origin = "PATH";
  on_path.program = find_program(host, "nvcc", s.path);
  s.add(on_path);
  s.root("conda prefix", Say::None, host.env_or("CONDA_PREFIX", ""));
  List<std::string> sites = facts.python.search_path;
  if (facts.torch.root.known()) add_once(sites, path_parent(facts.torch.root.value()));
  for (const std::string& site : sites)
    for (const char* name : {"nvidia/cu14", "nvidia/cu13", "nvidia/cuda_nvcc"})
      s.root(cat("pip package ", name), Say::None, path_join(site, name));
  s.usual_places();
  return s.places;
}

}  // namespace tcs
