// SPDX-License-Identifier: Apache-2.0
// Writes examples.def and docs/findings anew; a page of a finding that is no more is removed.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "pages.h"

int main() {
  const std::string root = TCS_SOURCE_DIR;
  const auto files = pages::all_files();
  for (const std::string folder : {"docs/findings/", "docs/findings/zh/"}) {
    std::filesystem::create_directories(root + "/" + folder);
    for (const auto& entry : std::filesystem::directory_iterator(root + "/" + folder))
      if (entry.is_regular_file() && files.count(folder + entry.path().filename().string()) == 0)
        std::filesystem::remove(entry.path());
  }
  int written = 0;
  for (const auto& [path, text] : files) {
    if (pages::read_source(path) == text) continue;
    std::ofstream(root + "/" + path) << text;
    ++written;
  }
  std::printf("%d of %zu files written\n", written, files.size());
}
