// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/text.h"
#include "facts/loader.h"
#include "facts/torch_files.h"
#include "readers/elf.h"
#include "tables/tables.h"

namespace tcs {
namespace {

struct StemRow {
  const char* stem;
  const char* package;
};
constexpr StemRow stems[] = {
#define CUDA_LIBRARY(stem, package) {stem, package},
#include "tables/cuda_libraries.def"
#undef CUDA_LIBRARY
};

// "libcudart.so.13", "libcudnn_ops.so.9", "libcudart-e409450e.so.11.0" (as auditwheel renames).
const StemRow* row_of(const std::string& soname) {
  if (!starts_with(soname, "lib")) return nullptr;
  const StemRow* best = nullptr;
  for (const StemRow& row : stems) {
    const size_t length = strlen(row.stem);
    if (soname.compare(3, length, row.stem) != 0 || soname.size() <= 3 + length) continue;
    const char next = soname[3 + length];
    if (next != '.' && next != '-' && next != '_') continue;
    if (best == nullptr || length > strlen(best->stem)) best = &row;
  }
  return best;
}

std::string version_in_name(std::string_view name) {
  size_t at = name.rfind(".so.");
  if (at == std::string_view::npos) return {};
  std::string version(name.substr(at + 4));
  return Version::parse(version).rest.empty() ? version : std::string();
}

// "nvidia_cudnn_cu13-9.26.0.51.dist-info", "nvidia_cuda_runtime-13.2.75.dist-info" ->
// "cudnn", "cuda-runtime" and the version.
bool package_of(std::string_view name, std::string& package, std::string& version) {
  size_t dash = name.rfind('-');
  if (!starts_with(name, "nvidia_") || dash == std::string_view::npos) return false;
  package = replace_all(name.substr(7, dash - 7), "_", "-");
  version = name.substr(dash + 1);
  return true;
}
std::string without_cuda_suffix(std::string package) {
  size_t at = package.rfind("-cu");
  uint64_t number = 0;
  if (at != std::string::npos && parse_number(std::string_view(package).substr(at + 3), 99, number))
    package.resize(at);
  return package;
}

class Libraries {
 public:
  Libraries(Host& host, Facts& facts) : host_(host), facts_(facts) {}

  void add(const Loaded& loaded, const StemRow& row) {
    Library out;
    out.soname = Text(loaded.soname, "DT_NEEDED");
    out.needed_by = Text(loaded.needed_by, "DT_NEEDED");
    if (loaded.path.empty()) {
      // Another machine's loader cannot be asked here: only what lies beside torch is known.
      if (!foreign) out.state = Text("missing", "ld.so rules");
    } else {
      out.state = Text("found", "ld.so rules");
      out.path = Text(loaded.path, loaded.via);
      out.via = Text(loaded.via, "ld.so rules");
      out.version = version_of(loaded.path, row);
    }
    // The wheel's pins are about what torch itself needs, not what a stranger's library drags in.
    // cuSPARSE and cuSOLVER come with torch, and so does the nvJitLink that they need.
    if (starts_with(loaded.needed_by, "libtorch") || starts_with(loaded.needed_by, "libc10") ||
        starts_with(loaded.needed_by, "libcaffe2") || row.package == std::string_view("nvjitlink"))
      out.built_against = built_against(row);
    if (!loaded.path.empty()) compare(loaded, row, out);
    if (row.stem == std::string_view("nvrtc")) add_archs(out);
    facts_.libraries.push_back(out);
  }
  bool foreign = false;

  // conda's Python brings a C++ library of its own, which comes before the one that the system's
  // compiler links with.
  void add_cxx_runtime(const LoaderSetting& setting) {
    const std::string name = "libstdc++.so.6";
    std::string own, system;
    for (const std::string& folder : setting.program_rpath)
      if (own.empty() && host_.stat(path_join(folder, name)).is_file())
        own = path_join(folder, name);
    for (const std::string& folder : setting.default_folders)
      if (system.empty() && host_.stat(path_join(folder, name)).is_file())
        system = path_join(folder, name);
    const std::string has = version_in_name(path_name(host_.real_path(own))),
                      built = version_in_name(path_name(host_.real_path(system)));
    if (own.empty() || system.empty() || has.empty() || built.empty()) return;
    Library out;
    out.soname = Text(name, "RPATH of the program");
    out.needed_by = Text("the system's compiler", system);
    out.state = Text("found", "ld.so rules");
    out.path = Text(own, "RPATH of the program");
    out.via = Text("RPATH of the program", "ld.so rules");
    out.version = Text(has, own);
    // A compiler of the environment links with the environment's library.
    const std::string compiler = host_.env_or("CXX", ""),
                      prefix = facts_.python.prefix.value() + "/";
    out.built_against =
        starts_with(compiler, prefix) ? Text("none", "CXX is " + compiler) : Text(built, system);
    facts_.libraries.push_back(out);
  }

