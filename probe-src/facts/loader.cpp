// SPDX-License-Identifier: Apache-2.0
#include "facts/loader.h"

#include "base/text.h"
#include "readers/elf.h"

namespace tcs {
namespace {

constexpr size_t most_objects = 2000;  // a process with more is not torch's
constexpr uint32_t most_cache_entries = 1u << 20;

// One object of the process to be: what its own NEEDED entries are resolved with.
struct Object {
  ElfDynamic dynamic;
  std::string folder;  // $ORIGIN
  std::string name;
  long parent = -1;  // who made it load; -1 = the program
};

std::string expand(const std::string& entry, const std::string& origin) {
  return replace_all(replace_all(entry, "${ORIGIN}", origin), "$ORIGIN", origin);
}

// A search for one name on behalf of objects for one machine, and what it found.
struct Search {
  Loaded entry;
  ElfDynamic dynamic;
  uint16_t machine = 0;  // 0 = any
};

class Closure {
 public:
  Closure(const Host& host, const LoaderSetting& setting) : host_(host), setting_(setting) {}

  List<Loaded> walk(const List<std::string>& roots) {
    for (const std::string& root : roots) {
      Search search;
      search.entry.soname = path_name(root);
      if (known(search.entry.soname) || !attempt(root, "root", search)) continue;
      enter(std::move(search), -1);
      for (; next_ < objects_.size() && objects_.size() < most_objects; ++next_) needs(next_);
    }
    return std::move(out_);
  }

 private:
  // libc and its parts are in every process already and need nothing of CUDA.
  static bool basic(const std::string& name) {
    for (const char* stem : {"libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so",
                             "libgcc_s.so", "libstdc++.so", "ld-linux"})
      if (starts_with(name, stem)) return true;
    return false;
  }
  bool known(const std::string& name) const {
    for (const Loaded& entry : out_)
      if (entry.soname == name) return true;
    for (const Object& object : objects_)
      if (object.dynamic.soname == name) return true;
    return false;
  }
  // $ORIGIN is the folder of the path that was opened, links and all.
  void enter(Search search, long parent) {
    const Loaded& entry = search.entry;
    if (!entry.path.empty())
      objects_.push_back(
          {std::move(search.dynamic), path_parent(entry.path), entry.soname, parent});
    out_.push_back(std::move(search.entry));
  }

  void needs(size_t index) {
    const List<std::string> needed = objects_[index].dynamic.needed;
    for (const std::string& name : needed) {
      if (basic(name) || known(name)) continue;
      Search search;
      search.entry.soname = name;
      search.entry.needed_by = objects_[index].name;
      search.machine = objects_[index].dynamic.machine;
      Search without = search;
      resolve(static_cast<long>(index), search, setting_.library_path);
      if (search.entry.via == "LD_LIBRARY_PATH") {
        resolve(static_cast<long>(index), without, {});
        search.entry.elsewhere = without.entry.path;
      }
      enter(std::move(search), static_cast<long>(index));
    }
  }

  // The loader passes over files for another machine.
  bool attempt(const std::string& path, const std::string& via, Search& search) const {
    if (!host_.stat(path).is_file()) return false;
    Result<ElfDynamic> dynamic = read_dynamic(host_, path);
    if (!dynamic || (search.machine != 0 && dynamic->machine != search.machine)) return false;
    search.dynamic = std::move(*dynamic);
    search.entry.path = path;
    search.entry.via = via;
    return true;
  }
  bool in_folders(const List<std::string>& folders, const std::string& origin,
                  const std::string& via, Search& search) const {
    for (const std::string& folder : folders)
      if (attempt(path_join(expand(folder, origin), search.entry.soname), via, search)) return true;
    return false;
  }

