// SPDX-License-Identifier: Apache-2.0
// One order for what has none, so that no verdict or text depends on the order of discovery or on
// how a recording was written. Lists whose order means something (python.elsewhere, search paths)
// are left alone. And what one known fact says of another, and the one spelling of names.
#include "base/text.h"
#include "facts/facts_io.h"

namespace tcs {
namespace {

// What goes before the element's own text: CUDA's count of devices, and the libcuda that loads.
std::string lead_of(const Device& d) {
  const std::string index = d.index.known() ? cat(d.index.value()) : "~";
  return cat(std::string(index.size() < 10 ? 10 - index.size() : 0, ' '), index);
}
std::string lead_of(const LibCuda& l) {
  return l.role.is("loaded") ? "0" : "1";
}
template <class T>
std::string lead_of(const T&) {
  return {};
}

// By all that the elements hold, so that equal keys are equal elements. Returns where each was.
template <class T>
List<int> order(List<T>& list) {
  struct Placed {
    std::string key;
    int index = 0;
  };
  List<Placed> placed;
  for (size_t i = 0; i < list.size(); ++i)
    placed.push_back({cat(lead_of(list[i]), text_of(list[i])), static_cast<int>(i)});
  sort_few(placed, [](const Placed& a, const Placed& b) { return a.key < b.key; });
  List<T> ordered;
  List<int> was;
  for (const Placed& p : placed) {
    ordered.push_back(list[static_cast<size_t>(p.index)]);
    was.push_back(p.index);
  }
  list = ordered;
  return was;
}

void order_toolkits(ToolkitFacts& toolkits) {
  const int selected = toolkits.selected.or_else(-1);
  const List<int> was = order(toolkits.list);
  for (size_t i = 0; i < was.size(); ++i)
    if (was[i] == selected)
      toolkits.selected = Fact<int>(static_cast<int>(i), toolkits.selected.from);
}

// PyTorch's builds say in their release what they are for: "2.4.1+cpu", "2.3.0+cu121".
void read_local_version(TorchFacts& torch) {
  const std::string& version = torch.version.value();
  const size_t plus = version.find('+');
  if (!torch.state.is("found") || plus == std::string::npos) return;
  const std::string local = version.substr(plus + 1), from = "its release, " + version;
  uint64_t cuda = 0;
  const bool is_cuda = starts_with(local, "cu") && parse_number(local.substr(2), 999, cuda);
  const std::string word = is_cuda                      ? "cuda"
                           : local == "cpu"             ? "cpu"
                           : starts_with(local, "rocm") ? "rocm"
                           : local == "xpu"             ? "xpu"
                                                        : "";
  if (!torch.flavour.known() && !word.empty()) torch.flavour = Text(word, from);
  if (!torch.cuda.known() && is_cuda && cuda > 99 && torch.flavour.is("cuda"))
    torch.cuda = Text(cat(cuda / 10, ".", cuda % 10), from);
}

// Its images are those of its libraries, where all of them are known.
void gather_images(TorchFacts& torch) {
  List<std::string> all;
  bool known = !torch.libraries.empty();
  for (const auto& library : torch.libraries) {
    known = known && library.images.known();
    for (const auto& image : library.images.value()) add_once(all, image);
  }
  if (known && !torch.images.known()) torch.images = Names(all, "torch.libraries");
}

// What a failure was recorded of does not work.
void settle_failures(ToolkitFacts& toolkits) {
  for (auto& toolkit : toolkits.list)
    if (!toolkit.works.known() && (toolkit.failure.kind.known() || toolkit.failure.text.known()))
      toolkit.works = Flag(false, "its failure");
}

// CMake's ids (CMAKE_CXX_COMPILER_ID), also of who wrote the program's name.
void settle_compiler(Text& id) {
  struct Row {
    const char *written, *id;
  };
  const std::string small = lower(id.value());
  for (const Row& row :
       {Row{"gnu", "GNU"}, Row{"gcc", "GNU"}, Row{"g++", "GNU"}, Row{"clang", "Clang"},
        Row{"clang++", "Clang"}, Row{"llvm", "Clang"}, Row{"appleclang", "AppleClang"},
        Row{"msvc", "MSVC"}, Row{"cl", "MSVC"}, Row{"cl.exe", "MSVC"}, Row{"intel", "Intel"},
        Row{"icc", "Intel"}, Row{"icpc", "Intel"}, Row{"intelllvm", "IntelLLVM"},
        Row{"icx", "IntelLLVM"}, Row{"icpx", "IntelLLVM"}, Row{"nvhpc", "NVHPC"},
        Row{"nvc++", "NVHPC"}})
    if (small == row.written) id = Text(row.id, id.from);
}

}  // namespace

void order_facts(Facts& facts) {
  read_local_version(facts.torch);
  gather_images(facts.torch);
  settle_failures(facts.toolkits);
  settle_compiler(facts.host_compiler.id);
  if (facts.devices.state.is("none")) facts.devices.list.clear();  // known to be none
  order(facts.devices.list);
  order(facts.driver.libcuda);
  order(facts.driver.nodes);
  order(facts.libraries);
  order(facts.extensions);
  order(facts.torch.libraries);
  order_toolkits(facts.toolkits);
}

}  // namespace tcs
