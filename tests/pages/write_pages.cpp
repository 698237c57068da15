// SPDX-License-Identifier: Apache-2.0
// Writes examples.def and docs/findings anew; a page of a finding that is no more is removed.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "pages.h"

int main() {
  const std::string root = TCS_SOURCE_DIR;
  const auto files = pages::all_files();
  std::filesystem::create_directories(root + "/docs/findings");
  for (const auto& entry : std::filesystem::directory_iterator(root + "/docs/findings"))
    if (files.count("docs/findings/" + entry.path().filename().string()) == 0)
      std::filesystem::remove(entry.path());
  int written = 0;
  for (const auto& [path, text] : files) {
    if (pages::read_source(path) == text) continue;
    std::ofstream(root + "/" + path) << text;
    ++written;
  }
  std::printf("%d of %zu files written\n", written, files.size());
}
