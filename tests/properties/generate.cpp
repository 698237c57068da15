// SPDX-License-Identifier: Apache-2.0
#include "generate.h"

#include <initializer_list>

#include "base/text.h"
#include "tables/tables.h"

using namespace tcs;

namespace props {
namespace {

Json object(std::initializer_list<std::pair<const char*, Json>> members) {
  Json out = Json::object();
  for (const auto& member : members) out.add(member.first, member.second);
  return out;
}
Json array(std::initializer_list<Json> items) {
  Json out = Json::array();
  for (const auto& item : items) out.push(item);
  return out;
}
Json words(const std::string& text) {
  Json out = Json::array();
  for (const auto& word : split(text, " ")) out.push(word);
  return out;
}

// Combinations that were published together; what torch holds as in its wheels.
struct Stack {
  const char *cuda, *nvcc, *driver, *driver_cuda, *torch, *images, *gcc, *glibc;
  int gcc_max, clang_max, standard;
  bool abi;
  const char* cards;  // indices of kCards that run it, "0 3"
};
struct Card {
  const char *name, *cc;
  bool integrated;
};
const std::vector<Card> kCards = {{"Tesla K80", "3.7", false},
                                  {"NVIDIA GeForce GTX 1080 Ti", "6.1", false},
                                  {"Tesla P100-PCIE-16GB", "6.0", false},
                                  {"Tesla V100-SXM2-16GB", "7.0", false},
                                  {"Xavier", "7.2", true},
                                  {"Tesla T4", "7.5", false},
                                  {"NVIDIA A100-SXM4-40GB", "8.0", false},
                                  {"NVIDIA GeForce RTX 3090", "8.6", false},
                                  {"Orin", "8.7", true},
                                  {"NVIDIA GeForce RTX 4090", "8.9", false},
                                  {"NVIDIA H100 80GB HBM3", "9.0", false},
                                  {"NVIDIA B200", "10.0", false},
                                  {"NVIDIA Thor", "10.1", true},
                                  {"NVIDIA B300 SXM6 AC", "10.3", false},
                                  {"NVIDIA R100", "10.7", false},
                                  {"NVIDIA Thor", "11.0", true},
                                  {"NVIDIA GeForce RTX 5090", "12.0", false},
                                  {"NVIDIA GB10", "12.1", true},
                                  {"NVIDIA GeForce RTX 9990", "14.2", false},
                                  {"Quadro 600", "2.1", false}};
const std::vector<Stack> kStacks = {
    {"11.7", "11.7.99", "515.65.01", "11.7", "1.13.1+cu117",
     "sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86", "11.4.0", "2.35", 11, 13, 14, false, "5 6 7"},
    {"11.8", "11.8.89", "520.61.05", "11.8", "2.3.0+cu118",
     "sm_50 sm_60 sm_70 sm_75 sm_80 sm_37 sm_90", "11.4.0", "2.35", 11, 14, 17, false, "5 6 10"},
    {"12.1", "12.1.105", "530.30.02", "12.1", "2.3.0+cu121",
     "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", "12.2.0", "2.36", 12, 15, 17, false, "6 7 9 10"},
    {"12.4", "12.4.131", "550.54.15", "12.4", "2.6.0+cu124",
     "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", "12.2.0", "2.36", 13, 17, 17, false, "6 7 9 10"},
    {"12.8", "12.8.93", "570.124.06", "12.8", "2.7.1+cu128",
     "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120", "12.2.0", "2.36", 14, 19, 17, true,
     "6 9 10 11 16"},
    {"12.9", "12.9.86", "575.57.08", "12.9", "2.8.0+cu129",
     "sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120", "13.3.0", "2.39", 14, 19, 17, true,
     "6 9 10 11 16"},
    {"13.0", "13.0.88", "580.95.05", "13.0", "2.9.0+cu130",
     "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120", "13.3.0", "2.39", 15, 20, 17, true,
     "6 9 10 11 13 16 17"},
    {"13.2", "13.2.78", "595.45.04", "13.2", "2.15.0+cu132",
     "sm_75 sm_80 sm_86 sm_90 sm_100 sm_110 sm_120 compute_120", "14.2.0", "2.41", 15, 21, 20, true,
     "6 9 10 11 13 15 16 17"}};

std::string archs_of(int release) {
  std::string out;
  for (const ArchRow& row : arch_rows())
    if (row.built_by(release)) out += cat(row.sm.real(), " ", row.sm.virt(), " ");
  return out;
}

Json device_of(const Card& card, int index) {
  return object({{"index", index},
                 {"name", card.name},
                 {"cc", card.cc},
                 {"uuid", cat("GPU-", index, "b0c1d2e-0000-1111-2222-333344445555")},
                 {"visible", true},
                 {"integrated", card.integrated},
                 {"mig", false},
                 {"from", object({{"cc", "cuDeviceGetAttribute"}})}});
}

Json toolkit_of(const Stack& stack, const char* origin) {
  const std::string root = cat("/usr/local/cuda-", stack.cuda);
  return object({{"root", root},
                 {"nvcc", root + "/bin/nvcc"},
                 {"version", stack.nvcc},
                 {"origin", origin},
                 {"layout", "default"},
                 {"headers", stack.cuda},
                 {"ptxas", stack.nvcc},
                 {"cicc", stack.nvcc},
                 {"cudart", stack.nvcc},
                 {"archs", words(archs_of(release_of(Version::parse(stack.cuda))))},
                 {"missing", Json::array()},
                 {"works", true},
                 {"driver_dir", root + "/bin"},
                 {"include_dir", root + "/targets/x86_64-linux/include"},
                 {"library_dir", root + "/targets/x86_64-linux/lib"},
                 {"gcc_max", stack.gcc_max},
                 {"clang_max", stack.clang_max},
                 {"from", object({{"version", "nvcc --version"}})}});
}

Json library_of(const std::string& soname, const std::string& version) {
  return object({{"soname", soname},
                 {"needed_by", "libtorch_cuda.so"},
                 {"state", "found"},
                 {"path", "/opt/venv/lib/python3.11/site-packages/nvidia/lib/" + soname},
                 {"version", version},
                 {"built_against", version},
                 {"via", "RUNPATH of libtorch_cuda.so"},
                 {"shadows", "none"}});
}

void set(Json& object, const char* name, Json value);

Json libraries_of(const Stack& stack) {
  const std::string cuda = stack.cuda, major = cuda.substr(0, 2);
  Json nvrtc = library_of(cat("libnvrtc.so.", major == "11" ? "11.2" : major), stack.nvcc);
  nvrtc.add("archs", words(archs_of(release_of(Version::parse(stack.cuda)))));
  Json cublas = library_of(cat("libcublas.so.", major), cuda + ".5.8"),
       cudnn = library_of("libcudnn_ops.so.9", "9.1.0"), ptxas = library_of("ptxas", stack.nvcc);
  cublas.add("images", words(stack.images));
  cudnn.add("images", words(stack.images));
  set(ptxas, "needed_by", "triton");
  ptxas.add("archs", words(archs_of(release_of(Version::parse(stack.cuda)))));
  return array({library_of(cat("libcudart.so.", major == "11" ? "11.0" : major), stack.nvcc),
                cublas, cudnn, nvrtc, ptxas});
}

Json torch_of(const Stack& stack) {
  Json images = words(stack.images), coverage = Json::array();
  for (const Json& image : images.items)
    coverage.push(object({{"arch", image}, {"count", 300}, {"fat_binaries", 300}}));
  const Json library = object({{"name", "libtorch_cuda.so"},
                               {"images", images},
                               {"fat_binaries", 300},
                               {"coverage", coverage},
                               {"sets", array({object({{"images", images}, {"count", 300}})})}});
  const std::string root = "/opt/venv/lib/python3.11/site-packages/torch";
  return object({{"state", "found"},
                 {"version", stack.torch},
                 {"flavour", "cuda"},
                 {"cuda", stack.cuda},
                 {"cxx11_abi", stack.abi},
                 {"cxx_standard", stack.standard},
                 {"images", images},
                 {"libraries", array({library})},
                 {"root", root},
                 {"python_tag", "cp311"},
                 {"cmake_dir", root + "/share/cmake/Torch"}});
}

Machine machine_of(const Stack& stack, Dice& dice) {
  List<std::string> cards = split(stack.cards, " ");
  Json devices = Json::array();
  const size_t count = 1 + dice.below(2);
  for (size_t i = 0; i < count; ++i) {
    uint64_t card = 0;
    parse_number(cards[dice.below(cards.size())], 100, card);
    devices.push(device_of(kCards[card], static_cast<int>(i)));
  }
  Machine out;
  out.facts = object({{"schema", "torch-cuda-stack/facts/1"}, {"origin", "measured"}});
  out.facts.add("host", object({{"os", "linux"},
                                {"arch", "x86_64"},
                                {"distro", "Debian GNU/Linux 12 (bookworm)"},
                                {"kernel", "6.1.0-18-amd64"},
                                {"glibc", stack.glibc},
                                {"wsl", false}}));
  out.facts.add("devices", object({{"state", "measured"}, {"list", devices}}));
  out.facts.add("driver", object({{"state", "ok"},
                                  {"version", stack.driver},
                                  {"kernel_module", stack.driver},
                                  {"cuda", stack.driver_cuda},
                                  {"error", object({{"code", 0}})},
                                  {"libcuda", array({object({{"path", "/usr/lib/libcuda.so.1"},
                                                             {"version", stack.driver},
                                                             {"role", "loaded"},
                                                             {"kind", "driver"}})})}}));
  out.facts.add("toolkits", object({{"selected", 0},
                                    {"on_path", stack.nvcc},
                                    {"list", array({toolkit_of(stack, "PATH")})}}));
  out.facts.add("host_compiler",
                object({{"id", "GNU"}, {"version", stack.gcc}, {"path", "/usr/bin/g++"}}));
  out.facts.add("torch", torch_of(stack));
  out.facts.add("python", object({{"state", "found"},
                                  {"executable", "/opt/venv/bin/python3"},
                                  {"version", "3.11.2"},
                                  {"free_threaded", false},
                                  {"kind", "venv"},
                                  {"prefix", "/opt/venv"},
                                  {"elsewhere", Json::array()}}));
  out.facts.add("libraries", libraries_of(stack));
  out.facts.add("extensions", array({object({{"name", "flash_attn_2_cuda.so"},
                                             {"cxx11_abi", stack.abi},
                                             {"cuda", stack.cuda},
                                             {"images", words(stack.images)},
                                             {"ptx_isa", "none"}})}));
  out.facts.add("environment", object({{"PATH", "/usr/local/cuda/bin:/usr/bin:/bin"}}));
  out.request = Json::object();
  return out;
}

// --- what can be odd; each changes one thing

Json random_images(Dice& dice, const char* more) {
  Json out = Json::array();
  for (const auto& word :
       split(cat("sm_37 sm_50 sm_60 sm_61 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a "
                 "sm_100 sm_100a sm_100f sm_101 sm_103 sm_110 sm_120 sm_120a sm_121 compute_70 "
                 "compute_90 compute_120 ",
                 more),
             " "))
    if (dice.chance(20)) out.push(word);
  return out;
}

Json* some_item(Json& document, const std::string& list, Dice& dice) {
  const Json* there = look(document, list);
  if (!there || there->items.empty()) return nullptr;
  Json& items = at(document, list);
  return &items.items[dice.below(items.items.size())];
}

void set(Json& object, const char* name, Json value) {
  at(object, name) = std::move(value);
}

void odd_devices(Machine& m, Dice& dice) {
  Json list = Json::array();
  const size_t count = dice.below(5);
  for (size_t i = 0; i < count; ++i) list.push(odd_device(dice, static_cast<int>(i)));
  at(m.facts, "devices.list") = list;
  at(m.facts, "devices.state") = Json("measured");
}
void odd_one_device(Machine& m, Dice& dice) {
  Json* device = some_item(m.facts, "devices.list", dice);
  if (!device) return;
  switch (dice.below(5)) {
    case 0:
      return set(*device, "visible", dice.chance(50));
    case 1:
      set(*device, "mig", true);
      if (dice.chance(50)) at(m.facts, "devices.list").push(*device);
      return;
    case 2:
      return set(*device, "cc", dice.one_of(kCards).cc);
    case 3:
      return set(*device, "integrated", dice.chance(50));
    default:
      return set(*device, "index", static_cast<int>(dice.below(4)));
  }
}
void odd_device_state(Machine& m, Dice& dice) {
  const std::string state = dice.word({"none", "declared", "measured"});
  at(m.facts, "devices.state") = Json(state);
  if (state == "none") at(m.facts, "devices.list") = Json::array();
}
void odd_probe(Machine& m, Dice& dice) {
  Json* device = some_item(m.facts, "devices.list", dice);
  if (!device) return;
  Json probes = Json::array();
  static const std::vector<int> kErrors = {0, 209, 209, 200, 222, 223, 999};
  for (const char* image :
       {"sm_80", "sm_87", "sm_86", "sm_90", "sm_120", "compute_80", "compute_90"})
    if (dice.chance(60))
      probes.push(
          object({{"image", image},
                  {"result", dice.word({"runs", "refused", "refused", "wrong", "crash", "hang"})},
                  {"error", dice.one_of(kErrors)},
                  {"step", "cuModuleLoadData"}}));
  set(*device, "image_probe", probes);
}
void odd_board(Machine& m, Dice& dice) {
  Json* device = some_item(m.facts, "devices.list", dice);
  if (!device) return;
  if (dice.chance(50))
    set(*device, "state", dice.word({"ok", "lost", "reset-required", "error"}));
  else
    set(*device, "compute_mode",
        dice.word({"default", "exclusive-process", "exclusive-thread", "prohibited"}));
}

void odd_driver_state(Machine& m, Dice& dice) {
  const std::string state =
      dice.word({"absent", "no-kernel-module", "stub", "mismatch", "error", "error", "ok"});
  Json& driver = at(m.facts, "driver");
  set(driver, "state", state);
  const std::vector<int> codes = {3,   34,  35,  46,  100, 101, 214, 222,  227,
                                  719, 802, 803, 804, 805, 806, 999, 12345};
  if (state == "error" && dice.chance(80)) {
    at(m.facts, "driver.error.code") = Json(dice.one_of(codes));
    if (dice.chance(50))
      at(m.facts, "driver.error.call") =
          Json(dice.word({"cuInit", "cuDeviceGetCount", "cuCtxCreate"}));
  } else if (state == "error") {
    drop(driver, "error");
    set(driver, "failure",
        object({{"kind", dice.word({"hang", "crash", "output", "load"})}, {"text", "Xid 79"}}));
  }
  if (state == "absent") {
    for (const char* name : {"version", "cuda", "kernel_module", "error"}) drop(driver, name);
    set(driver, "libcuda", Json::array());
  }
  if (state != "ok" && dice.chance(70)) {
    at(m.facts, "devices.state") = Json("none");
    at(m.facts, "devices.list") = Json::array();
  }
}
void odd_driver(Machine& m, Dice& dice) {
  const Stack& other = dice.one_of(kStacks);
  switch (dice.below(4)) {
    case 0:
      at(m.facts, "driver.version") = Json(dice.word({"384.81", "418.39", "440.33.01", "450.51.05",
                                                      "470.57", "525.60.13", "560.35.03", "32"}));
      return;
    case 1:
      at(m.facts, "driver.cuda") = Json(other.driver_cuda);
      return;
    case 2:
      at(m.facts, "driver.kernel_module") = Json(other.driver);
      return;
    default:
      for (const char* name : {"version", "kernel_module"})
        at(m.facts, cat("driver.", name)) = Json(other.driver);
      at(m.facts, "driver.cuda") = Json(other.driver_cuda);
  }
}
void odd_libcuda(Machine& m, Dice& dice) {
  const char* kinds[] = {"driver", "compat", "stub", "wsl"};
  const char* folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/local/cuda-12.8/compat",
                           "/usr/local/cuda/lib64/stubs", "/usr/lib/wsl/lib"};
  Json list = Json::array();
  const size_t count = dice.below(4);
  for (size_t i = 0; i < count; ++i) {
    const size_t kind = dice.below(4);
    list.push(object({{"path", cat(folders[kind], "/libcuda.so.1")},
                      {"version", dice.one_of(kStacks).driver},
                      {"role", dice.word({"loaded", "other", "other"})},
                      {"kind", kinds[kind]}}));
  }
  at(m.facts, "driver.libcuda") = list;
}

// What the system shows around a driver.
void odd_surroundings(Machine& m, Dice& dice) {
  Json& driver = at(m.facts, "driver");
  Json& host = at(m.facts, "host");
  switch (dice.below(7)) {
    case 0:
      return set(driver, "nodes",
                 array({object({{"path", "/dev/nvidia0"},
                                {"state", dice.word({"ok", "denied", "missing"})}}),
                        object({{"path", "/dev/nvidiactl"},
                                {"state", dice.word({"ok", "denied", "missing"})}})}));
    case 1:
      return set(driver, "nvml",
                 object({{"state", dice.word({"ok", "absent", "error"})},
                         {"path", "/usr/lib/libnvidia-ml.so.1"},
                         {"version", dice.one_of(kStacks).driver},
                         {"error_code", dice.chance(50) ? 18 : 0}}));
    case 2:
      return set(driver, "mps", dice.chance(50));
    case 3:
      return set(driver, "module_kind", dice.word({"open", "proprietary"}));
    case 4:
      set(host, "nouveau", dice.chance(70));
      return set(host, "secure_boot", dice.chance(50));
    case 5:
      return set(host, "container", dice.word({"none", "docker", "podman", "kubernetes", "lxc"}));
    default:
      return set(host, "nvidia_pci",
                 dice.chance(50) ? Json::array() : array({Json("0000:01:00.0 10de:2704")}));
  }
}

std::string odd_origin(Dice& dice) {
  return dice.word({"PATH", "CUDA_HOME", "CUDA_PATH", "CUDACXX", "CUDAToolkit_ROOT",
                    "TREE_CUDA_COMPILER", "CUDA_HOME, PATH", "TorchCudaStack_TOOLKIT",
                    "CMAKE_CUDA_COMPILER", "/usr/local/cuda", "CUDACXX (clang as CUDA compiler)",
                    "nvidia-cuda-nvcc of /opt/venv", "CONDA_PREFIX"});
}
void more_toolkits(Machine& m, Dice& dice) {
  Json& list = at(m.facts, "toolkits.list");
  const size_t count = 1 + dice.below(3);
  for (size_t i = 0; i < count; ++i)
    list.push(toolkit_of(dice.one_of(kStacks), odd_origin(dice).c_str()));
  const size_t all = list.items.size();
  if (dice.chance(50)) at(m.facts, "toolkits.selected") = Json(static_cast<int>(dice.below(all)));
  if (dice.chance(50)) at(m.facts, "toolkits.on_path") = Json(dice.one_of(kStacks).nvcc);
}
void no_toolkits(Machine& m, Dice& dice) {
  at(m.facts, "toolkits.list") = Json::array();
  drop(m.facts, "toolkits.selected");
  if (dice.chance(70)) drop(m.facts, "toolkits.on_path");
}
void none_selected(Machine& m, Dice&) {
  drop(m.facts, "toolkits.selected");
}
void odd_failure(Machine& m, Dice& dice) {
  Json* t = some_item(m.facts, "toolkits.list", dice);
  if (!t) return;
  set(*t, "works", false);
  const std::string kind = dice.word({"host-compiler", "host-compiler-run", "arch", "headers",
                                      "ptxas", "cicc", "hang", "crash", "output", "link", "start"});
  set(*t, "failure", object({{"kind", kind}, {"text", "nvcc fatal   : it does not work"}}));
}
void odd_builds(Machine& m, Dice& dice) {
  Json* t = some_item(m.facts, "toolkits.list", dice);
  if (!t) return;
  Json builds = Json::array();
  for (const char* image : {"sm_80", "sm_86", "sm_90", "compute_90", "sm_120"})
    if (dice.chance(60))
      builds.push(object({{"image", image},
                          {"result", dice.word({"built", "built", "refused", "wrong"})},
                          {"text", "ptxas fatal   : it does not work"}}));
  set(*t, "builds", builds);
}
void odd_toolkit(Machine& m, Dice& dice) {
  Json* t = some_item(m.facts, "toolkits.list", dice);
  if (!t) return;
  const Stack& other = dice.one_of(kStacks);
  switch (dice.below(11)) {
    case 0: {
      const Json* origin = t->find("origin");
      const std::string named = origin ? origin->text : odd_origin(dice);
      const bool tried = t->find("works") != nullptr;
      *t = toolkit_of(other, named.c_str());
      if (!tried) drop(*t, "works");
      return;
    }
    case 1:
      return set(*t, "layout", dice.word({"pip", "conda", "distribution", "clang", "default"}));
    case 2:
      return set(*t, dice.word({"headers", "ptxas", "cicc", "cudart"}).c_str(), other.nvcc);
    case 3:
      drop(*t, "version");  // whose archs the tables know better
      return set(*t, "archs", random_images(dice, "compute_80 compute_86"));
    case 4:
      return set(*t, "missing",
                 words(dice.word({"nvrtc", "lib64", "lib64 libcudart.so", "cudart", "nvToolsExt",
                                  "cudart-dev headers", "cicc"})));
    case 5:
      return set(*t, "origin", odd_origin(dice));
    case 6:
      return set(*t, "gcc_max", static_cast<int>(6 + dice.below(10)));
    case 7:
      return set(*t, "fitting_host_compiler", "/usr/bin/g++-11");
    case 8:
      return set(*t, "spare_host_compiler", "/usr/bin/g++-11");
    case 9:
      return set(*t, "tried_host_compilers", words("/usr/bin/g++-12 /usr/bin/clang++-14"));
    default:
      set(*t, "version", other.nvcc);
      return set(*t, "archs", words(archs_of(release_of(Version::parse(other.cuda)))));
  }
}
// Nobody tried: what the parts let expect counts.
void untried(Machine& m, Dice&) {
  if (!look(m.facts, "toolkits.list")) return;
  for (Json& t : at(m.facts, "toolkits.list").items) drop(t, "works");
}
void odd_host_compiler(Machine& m, Dice& dice) {
  untried(m, dice);
  const std::string id = dice.word({"GNU", "GNU", "Clang", "MSVC", "AppleClang", "NVHPC", "Intel"});
  at(m.facts, "host_compiler.id") = Json(id);
  if (id == "MSVC") {
    at(m.facts, "host.os") = Json("windows");
    for (const char* name : {"host.glibc", "host.distro"}) drop(m.facts, name);
  }
  at(m.facts, "host_compiler.version") =
      Json(dice.word({"8.3.0", "9.4.0", "10.2.1", "11.2.0", "13.2.0", "14.1.0", "15.1.0", "16.0.1",
                      "19.40.33811", "14.29.30133", "14.44", "18.1.3", "23.0"}));
}

void odd_host(Machine& m, Dice& dice) {
  Json& host = at(m.facts, "host");
  switch (dice.below(6)) {
    case 5:
      set(host, "cores", static_cast<int>(1 + dice.below(256)));
      return set(host, "memory_mib", static_cast<int>(dice.below(1u << 20)));
    case 0:
      untried(m, dice);
      return set(host, "glibc", dice.word({"2.17", "2.28", "2.41", "2.42"}));
    case 1:
      set(host, "wsl", true);
      return set(host, "kernel", "5.15.153.1-microsoft-standard-WSL2");
    case 2:
      set(host, "arch", "aarch64");
      return set(host, "jetson",
                 object({{"l4t", dice.word({"35.4.1", "36.4.3", "38.2.0"})},
                         {"jetpack", dice.word({"5.1.2", "6.2", "7.0"})}}));
    case 3:
      return set(host, "os", "windows");
    default:
      return set(host, "distro", "L\xc3\xa4nder Linux \"1\"");
  }
}

// A source tree of PyTorch, as its CMake and an earlier build left it.
void odd_tree(Machine& m, Dice& dice) {
  Json build = object({{"path", "/src/pytorch/build"},
                       {"list", dice.word({"none", "8.0;9.0", "8.6+PTX", "7.5 8.6", "9.9"})},
                       {"compiler", dice.word({"none", "/usr/local/cuda-12.4/bin/nvcc"})}});
  if (dice.chance(50))
    build.add("gencodes", words("arch=compute_80,code=sm_80 arch=compute_90,code=sm_90"));
  if (dice.chance(25)) build = object({{"path", "none"}});
  Json tree = object({{"state", "found"},
                      {"root", "/src/pytorch"},
                      {"version", dice.word({"2.6.0", "2.9.0a0", "2.15.0a0", "1.13.0"})},
                      {"era", dice.word({"setup.py", "scikit-build-core"})},
                      {"fresh", dice.word({"CMAKE_FRESH=1", "SKBUILD_CMAKE_FRESH=1"})},
                      {"cuda_min", dice.word({"11.0", "12.0", "12.6", "13.1"})},
                      {"gcc_min", dice.word({"9.3", "none", "11.3", "13"})}});
  tree.add("build", build);
  set(m.facts, "tree", dice.chance(15) ? object({{"state", "absent"}}) : tree);
  if (!m.request.find("purpose") && dice.chance(80)) m.request.add("purpose", "pytorch-source");
}

void odd_torch_state(Machine& m, Dice& dice) {
  const std::string state = dice.word({"absent", "broken", "absent"});
  if (state == "absent") at(m.facts, "torch") = Json::object();
  at(m.facts, "torch.state") = Json(state);
}
void other_torch(Machine& m, Dice& dice) {
  at(m.facts, "torch") = torch_of(dice.one_of(kStacks));
}
void odd_torch(Machine& m, Dice& dice) {
  Json& torch = at(m.facts, "torch");
  switch (dice.below(8)) {
    case 0:
      set(torch, "flavour", dice.word({"cpu", "rocm", "xpu"}));
      return drop(torch, "cuda");
    case 1:
      return set(torch, "cuda", dice.one_of(kStacks).cuda);
    case 2:
      drop(torch, "libraries");
      return set(torch, "images", random_images(dice, ""));
    case 3:
      return set(torch, "cxx11_abi", dice.chance(50));
    case 4:
      return set(torch, "python_tag", dice.word({"cp39", "cp310", "cp312", "cp314t"}));
    case 5:
      drop(torch, "version");  // whose headers the tables know better
      return set(torch, "cxx_standard", dice.chance(50) ? 20 : 14);
    case 6:
      return set(torch, "version",
                 dice.word({"2.14.0a0+gitabcdef1", "1.8.0", "2.0.1", "2.7.0.dev20250310+cu128",
                            "2.5.0a0+872d972e41.nv24.8", "v\xc3\xb6\n1"}));
    default:
      drop(torch, "libraries");
      return set(torch, "images", Json::array());
  }
}
// Images that are not in every fat binary.
struct Counted {
  std::map<std::string, int> fat_binaries;  // that hold an image
  int all = 0;
  Json sets = Json::array();
};
Counted random_sets(Dice& dice) {
  Counted out;
  const size_t sets = 1 + dice.below(4);
  for (size_t i = 0; i < sets; ++i) {
    const Json images = random_images(dice, "");
    const int count = static_cast<int>(1 + dice.below(300));
    for (const Json& image : images.items) out.fat_binaries[image.text] += count;
    out.sets.push(object({{"images", images}, {"count", count}}));
    out.all += count;
  }
  return out;
}
void odd_sets(Machine& m, Dice& dice) {
  Json list = Json::array(), together = Json::array();
  std::set<std::string> seen;
  const size_t libraries = 1 + dice.below(2);
  for (size_t i = 0; i < libraries; ++i) {
    const Counted counted = random_sets(dice);
    Json images = Json::array(), coverage = Json::array();
    for (const auto& [image, count] : counted.fat_binaries) {
      images.push(image);
      if (seen.insert(image).second) together.push(image);
      coverage.push(object({{"arch", image}, {"count", count}, {"fat_binaries", count}}));
    }
    Json library = object({{"name", i ? "libother.so" : "libtorch_cuda.so"}, {"images", images}});
    const size_t known = dice.below(4);
    if (known != 0) library.add("fat_binaries", counted.all);
    if (known == 1 || known == 3) library.add("coverage", coverage);
    if (known >= 2) library.add("sets", counted.sets);
    list.push(library);
  }
  at(m.facts, "torch.images") = together;
  at(m.facts, "torch.libraries") = list;
}

void odd_python(Machine& m, Dice& dice) {
  Json& python = at(m.facts, "python");
  switch (dice.below(5)) {
    case 3:
      return set(python, "free_threaded", dice.chance(50));
    case 0:
      python = object({{"state", "absent"}});
      return;
    case 1:
      set(python, "elsewhere", array({"/home/somebody/venv", "/opt/conda/envs/ml"}));
      if (dice.chance(70)) odd_torch_state(m, dice);
      return;
    case 2:
      return set(python, "version", dice.word({"3.8.10", "3.12.3", "3.14.0", "2.7.18"}));
    default:
      return set(python, "kind",
                 dice.word({"system", "conda", "venv", "uv", "isolated-build", "pyenv"}));
  }
}

// What NVRTC compiles for follows from its release.
void set_release(Json& library, const std::string& version) {
  set(library, "version", version);
  drop(library, "archs");
}
void odd_libraries(Machine& m, Dice& dice) {
  Json* library = some_item(m.facts, "libraries", dice);
  if (!library) return;
  switch (dice.below(7)) {
    case 0:
      set(*library, "state", "missing");
      for (const char* name : {"path", "version", "via"}) drop(*library, name);
      return;
    case 1:
      set(*library, "state", "wrong");
      return set_release(*library, dice.word({"11.0", "10.2.300", "8.0.3", "13.0.1"}));
    case 2:
      set(*library, "via", "LD_LIBRARY_PATH");
      set(*library, "path", "/usr/local/cuda-11.0/lib64/libx.so");
      if (dice.chance(50)) set(*library, "shadows", "/opt/venv/lib/libx.so");
      if (dice.chance(70)) set_release(*library, dice.word({"8.0.3", "11.0.221", "99.1"}));
      return;
    case 3:
      return set(*library, "built_against", dice.word({"8.3.2", "9.10.2", "12.9.1"}));
    case 4: {
      const Stack& other = dice.one_of(kStacks);
      if (dice.chance(50)) {  // who looks into one library looks into the others too
        set(*library, "images", random_images(dice, ""));
        Json beside = library_of("libcudnn_cnn.so.9", "9.1.0");
        beside.add("images", words("sm_50 compute_52"));
        at(m.facts, "libraries").push(beside);
        return;
      }
      if (!library->find("archs")) return;
      set(*library, "version", other.nvcc);
      return set(*library, "archs", words(archs_of(release_of(Version::parse(other.cuda)))));
    }
    case 5:
      at(m.facts, "libraries") = Json::array();
      return;
    default:
      at(m.facts, "libraries")
          .push(library_of(dice.word({"libcuda.so.1", "libcudnn.so.8", "libnccl.so.2",
                                      "libcudart.so.11.0", "libcudart.so.13", "libnvToolsExt.so.1",
                                      "libstdc++.so.6", "libnvJitLink.so.12"}),
                           dice.one_of(kStacks).cuda));
  }
}
void odd_extensions(Machine& m, Dice& dice) {
  Json list = Json::array();
  const size_t count = dice.below(3);
  for (size_t i = 0; i < count; ++i)
    list.push(object({{"name", dice.word({"flash_attn_2_cuda.so", "_C.so", "pointnet2_ops.so"})},
                      {"cxx11_abi", dice.chance(50)},
                      {"cuda", dice.chance(20) ? "none" : dice.one_of(kStacks).cuda},
                      {"images", random_images(dice, "")},
                      {"ptx_isa", dice.word({"none", "8.4", "9.0", "7.0", "9.9"})},
                      {"role", dice.word({"subject", "neighbour", "neighbour"})}}));
  at(m.facts, "extensions") = list;
}

struct Variable {
  const char *name, *value;
};
const std::vector<Variable> kVariables = {
    {"CUDA_VISIBLE_DEVICES", ""},
    {"CUDA_VISIBLE_DEVICES", "0"},
    {"CUDA_VISIBLE_DEVICES", "1,0"},
    {"CUDA_VISIBLE_DEVICES", "-1"},
    {"CUDA_VISIBLE_DEVICES", "7"},
    {"CUDA_VISIBLE_DEVICES", "0,7,1"},
    {"CUDA_VISIBLE_DEVICES", "0, 1"},
    {"CUDA_VISIBLE_DEVICES", "0;1"},
    {"CUDA_VISIBLE_DEVICES", "0,0"},
    {"CUDA_VISIBLE_DEVICES", "NoDevFiles"},
    {"CUDA_VISIBLE_DEVICES", "cuda:0"},
    {"CUDA_VISIBLE_DEVICES", "GPU-0b0c1d2e"},
    {"CUDA_VISIBLE_DEVICES", "GPU-ffffffff,0"},
    {"CUDA_VISIBLE_DEVICES", "MIG-c7384736-a75d-5afc-978f-d2f1294409fd"},
    {"CUDA_VISIBLE_DEVICES", "MIG-GPU-5c89852c/1/0"},
    {"NVIDIA_VISIBLE_DEVICES", "void"},
    {"NVIDIA_VISIBLE_DEVICES", "all"},
    {"NVIDIA_REQUIRE_CUDA", "cuda>=12.9"},
    {"NVIDIA_DISABLE_REQUIRE", "1"},
    {"NVIDIA_DRIVER_CAPABILITIES", "graphics"},
    {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"},
    {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
    {"CUDA_FORCE_PTX_JIT", "1"},
    {"CUDA_FORCE_PTX_JIT", "0"},
    {"CUDA_DISABLE_PTX_JIT", "1"},
    {"CUDA_FORCE_JIT", "1"},
    {"CUDA_DISABLE_JIT", "1"},
    {"CUDA_CACHE_DISABLE", "1"},
    {"CUDA_MODULE_LOADING", "EAGER"},
    {"NVCC_APPEND_FLAGS", "-gencode arch=compute_80,code=sm_80"},
    {"NVCC_APPEND_FLAGS", "-gencode=arch=compute_61,code=sm_61 -O3"},
    {"NVCC_APPEND_FLAGS", "-allow-unsupported-compiler"},
    {"NVCC_APPEND_FLAGS", "-arch=sm_99"},
    {"NVCC_APPEND_FLAGS", "-arch=native"},
    {"NVCC_PREPEND_FLAGS", "-ccbin /usr/bin/g++-11"},
    {"NVCC_PREPEND_FLAGS", "-arch sm_86"},
    {"NVCC_CCBIN", "/usr/bin/g++-10"},
    {"CUDAFLAGS", "-arch=sm_75"},
    {"CUDAFLAGS", "--generate-code=arch=compute_90,code=[sm_90,compute_90]"},
    {"CUDAFLAGS", "-Xcompiler -march=native"},
    {"TORCH_NVCC_FLAGS", "-gencode arch=compute_70,code=sm_70"},
    {"NVCC_FLAGS", "-gencode arch=compute_70,code=sm_70"},
    {"NVCC_FLAGS", "-Xcompiler -march=native"},
    {"CMAKE_CUDA_FLAGS", "-arch=all-major"},
    {"CUDAARCHS", "80;90"},
    {"CUDAARCHS", "all-major"},
    {"TORCH_CUDA_ARCH_LIST", "7.0;8.0+PTX"},
    {"TORCH_CUDA_ARCH_LIST", "sm_80"},
    {"TORCH_CUDA_ARCH_LIST", "8.0,8.6"},
    {"CUDA_HOME", "/usr/local/cuda-12.4"},
    {"CUDA_HOME", "/usr/local/cuda-11.8"},
    {"CUDA_HOME", "/usr/local/cuda/bin"},
    {"CUDA_HOME", "/usr/local/cuda:/usr/local/cuda-12"},
    {"CUDA_HOME", "/nowhere"},
    {"CUDA_HOME", ""},
    {"CUDA_PATH", "/usr/local/cuda-12.1"},
    {"CUDACXX", "/usr/bin/clang++"},
    {"CUDACXX", "ccache nvcc"},
    {"CUDAHOSTCXX", "/usr/bin/g++-12"},
    {"CC", "/opt/conda/bin/x86_64-conda-linux-gnu-cc"},
    {"CXX", "ccache g++"},
    {"CXXFLAGS", "-D_GLIBCXX_USE_CXX11_ABI=0"},
    {"CXXFLAGS", "-march=native"},
    {"LD_LIBRARY_PATH", "/usr/local/cuda/lib64/stubs:/usr/lib"},
    {"LD_LIBRARY_PATH", "/usr/local/cuda-12.8/compat"},
    {"LD_LIBRARY_PATH", ":/opt/\xc3\xbc b/lib"},
    {"LD_PRELOAD", "/usr/local/cuda/lib64/stubs/libcuda.so"},
    {"LIBRARY_PATH", "/usr/local/cuda/lib64"},
    {"CPATH", "/usr/local/cuda-11.8/include"},
    {"VIRTUAL_ENV", "/opt/venv"},
    {"VIRTUAL_ENV", "/home/somebody/other"},
    {"CONDA_PREFIX", "/opt/conda/envs/ml"},
    {"PYTHONPATH", "/opt/other/site-packages"},
    {"PYTHONNOUSERSITE", "1"},
    {"PIP_NO_BUILD_ISOLATION", "1"},
    {"FORCE_CUDA", "1"},
    {"USE_CUDA", "0"},
    {"MAX_JOBS", "many"},
    {"TORCH_CUDA_STACK_FAIL_ON", "warning"},
    {"TORCH_CUDA_STACK_TARGETS", "8.6"},
    {"CMAKE_ARGS", "-DCMAKE_CUDA_ARCHITECTURES=86"},
    {"CMAKE_PREFIX_PATH", "/opt/venv/lib/python3.11/site-packages/torch"}};

void odd_environment(Machine& m, Dice& dice) {
  const size_t count = 1 + dice.below(3);
  for (size_t i = 0; i < count; ++i) {
    const Variable& variable = dice.one_of(kVariables);
    at(at(m.facts, "environment"), variable.name) = Json(variable.value);
  }
}

const std::vector<const char*> kLists = {"8.6",
                                         "8.0;8.6+PTX",
                                         "7.5 8.0 8.6",
                                         "9.0a",
                                         "9.0a+PTX",
                                         "10.0f;12.0f",
                                         "10.0;10.0f",
                                         "8.6;12.0;12.0f",
                                         "12.0",
                                         "12.0+PTX",
                                         "native",
                                         "Ampere",
                                         "Ampere+PTX",
                                         "Hopper;Blackwell",
                                         "Kepler",
                                         "Turing;Ampere+Tegra",
                                         "all",
                                         "all-major",
                                         "Auto",
                                         "Common",
                                         "90",
                                         "90-real;90-virtual",
                                         "86-real",
                                         "sm_90",
                                         "compute_80",
                                         "8.6(8.0)",
                                         "8.0(8.6)",
                                         "8.6(8.0)+PTX",
                                         "9.0(9.0a)",
                                         "8.0,8.6",
                                         "8.6+ptx",
                                         "99.9",
                                         "9.0f",
                                         "6.1",
                                         "3.5;5.0",
                                         "10.1",
                                         "11.0",
                                         "10.3;10.7",
                                         "RTX 4090",
                                         "A100",
                                         "hopper",
                                         "",
                                         ";",
                                         "OFF",
                                         "8.0;$(reboot)",
                                         "8.7",
                                         "7.2;8.7",
                                         "native;8.0",
                                         "5.2+PTX",
                                         "8.0;8.0;8.0"};
const std::vector<const char*> kTargets = {
    "native", "native", "torch", "8.6",    "9.0",     "12.0",      "RTX 4090", "NVIDIA H100", "8.7",
    "6.1",    "9.0a",   "all",   "Ampere", "fleet:x", "RTX 50900", "99.9",     "Native"};

void odd_request(Machine& m, Dice& dice) {
  Json& request = m.request;
  if (dice.chance(50)) request.add("arch_list", dice.one_of(kLists));
  if (dice.chance(20)) request.add("arch_dialect", dice.word({"torch", "cmake"}));
  if (dice.chance(15)) {
    request.add("other_list", dice.one_of(kLists));
    request.add("other_dialect", dice.word({"torch", "cmake"}));
  }
  if (dice.chance(50)) {
    Json targets = Json::array();
    const size_t count = dice.below(3);
    for (size_t i = 0; i < count; ++i) targets.push(dice.one_of(kTargets));
    if (targets.items.empty() && dice.chance(50)) targets.push("native");
    request.add("targets", targets);
    if (dice.chance(30)) request.add("targets_from", "TorchCudaStack_TARGETS");
  }
  if (!request.find("purpose") && dice.chance(40))
    request.add("purpose", dice.word({"extension", "pytorch-source", "run", "run"}));
}

using Change = void (*)(Machine&, Dice&);
const std::vector<Change> kChanges = {
    odd_devices,       odd_devices,     odd_one_device, odd_device_state, odd_probe,
    odd_driver_state,  odd_driver,      odd_driver,     odd_libcuda,      more_toolkits,
    more_toolkits,     no_toolkits,     none_selected,  odd_failure,      odd_failure,
    odd_toolkit,       odd_toolkit,     odd_toolkit,    untried,          odd_host_compiler,
    odd_host_compiler, odd_host,        odd_host,       odd_torch_state,  other_torch,
    other_torch,       odd_torch,       odd_torch,      odd_sets,         odd_python,
    odd_python,        odd_libraries,   odd_libraries,  odd_libraries,    odd_extensions,
    odd_environment,   odd_environment, odd_board,      odd_surroundings, odd_surroundings,
    odd_builds,        odd_tree};

void shuffle_members(Json& node, Dice& dice) {
  dice.shuffle(node.members);
  for (auto& member : node.members) shuffle_members(member.second, dice);
  for (auto& item : node.items) shuffle_members(item, dice);
}

}  // namespace

Machine good_machine(Dice& dice) {
  return machine_of(dice.one_of(kStacks), dice);
}

Json odd_device(Dice& dice, int index) {
  Json device = device_of(dice.one_of(kCards), index);
  if (dice.chance(15)) set(device, "visible", false);
  if (dice.chance(8)) set(device, "mig", true);
  if (dice.chance(10)) drop(device, dice.word({"index", "name", "cc", "uuid", "visible", "mig"}));
  return device;
}

// No fact contradicts another: a PyTorch's release says its flavour and its CUDA, without a driver
// nobody saw a GPU, one that works answers no error, and what failed did not work.
void agree(Machine& m) {
  Json& torch = at(m.facts, "torch");
  const Json *version = torch.find("version"), *flavour = torch.find("flavour"),
             *cuda = torch.find("cuda");
  const std::string text = version ? version->text : "", base = text.substr(0, text.find('+'));
  if (flavour && flavour->text != "cuda")
    set(torch, "version", base + "+" + flavour->text);
  else if (cuda && contains(text, "+cu"))
    set(torch, "version", base + "+cu" + replace_all(cuda->text, ".", ""));
  const Json* state = at(m.facts, "driver").find("state");
  if (state && state->text == "ok") drop(at(m.facts, "driver"), "error");
  if (!state || state->text != "absent") return;
  at(m.facts, "devices.state") = Json("none");
  at(m.facts, "devices.list") = Json::array();
}

Machine odd_machine(Dice& dice) {
  Machine out = good_machine(dice);
  const size_t changes = dice.below(5);
  for (size_t i = 0; i < changes; ++i) dice.one_of(kChanges)(out, dice);
  agree(out);
  if (dice.chance(60)) odd_request(out, dice);
  const size_t unknown = dice.chance(40) ? 1 + dice.below(3) : 0;
  for (size_t i = 0; i < unknown; ++i) {
    const std::vector<Spot> spots = facts_in(out.facts);
    if (!spots.empty()) out.facts = without(out.facts, spots[dice.below(spots.size())]);
  }
  return out;
}

Machine shuffled(Machine machine, Dice& dice) {
  Json& facts = machine.facts;
  for (const char* list :
       {"devices.list", "driver.libcuda", "libraries", "extensions", "torch.libraries"})
    if (look(facts, list)) dice.shuffle(at(facts, list).items);
  if (look(facts, "toolkits.list") && look(facts, "toolkits.list")->items.size() > 1) {
    List<Json>& toolkits = at(facts, "toolkits.list").items;
    const Json* selected = look(facts, "toolkits.selected");
    const char* const mark = "chosen by shuffled()";
    uint64_t chosen = 0;
    const bool known = selected && parse_number(selected->text, toolkits.size() - 1, chosen);
    if (known) toolkits[chosen].add(mark, true);
    dice.shuffle(toolkits);
    for (size_t i = 0; known && i < toolkits.size(); ++i)
      if (toolkits[i].find(mark)) {
        drop(toolkits[i], mark);
        at(facts, "toolkits.selected") = Json(static_cast<int>(i));
      }
  }
  shuffle_members(facts, dice);
  return machine;
}

}  // namespace props