 private:
  // Files of these are numbered otherwise than the package that brings them.
  static bool counts_otherwise(const StemRow& row) {
    return row.stem == std::string_view("cupti") || row.stem == std::string_view("nvToolsExt");
  }

  // What NVRTC of its release compiles for; asking it would mean to load it.
  void add_archs(Library& out) const {
    const Version own = Version::parse(out.version.value()),
                  torch = Version::parse(facts_.torch.cuda.value());
    // Bundled copies tell no release: they are of torch's own CUDA.
    const int release = release_of(own.known() ? own : torch);
    if (!out.state.is("found") || release == 0) return;
    List<std::string> archs;
    for (const ArchRow& arch : arch_rows())
      if (arch.built_by(release)) archs.push_back(arch.sm.virt());
    out.archs = Names(std::move(archs), cat("the table for CUDA ", release_text(release)));
  }

  void compare(const Loaded& loaded, const StemRow& row, Library& out) {
    const bool by_path = loaded.via == "LD_LIBRARY_PATH";
    if (by_path)
      out.shadows = loaded.elsewhere.empty() ? Text("none", "ld.so rules")
                                             : Text(loaded.elsewhere, "ld.so rules");
    // Without a pin the copy that LD_LIBRARY_PATH hides tells what torch was tested with.
    if (!out.built_against.known() && !loaded.elsewhere.empty())
      out.built_against = version_of(loaded.elsewhere, row);
    if (!out.built_against.known() || !out.version.known())
      out.built_against = Text("none", "no release to compare with");
    judge(loaded, row, out);
  }

  // The release: of the real file name where it says more than the soname, else of the PyPI package
  // it lies in. The soname's own number is an interface, not a release.
  Text version_of(const std::string& path, const StemRow& row) {
    std::string real = host_.real_path(path);
    if (real.empty()) real = path;
    std::string named = version_in_name(path_name(real));
    if (Version::parse(named).numbers.size() >= 3 && !counts_otherwise(row))
      return Text(named, real);
    size_t at = real.rfind("/nvidia/");
    if (at != std::string::npos && *row.package != 0) {
      std::string found = package_release(real.substr(0, at), row.package);
      if (!found.empty()) return Text(found, "dist-info of nvidia-" + std::string(row.package));
    }
    return {};
  }
  std::string package_release(const std::string& site, const std::string& wanted) {
    if (site != site_) {
      site_ = site;
      Result<List<std::string>> names = host_.list(site);
      site_names_ = names ? *names : List<std::string>();
    }
    for (const std::string& name : site_names_) {
      std::string package, version;
      if (!ends_with(name, ".dist-info") || !starts_with(name, "nvidia_")) continue;
      if (package_of(name.substr(0, name.size() - 10), package, version) &&
          without_cuda_suffix(package) == wanted)
        return version;
    }
    return {};
  }

