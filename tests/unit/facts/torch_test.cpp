// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/gather.h"
#include "facts/torch_files.h"
#include "memory_host.h"
#include "shared_object.h"

using namespace tcs;

namespace {

const char* const new_abi = "_ZN3c108demangleB5cxx11EPKc";
const char* const old_abi = "_ZN3c108demangleEPKc";

std::string version_py(const std::string& version, const std::string& cuda,
                       const std::string& hip = "None", const std::string& xpu = "None") {
  return "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', "
         "'hip']\n"
         "__version__ = '" +
         version + "'\ndebug = False\ncuda: Optional[str] = " + cuda +
         "\ngit_version = 'd0f2af8b'\nhip: Optional[str] = " + hip +
         "\nxpu: Optional[str] = " + xpu + "\n";
}

// A wheel with the parts that are looked at, in the folder `site`.
void add_torch(MemoryHost& host, const std::string& site, const std::string& version,
               const std::string& cuda) {
  const std::string root = site + "/torch";
  host.files[root + "/version.py"] = version_py(version, cuda);
  host.files[root + "/__init__.py"] = "";
  host.files[root + "/share/cmake/Torch/TorchConfig.cmake"] = "# no ABI flag here\n";
  host.files[root + "/include/torch/csrc/api/include/torch/all.h"] =
      "// __cplusplus stays 199711L\n#if !defined(_MSC_VER) && __cplusplus < 201703L\n#error "
      "C++17\n#endif\n";
  host.files[root + "/_C.cpython-311-x86_64-linux-gnu.so"] = "";
  SharedObject c10, cpu, gpu;
  c10.soname = "libc10.so";
  c10.symbols = {"other", new_abi};
  host.files[root + "/lib/libc10.so"] = c10.bytes();
  cpu.soname = "libtorch_cpu.so";
  host.files[root + "/lib/libtorch_cpu.so"] = cpu.bytes();
  host.files[root + "/lib/libtorch.so"] = cpu.bytes();
  if (cuda == "None") return;
  gpu.soname = "libtorch_cuda.so";
  gpu.needed = {"libcudart.so.12", "libcudnn.so.9", "libc.so.6", "libtorch_cpu.so"};
  gpu.rpath = "$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN";
  gpu.fat = {{80, 90}, {80, 90, 100}, {90}};
  host.files[root + "/lib/libtorch_cuda.so"] = gpu.bytes();
}

std::string library(const std::string& soname) {
  SharedObject so;
  so.soname = soname;
  return so.bytes();
}

Facts gather(MemoryHost& host, const Inputs& in = {}) {
  Facts facts;
  facts.host.arch = Text("x86_64");
  facts.python.state = Text("found");
  facts.python.executable = Text("/v/bin/python3");
  facts.python.prefix = Text("/v");
  facts.python.search_path = {"/site"};
  gather_torch(host, in, facts);
  return facts;
}

const Library* find(const Facts& facts, const std::string& soname) {
  for (const Library& one : facts.libraries)
    if (one.soname.is(soname)) return &one;
  return nullptr;
}

}  // namespace

TEST_CASE("a wheel's facts come from its files") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  Facts facts = gather(host);
  CHECK(facts.torch.state.is("found"));
  CHECK(facts.torch.version.is("2.7.1+cu126"));
  CHECK(facts.torch.flavour.is("cuda"));
  CHECK(facts.torch.cuda.is("12.6"));
  CHECK(facts.torch.cxx11_abi.is(true));
  CHECK(facts.torch.cxx_standard.is(17));
  CHECK(facts.torch.python_tag.is("cp311"));
  CHECK(facts.torch.root.is("/site/torch"));
  CHECK(facts.torch.cmake_dir.is("/site/torch/share/cmake/Torch"));
  CHECK(facts.torch.images.value() == List<std::string>{"sm_80", "sm_90", "sm_100"});
  REQUIRE(facts.torch.libraries.size() == 1);
  CHECK(facts.torch.libraries[0].fat_binaries.is(3));
  CHECK(facts.torch.libraries[0].coverage[0].fat_binaries == 2);
  CHECK(facts.torch.libraries[0].sets.size() == 3);
  CHECK(host.ran.empty());
}

