// SPDX-License-Identifier: Apache-2.0
// One order for what has none, so that no verdict or text depends on the order of discovery or on
// how a recording was written. Lists whose order means something (python.elsewhere, search paths)
// are left alone. And what one known fact of PyTorch says of another.
#include "base/text.h"
#include "facts/facts_io.h"

namespace tcs {
namespace {

std::string key_of(const Device& d) {
  const std::string index = d.index.known() ? cat(d.index.value()) : "~";
  return cat(std::string(index.size() < 10 ? 10 - index.size() : 0, ' '), index, "\n", d.cc.value(),
             "\n", d.name.value(), "\n", d.uuid.value());
}
std::string key_of(const LibCuda& l) {
  return cat(l.role.is("loaded") ? 0 : 1, l.path.value(), "\n", l.version.value());
}
std::string key_of(const Library& l) {
  return cat(l.soname.value(), "\n", l.needed_by.value(), "\n", l.path.value(), "\n",
             l.state.value(), "\n", l.version.value(), "\n", l.built_against.value(), "\n",
             l.via.value());
}
std::string key_of(const Extension& e) {
  return cat(e.name.value(), "\n", e.cuda.value(), "\n", join(e.images.value(), " "));
}
std::string key_of(const TorchLibrary& l) {
  return cat(l.name.value(), "\n", l.fat_binaries.or_else(0), "\n", join(l.images.value(), " "));
}
std::string key_of(const Toolkit& t) {
  return cat(t.root.value(), "\n", t.nvcc.value(), "\n", t.version.value(), "\n", t.origin.value());
}

template <class T>
bool before(const T& a, const T& b) {
  return key_of(a) < key_of(b);
}

void order_toolkits(ToolkitFacts& toolkits) {
  struct Placed {
    Toolkit toolkit;
    int index;
  };
  List<Placed> placed;
  for (size_t i = 0; i < toolkits.list.size(); ++i)
    placed.push_back({toolkits.list[i], static_cast<int>(i)});
  sort_few(placed, [](const Placed& a, const Placed& b) { return before(a.toolkit, b.toolkit); });
  const int selected = toolkits.selected.or_else(-1);
  for (size_t i = 0; i < placed.size(); ++i) {
    toolkits.list[i] = placed[i].toolkit;
    if (placed[i].index == selected)
      toolkits.selected = Fact<int>(static_cast<int>(i), toolkits.selected.from);
  }
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

}  // namespace

void order_facts(Facts& facts) {
  read_local_version(facts.torch);
  gather_images(facts.torch);
  if (facts.devices.state.is("none")) facts.devices.list.clear();  // known to be none
  sort_few(facts.devices.list, before<Device>);
  sort_few(facts.driver.libcuda, before<LibCuda>);
  sort_few(facts.libraries, before<Library>);
  sort_few(facts.extensions, before<Extension>);
  sort_few(facts.torch.libraries, before<TorchLibrary>);
  order_toolkits(facts.toolkits);
}

}  // namespace tcs
