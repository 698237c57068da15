// SPDX-License-Identifier: Apache-2.0
// Machines that nobody recorded: one part of each layer, put together by chance from the tables.
#include <random>

#include "base/text.h"
#include "plan/buildable.h"
#include "plan/plan.h"
#include "remedy.h"
#include "tables/tables.h"

namespace tcs::remedies {
namespace {

class Chance {
 public:
  explicit Chance(unsigned seed) : source_(seed) {}
  unsigned below(size_t n) { return static_cast<unsigned>(source_() % n); }
  bool one_in(unsigned n) { return below(n) == 0; }
  template <class T, size_t N>
  const T& of(const T (&all)[N]) {
    return all[below(N)];
  }
  template <class T>
  const T& of(const Rows<T>& all) {
    return all.first[below(all.count)];
  }

 private:
  std::mt19937 source_;  // its numbers are the same everywhere, unlike the standard distributions'
};

constexpr const char* kDrivers[] = {
    "450.80.02", "470.256.02", "515.65.01", "525.60.13", "530.30.02", "535.261.03", "550.54.15",
    "560.35.03", "570.124.06", "575.57.08", "580.65.06", "590.44.01", "595.71.05",  "610.43.02"};
constexpr const char* kCompilers[] = {
    "GNU 7.5.0",  "GNU 9.4.0",  "GNU 11.4.0",  "GNU 12.3.0",   "GNU 13.2.0",   "GNU 14.2.0",
    "GNU 15.1.0", "GNU 16.1.0", "Clang 9.0.1", "Clang 14.0.0", "Clang 18.1.3", "Clang 21.1.0"};
constexpr const char* kPythons[] = {"3.7.17", "3.8.18", "3.10.12", "3.12.3", "3.13.5", "3.14.0"};
constexpr const char* kPurposes[] = {"extension", "extension", "run", "pytorch-source"};
constexpr const char* kTargets[] = {"native", "8.6",  "7.0",  "12.0", "9.0a", "10.0f", "6.1",
                                    "8.7",    "11.0", "H100", "8.9",  "10.3", "torch"};
constexpr const char* kFlags[] = {"70", "80", "86", "90a", "120"};
constexpr const char* kLists[] = {"native",  "8.0;8.6+PTX", "9.0a", "10.0f;12.0", "6.1;8.6",
                                  "7.0+PTX", "12.0",        "11.0", "12.1a",      "8.0+PTX"};

// A driver that shows a GPU knows it: NVIDIA's branches after 470, 580 have no Kepler, no Maxwell
// to Volta, and those before the toolkit that first built for a GPU had not heard of it.
bool shows(const std::string& driver, const Sm& sm) {
  const int branch = Version::parse(driver).major();
  const ArchRow* row = find_arch(sm);
  return row && cuda_of_driver(Version::parse(driver)) >= row->first &&
         (sm.major > 3 || branch <= 470) && (sm.major > 7 || sm.dotted() == "7.5" || branch <= 580);
}

void put_device(Machine& m, const GpuRow& gpu) {
  Device device;
  device.index = static_cast<int>(m.facts.devices.list.size());
  device.name = gpu.name;
  device.cc = gpu.sm.dotted();
  device.visible = true;
  device.mig = false;
  m.facts.devices.list.push_back(device);
}

bool is_board(const GpuRow& gpu) {
  return starts_with(gpu.name, "Jetson");
}

// A machine to build on.
void put_none(Machine& m) {
  m.facts.devices.state = "none";
  m.facts.devices.list_known = true;
  m.facts.driver.state = "absent";
}

// A Jetson has one of its JetPacks; what it runs on is not a driver of its own release.
void put_board(Machine& m, const GpuRow& gpu, Chance& chance) {
  List<const JetPackRow*> fitting;
  for (const JetPackRow& row : jetpack_rows())
    if (contains(split(row.boards, " "), gpu.sm.dotted())) fitting.push_back(&row);
  if (fitting.empty()) return put_none(m);
  const JetPackRow* row = fitting[chance.below(fitting.size())];
  m.facts.host.arch = "aarch64";
  m.facts.host.jetson_l4t = row->l4t;
  m.facts.host.jetson_jetpack = row->jetpack;
  m.facts.driver.cuda = release_text(row->cuda);
  m.facts.host_compiler.id = "GNU";
  m.facts.host_compiler.version = row->cuda < 1100   ? "7.5.0"
                                  : row->cuda < 1200 ? "9.4.0"
                                                     : "11.4.0";
  put_device(m, gpu);
}

void put_devices(Machine& m, Chance& chance) {
  m.facts.devices.list_known = true;
  m.facts.devices.state = "measured";
  m.facts.driver.state = "ok";
  const GpuRow& gpu = chance.of(gpu_rows());
  if (is_board(gpu)) return put_board(m, gpu, chance);
  const std::string driver = chance.of(kDrivers);
  m.facts.driver.version = driver;
  m.facts.driver.cuda = release_text(cuda_of_driver(Version::parse(driver)));
  for (int tries = 0; tries < 20 && m.facts.devices.list.size() < 2; ++tries) {
    const GpuRow& more = tries == 0 ? gpu : chance.of(gpu_rows());
    if (!is_board(more) && shows(driver, more.sm)) put_device(m, more);
    if (!m.facts.devices.list.empty() && !chance.one_in(5)) break;
  }
  if (m.facts.devices.list.empty()) m.facts.devices.state = "none";
}

void put_compiler(Machine& m, Chance& chance) {
  const std::string compiler = chance.of(kCompilers);
  const size_t space = compiler.find(' ');
  m.facts.host_compiler.id = compiler.substr(0, space);
  m.facts.host_compiler.version = compiler.substr(space + 1);
}

void ask(Machine& m, Chance& chance) {
  m.request.purpose = chance.of(kPurposes);
  if (chance.one_in(4) && !m.facts.host.jetson_l4t.known()) {  // what a board takes, it has
    m.request.arch_list = Text(chance.of(kLists), "TORCH_CUDA_ARCH_LIST");
    m.request.arch_dialect = "torch";
  }
  if (m.request.arch_list.known() || !chance.one_in(3)) return;
  std::string targets = chance.of(kTargets);
  if (targets != "torch" && chance.one_in(2)) targets += cat(";", kTargets[chance.below(10)]);
  for_targets(m, targets);
}

// Of some release; with its oldest CUDA and GCC, "none" where it asks for none.
struct Tree {
  const char *version, *era, *fresh, *cuda, *gcc;
};
constexpr Tree kTrees[] = {
    {"1.13.1", "setup.py", "", "10.2", "none"},
    {"2.3.0", "setup.py", "CMAKE_FRESH=1", "11.0", "9.3"},
    {"2.6.0", "setup.py", "CMAKE_FRESH=1", "11.0", "9.3"},
    {"2.9.0a0", "setup.py", "CMAKE_FRESH=1", "12.0", "9.3"},
    {"2.15.0a0", "scikit-build-core", "SKBUILD_CMAKE_FRESH=1", "12.6", "9.3"},
    {"2.17.0a0", "scikit-build-core", "SKBUILD_CMAKE_FRESH=1", "13.0", "9.3"}};

// What a build folder was configured for: a list, or the flags of its files where it had none.
void put_folder(TreeBuild& build, Chance& chance) {
  build.path = "/src/pytorch/build";
  build.compiler = "none";
  build.list = chance.one_in(3) ? "none" : chance.of(kLists);
  if (build.list.is("native")) build.list = "8.0;9.0";
  if (!build.list.is("none")) return;
  const char* const sm = chance.of(kFlags);
  build.gencodes = Names({cat("arch=compute_", sm, ",code=sm_", sm)}, "build.ninja");
}

void put_tree(Machine& m, Chance& chance) {
  TreeFacts& tree = m.facts.tree;
  const Tree& row = chance.of(kTrees);
  if (chance.one_in(8)) return;  // its sources were not named
  tree.state = "found";
  tree.root = "/src/pytorch";
  tree.version = row.version;
  tree.era = row.era;
  if (row.fresh[0] != '\0') tree.fresh = row.fresh;
  tree.cuda_min = row.cuda;
  tree.gcc_min = row.gcc;
  tree.build.path = "none";
  if (!chance.one_in(3)) put_folder(tree.build, chance);
  List<Toolkit>& toolkits = m.facts.toolkits.list;
  if (toolkits.size() < 2) return;
  toolkits[0].origin = "CUDACXX";
  toolkits[toolkits.size() - 1].origin = "TREE_CUDA_COMPILER";
}

Machine machine_of(Chance& chance) {
  Machine m;
  m.facts.origin = "replayed";
  m.facts.host.os = "linux";
  m.facts.host.arch = chance.one_in(6) ? "aarch64" : "x86_64";
  m.facts.host.glibc = "2.35";
  m.facts.host.wsl = false;
  m.facts.host.container = "none";
  if (chance.one_in(8))
    put_none(m);
  else
    put_devices(m, chance);
  m.facts.python.state = "found";
  m.facts.python.kind = "venv";
  m.facts.python.version = chance.of(kPythons);
  m.facts.python.free_threaded = false;
  m.facts.python.elsewhere_known = m.facts.libraries_known = m.facts.extensions_known = true;
  if (chance.one_in(8)) {
    m.facts.torch.state = "absent";
  } else if (chance.one_in(8)) {
    m.facts.torch.state = "found";
    m.facts.torch.flavour = "cpu";
    m.facts.torch.version = "2.7.0+cpu";
  }
  while (!m.facts.torch.state.known()) {
    const TorchRow& row = chance.of(torch_rows());
    install_torch(m, row.version, release_text(row.cuda));
  }
  const Version python = Version::parse(m.facts.python.version.value());
  m.facts.torch.python_tag = cat("cp", python.major(), python.minor());
  if (!m.facts.host.jetson_l4t.known()) put_compiler(m, chance);
  m.facts.toolkits.list_known = true;
  for (unsigned i = chance.below(8) < 6 ? 1 : chance.below(3); i > 0; --i)
    install_toolkit(m, release_text(chance.of(cuda_rows()).release));
  m.forgot = false;
  ask(m, chance);
  return m;
}

// No one toolkit builds the list, the targets and for the GPUs that are here, or none that
// PyTorch's sources take: each line can then only help one of them.
bool is_torn(const Machine& m) {
  const Plan plan = make_plan(m.facts, m.request);
  List<Sm> all;
  Sm sm;
  for (const Image& image : plan.written) all.push_back(image.sm);
  for (const Target& target : plan.targets) all.push_back(target.sm);
  for (const Device& device : m.facts.devices.list)
    if (parse_sm_dotted(device.cc.value(), sm)) all.push_back(sm);
  for (const CudaRow& row : cuda_rows()) {
    if (row.release < release_of(Version::parse(m.facts.tree.cuda_min.value()))) continue;
    Toolkit toolkit;
    toolkit.version = Text(release_text(row.release));
    const Buildable build(&toolkit);
    bool builds = true;
    for (const Sm& each : all) builds = builds && build.real(each);
    if (builds) return false;
  }
  return true;
}

std::string words_of(const Machine& m) {
  const Facts& f = m.facts;
  std::string out = cat(m.request.purpose, ", list ", m.request.arch_list.or_else("none"),
                        ", targets ", join(m.request.targets, ";"), ", GPUs");
  for (const Device& device : f.devices.list) out += " " + device.cc.value();
  out += cat(", driver ", f.driver.version.value(), " of CUDA ", f.driver.cuda.value(), ", nvcc");
  for (const Toolkit& toolkit : f.toolkits.list) out += " " + toolkit.version.value();
  if (f.tree.state.known())
    out += cat(", tree ", f.tree.version.value(), ", CUDA ", f.tree.cuda_min.value(), ", GCC ",
               f.tree.gcc_min.value(), ", folder ", f.tree.build.path.value(), " ",
               f.tree.build.list.value());
  return out + cat(", ", f.host_compiler.id.value(), " ", f.host_compiler.version.value(),
                   ", PyTorch ", f.torch.version.or_else("none"), ", Python ",
                   f.python.version.value(), ", ", f.host.arch.value());
}

}  // namespace

std::vector<Machine> machines_by_chance(unsigned seed, int count) {
  Chance chance(seed);
  Chance trees(seed + 1);  // so that other machines are what they are without
  std::vector<Machine> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(machine_of(chance));
    if (out.back().request.purpose == "pytorch-source") put_tree(out.back(), trees);
    out.back().by_chance = true;
    out.back().torn = is_torn(out.back());
    out.back().name = cat("by chance, seed ", seed, " number ", i, "\n  ", words_of(out.back()));
  }
  return out;
}

}  // namespace tcs::remedies
