// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/runtime.def does.
#include "base/text.h"
#include "facts/devices.h"
#include "remedy.h"
#include "tables/tables.h"

namespace tcs::remedies {
namespace {

// What the library's own package brings loads.
void own_copy(Library& lib) {
  lib.state = "found";
  lib.via = "RUNPATH";
  if (Version::parse(lib.built_against.value()).known()) lib.version = lib.built_against;
  if (!lib.built_against.known()) lib.built_against = "none";
  lib.shadows = "none";
  lib.path = Text();
}

void find_all(Machine& m, const Words&) {
  for (Library& lib : m.facts.libraries)
    if (lib.state.is("missing")) own_copy(lib);
}

void find_8(Machine& m, const Words& w) {
  for (Library& lib : m.facts.libraries)
    if (lib.soname.is(w[8]) && lib.needed_by.is(w[7])) own_copy(lib);
}

// Its build for this PyTorch needs what this PyTorch brings.
void other_build_of_3(Machine& m, const Words& w) {
  List<Library> left;
  for (const Library& lib : m.facts.libraries)
    if (!lib.needed_by.is(w[3]) || !lib.state.is("missing")) left.push_back(lib);
  m.facts.libraries = left;
}

void allow_501(Machine& m, const Words&) {
  allow(m, "TCS501");
}

void allow_506(Machine& m, const Words&) {
  allow(m, "TCS506");
}

void take_out(Machine& m, const Words& w) {
  for (Library& lib : m.facts.libraries) {
    const bool there = contains(lib.via.value(), "LD_LIBRARY_PATH");
    const std::string folder = lib.path.value().substr(0, lib.path.value().rfind('/'));
    const bool named = w[2].empty() || w[2] == "its folder";
    if (there && (named || contains(List<std::string>(split(w[2], " ")), folder))) own_copy(lib);
  }
}

// The releases that are named, where LD_LIBRARY_PATH does not come before them.
void install_3(Machine& m, const Words& w) {
  for (Library& lib : m.facts.libraries)
    if (contains(w[3], lib.soname.value())) own_copy(lib);
}

List<std::string> archs_of(int cuda) {
  List<std::string> archs;
  for (const ArchRow& row : arch_rows())
    if (row.built_by(cuda)) archs.push_back(row.sm.real());
  return archs;
}

// "CUDA 12.8 or newer", "CUDA 12.9 or older" -> the release that is named
std::string release_in(const std::string& words) {
  const size_t at = words.find("CUDA ");
  return at == std::string::npos ? "13.0" : words.substr(at + 5, words.find(' ', at + 5) - at - 5);
}

// Its libraries know what that release of CUDA knows.
void other_torch(Machine& m, const std::string& cuda) {
  const List<Library> before = m.facts.libraries;
  install_torch(m, "", cuda);
  for (Library lib : before) {
    if (!starts_with(lib.soname.value(), "libnvrtc") && !starts_with(lib.soname.value(), "ptxas"))
      continue;
    if (starts_with(lib.via.value(), "TRITON_")) continue;
    lib.archs = archs_of(release_of(Version::parse(cuda)));
    m.facts.libraries.push_back(lib);
  }
}

// One that goes with the rest, where its CUDA is in that range; else the release that is named.
void torch_of_3(Machine& m, const Words& w) {
  Machine fits = m;
  fitting_torch(fits);
  const int has = release_of(Version::parse(fits.facts.torch.cuda.value())),
            named = release_of(Version::parse(release_in(w[3])));
  const bool in_range = ends_with(w[3], "older") ? has <= named : has >= named;
  other_torch(m, in_range ? fits.facts.torch.cuda.value() : release_in(w[3]));
}

void new_libstdcxx(Machine& m, const Words&) {
  for (Library& lib : m.facts.libraries)
    if (starts_with(lib.soname.value(), "libstdc++")) lib.version = lib.built_against;
}

// --- 506: it has code for all GPUs that this PyTorch serves

void serve(Library& lib, const Facts& facts) {
  List<std::string> images = facts.torch.images.value();
  for (const Device& device : facts.devices.list)
    images.push_back("sm_" + replace_all(device.cc.value(), ".", ""));
  if (lib.images.known()) lib.images = images;
}

void install_5(Machine& m, const Words& w) {
  const size_t from = w[5].find('-') + 1;
  const std::string stem = w[5].substr(from, w[5].find_first_of("-=", from) - from);
  for (Library& lib : m.facts.libraries)
    if (starts_with(lib.soname.value(), "lib" + stem)) serve(lib, m.facts);
}

void torch_of_8(Machine& m, const Words&) {
  for (Library& lib : m.facts.libraries) serve(lib, m.facts);
}

void without_cudnn(Machine& m, const Words&) {
  List<Library> left;
  for (const Library& lib : m.facts.libraries)
    if (!starts_with(lib.soname.value(), "libcudnn")) left.push_back(lib);
  m.facts.libraries = left;
}

// --- 507

void use_ptxas(Machine& m, const Names& archs, const std::string& by) {
  for (Library& lib : m.facts.libraries) {
    if (!starts_with(lib.soname.value(), "ptxas")) continue;
    lib.archs = archs;
    lib.via = Text(by);
  }
}

void toolkits_ptxas(Machine& m, const Words& w) {
  m.facts.environment["TRITON_PTXAS_PATH"] = w[4];
  use_ptxas(m, m.facts.toolkit()->archs, "TRITON_PTXAS_PATH");
}

void ptxas_of_5(Machine& m, const Words& w) {
  use_ptxas(m, archs_of(release_of(Version::parse(release_in(w[5])))), w[6]);
}

void torch_of_7(Machine& m, const Words& w) {
  Machine fits = m;
  fitting_torch(fits);
  const std::string cuda = fits.facts.torch.cuda.value();
  bool knows = true;
  for (const Device& device : m.facts.devices.list)
    knows = knows && contains(archs_of(release_of(Version::parse(cuda))),
                              "sm_" + replace_all(device.cc.value(), ".", ""));
  other_torch(m, knows ? cuda : w[7] == "a newer" ? "13.2" : "12.6");
}

}  // namespace

Effects runtime_effects() {
  return {
      {501, "install what brings {8}", Way::Mends, find_8},
      {501, "install the build of {3}", Way::Mends, other_build_of_3},
      {501, "install PyTorch with its dependencies", Way::Mends, find_all},
      {501, "or put the folder", Way::Mends, find_all},
      {501, "a wheel unpacked alone", Way::Eases, allow_501},
      {502, "take {2} out", Way::Mends, take_out},
      {502, "install {3}", Way::Mends, install_3},
      {503, "take its folder out", Way::Mends, take_out},
      {504, "use a PyTorch of", Way::Mends, torch_of_3},
      {505, "bring the environment's", Way::Mends, new_libstdcxx},
      {505, "or compile with", Way::Mends, new_libstdcxx},
      {506, "install the release", Way::Mends, install_5},
      {506, "use a PyTorch of {8} CUDA", Way::Mends, torch_of_8},
      {506, "without cuDNN", Way::Mends, without_cudnn},
      {506, "or where nothing of it", Way::Eases, allow_506},
      {507, "give Triton the toolkit's", Way::Mends, toolkits_ptxas},
      {507, "let {6} name", Way::Mends, ptxas_of_5},
      {507, "or use {7} PyTorch", Way::Mends, torch_of_7},
      {590, "run `tcstack probe`", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