TEST_CASE("version texts of development builds are kept as they are, never an error") {
  for (const char* text : {"2.7.0.dev20250310+cu128", "2.8.0a0+git1f2e3d4", "2.6.0rc3",
                           "2.7.0a0+79aa17489c.nv25.04"}) {
    MemoryHost host;
    add_torch(host, "/site", text, "'12.8'");
    Facts facts = gather(host);
    CHECK(facts.torch.state.is("found"));
    CHECK(facts.torch.version.is(text));
    CHECK(facts.torch.cuda.is("12.8"));
  }
}

TEST_CASE("code in version.py is not taken for a version, and never run") {
  for (const char* text :
       {"__version__ = open('/etc/passwd').read()", "__version__ = '2.0; $(rm -rf /)'",
        "__version__ = f'{x}'", "__version__ = ''", "version = '2.0'"}) {
    MemoryHost host;
    add_torch(host, "/site", "x", "'12.6'");
    host.files["/site/torch/version.py"] = text;
    Facts facts = gather(host);
    CHECK(facts.torch.state.is("found"));
    CHECK_FALSE(facts.torch.version.known());
    CHECK(facts.torch.reason == "/site/torch/version.py does not say the version");
    CHECK(host.ran.empty());
  }
}

TEST_CASE("the flavour is what version.py names") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cpu", "None");
  CHECK(gather(host).torch.flavour.is("cpu"));
  CHECK_FALSE(gather(host).torch.cuda.known());
  host.files["/site/torch/version.py"] = version_py("2.7.1+rocm6.3", "None", "'6.3.42131'");
  CHECK(gather(host).torch.flavour.is("rocm"));
  host.files["/site/torch/version.py"] = version_py("2.7.1+xpu", "None", "None", "'20250101'");
  CHECK(gather(host).torch.flavour.is("xpu"));
  host.files["/site/torch/lib/libtorch_cuda.so"] = "";  // left there by another one
  CHECK(gather(host).torch.flavour.is("xpu"));
}

TEST_CASE("the ABI of libc10.so's symbols is the ABI") {
  MemoryHost host;
  add_torch(host, "/site", "2.3.0+cu121", "'12.1'");
  SharedObject c10;
  c10.symbols = {old_abi};
  host.files["/site/torch/lib/libc10.so"] = c10.bytes();
  CHECK(gather(host).torch.cxx11_abi.is(false));

  host.files["/site/torch/lib/libc10.so"] = "not an ELF file";
  CHECK_FALSE(gather(host).torch.cxx11_abi.known());
  host.files["/site/torch/share/cmake/Torch/TorchConfig.cmake"] =
      "  set(TORCH_CXX_FLAGS \"-D_GLIBCXX_USE_CXX11_ABI=0\")\n";
  CHECK(gather(host).torch.cxx11_abi.is(false));
}

TEST_CASE("a header's guard tells the C++ level") {
  CHECK(standard_of_guard("#if __cplusplus < 201402L\n#error") == 14);
  CHECK(standard_of_guard("(!defined(_MSVC_LANG) && __cplusplus < 202002L)\n#error C++20") == 20);
  CHECK(standard_of_guard("#if __cplusplus >= 201703L\n#error") == 0);
  CHECK(standard_of_guard("#if __cplusplus < 201703L\n") == 0);
  CHECK(standard_of_guard("#error\n__cplusplus < ") == 0);
}

