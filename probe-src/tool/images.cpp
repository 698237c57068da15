// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"
#include "tool/verbs.h"

namespace tcs {

int verb_images(Host& host, const List<std::string>& args) {
  const char* synopsis = "tcstack images [--json] [--] FILE...";
  Options options;
  int status = 0;
  if (!parse_options(args, {{"--json", nullptr, "print JSON instead of tables", false}}, synopsis,
                     options, status)) {
    return status;
  }
  if (options.words.empty()) {
    print_err(cat("tcstack: images needs at least one file\nusage: ", synopsis, "\n"));
    return 2;
  }
  List<ImageResult> files;
  List<ImageList> read;
  for (const std::string& path : options.words) {
    files.push_back({path, read_images(host, path)});
    const ImageResult& file = files.back();
    if (file.list) read.push_back(*file.list);
    if (!file.list) {
      status = 2;
      print_err(cat("tcstack: ", ascii(file.list.error().str()), "\n"));
    }
  }
  std::string out =
      options.has("--json") ? write_json(images_json(files)) + "\n" : images_table(read);
  return print_out(out) ? status : 3;
}

}  // namespace tcs
