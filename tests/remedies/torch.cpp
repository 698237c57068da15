// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/torch.def does, and those on a driver that is too
// old for PyTorch or for PTX (204, 205, 211).
#include <regex>

#include "base/text.h"
#include "findings/nearest_torch.h"
#include "plan/buildable.h"
#include "plan/grammar.h"
#include "plan/plan.h"
#include "remedy.h"

namespace tcs::remedies {
namespace {

// The group of `form` in `words`, "" where it is not there.
std::string found(const std::string& words, const char* form) {
  std::smatch match;
  return std::regex_search(words, match, std::regex(form)) ? match[1].str() : "";
}

// What a recording lacks of other layers may matter to a PyTorch that was not there before.
void lacks_more(Machine& m) {
  m.forgot = m.forgot || !m.facts.host_compiler.id.known() || !m.facts.driver.cuda.known();
}

// A driver that only refused an image (CUresult 222) gets another one.
void is_content(Machine& m) {
  if (!m.facts.driver.error_code.is(222)) return;
  m.facts.driver.error_code = Fact<int>();
  m.facts.driver.state = "ok";
}

Text tag_of(const PythonFacts& python) {
  const Version version = Version::parse(python.version.value());
  if (!version.known()) return Text("none");
  return cat("cp", version.major(), version.minor(), python.free_threaded.is(true) ? "t" : "");
}

// It is of this Python, and what was built for the old one is gone.
void settle(Machine& m) {
  m.facts.torch.python_tag = tag_of(m.facts.python);
  m.facts.extensions.clear();
  m.facts.extensions_known = true;
  lacks_more(m);
}

// "-DTorchCudaStack_TOOLKIT=/opt/cuda", "a toolkit of CUDA 11.8 and g++-11 as its host compiler".
void change_toolkit(Machine& m, const std::string& words) {
  const std::string folder = found(words, "TorchCudaStack_TOOLKIT=([^ ,]+)"),
                    release = found(words, "a toolkit of CUDA ([0-9.]+)"),
                    program = found(words, "and ([^ ]+) as its host compiler");
  if (!folder.empty()) select_toolkit(m, folder);
  if (!release.empty()) install_toolkit(m, release);
  if (!program.empty()) name_compiler(m, program);
}

}  // namespace

void take_torch(Machine& m, const std::string& words) {
  install_torch(m, found(words, "PyTorch ([0-9.]+) for CUDA"), found(words, "for CUDA ([0-9.]+)"));
  change_toolkit(m, words);
  const std::string python = found(words, "in Python ([0-9.]+)"),
                    gcc = found(words, "with (?:GCC|Clang release) ([0-9.]+)"),
                    driver = found(words, "a driver that speaks CUDA ([0-9.]+)");
  if (!python.empty()) {  // one of them answers now
    m.facts.python.version = Text(python);
    if (!m.facts.python.state.known()) m.facts.python.state = Text("found");
  }
  if (!gcc.empty()) m.facts.host_compiler.version = Text(gcc);
  if (!driver.empty()) install_driver(m, driver);
  settle(m);
}

namespace {

List<Sm> sms_of(const Machine& m) {
  const Plan plan = make_plan(m.facts, m.request);
  return to_serve(RuleInput{m.facts, m.request, plan});
}

List<std::string> wanted_images(const Machine& m) {
  List<std::string> images;
  for (const Sm& sm : sms_of(m)) images.push_back(sm.real());
  if (images.empty()) images.push_back("sm_80");
  return images;
}

// Any minor release of the driver's major runs on it.
std::string newest_of_major(int major) {
  int newest = 0;
  for (const CudaRow& row : cuda_rows())
    if (row.release / 100 == major) newest = row.release;
  return release_text(newest);
}

// A PyTorch that was built for what is here, of the toolkit's CUDA: from source, or of others;
// "with CUDA 9.0 to 12.9" where the toolkit is another.
void take_built(Machine& m, const std::string& words = "") {
  const Version first = Version::parse(found(words, "with CUDA ([0-9.]+)")),
                last = Version::parse(found(words, "with CUDA [0-9.]+ to ([0-9.]+)"));
  const Toolkit* here = m.facts.toolkit();
  const Version own = Version::parse(here ? here->version.value() : "");
  if (own.known() && first.known() && (own < first || (last.known() && last < own)))
    install_with_compiler(m, (last.known() ? last : first).major_minor());
  const List<std::string> images = wanted_images(m);
  install_torch(m, "", "");
  TorchFacts& torch = m.facts.torch;
  torch.images = images;
  torch.libraries[0].images = torch.images;
  torch.libraries[0].sets.clear();
  torch.libraries[0].sets.push_back({images, 100});
  torch.version = Text("2.0.1");
  const Toolkit* toolkit = m.request.purpose == "run" ? nullptr : m.facts.toolkit();
  const Text& driver = m.facts.driver.cuda;
  const bool old =
      driver.known() && toolkit &&
      Version::parse(driver.value()).major() < Version::parse(toolkit->version.value()).major();
  if (old) install_with_compiler(m, newest_of_major(Version::parse(driver.value()).major()));
  if (toolkit) toolkit = m.facts.toolkit();
  if (toolkit && toolkit->version.known())
    torch.cuda = toolkit->version;
  else if (driver.known())
    torch.cuda = driver;
  settle(m);
}

// One that fits: what an environment that has it is taken to have.
void take_fitting(Machine& m) {
  const Plan plan = make_plan(m.facts, m.request);
  const RuleInput in{m.facts, m.request, plan};
  const std::string way = torch_way(in, to_serve(in));
  if (way.empty())
    take_built(m);
  else
    take_torch(m, way);
}

// What was not known of PyTorch is known, and goes with the rest.
void learn_torch(Machine& m) {
  TorchFacts& torch = m.facts.torch;
  if (!torch.state.known() || !torch.flavour.known() || !torch.cuda.known() ||
      !torch.version.known()) {
    take_fitting(m);
    const Toolkit* toolkit = m.request.purpose == "run" ? nullptr : m.facts.toolkit();
    if (toolkit && toolkit->version.known()) torch.cuda = toolkit->version;
  }
  if (!torch.python_tag.known()) torch.python_tag = tag_of(m.facts.python);
  if (!torch.cxx11_abi.known()) torch.cxx11_abi = true;
  for (Extension& e : m.facts.extensions)
    if (e.cxx11_abi.known()) torch.cxx11_abi = e.cxx11_abi;
  m.facts.extensions_known = m.facts.libraries_known = true;
  lacks_more(m);
}
void learn_images(Machine& m) {
  TorchFacts& torch = m.facts.torch;
  lacks_more(m);
  if (!torch.images.known()) torch.images = wanted_images(m);
  TorchLibrary library;
  library.name = "libtorch_cuda.so";
  library.images = torch.images;
  library.sets.push_back({torch.images.value(), 100});
  torch.libraries = {library};
  torch.libraries_known = true;
}

// "6.1 with PyTorch ...": the GPUs of that kind alone, and that PyTorch.
void see_one_kind(Machine& m, const std::string& words) {
  const std::string cc = found(words, "^([0-9.]+) with"),
                    first = words.substr(0, words.find(" or "));
  for (Device& device : m.facts.devices.list)
    if (!device.cc.is(cc)) device.visible = false;
  if (contains(first, " for CUDA ")) return take_torch(m, first);
  change_toolkit(m, first);
}

void set_abi(Machine& m) {
  for (Extension& e : m.facts.extensions) e.cxx11_abi = m.facts.torch.cxx11_abi;
}
void set_cuda(Machine& m) {
  for (Extension& e : m.facts.extensions) e.cuda = m.facts.torch.cuda;
  m.facts.libraries.clear();
  m.facts.libraries_known = true;
}

// What that toolkit makes of TORCH_CUDA_ARCH_LIST="8.6;9.0+PTX".
List<std::string> built_by(const Toolkit* toolkit, const std::string& list) {
  const Buildable build(toolkit);
  List<std::string> images;
  const ArchTokens parsed = parse_arch_list(list, "torch");
  for (const ArchToken& token : parsed.tokens) {
    if (token.cubin && build.real(token.real)) images.push_back(token.real.real());
    if (token.ptx && build.virt(token.virt)) images.push_back(token.virt.virt());
  }
  return images;
}
void build_images(Machine& m, const Toolkit* toolkit, const std::string& list) {
  for (Extension& e : m.facts.extensions) e.images = built_by(toolkit, list);
  for (Device& device : m.facts.devices.list) device.image_probe.clear();
}
void build_by_8(Machine& m, const Words& w) {
  for (const Toolkit& toolkit : m.facts.toolkits.list)
    if (toolkit.root.is(w[8])) return build_images(m, &toolkit, w[2]);
}
void build_by_9(Machine& m, const Words& w) {
  Toolkit toolkit;
  toolkit.version = w[9].substr(0, w[9].find_first_of(" ,"));
  build_images(m, &toolkit, w[2]);
}

// The build that its makers made for this kind of device.
void set_images(Machine& m) {
  for (Extension& e : m.facts.extensions) e.images = wanted_images(m);
  for (Device& device : m.facts.devices.list) device.image_probe.clear();
}

// A driver of exactly that release.
void driver_of(Machine& m, const std::string& release) {
  const std::string cuda = release_text(cuda_of_driver(Version::parse(release)));
  install_driver(m, cuda);
  m.facts.driver.version = m.facts.driver.kernel_module = Text(release);
}

// The libcuda of a compat package for PyTorch's CUDA loads, and says so.
void use_compat(Machine& m, const std::string& folder) {
  const Version torch = Version::parse(m.facts.torch.cuda.value());
  const Text toolkit = m.facts.toolkit() ? m.facts.toolkit()->version : Text();
  const Version own = Version::parse(toolkit.value());
  const std::string cuda = (torch < own ? own : torch).major_minor();
  LibCuda lib;
  lib.path = folder + "/libcuda.so.1";
  lib.role = "loaded";
  lib.kind = "compat";
  for (int branch = 450; branch < 700 && !lib.version.known(); branch += 5)
    if (release_text(cuda_of_driver(Version::parse(cat(branch)))) == cuda)
      lib.version = cat(branch, ".65.06");
  m.facts.driver.libcuda = {lib};
  m.facts.driver.cuda = Text(cuda);
  m.facts.driver.state = "ok";
  m.facts.driver.error_code = Fact<int>();
}

// "CUDA 11": a PyTorch and a toolkit of it; else the toolkit that the words name.
void go_back(Machine& m, const std::string& words) {
  if (!starts_with(words, "CUDA ")) return change_toolkit(m, words);
  const std::string major = words.substr(5);
  std::string cuda;
  for (const CudaRow& row : cuda_rows())
    if (cat(row.release / 100) == major || release_text(row.release) == major)
      cuda = release_text(row.release);
  if (m.facts.toolkit() && m.request.purpose != "run") install_toolkit(m, cuda);
  if (m.facts.torch.state.is("found")) {
    const Text version = m.facts.torch.version;
    take_built(m);
    m.facts.torch.version = starts_with(cuda, "10.") ? Text("1.8.0") : version;  // of its time
    m.facts.torch.cuda = Text(cuda);
  }
}

}  // namespace

Effects torch_effects() {
  using W = const Words&;
  return {
      {204, "use the board's cuda-compat", Way::Mends,
       [](Machine& m, W) { use_compat(m, "/usr/local/cuda/compat"); }},
      {204, "update the driver to", Way::Mends,
       [](Machine& m, W w) {
         if (starts_with(w[3], "one for CUDA "))
           install_driver(m, w[3].substr(13));
         else
           driver_of(m, w[3].substr(0, w[3].find(' ')));
       }},
      {204, "update the Windows driver", Way::Mends,
       [](Machine& m, W w) {
         if (starts_with(w[9], "one for CUDA "))
           install_driver(m, w[9].substr(13));
         else
           driver_of(m, w[9].substr(0, w[9].find(' ')));
       }},
      {204, "update to JetPack", Way::Mends,
       [](Machine& m, W w) {
         const JetPackRow* row = jetpack_named(Version::parse(w[8]));
         m.facts.host.jetson_jetpack = Text(w[8]);
         m.facts.host.jetson_l4t = Text(row->l4t);
         m.facts.driver.version = Text();
         m.facts.driver.cuda = Text(release_text(row->cuda));
       }},
      {204, "put {7} first", Way::Mends, [](Machine& m, W w) { use_compat(m, w[7]); }},
      {204, "this driver runs", Way::Mends, [](Machine& m, W w) { take_torch(m, w[4]); }},
      {204, "take {5}", Way::Mends, [](Machine& m, W w) { go_back(m, w[5]); }},
      {204, "the cuda-compat package", Way::Mends,
       [](Machine& m, W) { use_compat(m, "/usr/local/cuda/compat"); }},
      {205, "build a cubin", Way::Mends,
       [](Machine& m, W w) {
         is_content(m);
         write_list(
             m, m.request.arch_list.known() ? cat(m.request.arch_list.value(), ";", w[4]) : w[4]);
       }},
      {205, "update the driver", Way::Mends, [](Machine& m, W w) { install_driver(m, w[5]); }},
      {205, "or use a toolkit", Way::Mends,
       [](Machine& m, W w) {
         is_content(m);
         install_toolkit(m, w[3]);
       }},
      {205, "or take a PyTorch", Way::Mends,
       [](Machine& m, W w) {
         is_content(m);
         take_torch(m, w[8]);
       }},
      {211, "install a branch", Way::Mends,
       [](Machine& m, W w) {
         install_driver(m, "12.8");
         m.facts.driver.module_kind = Text("proprietary");
         (void)w;
       }},
      {601, "take {4}", Way::Mends, [](Machine& m, W w) { take_torch(m, w[4]); }},
      {601, "let it see", Way::Mends, [](Machine& m, W w) { see_one_kind(m, w[5]); }},
      {601, "install {7}", Way::Mends, [](Machine& m, W w) { take_built(m, w[7]); }},
      {601, "this build is for", Way::Eases, [](Machine& m, W) { allow(m, "TCS601"); }},
      {601, "building for other machines?", Way::Eases,
       [](Machine& m, W w) {
         name_targets(m, w[6]);
         m.forgot = true;  // what a recording lacks did not matter before
       }},
      {602, "activate the environment that has it, or install one", Way::Mends,
       [](Machine& m, W w) { take_torch(m, w[0]); }},
      {602, "activate the environment that has it, or install {1}", Way::Mends,
       [](Machine& m, W w) { take_built(m, w[1]); }},
      {602, "or name where", Way::Mends, [](Machine& m, W) { take_fitting(m); }},
      {603, "take", Way::Mends, [](Machine& m, W w) { take_torch(m, w[3]); }},
      {603, "install", Way::Mends, [](Machine& m, W w) { take_built(m, w[4]); }},
      {604, "install", Way::Mends, [](Machine& m, W) { take_fitting(m); }},
      {605, "if you meet that error: take", Way::Mends,
       [](Machine& m, W w) { take_torch(m, w[5]); }},
      {605, "if you meet that error: use", Way::Mends, [](Machine& m, W) { take_built(m); }},
      {606, "install", Way::Mends, [](Machine& m, W) { set_abi(m); }},
      {606, "building it anew", Way::Eases, [](Machine& m, W) { allow(m, "TCS606"); }},
      {608, "install", Way::Mends, [](Machine& m, W) { set_cuda(m); }},
      {608, "building it anew", Way::Eases, [](Machine& m, W) { allow(m, "TCS608"); }},
      {609, "build it for this device:", Way::Mends,
       [](Machine& m, W w) { build_images(m, m.facts.toolkit(), w[4]); }},
      {609, "build it for this device with", Way::Mends, build_by_8},
      {609, "build it for this device,", Way::Mends, build_by_9},
      {609, "install its", Way::Mends, [](Machine& m, W w) { build_images(m, nullptr, w[2]); }},
      {609, "not needed", Way::Eases, [](Machine& m, W) { allow(m, "TCS609"); }},
      {610, "install a driver", Way::Mends, [](Machine& m, W w) { install_driver(m, w[1]); }},
      {610, "or build the extension", Way::Mends,
       [](Machine& m, W w) {
         for (Extension& e : m.facts.extensions) {
           e.cuda = Text(w[2]);
           e.ptx_isa = Text(release_text(ptx_isa_written_by(release_of(Version::parse(w[2])))));
         }
       }},
      {610, "or build it with code", Way::Mends,
       [](Machine& m, W w) { build_images(m, m.facts.toolkit(), w[5]); }},
      {410, "use a newer one", Way::Mends, [](Machine& m, W w) { name_compiler(m, w[7]); }},
      {410, "use GCC", Way::Mends,
       [](Machine& m, W w) { m.facts.host_compiler.version = Text(w[3]); }},
      {410, "use {3} or newer of it", Way::Mends,
       [](Machine& m, W w) {
         m.facts.host_compiler.version = Text(w[3].substr(w[3].find(' ') + 1));
       }},
      {410, "install CUDA", Way::Mends, take_toolkit},
      {340, "use the toolkit", Way::Mends, take_toolkit},
      {340, "install CUDA", Way::Mends, take_toolkit},
      {340, "install a PyTorch", Way::Mends, torch_of_toolkit},
      {690, "name the interpreter", Way::Mends, [](Machine& m, W) { learn_torch(m); }},
      {690, "or run", Way::Mends, [](Machine& m, W) { learn_torch(m); }},
      {691, "read them", Way::Mends, [](Machine& m, W) { learn_images(m); }},
      {692, "run", Way::Mends,
       [](Machine& m, W) {
         m.facts.extensions.clear();
         m.facts.extensions_known = true;
       }},
      {611, "take", Way::Mends, [](Machine& m, W w) { take_torch(m, w[3]); }},
      {611, "use the build that was made for this board", Way::Mends,
       [](Machine& m, W) {
         take_built(m);
         set_images(m);
       }},
      {611, "use the build that was made for this kind", Way::Mends,
       [](Machine& m, W) { set_images(m); }},
      {611, "or try one kernel", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