TEST_CASE("a libtorch folder is found by Torch_DIR, its prefix or torch.utils.cmake_prefix_path") {
  MemoryHost host;
  add_torch(host, "/opt/lib torch;x", "2.5.1+cu124", "'12.4'");
  host.files.erase("/opt/lib torch;x/torch/version.py");
  host.files.erase("/opt/lib torch;x/torch/__init__.py");
  host.files["/opt/lib torch;x/torch/build-version"] = "2.5.1+cu124\n";
  for (const char* folder : {"/opt/lib torch;x/torch/share/cmake/Torch", "/opt/lib torch;x/torch",
                             "/opt/lib torch;x/torch/share/cmake"}) {
    Inputs in;
    in.set["Torch_DIR"] = folder;
    Facts facts = gather(host, in);
    CHECK(facts.torch.state.is("found"));
    CHECK(facts.torch.root.is("/opt/lib torch;x/torch"));
    CHECK(facts.torch.version.is("2.5.1+cu124"));
    CHECK(facts.torch.cuda.is("12.4"));
    CHECK(facts.torch.flavour.is("cuda"));
  }
}

TEST_CASE("a distribution's libtorch in /usr has the version that CMake compares") {
  MemoryHost host;
  host.files["/usr/share/cmake/Torch/TorchConfig.cmake"] = "";
  host.directories.insert("/usr/include/torch");
  host.files["/usr/share/cmake/Torch/TorchConfigVersion.cmake"] =
      "set(PACKAGE_VERSION \"2.6.0\")\n\n# Check\nif(PACKAGE_VERSION VERSION_LESS X)\n";
  host.files["/usr/lib/x86_64-linux-gnu/libtorch.so"] = library("libtorch.so");
  host.files["/usr/lib/x86_64-linux-gnu/libc10.so"] = library("libc10.so");
  Inputs in;
  in.set["Torch_DIR"] = "/usr/share/cmake/Torch";
  Facts facts = gather(host, in);
  CHECK(facts.torch.state.is("found"));
  CHECK(facts.torch.version.is("2.6.0"));
  CHECK(facts.torch.flavour.is("cpu"));
}

TEST_CASE("Debian's PyTorch with CUDA is whole, where libtorch-cuda-dev is there") {
  MemoryHost host;
  const std::string machine = "/usr/lib/x86_64-linux-gnu", site = "/usr/lib/python3/dist-packages";
  add_torch(host, site, "2.6.0+debian", "'12.4'");
  host.files.erase(site + "/torch/share/cmake/Torch/TorchConfig.cmake");
  host.files[machine + "/cmake/Torch/TorchConfig.cmake"] = "";
  for (const char* name : {"libc10.so", "libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so"}) {
    const std::string link = cat(site, "/torch/lib/", name), file = cat(machine, "/", name);
    host.files[file] = host.files[link];
    host.files.erase(link);
    if (std::string(name) != "libtorch_cuda.so") host.links[link] = file;
  }
  Facts facts;
  facts.python.state = Text("found");
  facts.python.executable = Text("/usr/bin/python3");
  facts.python.prefix = Text("/usr");
  facts.python.search_path = {site};
  gather_torch(host, {}, facts);
  CHECK(facts.torch.reason == "");
  CHECK(facts.torch.state.is("found"));
  CHECK(facts.torch.cmake_dir.is(machine + "/cmake/Torch"));
  CHECK(join(facts.torch.images.value(), " ") == "sm_80 sm_90 sm_100");

  // Those of the system are none of a PyTorch that pip laid into an environment.
  MemoryHost other;
  add_torch(other, "/site", "2.7.1+cu126", "'12.6'");
  other.files.erase("/site/torch/share/cmake/Torch/TorchConfig.cmake");
  other.files[machine + "/cmake/Torch/TorchConfig.cmake"] = "";
  CHECK(gather(other).torch.state.is("broken"));
}

TEST_CASE("CMAKE_PREFIX_PATH is a list, and comes before Python's packages") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  add_torch(host, "/other", "2.3.0+cu121", "'12.1'");
  Inputs in;
  in.set["CMAKE_PREFIX_PATH"] = "/nothing;/other/torch";
  CHECK(gather(host, in).torch.version.is("2.3.0+cu121"));
  in.set["CMAKE_PREFIX_PATH"] = "/nothing";
  CHECK(gather(host, in).torch.version.is("2.7.1+cu126"));
}

