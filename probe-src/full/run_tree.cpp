// SPDX-License-Identifier: Apache-2.0
// A command that builds PyTorch itself: which tree, and which build folder.
#include "full/run.h"
#include "host/host.h"

namespace tcs {

namespace {

// -S DIR, -SDIR ...; "" where it is not there.
std::string folder_after(const List<std::string>& words, const char* option) {
  std::string folder;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size())
      folder = words[i + 1];
    else if (starts_with(words[i], option))
      folder = words[i].substr(2);
  }
  return folder;
}

}  // namespace

void learn_tree(const Host& host, Run& run) {
  StringMap& set = run.asked.inputs.set;
  const std::string* purpose = set.find("PURPOSE");
  if (purpose && *purpose != "pytorch-source") return;
  const bool cmake = configures_with_cmake(run.words);
  List<std::string> folders = {host.cwd()};
  for (size_t i = 1; i < run.words.size(); ++i)
    if (!starts_with(run.words[i], "-")) folders.push_back(path_join(host.cwd(), run.words[i]));
  if (cmake) folders = {path_join(host.cwd(), folder_after(run.words, "-S"))};
  for (const std::string& folder : folders)
    if (!set.find("SOURCE_DIR") && is_pytorch_tree(host, folder)) set["SOURCE_DIR"] = folder;
  if (!set.find("SOURCE_DIR")) return;
  if (cmake && !set.find("BINARY_DIR"))
    set["BINARY_DIR"] = path_join(host.cwd(), folder_after(run.words, "-B"));
  // setup.py's word, and CMake's.
  if (contains(run.words, cmake ? "--fresh" : "--cmake")) set["FRESH"] = "ON";
}

// From 2.15 on the build hands CMAKE_ARGS to each configure, and -D comes before the cache.
void list_is_given(Run& run) {
  TreeFacts& tree = run.facts.tree;
  if (!tree.era.is("scikit-build-core") || configures_with_cmake(run.words)) return;
  tree.build.list = Text("none", "CMAKE_ARGS");
  tree.build.gencodes = Names({}, "CMAKE_ARGS");
}

}  // namespace tcs
