// SPDX-License-Identifier: Apache-2.0
#include "full/build_input.h"

#include "base/text.h"
#include "base/utf8.h"
#include "drive/projects.h"

namespace tcs {

namespace {

// Of runs that were killed while they checked.
void remove_old(Host& host, const std::string& folder) {
  constexpr int64_t kDay = 86400;
  Result<List<std::string>> names = host.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    uint64_t since = 0;
    if (parse_number(name.substr(0, name.find('-')), UINT64_MAX, since) &&
        static_cast<int64_t>(since) + kDay < host.now())
      (void)host.remove_tree(path_join(folder, name));
  }
}

// Words of a variable that is cut as a shell would, each as it is written.
List<std::string> written_words(const std::string& text) {
  List<std::string> words;
  std::string word;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (!word.empty()) words.push_back(word);
      word.clear();
      continue;
    }
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    word += c;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) word += text[++i];
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// -DNAME=VALUE, -DNAME:TYPE=VALUE and the two with a blank after -D, of one of `names`.
std::string without_entries(const std::string& text, const List<std::string>& names) {
  List<std::string> kept;
  const List<std::string> words = written_words(text);
  for (size_t i = 0; i < words.size(); ++i) {
    const bool apart = words[i] == "-D" && i + 1 < words.size();
    const std::string pair = apart ? words[i + 1] : words[i];
    const std::string named = starts_with(pair, "-D") ? pair.substr(2) : apart ? pair : "";
    const std::string name = named.substr(0, named.find_first_of(":="));
    if (!contains(names, name)) kept.push_back(apart ? cat("-D ", pair) : pair);
    if (apart) ++i;
  }
  return kept.size() == words.size() ? text : join(kept, " ");
}

}  // namespace

// Installed: <prefix>/bin/tcstack and <prefix>/share/cmake/TorchCudaStack/modules; in a build tree
// inside the checkout: modules/ in a folder above. CMake runs what it holds: nobody else's.
std::string gate_path(const Host& host) {
  const std::string named = host.env_or("TORCH_CUDA_STACK_MODULES", "");
  if (!named.empty()) {
    const std::string gate = path_join(path_join(host.cwd(), named), kGate);
    return host.stat(gate).is_file() ? gate : std::string();
  }
  std::string folder = path_parent(host.self());
  for (int up = 0; up < 5 && folder.size() > 1; ++up, folder = path_parent(folder)) {
    for (const char* modules : {"/share/cmake/TorchCudaStack/modules", "/modules"}) {
      const FileStat at = host.stat(cat(folder, modules, "/", kGate));
      const bool installed = path_name(path_parent(host.self())) == "bin" && up == 1;
      if (at.is_file() && (installed || !at.foreign)) return cat(folder, modules, "/", kGate);
    }
  }
  return {};
}

std::string gate_fault(const Host& host) {
  const std::string named = host.env_or("TORCH_CUDA_STACK_MODULES", "");
  if (named.empty() || !gate_path(host).empty()) return {};
  return cat("TORCH_CUDA_STACK_MODULES (environment): ", ascii(named), " holds no ", kGate);
}

void forget_replaced(const Request& request, const Inputs& in, StringMap& users) {
  const auto forget = [&](const char* names, const char* entries) {
    for (const std::string& name : split(names, " ")) users.erase(name);
    const std::string* args = users.find("CMAKE_ARGS");
    if (args != nullptr) users["CMAKE_ARGS"] = without_entries(*args, split(entries, " "));
  };
  const Text& list = request.arch_list;
  if (list.known() && !ends_with(list.from, "(environment)")) {
    forget("TORCH_CUDA_ARCH_LIST CUDAARCHS", "TORCH_CUDA_ARCH_LIST CMAKE_CUDA_ARCHITECTURES");
    for (const ProjectList& one : project_lists())
      one.where == Where::Environment ? forget(one.variable, "") : forget("", one.variable);
  }
  for (const char* name :
       {"TOOLKIT", "CMAKE_CUDA_COMPILER", "CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR"})
    if (in.find(name))
      forget("CUDA_HOME CUDA_PATH CUDACXX",
             "CMAKE_CUDA_COMPILER CUDAToolkit_ROOT CUDA_TOOLKIT_ROOT_DIR");
  if (in.find("CMAKE_CUDA_HOST_COMPILER"))
    forget("CUDAHOSTCXX NVCC_CCBIN", "CMAKE_CUDA_HOST_COMPILER CUDA_HOST_COMPILER");
}

std::string host_compiler_of(const Facts& facts, const Inputs& in) {
  const std::string* named = in.find("CMAKE_CUDA_HOST_COMPILER");
  if (named != nullptr) return *named;
  const Toolkit* toolkit = facts.toolkit();
  return toolkit != nullptr ? toolkit->fitting_host_compiler.value() : std::string();
}

std::string own_folder(Host& host, const std::string& base) {
  if (base.empty() || !host.make_directories(base) || host.stat(base).foreign) return {};
  remove_old(host, path_join(base, "run"));
  const std::string process = path_name(host.real_path("/proc/self"));
  const std::string folder = path_join(base, cat("run/", host.now(), "-", process));
  return host.make_directories(folder) ? folder : std::string();
}

}  // namespace tcs