TEST_CASE("a Torch_DIR without TorchConfig.cmake is broken, not replaced by another torch") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  Inputs in;
  in.set["Torch_DIR"] = "/wrong";
  Facts facts = gather(host, in);
  CHECK(facts.torch.state.is("broken"));
  CHECK(facts.torch.reason == "Torch_DIR is /wrong, which has no TorchConfig.cmake");
  in.set["Torch_DIR"] = "Torch_DIR-NOTFOUND";  // what CMake's cache keeps after a failed search
  CHECK(gather(host, in).torch.state.is("found"));
}

TEST_CASE("a torch folder with half its files is broken and says which half") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  MemoryHost half = host;
  half.files.erase("/site/torch/version.py");
  CHECK(gather(half).torch.state.is("broken"));
  CHECK(gather(half).torch.reason.find("lacks version.py") != std::string::npos);
  half = host;
  for (const char* name : {"libtorch.so", "libtorch_cpu.so"})
    half.files.erase(std::string("/site/torch/lib/") + name);
  CHECK(gather(half).torch.reason.find("lacks lib/libtorch.so") != std::string::npos);
  half = host;
  half.files.erase("/site/torch/share/cmake/Torch/TorchConfig.cmake");
  CHECK(gather(half).torch.reason.find("lacks share/cmake/Torch/TorchConfig.cmake") !=
        std::string::npos);
}

TEST_CASE("what an uninstall left behind is not a torch") {
  MemoryHost host;
  host.files["/site/torch/__pycache__/version.pyc"] = "";
  Facts facts = gather(host);
  CHECK(facts.torch.state.is("absent"));
  CHECK(facts.torch.reason == "no torch in the packages of /v/bin/python3");
}

TEST_CASE("a development install is found through its .pth file") {
  MemoryHost host;
  add_torch(host, "/src/pytorch", "2.8.0a0+git1f2e3d4", "'12.8'");
  host.files["/site/easy-install.pth"] = "import os; os.system('x')\n# comment\n/src/pytorch\n";
  Facts facts = gather(host);
  CHECK(facts.torch.root.is("/src/pytorch/torch"));
  CHECK(host.ran.empty());
}

TEST_CASE("the halves of 1.13's CUDA library count together") {
  MemoryHost host;
  add_torch(host, "/site", "1.13.1+cu117", "'11.7'");
  SharedObject part;
  host.files["/site/torch/lib/libtorch_cuda.so"] = part.bytes();
  part.fat = {{37, 80}};
  host.files["/site/torch/lib/libtorch_cuda_cu.so"] = part.bytes();
  part.fat = {{50, 80}};
  host.files["/site/torch/lib/libtorch_cuda_cpp.so"] = part.bytes();
  part.fat = {{35}};
  host.files["/site/torch/lib/libtorch_cuda_linalg.so"] = part.bytes();
  Facts facts = gather(host);
  CHECK(facts.torch.images.value() == List<std::string>{"sm_37", "sm_50", "sm_80"});
  CHECK(facts.torch.libraries.size() == 4);
}

TEST_CASE("a CUDA library that cannot be read leaves the images unknown, with the place") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  std::string& bytes = host.files["/site/torch/lib/libtorch_cuda.so"];
  bytes.resize(bytes.size() / 2);
  Facts facts = gather(host);
  CHECK(facts.torch.state.is("broken"));
  CHECK_FALSE(facts.torch.images.known());
  CHECK(facts.torch.reason.find("/site/torch/lib/libtorch_cuda.so") != std::string::npos);
}

