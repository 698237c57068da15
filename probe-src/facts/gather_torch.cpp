// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "facts/torch_files.h"
#include "readers/elf.h"
#include "readers/images.h"

namespace tcs {
namespace {

// Same symbol, but for the mark of the ABI, in every libc10.so from 1.13 to 2.15: a function that
// returns std::string.
constexpr const char* symbol_new_abi = "_ZN3c108demangleB5cxx11EPKc";
constexpr const char* symbol_old_abi = "_ZN3c108demangleEPKc";

bool file_at(const Host& host, const std::string& path) {
  return host.stat(path).is_file();
}

bool torch_at(const Host& host, const std::string& root) {
  return file_at(host, root + "/version.py") || file_at(host, root + "/__init__.py") ||
         file_at(host, root + "/share/cmake/Torch/TorchConfig.cmake") ||
         file_at(host, root + "/lib/libtorch.so");
}

// find_package(Torch) is told a folder: of TorchConfig.cmake, its prefix, or
// torch.utils.cmake_prefix_path.
bool from_prefix(const Host& host, const std::string& prefix, const std::string& from,
                 TorchFacts& torch) {
  for (const char* below :
       {"", "/share/cmake/Torch", "/Torch", "/lib/cmake/Torch", "/cmake/Torch"}) {
    std::string folder = prefix + below;
    if (!file_at(host, folder + "/TorchConfig.cmake")) continue;
    torch.cmake_dir = Text(folder, from);
    // TorchConfig.cmake takes ../../../ as its prefix.
    std::string root = host.real_path(folder + "/../../..");
    torch.root = Text(root.empty() ? prefix : root, from);
    return true;
  }
  return false;
}

bool from_inputs(const Host& host, const Inputs& in, TorchFacts& torch) {
  for (const char* name : {"Torch_DIR", "Torch_ROOT", "TORCH_ROOT"}) {
    const std::string* given = in.find(name);
    std::string value = given != nullptr ? *given : host.env_or(name, "");
    if (value.empty() || ends_with(value, "-NOTFOUND")) continue;
    if (from_prefix(host, value, name, torch)) return true;
    torch.root = Text(value, name);  // named, and not a torch: say so instead of taking another one
    torch.state = Text("broken", name);
    torch.reason = cat(name, " is ", value, ", which has no TorchConfig.cmake");
    return true;
  }
  const std::string* given = in.find("CMAKE_PREFIX_PATH");
  for (const std::string& prefix : split(given != nullptr ? *given : std::string(), ";"))
    if (from_prefix(host, prefix, "CMAKE_PREFIX_PATH", torch)) return true;
  for (const std::string& prefix : split(host.env_or("CMAKE_PREFIX_PATH", ""), ":"))
    if (from_prefix(host, prefix, "CMAKE_PREFIX_PATH (environment)", torch)) return true;
  return false;
}

// Folders that *.pth files add (development installs), as site.py does; lines that are code are not
// run.
List<std::string> pth_folders(const Host& host, const std::string& site) {
  List<std::string> out;
  Result<List<std::string>> names = host.list(site);
  if (!names) return out;
  for (const std::string& name : *names) {
    if (!ends_with(name, ".pth")) continue;
    Result<std::string> text = host.read(path_join(site, name), 1u << 20);
    if (!text) continue;
    for (const std::string& line : lines_of(*text))
      if (std::string_view entry = trim(line);
          !entry.empty() && entry[0] != '#' && !starts_with(entry, "import"))
        out.push_back(path_join(site, entry));
  }
  return out;
}

bool from_python(const Host& host, const PythonFacts& python, TorchFacts& torch) {
  const std::string origin = "packages of " + python.executable.value();
  auto take = [&](const std::string& folder) {
    if (!torch_at(host, folder + "/torch")) return false;
    torch.root = Text(folder + "/torch", origin);
    return true;
  };
  for (const std::string& folder : python.search_path)
    if (take(folder)) return true;
  for (const std::string& site : python.search_path)
    for (const std::string& folder : pth_folders(host, site))
      if (take(folder)) return true;
  return false;
}

void find_cmake_dir(const Host& host, const PythonFacts& python, TorchFacts& torch) {
  if (torch.cmake_dir.known()) return;
  List<std::string> prefixes = {torch.root.value()};
  if (python.prefix.known()) prefixes.push_back(python.prefix.value());
  for (const std::string& prefix : prefixes)
    for (const char* below : {"/share/cmake/Torch", "/lib/cmake/Torch"})
      if (file_at(host, prefix + below + "/TorchConfig.cmake")) {
        torch.cmake_dir = Text(prefix + below, prefix);
        return;
      }
  if (!starts_with(torch.root.value(), "/usr/lib")) return;
  // A distribution's own: Debian's libtorch-dev, Fedora's python3-torch-devel.
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    if (file_at(host, cat(folder, "/cmake/Torch/TorchConfig.cmake"))) {
      torch.cmake_dir = Text(cat(folder, "/cmake/Torch"), folder);
      return;
    }
}

struct VersionText {
  std::string version, cuda, hip, xpu, from;
  bool has_version = false;
};

// version.py of a Python package, build-version of a libtorch download, else what CMake compares.
VersionText read_version(const Host& host, const TorchFacts& torch) {
  VersionText out;
  out.from = torch.root.value() + "/version.py";
  if (Result<std::string> text = host.read(out.from, 1u << 20)) {
    out.has_version = version_py_value(*text, "__version__", out.version) && !out.version.empty();
    version_py_value(*text, "cuda", out.cuda);
    version_py_value(*text, "hip", out.hip);
    version_py_value(*text, "xpu", out.xpu);
    return out;
  }
  out.from = torch.root.value() + "/build-version";
  std::string line;
  if (Result<std::string> text = host.read(out.from, 4096)) {
    line = cat("= '", trim(*text), '\'');
  } else {
    out.from = torch.cmake_dir.value() + "/TorchConfigVersion.cmake";
    const std::string sign = "set(PACKAGE_VERSION ";
    text = host.read(out.from, 65536);
    if (text)
      for (const std::string& one : lines_of(*text))
        if (starts_with(one, sign)) line = "= " + replace_all(one.substr(sign.size()), ")", "");
  }
  out.has_version = version_py_value(line, "", out.version) && !out.version.empty();
  return out;
}

void learn_version(const Host& host, const std::string& libraries, TorchFacts& torch) {
  const VersionText text = read_version(host, torch);
  if (text.has_version)
    torch.version = Text(text.version, text.from);
  else if (torch.reason.empty())
    torch.reason = text.from + " does not say the version";
  std::string cuda = text.cuda;
  if (cuda.empty() && text.hip.empty() && text.xpu.empty())
    cuda = cuda_of_local_version(text.version);
  if (Version::parse(cuda).known())
    torch.cuda = Text(Version::parse(cuda).major_minor(), text.from);
  auto holds = [&](const char* name) { return file_at(host, path_join(libraries, name)); };
  // What version.py names goes before what lies in the folder.
  const char* flavour = nullptr;
  if (!text.hip.empty())
    flavour = "rocm";
  else if (torch.cuda.known())
    flavour = "cuda";
  else if (!text.xpu.empty())
    flavour = "xpu";
  else if (holds("libtorch_hip.so"))
    flavour = "rocm";
  else if (holds("libtorch_cuda.so"))
    flavour = "cuda";
  else if (holds("libtorch_xpu.so"))
    flavour = "xpu";
  else if (text.has_version || holds("libtorch_cpu.so"))
    flavour = "cpu";
  if (flavour != nullptr) torch.flavour = Text(flavour, text.from);
  if (torch.flavour.is("cuda") && !torch.cuda.known() && torch.reason.empty())
    torch.reason = text.from + " does not say the CUDA release";
}

void learn_abi(const Host& host, const std::string& libraries, TorchFacts& torch) {
  const std::string library = path_join(libraries, "libc10.so");
  for (bool abi : {true, false}) {
    Result<bool> has = defines_symbol(host, library, abi ? symbol_new_abi : symbol_old_abi);
    if (!has || !*has) continue;
    torch.cxx11_abi = Flag(abi, "symbols of " + library);
    return;
  }
  const std::string config = torch.cmake_dir.value() + "/TorchConfig.cmake";
  Result<std::string> text = host.read(config, 1u << 20);
  if (!text) return;
  for (bool abi : {true, false})
    if (contains(*text, abi ? "-D_GLIBCXX_USE_CXX11_ABI=1" : "-D_GLIBCXX_USE_CXX11_ABI=0"))
      torch.cxx11_abi = Flag(abi, config);
}

// The guard that a compiler will meet first in these headers.
void learn_standard(const Host& host, TorchFacts& torch) {
  for (const char* name : {"/include/torch/csrc/api/include/torch/all.h", "/include/ATen/ATen.h",
                           "/include/c10/util/C++17.h"}) {
    Result<std::string> text = host.read(torch.root.value() + name, 1u << 20);
    int standard = text ? standard_of_guard(*text) : 0;
    if (standard == 0) continue;
    torch.cxx_standard = Fact<int>(standard, torch.root.value() + name);
    return;
  }
}

TorchLibrary describe_images(const ImageList& list, const std::string& name) {
  TorchLibrary out;
  out.name = Text(name, list.path);
  out.fat_binaries = Fact<int>(static_cast<int>(list.fat_binaries), list.path);
  List<std::string> images;
  for (const ImageCount& row : list.images) {
    images.push_back(row.image.str());
    out.coverage.push_back(
        {images.back(), static_cast<int>(row.count), static_cast<int>(row.fat_binaries)});
  }
  out.images = Names(std::move(images), list.path);
  for (const FatBinarySet& set : list.sets) {
    if (set.images.empty()) continue;  // intermediate code alone
    ImageSet row;
    for (const Image& image : set.images) row.images.push_back(image.str());
    row.count = static_cast<int>(set.count);
    out.sets.push_back(std::move(row));
  }
  return out;
}

// The kernels of torch's operators: libtorch_cuda.so, and until 1.13 its two halves. The others
// (linalg, nvshmem) are optional parts with sets of their own.
bool holds_operators(const std::string& name) {
  return name == "libtorch_cuda.so" || name == "libtorch_cuda_cu.so" ||
         name == "libtorch_cuda_cpp.so";
}

// libtorch_cuda.so of 1.13 holds no kernels, but needs the halves that do.
std::string missing_half(const Host& host, const std::string& folder) {
  Result<ElfDynamic> whole = read_dynamic(host, path_join(folder, "libtorch_cuda.so"));
  if (!whole) return whole.error().str();
  for (const std::string& name : whole->needed)
    if (holds_operators(name) && !file_at(host, path_join(folder, name)))
      return cat(path_join(folder, name), " is missing, and libtorch_cuda.so needs it");
  return {};
}

// "" or why the operators' images are unknown. Those of the side libraries alone say nothing.
std::string learn_images(const Host& host, const std::string& folder, TorchFacts& torch) {
  Result<List<std::string>> names = host.list(folder);
  if (!names) return names.error().str();
  List<Image> all;
  std::string lacks = missing_half(host, folder);
  for (const std::string& name : *names) {
    // In a shared prefix (conda, /usr/lib) only torch's own are meant.
    if (!ends_with(name, ".so") ||
        !(starts_with(name, "libtorch_") || starts_with(name, "libc10_")))
      continue;
    const bool operators = holds_operators(name);
    Result<ImageList> list = read_images(host, path_join(folder, name));
    if (!list) {
      if (operators && lacks.empty()) lacks = list.error().str();
      continue;
    }
    if (list->fat_binaries == 0 && list->images.empty() && !operators) continue;
    torch.libraries.push_back(describe_images(*list, name));
    if (operators)
      for (const ImageCount& row : list->images) add_once(all, row.image);
  }
  if (!lacks.empty()) return lacks;
  torch.libraries_known = true;
  sort_few(all);
  List<std::string> images;
  for (const Image& image : all) images.push_back(image.str());
  torch.images = Names(std::move(images), folder);
  return {};
}

// "cp311" of _C.cpython-311-x86_64-linux-gnu.so; a download of libtorch has no Python part.
void learn_python_tag(const Host& host, TorchFacts& torch) {
  const std::string sign = "_C.cpython-";
  Result<List<std::string>> names = host.list(torch.root.value());
  if (!names) return;
  if (!contains(*names, std::string("__init__.py")))
    torch.python_tag = Text("none", "no __init__.py in " + torch.root.value());
  for (const std::string& name : *names)
    if (starts_with(name, sign) && ends_with(name, ".so")) {
      torch.python_tag =
          Text("cp" + name.substr(sign.size(), name.find('-', sign.size()) - sign.size()), name);
      return;
    }
}

// Half a torch: an interrupted install, an uninstall that left files, a checkout that was not
// built.
bool broken(const Host& host, const std::string& libraries, Facts& facts) {
  TorchFacts& torch = facts.torch;
  List<std::string> lacks;
  const std::string& root = torch.root.value();
  const bool package = file_at(host, root + "/__init__.py") || !torch.cmake_dir.known();
  if (package && !file_at(host, root + "/version.py")) lacks.push_back("version.py");
  if (libraries.empty())
    lacks.push_back("lib/libtorch.so");
  else if (!file_at(host, path_join(libraries, "libc10.so")))
    lacks.push_back("lib/libc10.so");
  if (!torch.cmake_dir.known()) lacks.push_back("share/cmake/Torch/TorchConfig.cmake");
  bool headers = false;  // conda and distributions keep them in the prefix
  for (const std::string& prefix : {root, facts.python.prefix.value(), std::string("/usr")})
    headers = headers || host.stat(prefix + "/include/torch").is_dir();
  if (!headers) lacks.push_back("include/torch (the headers)");
  if (lacks.empty()) return false;
  torch.state = Text("broken", root);
  torch.reason = cat(root, " lacks ", join(lacks, ", "));
  return true;
}

}  // namespace

void gather_torch(Host& host, const Inputs& in, Facts& facts) {
  TorchFacts& torch = facts.torch;
  if (!from_inputs(host, in, torch) && !from_python(host, facts.python, torch)) {
    torch.state = Text("absent", "Torch_DIR, CMAKE_PREFIX_PATH, Python's packages");
    torch.reason = facts.python.state.is("found")
                       ? "no torch in the packages of " + facts.python.executable.value()
                       : "no Python to look in, and no Torch_DIR";
    return;
  }
  if (torch.state.known()) return;
  find_cmake_dir(host, facts.python, torch);
  const std::string libraries = torch_library_folder(host, facts);
  if (!broken(host, libraries, facts)) torch.state = Text("found", torch.root.from);
  learn_version(host, libraries, torch);
  learn_standard(host, torch);
  learn_python_tag(host, torch);
  if (libraries.empty()) return;
  learn_abi(host, libraries, torch);
  if (!torch.flavour.is("cuda")) return;
  std::string lacks = learn_images(host, libraries, torch);
  if (!lacks.empty()) {
    torch.reason = torch.state.is("broken") ? cat(torch.reason, "; ", lacks) : lacks;
    torch.state = Text("broken", libraries);
  }
  gather_torch_libraries(host, libraries, facts);
  gather_extensions(host, facts);
}

}  // namespace tcs
