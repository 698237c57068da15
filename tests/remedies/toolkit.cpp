// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/toolkit.def does.
#include <algorithm>

#include "base/text.h"
#include "findings/nearest_toolkit.h"
#include "plan/plan.h"
#include "remedy.h"
#include "tables/tables.h"

namespace tcs::remedies {
namespace {

using W = const Words&;

Toolkit* used(Machine& m) {
  const int i = m.facts.toolkits.selected.or_else(-1);
  List<Toolkit>& list = m.facts.toolkits.list;
  return i >= 0 && i < static_cast<int>(list.size()) ? &list[static_cast<size_t>(i)] : nullptr;
}

// Of PyTorch's CUDA major, else of one that this driver takes.
void install_any(Machine& m, W) {
  const Text& torch = m.facts.torch.cuda;
  const std::string cuda = torch.known() ? torch.value() : m.facts.driver.cuda.or_else("12.9");
  const int major = Version::parse(cuda).major();
  m.forgot = true;  // which one it is, nobody said: one that fits, if there is any
  const Plan plan = make_plan(m.facts, m.request);
  const NearestToolkit nearest = nearest_toolkit({m.facts, m.request, plan});
  if (nearest.release && nearest.torch.empty())
    return install_with_compiler(m, release_text(nearest.release));
  install_with_compiler(m, major > 13    ? cuda
                           : major == 13 ? "13.0"
                           : major == 12 ? "12.9"
                           : major == 11 ? "11.8"
                                         : cuda);
}

void install_same(Machine& m, W w) {
  install_any(m, w);
  if (!m.facts.torch.cuda.known()) return;
  Toolkit& t = *used(m);
  t.version = t.headers = t.ptxas = t.cicc = t.cudart = m.facts.torch.cuda;
}

void torch_in_2(Machine& m, W w) {
  take_torch(m, w[2]);
}

// "/opt/cuda-12.4/bin", or "the bin folder of the toolkit you mean"
void path_first(Machine& m, W w) {
  for (const Toolkit& t : m.facts.toolkits.list)
    if (t.root.value() + "/bin" == w[2] || (&t == used(m) && !t.root.known()))
      m.facts.toolkits.on_path = t.version;
}

// A fresh tree takes the one that is named, else that of PyTorch's release, else of its major.
void fresh_tree(Machine& m, W) {
  const Version torch = Version::parse(m.facts.torch.cuda.value());
  int best = -1, most = 0, at = 0;
  for (Toolkit& t : m.facts.toolkits.list) {
    t.origin = replace_all(t.origin.value(), "TREE_CUDA_COMPILER", "found");
    const Version v = Version::parse(t.version.value());
    int rank = v.major() == torch.major() ? (v.minor() == torch.minor() ? 3 : 2) : 0;
    for (const char* name : {"CMAKE_CUDA_COMPILER", "TorchCudaStack_TOOLKIT", "(variable)"})
      if (contains(t.origin.value(), name)) rank = 4;
    if (rank > most) best = at;
    most = std::max(most, rank);
    ++at;
  }
  if (best < 0) return;
  m.facts.toolkits.selected = best;
  m.forgot = !used(m)->headers.known();
}

void complete(Machine& m, W) {
  for (Toolkit& t : m.facts.toolkits.list) {
    if (used(m) && &t != used(m)) continue;
    t.missing = Names(List<std::string>());
    for (Text* part : {&t.headers, &t.ptxas, &t.cicc, &t.cudart})
      if (!part->known()) *part = t.version;
  }
}

void one_release(Machine& m, W w) {
  const size_t pin = w[4].find("nvcc==");
  if (pin != std::string::npos)
    return install_toolkit(m, w[4].substr(pin + 6, w[4].find(".*", pin) - pin - 6));
  for (Toolkit& t : m.facts.toolkits.list) {
    t.headers = t.ptxas = t.cicc = t.cudart = t.version;
    t.works = Flag();
    t.failure = ToolkitFailure();
  }
}

void not_named_in_vain(Machine& m, W) {
  for (Toolkit& t : m.facts.toolkits.list)
    if (&t != used(m) && t.works.is(false)) t.origin = "PATH";
}

void nvcc_itself(Machine& m, W) {
  for (Toolkit& t : m.facts.toolkits.list) {
    t.nvcc = "/usr/local/cuda/bin/nvcc";
    t.works = Flag();
    t.failure = ToolkitFailure();
  }
}

// Not of the facts: CMakeLists.txt defines the target.
void target_is_made(Machine& m, W) {
  for (const std::string& part : used(m)->missing.value())
    if (contains(lower(part), "nvtoolsext") && m.request.purpose != "run")
      return allow(m, "TCS312");
  m.looked = true;  // a note, which says it for later
}

// "install a PyTorch of 2.11 or newer, ..."
void newer_torch(Machine& m, W w) {
  const std::string release = w[10].substr(w[10].find(" of ") + 4);
  m.facts.torch.version = release.substr(0, release.find(' ')) + ".0";
}

// What nvcc was seen not to build.
void leave_out(Machine& m, W) {
  const Plan plan = make_plan(m.facts, m.request);
  List<std::string> rest;
  for (const Gencode& gencode : plan.gencodes) {
    bool built = true;
    for (const ImageBuild& build : used(m)->builds)
      built = built && (!build.image.is(gencode.image().str()) || build.result.is("built"));
    if (built) add_once(rest, gencode.real.dotted());
  }
  if (m.request.arch_list.known())
    write_list(m, join(rest, ";"));
  else
    for_targets(m, join(rest, ";"));
}

void ask_archs(Machine& m, W) {
  m.forgot = true;
  List<std::string> archs;
  for (const ArchRow& row : arch_rows()) archs.push_back(row.sm.real());
  const Plan plan = make_plan(m.facts, m.request);
  for (const Target& target : plan.targets) add_once(archs, target.sm.real());
  for (const Image& image : plan.written) add_once(archs, image.sm.real());
  for (Toolkit& t : m.facts.toolkits.list) {
    t.archs = Names(archs);
    if (!t.version.known()) t.version = "12.8";
  }
}

}  // namespace

Effects toolkit_effects() {
  return {
      {301, "install CUDA", Way::Mends, take_toolkit},
      {301, "install the CUDA", Way::Mends, install_any},
      {301, "name one", Way::Mends, install_any},
      {302, "use the toolkit", Way::Mends, take_toolkit},
      {302, "install CUDA", Way::Mends, take_toolkit},
      {302, "install {2}", Way::Mends, torch_in_2},
      {302, "install a PyTorch", Way::Mends, torch_of_toolkit},
      {303, "use the toolkit", Way::Mends, take_toolkit},
      {303, "install CUDA", Way::Mends, take_toolkit},
      {303, "install {2}", Way::Mends, torch_in_2},
      {303, "leave it", Way::Eases, [](Machine& m, W) { allow(m, "TCS303"); }},
      {304, "put {2} first", Way::Mends, path_first},
      {305, "try it by hand", Way::Looks, nullptr},
      {305, "use the toolkit", Way::Mends, take_toolkit},
      {305, "install CUDA", Way::Mends, take_toolkit},
      {306, "CMake keeps", Way::Mends, fresh_tree},
      {308, "{4}", Way::Mends, complete},
      {308, "use the toolkit", Way::Mends, take_toolkit},
      {309, "{4}", Way::Mends, one_release},
      {310, "set it to", Way::Mends, not_named_in_vain},
      {311, "name nvcc itself", Way::Mends, nvcc_itself},
      {312, "before find_package", Way::Eases, target_is_made},
      {312, "install a PyTorch", Way::Mends, newer_torch},
      {323, "use the toolkit", Way::Mends, take_toolkit},
      {323, "install CUDA", Way::Mends, take_toolkit},
      {323, "build a release", Way::Mends, [](Machine& m, W w) { m.facts.tree.cuda_min = w[3]; }},
      {341, "see all of it", Way::Looks, nullptr},
      {341, "use the toolkit", Way::Mends, take_toolkit},
      {341, "install CUDA", Way::Mends, take_toolkit},
      {341, "leave that out", Way::Mends, leave_out},
      {390, "name it", Way::Mends, install_same},
      {391, "ask it", Way::Mends, ask_archs},
      {392, "record the whole", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