TEST_CASE("a CUDA torch without its main CUDA library is broken, whatever lies beside it") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  const std::string library = "/site/torch/lib/libtorch_cuda.so";
  SharedObject side;
  side.fat = {{75, 80}};
  host.files["/site/torch/lib/libtorch_cuda_linalg.so"] = side.bytes();
  host.files.erase(library);
  SECTION("gone") {}
  SECTION("a dangling link") {
    host.links[library] = "/nope";
  }
  SECTION("empty") {
    host.files[library] = "";
  }
  SECTION("text") {
    host.files[library] = "hello";
  }
  Facts facts = gather(host);
  CHECK(facts.torch.state.is("broken"));
  CHECK(contains(facts.torch.reason, library));
  CHECK_FALSE(facts.torch.images.known());
  CHECK(facts.torch.version.is("2.7.1+cu126"));
}

TEST_CASE("1.13's CUDA library without one of its halves is broken") {
  MemoryHost host;
  add_torch(host, "/site", "1.13.1+cu117", "'11.7'");
  SharedObject part;
  part.needed = {"libtorch_cuda_cu.so", "libtorch_cuda_cpp.so"};
  host.files["/site/torch/lib/libtorch_cuda.so"] = part.bytes();
  part.needed = {};
  part.fat = {{37, 80}};
  host.files["/site/torch/lib/libtorch_cuda_cpp.so"] = part.bytes();
  Facts facts = gather(host);
  CHECK(facts.torch.state.is("broken"));
  CHECK(facts.torch.reason ==
        "/site/torch/lib/libtorch_cuda_cu.so is missing, and libtorch_cuda.so needs it");
  CHECK_FALSE(facts.torch.images.known());
}

TEST_CASE("a torch without its headers cannot be built against") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  host.files.erase("/site/torch/include/torch/csrc/api/include/torch/all.h");
  Facts facts = gather(host);
  CHECK(facts.torch.state.is("broken"));
  CHECK(facts.torch.reason == "/site/torch lacks include/torch (the headers)");
  host.directories.insert("/v/include/torch");  // conda's place
  CHECK(gather(host).torch.state.is("found"));
}

TEST_CASE("a CUDA release that version.py does not name is unknown, with the reason") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1", "'thirteen'");
  Facts facts = gather(host);
  CHECK(facts.torch.flavour.is("cuda"));
  CHECK_FALSE(facts.torch.cuda.known());
  CHECK(facts.torch.reason == "/site/torch/version.py does not say the CUDA release");
}

TEST_CASE("libraries: what would load, its release, and what is missing") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  host.files["/site/nvidia/cudnn/lib/libcudnn.so.9"] = library("libcudnn.so.9");
  host.files["/site/nvidia_cudnn_cu12-9.5.1.17.dist-info/METADATA"] = "";
  host.files["/site/torch-2.7.1.dist-info/METADATA"] =
      "Name: torch\nRequires-Dist: nvidia-cudnn-cu12==9.5.1.17; platform_system == \"Linux\"\n"
      "Requires-Dist: nvidia-cuda-runtime-cu12==12.6.77 ; platform_system == \"Linux\"\n\n"
      "Requires-Dist: nvidia-nccl-cu12==1 (in the description)\n";
  Facts facts = gather(host);
  CHECK(facts.libraries_known);
  REQUIRE(facts.libraries.size() == 2);
  const Library* cudnn = find(facts, "libcudnn.so.9");
  REQUIRE(cudnn != nullptr);
  CHECK(cudnn->state.is("found"));
  CHECK(cudnn->version.is("9.5.1.17"));
  CHECK(cudnn->built_against.is("9.5.1.17"));
  CHECK(cudnn->via.is("RPATH of libtorch_cuda.so"));
  CHECK(cudnn->needed_by.is("libtorch_cuda.so"));
  const Library* cudart = find(facts, "libcudart.so.12");
  REQUIRE(cudart != nullptr);
  CHECK(cudart->state.is("missing"));
  CHECK(cudart->built_against.is("12.6.77"));
  CHECK_FALSE(cudart->path.known());
}

