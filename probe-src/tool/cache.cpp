// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

struct Size {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// Links are not followed: those of a completed toolkit lead to the user's own files.
void measure(const Host& host, const std::string& path, int depth, Size& size) {
  if (host.real_path(path) != path) return;
  FileStat stat = host.stat(path);
  if (stat.is_file()) {
    ++size.files;
    size.bytes += stat.size;
  }
  if (!stat.is_dir() || depth == 0) return;
  Result<List<std::string>> names = host.list(path);
  if (!names) return;
  for (const std::string& name : *names) measure(host, path_join(path, name), depth - 1, size);
}

// What the cache holds lies in these folders; nothing else in the directory is ours to remove.
const char* const cache_parts[] = {"core", "answers", "images", "toolkits", "toolkits-pypi", "run"};

}  // namespace

void trim_cache(Host& host) {
  const size_t kept = 8;
  std::string own = path_parent(host.self());
  std::string core = path_parent(own);
  if (path_name(host.self()) != "tcstack-core" || path_name(core) != "core") return;
  Result<List<std::string>> names = host.list(core);
  if (!names || names->size() <= kept) return;
  List<std::pair<int64_t, std::string>> by_age;
  for (const std::string& name : *names) {
    std::string path = path_join(core, name);
    // A young one may be another configure's, not yet renamed into its place.
    int64_t age_s = host.now() - host.stat(path).mtime_ns / 1000000000;
    if (path != own && age_s > 3600) by_age.push_back({-age_s, path});
  }
  sort_few(by_age);
  for (size_t i = 0; i < by_age.size() && names->size() - i > kept; ++i) {
    (void)host.remove_tree(by_age[i].second);
  }
}

int verb_cache(Host& host, const List<std::string>& args) {
  static const List<OptionSpec> specs = {
      {"--dir", "DIR", "the cache (default: TORCH_CUDA_STACK_CACHE_DIR, else the user's cache)",
       false}};
  Options options;
  int status = 0;
  if (!parse_options(args, specs, "tcstack cache info|clear [--dir DIR]", options, status))
    return status;
  bool clear = options.words == List<std::string>{"clear"};
  if (!clear && options.words != List<std::string>{"info"}) {
    print_err("tcstack cache: say what to do: info or clear\n");
    return 2;
  }
  Result<std::string> folder =
      options.has("--dir") ? options.get("--dir") : cache_folder(host, Inputs{});
  if (!folder) {
    print_err(cat("tcstack cache: ", folder.error().str(), "\n"));
    return 2;
  }
  const std::string dir = *folder;
  if (dir.empty()) {
    print_err("tcstack cache: there is none: it is switched off, or HOME is not set\n");
    return 2;
  }
  std::string out = cat("cache ", dir, "\n");
  for (const char* part : cache_parts) {
    Size size;
    measure(host, path_join(host.real_path(dir), part), 24, size);
    if (clear) {
      Result<Done> gone = host.remove_tree(path_join(dir, part));
      if (!gone) {
        print_err(cat("tcstack cache: cannot remove ", gone.error().str(), "\n"));
        return 3;
      }
    }
    out += cat("  ", part, clear ? ": removed " : ": ", size.files,
               size.files == 1 ? " file, " : " files, ", (size.bytes + 512) / 1024, " KiB\n");
  }
  return print_out(out) ? 0 : 3;
}

}  // namespace tcs
