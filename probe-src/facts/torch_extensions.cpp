// SPDX-License-Identifier: Apache-2.0
// Extension modules that lie directly in the folders of Python's packages: for which torch, CUDA
// and devices they were built.
#include "base/text.h"
#include "facts/torch_files.h"
#include "readers/elf.h"
#include "readers/images.h"

namespace tcs {
namespace {

constexpr size_t kMostModules = 200;

bool of_torch(const std::string& name) {
  for (const char* space : {"_ZN3c10", "_ZNK3c10", "_ZN2at", "_ZNK2at", "_ZN5torch", "_ZNK5torch"})
    if (starts_with(name, space)) return true;
  return false;
}

// std::string in a signature, as both layouts are mangled. The old one has two letters, which are
// looked for where only a type can stand.
bool has_new_string(const std::string& name) {
  return of_torch(name) && (contains(name, "7__cxx11") || contains(name, "B5cxx11"));
}
bool has_old_string(const std::string& name) {
  return of_torch(name) && !contains(name, "cxx11") &&
         (contains(name, "RKSs") || contains(name, "ESs") || ends_with(name, "Ss"));
}

// A module that hands no strings to torch goes with both.
Flag abi_of(const Host& host, const std::string& path, const Flag& torch) {
  Result<bool> fresh = needs_symbol(host, path, has_new_string);
  if (!fresh) return {};
  if (*fresh) return Flag(true, "symbols of " + path);
  Result<bool> old = needs_symbol(host, path, has_old_string);
  if (!old) return {};
  if (*old) return Flag(false, "symbols of " + path);
  return torch.known() ? Flag(torch.value(), "no symbol of " + path + " has a string in it")
                       : Flag();
}

// The major in the names of libraries that count as CUDA does; with the runtime linked in there is
// none.
Text cuda_of(const ElfDynamic& dynamic, const std::string& path) {
  for (const char* stem : {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvrtc.so."})
    for (const std::string& name : dynamic.needed)
      if (const Version version =
              Version::parse(starts_with(name, stem) ? name.substr(std::string(stem).size()) : "");
          version.known())
        return Text(cat(version.major()), "DT_NEEDED of " + path);
  return Text("none", "DT_NEEDED of " + path);
}

void add_images(const Host& host, const std::string& path, Extension& out) {
  Result<ImageList> list = read_images(host, path);
  if (!list) return;
  List<std::string> images;
  for (const ImageCount& row : list->images) images.push_back(row.image.str());
  out.images = Names(std::move(images), path);
  // Sorted as text: 7.8 comes before 8.0, and no release has two digits in its minor.
  if (list->ptx_unread == 0 && !list->ptx_isa.empty())
    out.ptx_isa = Text(list->ptx_isa.back(), path);
}

// One that is there and was not looked at: nothing else of it is known.
void add_unread(const std::string& name, std::string reason, Facts& facts) {
  Extension out;
  if (!name.empty()) out.name = Text(name);
  out.role = Text("neighbour");
  out.reason = std::move(reason);
  facts.extensions.push_back(out);
}

// What is no ELF file, or not a whole one, nobody can import.
bool opens(const Host& host, const std::string& path) {
  Result<std::unique_ptr<File>> file = host.open(path);
  return static_cast<bool>(file);
}

bool needs_torch(const ElfDynamic& dynamic) {
  for (const std::string& name : dynamic.needed)
    if (starts_with(name, "libc10.so") || starts_with(name, "libtorch")) return true;
  return false;
}

}  // namespace

void gather_extensions(const Host& host, Facts& facts) {
  size_t modules = 0;
  facts.extensions_known = true;
  for (const std::string& folder : facts.python.search_path) {
    if (ends_with(folder, "/lib-dynload")) continue;  // the standard library's own
    Result<List<std::string>> names = host.list(folder);
    if (!names && host.stat(folder).is_dir()) add_unread("", folder + " cannot be read", facts);
    for (const std::string& name : names ? *names : List<std::string>()) {
      if (!ends_with(name, ".so") || ++modules > kMostModules) continue;
      const std::string path = path_join(folder, name);
      Result<ElfDynamic> dynamic = read_dynamic(host, path);
      if (!dynamic && !opens(host, path)) add_unread(name, path + " cannot be read", facts);
      if (!dynamic || !needs_torch(*dynamic)) continue;
      Extension extension;
      extension.name = Text(name, path);
      extension.role = Text("neighbour", folder);
      extension.cuda = cuda_of(*dynamic, path);
      extension.cxx11_abi = abi_of(host, path, facts.torch.cxx11_abi);
      add_images(host, path, extension);
      facts.extensions.push_back(extension);
    }
  }
  if (modules > kMostModules)
    add_unread("", cat("of ", modules, " modules the first ", kMostModules, " were looked at"),
               facts);
}

}  // namespace tcs