TEST_CASE("an older library that LD_LIBRARY_PATH puts first is wrong") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  SharedObject gpu;
  gpu.needed = {"libcudnn.so.9"};
  gpu.runpath = "$ORIGIN";
  host.files["/site/torch/lib/libtorch_cuda.so"] = gpu.bytes();
  host.files["/site/torch/lib/libcudnn.so.9.5.1"] = library("libcudnn.so.9");
  host.links["/site/torch/lib/libcudnn.so.9"] = "libcudnn.so.9.5.1";
  host.files["/old/libcudnn.so.9.1.0"] = library("libcudnn.so.9");
  host.links["/old/libcudnn.so.9"] = "libcudnn.so.9.1.0";
  host.variables["LD_LIBRARY_PATH"] = "/old";
  Facts facts = gather(host);
  const Library* cudnn = find(facts, "libcudnn.so.9");
  REQUIRE(cudnn != nullptr);
  CHECK(cudnn->state.is("wrong"));
  CHECK(cudnn->version.is("9.1.0"));
  CHECK(cudnn->via.is("LD_LIBRARY_PATH"));
  CHECK(cudnn->state.from ==
        "LD_LIBRARY_PATH puts it before 9.5.1 in /site/torch/lib/libcudnn.so.9");

  // The other way round: a newer one first is no fault.
  host.links["/old/libcudnn.so.9"] = "libcudnn.so.9.9.0";
  host.files["/old/libcudnn.so.9.9.0"] = library("libcudnn.so.9");
  Facts newer = gather(host);
  CHECK(find(newer, "libcudnn.so.9")->state.is("found"));
}

TEST_CASE("a copy that LD_LIBRARY_PATH hides is named, and tells what torch was tested with") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  SharedObject gpu;
  gpu.needed = {"libcudnn.so.9", "libnccl.so.2"};
  gpu.runpath = "$ORIGIN";
  host.files["/site/torch/lib/libtorch_cuda.so"] = gpu.bytes();
  host.files["/site/torch/lib/libcudnn.so.9.5.1"] = library("libcudnn.so.9");
  host.links["/site/torch/lib/libcudnn.so.9"] = "libcudnn.so.9.5.1";
  for (const char* name : {"libcudnn.so.9", "libnccl.so.2"})
    host.files[std::string("/hpc/") + name + ".9.9"] = library(name);
  host.links["/hpc/libcudnn.so.9"] = "libcudnn.so.9.9.9";
  host.links["/hpc/libnccl.so.2"] = "libnccl.so.2.9.9";
  host.variables["LD_LIBRARY_PATH"] = "/hpc";
  Facts facts = gather(host);
  const Library* cudnn = find(facts, "libcudnn.so.9");
  REQUIRE(cudnn != nullptr);
  CHECK(cudnn->shadows.is("/site/torch/lib/libcudnn.so.9"));
  CHECK(cudnn->built_against.is("9.5.1"));
  const Library* nccl = find(facts, "libnccl.so.2");
  REQUIRE(nccl != nullptr);
  CHECK(nccl->shadows.is("none"));
  CHECK(nccl->built_against.is("none"));
}

TEST_CASE("an nvJitLink is held against the release that torch's wheel names") {
  MemoryHost host;
  add_torch(host, "/site", "2.5.1+cu124", "'12.4'");
  SharedObject gpu, sparse;
  gpu.needed = {"libcusparse.so.12"};
  gpu.rpath = "/lib64/cuda";
  sparse.soname = "libcusparse.so.12";
  sparse.needed = {"libnvJitLink.so.12"};
  host.files["/site/torch/lib/libtorch_cuda.so"] = gpu.bytes();
  host.files["/lib64/cuda/libcusparse.so.12"] = sparse.bytes();
  host.files["/lib64/cuda/libnvJitLink.so.12.1.105"] = library("libnvJitLink.so.12");
  host.links["/lib64/cuda/libnvJitLink.so.12"] = "libnvJitLink.so.12.1.105";
  host.files["/site/torch-2.5.1+cu124.dist-info/METADATA"] =
      "Requires-Dist: nvidia-nvjitlink-cu12==12.4.127\n";
  Facts facts = gather(host);
  const Library* linker = find(facts, "libnvJitLink.so.12");
  REQUIRE(linker != nullptr);
  CHECK(linker->version.is("12.1.105"));
  CHECK(linker->built_against.is("12.4.127"));
}

