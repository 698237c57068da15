// SPDX-License-Identifier: Apache-2.0
#include "facts/library_images.h"

#include <algorithm>

#include "base/text.h"
#include "facts/answer_cache.h"
#include "facts/nvcc_output.h"
#include "facts/probe_answer.h"
#include "readers/images.h"
#include "tables/tables.h"

namespace tcs {
namespace {

constexpr int kAskTimeoutMs = 10000;  // NVRTC loads in 5 ms, ptxas prints its help in 20
constexpr uint64_t kSlots = 8;        // one a PyTorch; bounds what the cache takes

bool is_nvrtc(const Library& lib) {
  return starts_with(lib.soname.value(), "libnvrtc.so.");
}
bool is_ptxas(const Library& lib) {
  return starts_with(lib.soname.value(), "ptxas");
}

// libcudnn.so.9 holds no kernels: it opens libcudnn_ops.so.9 and the others when they are needed.
// They are taken from its own folder, as its RUNPATH says.
void add_parts_of_cudnn(const Host& host, Facts& facts) {
  const List<Library> all = facts.libraries;
  for (const Library& whole : all) {
    const std::string& soname = whole.soname.value();
    if (!starts_with(soname, "libcudnn.so.") || !whole.path.known()) continue;
    const std::string folder = path_parent(whole.path.value()), ending = soname.substr(8);
    Result<List<std::string>> names = host.list(folder);
    for (const std::string& name : names ? *names : List<std::string>()) {
      if (!starts_with(name, "libcudnn_") || !ends_with(name, ending)) continue;
      Library part;
      part.soname = Text(name, folder);
      part.needed_by = Text(soname, "dlopen");
      part.state = Text("found", folder);
      part.path = Text(path_join(folder, name), folder);
      part.version = whole.version;
      part.built_against = Text("none", soname + " is compared");
      part.via = Text("beside " + soname, folder);
      facts.libraries.push_back(part);
    }
  }
}

// "ptxas" and "ptxas-blackwell" of the Triton that Python finds first. A variable comes before it,
// unless there is nothing to run.
void add_ptxas(const Host& host, Facts& facts) {
  struct Row {
    const char *name, *variable;
  };
  for (const Row& row :
       {Row{"ptxas", "TRITON_PTXAS_PATH"}, Row{"ptxas-blackwell", "TRITON_PTXAS_BLACKWELL_PATH"}}) {
    std::string path, via = "packages of " + facts.python.executable.value();
    for (const std::string& site : facts.python.search_path)
      for (const char* folder :
           {"/triton/backends/nvidia/bin/", "/triton/common/../third_party/cuda/bin/"})
        if (path.empty() && host.stat(cat(site, folder, row.name)).is_file())
          path = cat(site, folder, row.name);
    const std::string named = host.env_or(row.variable, "");
    if (!path.empty() && host.stat(named).executable && host.stat(named).is_file()) {
      path = named;
      via = row.variable;
    }
    if (path.empty()) continue;
    Library tool;
    tool.soname = Text(row.name, via);
    tool.needed_by = Text("triton", via);
    tool.state = Text("found", via);
    tool.path = Text(path, via);
    tool.built_against = Text("none", "nothing names one");
    tool.via = Text(via, via);
    facts.libraries.push_back(tool);
  }
}

// What the answers follow from.
std::string key_of(const Host& host, const Facts& facts) {
  std::string key = "libraries/1 " TCS_VERSION "\n";
  for (const Library& lib : facts.libraries) {
    if (!lib.path.known()) continue;
    const FileStat stat = host.stat(lib.path.value());
    key += cat(lib.path.value(), " ", stat.size, " ", stat.mtime_ns, " ", stat.inode, "\n");
  }
  return key;
}

std::string slot(const Facts& facts) {
  return cat("answers/libraries-", fnv1a(facts.torch.root.value()) % kSlots, ".json");
}

bool recall(const Host& host, const Inputs& in, const std::string& key, Facts& facts) {
  const Result<Facts> was = recall_facts(host, in, slot(facts), key);
  if (!was) return false;
  for (const Library& old : was->libraries)
    for (Library& lib : facts.libraries) {
      if (!lib.path.is(old.path.value())) continue;
      lib.images = old.images;
      if (old.archs.known()) lib.archs = old.archs;
      if (is_ptxas(lib)) lib.version = old.version;
    }
  return true;
}

void keep(Host& host, const Inputs& in, const std::string& key, const Facts& facts) {
  Facts only;
  only.libraries_known = true;
  only.libraries = facts.libraries;
  keep_facts(host, in, slot(facts), key, only);
}

// False: the file could not be read as a whole, and it is tried again the next time.
bool read_kernels(const Host& host, Library& lib) {
  Result<ImageList> list = read_images(host, lib.path.value());
  if (!list) return false;
  // One fat binary with a single image is what nvcc adds to a file that it links: the kernels lie
  // elsewhere, as cuFFT's do from 11.3 on, or there are none.
  if (list->fat_binaries == 1 && list->images.size() == 1 && list->others.empty()) return true;
  List<std::string> images;
  for (const ImageCount& row : list->images) images.push_back(row.image.str());
  lib.images = Names(std::move(images), "its fat binaries");
  return true;
}

void table_archs(Library& lib, bool real) {
  const int release = release_of(Version::parse(lib.version.value()));
  if (release == 0) return;
  List<std::string> archs;
  for (const ArchRow& arch : arch_rows())
    if (arch.built_by(release)) archs.push_back(real ? arch.sm.real() : arch.sm.virt());
  lib.archs = Names(std::move(archs), cat("the table for CUDA ", release_text(release)));
}

// {"probe": ..., "archs": [75, 80]}
bool read_nvrtc(const Outcome& said, Library& lib) {
  Json answer;
  const Json* list = read_answer(said, "tcs-nvrtc/1", answer) ? answer.find("archs") : nullptr;
  List<std::string> archs;
  uint64_t number = 0;
  for (const Json& item : list != nullptr ? list->items : List<Json>())
    if (parse_number(item.text, 9999, number)) archs.push_back(cat("compute_", number));
  if (archs.empty()) return false;
  lib.archs = Names(std::move(archs), "nvrtcGetSupportedArchs");
  return true;
}

// Of --help: "--gpu-name <gpu name> ... Allowed values for this option:  'compute_100', ...
// 'sm_90a'." And "release 12.9" of --version.
bool read_ptxas(const Outcome& help, const Outcome& version, Library& lib) {
  const std::string release = parse_release(version.out);
  if (!release.empty()) lib.version = Text(release, "ptxas --version");
  const size_t option = help.out.find("--gpu-name"),
               from = help.out.find("Allowed values", std::min(option, help.out.size())),
               to = help.out.find("Default value", std::min(from, help.out.size()));
  List<Image> images;
  Image image;
  if (help.ok() && to != std::string::npos)
    for (const std::string& word : split(help.out.substr(from, to - from), "',. \n"))
      if (starts_with(word, "sm_") && parse_image(word, image)) add_once(images, image);
  sort_few(images);
  List<std::string> archs;
  for (const Image& one : images) archs.push_back(one.str());
  if (archs.empty()) return table_archs(lib, true), false;
  lib.archs = Names(std::move(archs), "ptxas --help");
  return true;
}

// All at once. False: one did not answer, and the tables speak for it.
bool ask(Host& host, const Inputs& in, Facts& facts) {
  if (in.cross_compiling) return false;
  List<Command> commands;
  auto add = [&](List<std::string> argv) {
    commands.add().argv = std::move(argv);
    commands.back().timeout_ms = std::min(in.timeout_ms, kAskTimeoutMs);
  };
  for (const Library& lib : facts.libraries) {
    if (!lib.state.is("found") || !lib.path.known()) continue;
    if (is_nvrtc(lib)) add({host.self(), "--nvrtc-probe", lib.path.value()});
    if (!is_ptxas(lib)) continue;
    add({lib.path.value(), "--help"});
    add({lib.path.value(), "--version"});
  }
  const List<Outcome> said = host.run_all(commands, host.cores() < 2 ? 2 : host.cores());
  bool all = true;
  size_t next = 0;
  for (Library& lib : facts.libraries) {
    if (next == said.size()) break;
    if (!lib.state.is("found") || !lib.path.known()) continue;
    if (is_nvrtc(lib)) all = read_nvrtc(said[next++], lib) && all;
    if (!is_ptxas(lib)) continue;
    all = read_ptxas(said[next], said[next + 1], lib) && all;
    next += 2;
  }
  return all;
}

}  // namespace

void gather_library_images(Host& host, const Inputs& in, Facts& facts) {
  if (!facts.libraries_known) return;
  add_parts_of_cudnn(host, facts);
  add_ptxas(host, facts);
  const std::string key = key_of(host, facts);
  if (recall(host, in, key, facts)) return;
  bool whole = true;
  for (Library& lib : facts.libraries)
    if (lib.state.is("found") && lib.path.known() && !is_ptxas(lib))
      whole = read_kernels(host, lib) && whole;
  whole = ask(host, in, facts) && whole;
  if (whole) keep(host, in, key, facts);
}

}  // namespace tcs