  // What the wheel's own metadata pins: "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; ...".
  Text built_against(const StemRow& row) {
    if (*row.package == 0) return {};
    if (!metadata_read_) read_metadata();
    for (const auto& pin : pins_)
      if (pin.first == row.package) return Text(pin.second, metadata_path_);
    return {};
  }
  void read_metadata() {
    metadata_read_ = true;
    const std::string& root = facts_.torch.root.value();
    metadata_path_ =
        cat(path_parent(root), "/torch-", facts_.torch.version.value(), ".dist-info/METADATA");
    Result<std::string> text = host_.read(metadata_path_, 4u << 20);
    if (!text) {  // PyPI's own wheels drop the local part from the folder's name
      std::string plain =
          facts_.torch.version.value().substr(0, facts_.torch.version.value().find('+'));
      metadata_path_ = cat(path_parent(root), "/torch-", plain, ".dist-info/METADATA");
      text = host_.read(metadata_path_, 4u << 20);
    }
    if (!text) return;
    const std::string sign = "Requires-Dist: nvidia-";
    for (const std::string& line : lines_of(*text)) {
      if (line.empty()) break;  // the headers end here
      size_t equals = line.find("==");
      if (!starts_with(line, sign) || equals == std::string::npos) continue;
      std::string package(trim(std::string_view(line).substr(sign.size(), equals - sign.size())));
      if (!package.empty() && package.back() == '(') package.pop_back();
      std::string_view version = std::string_view(line).substr(equals + 2);
      version = version.substr(0, version.find_first_of("; ),"));
      pins_.push_back({without_cuda_suffix(std::string(trim(package))), std::string(version)});
    }
  }

  void judge(const Loaded& loaded, const StemRow& row, Library& out) {
    const Version has = Version::parse(out.version.value());
    // File against file: a package's release may count otherwise than its soname (libcufile.so.0).
    const Version file = Version::parse(version_in_name(path_name(host_.real_path(loaded.path))));
    // A link that gives one interface the name of another: the file itself says which it is. File
    // names tell nothing (libcuda.so.1 is libcuda.so.580.95.05, libcupti.so.12
    // libcupti.so.2024.1.1), and a wheel may rename what it bundles (libcusparseLt-f80c68d1.so.0).
    Result<ElfDynamic> own = read_dynamic(host_, loaded.path);
    auto stem = [](const std::string& soname) { return soname.substr(0, soname.find(".so")); };
    if (own && stem(own->soname) == stem(loaded.soname) && own->soname != loaded.soname)
      out.state = Text("wrong", cat("the file calls itself ", own->soname));
    const Version cuda = Version::parse(facts_.torch.cuda.value());
    if (strcmp(row.stem, "cudart") == 0 && cuda.known() && file.known() &&
        file.major() != cuda.major())
      out.state = Text("wrong", "another major version than torch's CUDA");
    if (loaded.elsewhere.empty()) return;
    const Version other = Version::parse(version_of(loaded.elsewhere, row).value());
    if (has.known() && other.known() && has < other)
      out.state = Text("wrong", cat("LD_LIBRARY_PATH puts it before ", other.dotted(), " in ",
                                    loaded.elsewhere));
  }

  Host& host_;
  Facts& facts_;
  std::string site_, metadata_path_;
  List<std::string> site_names_;
  bool metadata_read_ = false;
  List<std::pair<std::string, std::string>> pins_;
};

}  // namespace

void gather_torch_libraries(Host& host, const std::string& folder, Facts& facts) {
  // In the order of `import torch`; the last two are loaded when they are first used.
  List<std::string> roots;
  std::string library_folder = facts.torch.root.value() + "/lib";
  for (const char* name : {"libtorch_global_deps.so", "libtorch_python.so", "libtorch.so",
                           "libtorch_cuda.so", "libcaffe2_nvrtc.so", "libtorch_cuda_linalg.so"})
    for (const std::string& place : {library_folder, folder}) {
      std::string path = path_join(place, name);
      if (!host.stat(path).is_file()) continue;
      roots.push_back(path);
      break;
    }
  if (roots.empty()) return;
  Result<ElfDynamic> self = read_dynamic(host, roots.back());
  const uint16_t machine = facts.host.arch.is("x86_64")    ? 62
                           : facts.host.arch.is("aarch64") ? 183
                                                           : 0;
  Libraries libraries(host, facts);
  libraries.foreign = self && machine != 0 && self->machine != machine;
  LoaderSetting setting = read_loader_setting(host, facts.python.executable.value());
  if (libraries.foreign) {
    setting.cache.clear();
    setting.library_path.clear();
  }
  for (const Loaded& loaded : load_closure(host, roots, setting)) {
    const StemRow* row = row_of(loaded.soname);
    if (row != nullptr) libraries.add(loaded, *row);
  }
  if (!libraries.foreign) libraries.add_cxx_runtime(setting);
  facts.libraries_known = true;
}

}  // namespace tcs