TEST_CASE("files that are numbered otherwise than their package are not compared with it") {
  MemoryHost host;
  add_torch(host, "/site", "2.5.1+cu124", "'12.4'");
  SharedObject gpu;
  gpu.needed = {"libnvToolsExt.so.1"};
  gpu.rpath = "/lib64/cuda";
  host.files["/site/torch/lib/libtorch_cuda.so"] = gpu.bytes();
  host.files["/lib64/cuda/libnvToolsExt.so.1.0.0"] = library("libnvToolsExt.so.1");
  host.links["/lib64/cuda/libnvToolsExt.so.1"] = "libnvToolsExt.so.1.0.0";
  host.files["/site/torch-2.5.1+cu124.dist-info/METADATA"] =
      "Requires-Dist: nvidia-nvtx-cu12==12.4.127\n";
  Facts facts = gather(host);
  const Library* nvtx = find(facts, "libnvToolsExt.so.1");
  REQUIRE(nvtx != nullptr);
  CHECK_FALSE(nvtx->version.known());
  CHECK(nvtx->built_against.is("none"));
}

TEST_CASE("conda's C++ library is held against the one that the system's compiler links with") {
  MemoryHost host;
  add_torch(host, "/v/site", "2.7.1+cu126", "'12.6'");
  SharedObject python;
  python.rpath = "$ORIGIN/../lib";
  host.files["/v/bin/python3"] = python.bytes();
  host.files["/v/lib/libstdc++.so.6.0.29"] = library("libstdc++.so.6");
  host.links["/v/lib/libstdc++.so.6"] = "libstdc++.so.6.0.29";
  host.files["/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33"] = library("libstdc++.so.6");
  host.links["/usr/lib/x86_64-linux-gnu/libstdc++.so.6"] = "libstdc++.so.6.0.33";
  Facts facts;
  facts.python.state = Text("found");
  facts.python.executable = Text("/v/bin/python3");
  facts.python.prefix = Text("/v");
  facts.python.search_path = {"/v/site"};
  Facts own = facts;
  gather_torch(host, {}, facts);
  const Library* runtime = find(facts, "libstdc++.so.6");
  REQUIRE(runtime != nullptr);
  CHECK(runtime->version.is("6.0.29"));
  CHECK(runtime->built_against.is("6.0.33"));
  CHECK(runtime->path.is("/v/bin/../lib/libstdc++.so.6"));

  host.variables["CXX"] = "/v/bin/x86_64-conda-linux-gnu-c++";
  gather_torch(host, {}, own);
  REQUIRE(find(own, "libstdc++.so.6") != nullptr);
  CHECK(find(own, "libstdc++.so.6")->built_against.is("none"));
}

TEST_CASE("the Python that a torch is for is in the name of its module; libtorch has none") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  CHECK(gather(host).torch.python_tag.is("cp311"));
  host.files.erase("/site/torch/_C.cpython-311-x86_64-linux-gnu.so");
  host.files["/site/torch/_C.cpython-313t-x86_64-linux-gnu.so"] = "";
  CHECK(gather(host).torch.python_tag.is("cp313t"));
  host.files.erase("/site/torch/_C.cpython-313t-x86_64-linux-gnu.so");
  host.files.erase("/site/torch/__init__.py");
  CHECK(gather(host).torch.python_tag.is("none"));
}

TEST_CASE("extensions beside torch are known, also when there are none") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  CHECK(gather(host).extensions_known);
  CHECK(gather(host).torch.libraries_known);
  SharedObject ops;
  ops.needed = {"libc10.so"};
  ops.symbols = {"PyInit_ops"};
  host.files["/site/ops.so"] = ops.bytes();
  Facts facts = gather(host);
  REQUIRE(facts.extensions.size() == 1);
  CHECK(facts.extensions[0].cxx11_abi.is(true));
}