  // ld.so(8): RPATH of the needer and of those that made it load (unless the needer has RUNPATH),
  // LD_LIBRARY_PATH, RUNPATH of the needer, the cache, the default folders.
  void resolve(long index, Search& search, const std::string& library_path) const {
    const Object& needer = objects_[static_cast<size_t>(index)];
    const std::string& name = search.entry.soname;
    if (contains(name, "/")) {
      attempt(name, "its path", search);
      return;
    }
    if (needer.dynamic.runpath.empty() && in_rpaths(index, search)) return;
    if (in_folders(split(library_path, ":;"), needer.folder, "LD_LIBRARY_PATH", search)) return;
    if (in_folders(needer.dynamic.runpath, needer.folder, "RUNPATH of " + needer.name, search))
      return;
    for (const auto& row : setting_.cache)
      if (row.first == name && attempt(row.second, "ld.so.cache", search)) return;
    in_folders(setting_.default_folders, {}, "default folders", search);
  }
  bool in_rpaths(long index, Search& search) const {
    for (long i = index; i >= 0; i = objects_[static_cast<size_t>(i)].parent) {
      const Object& object = objects_[static_cast<size_t>(i)];
      if (object.dynamic.runpath.empty() &&
          in_folders(object.dynamic.rpath, object.folder, "RPATH of " + object.name, search))
        return true;
    }
    return in_folders(setting_.program_rpath, {}, "RPATH of the program", search);
  }

  const Host& host_;
  const LoaderSetting& setting_;
  List<Object> objects_;
  List<Loaded> out_;
  size_t next_ = 0;
};

// The text at `offset` up to its NUL; false when it runs out of the bytes.
bool text_at(const std::string& bytes, uint64_t offset, std::string& out) {
  if (offset >= bytes.size()) return false;
  size_t end = bytes.find('\0', static_cast<size_t>(offset));
  if (end == std::string::npos) return false;
  out = bytes.substr(static_cast<size_t>(offset), end - static_cast<size_t>(offset));
  return true;
}

}  // namespace

// glibc's sysdeps/generic/dl-cache.h: an old table may come first ("ld.so-1.7.0", 12 bytes an
// entry), then the new one, whose offsets count from its own header.
List<std::pair<std::string, std::string>> parse_loader_cache(const std::string& bytes) {
  List<std::pair<std::string, std::string>> out;
  const Bytes view{std::string_view(bytes)};
  uint64_t base = 0;
  uint32_t count = 0;
  if (starts_with(bytes, "ld.so-1.7.0")) {
    if (!view.read(12, count) || count > most_cache_entries) return out;
    base = (16 + uint64_t{count} * 12 + 7) / 8 * 8;
  }
  Bytes magic;
  if (!view.sub(base, 20, magic) || magic.view() != "glibc-ld.so.cache1.1") return out;
  if (!view.read(base + 20, count) || count > most_cache_entries) return out;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t row = base + 48 + uint64_t{i} * 24;
    uint32_t key = 0, value = 0;
    std::string name, path;
    if (!view.read(row + 4, key) || !view.read(row + 8, value)) break;
    if (text_at(bytes, base + key, name) && text_at(bytes, base + value, path))
      out.push_back({std::move(name), std::move(path)});
  }
  return out;
}

LoaderSetting read_loader_setting(const Host& host, const std::string& program) {
  LoaderSetting out;
  out.library_path = host.env_or("LD_LIBRARY_PATH", "");
  if (Result<std::string> bytes = host.read("/etc/ld.so.cache", 64u << 20))
    out.cache = parse_loader_cache(*bytes);
  std::string real = program.empty() ? std::string() : host.real_path(program);
  if (!real.empty())
    if (Result<ElfDynamic> dynamic = read_dynamic(host, real); dynamic && dynamic->runpath.empty())
      for (const std::string& folder : dynamic->rpath)
        out.program_rpath.push_back(expand(folder, path_parent(real)));
  for (const char* folder :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    if (host.stat(folder).is_dir()) out.default_folders.push_back(folder);
  return out;
}

List<Loaded> load_closure(const Host& host, const List<std::string>& roots,
                          const LoaderSetting& setting) {
  return Closure(host, setting).walk(roots);
}

}  // namespace tcs