TEST_CASE("a driver's libcuda, a toolkit's CUPTI and a renamed bundled library are right") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  SharedObject gpu;
  gpu.soname = "libtorch_cuda.so";
  gpu.needed = {"libcuda.so.1", "libcupti.so.12", "libcusparseLt-f80c68d1.so.0"};
  host.files["/driver/libcusparseLt-f80c68d1.so.0"] = library("libcusparseLt.so.0");
  host.files["/site/torch/lib/libtorch_cuda.so"] = gpu.bytes();
  host.variables["LD_LIBRARY_PATH"] = "/driver";
  host.files["/driver/libcuda.so.580.95.05"] = library("libcuda.so.1");
  host.links["/driver/libcuda.so.1"] = "libcuda.so.580.95.05";
  host.files["/driver/libcupti.so.2024.1.1"] = library("libcupti.so.12");
  host.links["/driver/libcupti.so.12"] = "libcupti.so.2024.1.1";
  Facts facts = gather(host);
  REQUIRE(find(facts, "libcuda.so.1") != nullptr);
  CHECK(find(facts, "libcuda.so.1")->state.is("found"));
  REQUIRE(find(facts, "libcusparseLt-f80c68d1.so.0") != nullptr);
  CHECK(find(facts, "libcusparseLt-f80c68d1.so.0")->state.is("found"));
  REQUIRE(find(facts, "libcupti.so.12") != nullptr);
  CHECK(find(facts, "libcupti.so.12")->state.is("found"));
}

TEST_CASE("a file that calls itself otherwise than its name is wrong") {
  MemoryHost host;
  add_torch(host, "/site", "2.7.1+cu126", "'12.6'");
  host.files["/site/nvidia/cuda_runtime/lib/libcudart.so.11.8.89"] = library("libcudart.so.11.0");
  host.links["/site/nvidia/cuda_runtime/lib/libcudart.so.12"] = "libcudart.so.11.8.89";
  Facts facts = gather(host);
  CHECK(find(facts, "libcudart.so.12")->state.is("wrong"));
}

TEST_CASE("of a torch for another machine only what lies beside it is known") {
  MemoryHost host;
  add_torch(host, "/site", "2.15.0+cu132", "'13.2'");
  SharedObject gpu;
  gpu.machine = EM_AARCH64;
  gpu.needed = {"libcudart.so.13"};
  for (const char* name : {"libtorch.so", "libtorch_cuda.so"})
    host.files[std::string("/site/torch/lib/") + name] = gpu.bytes();
  Facts facts = gather(host);
  REQUIRE(find(facts, "libcudart.so.13") != nullptr);
  CHECK_FALSE(find(facts, "libcudart.so.13")->state.known());
}

TEST_CASE("what NVRTC compiles for follows from its release") {
  MemoryHost host;
  add_torch(host, "/site", "2.5.1+cu124", "'12.4'");
  SharedObject gpu;
  gpu.needed = {"libnvrtc.so.12"};
  gpu.rpath = "/cuda";
  host.files["/site/torch/lib/libtorch_cuda.so"] = gpu.bytes();
  host.files["/cuda/libnvrtc.so.12.8.93"] = library("libnvrtc.so.12");
  host.links["/cuda/libnvrtc.so.12"] = "libnvrtc.so.12.8.93";
  Facts facts = gather(host);
  const Library* nvrtc = find(facts, "libnvrtc.so.12");
  REQUIRE(nvrtc != nullptr);
  CHECK(contains(nvrtc->archs.value(), std::string("compute_120")));
  CHECK_FALSE(contains(nvrtc->archs.value(), std::string("compute_121")));  // from 12.9

  host.files["/cuda/libnvrtc.so.12"] = library("libnvrtc.so.12");  // a copy without a release
  host.links.clear();
  Facts bundled = gather(host);
  CHECK_FALSE(contains(find(bundled, "libnvrtc.so.12")->archs.value(), std::string("compute_120")));
  CHECK(find(bundled, "libnvrtc.so.12")->archs.from == "the table for CUDA 12.4");
}
