// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/fake_toolkit.h"
#include "facts/image_probe.h"

using namespace tcs;

namespace {

Facts gather(ToolkitHost& host, const Inputs& in = {}, const char* torch_cuda = "") {
  Facts facts;
  if (*torch_cuda != 0) facts.torch.cuda = Text(torch_cuda);
  gather_toolkits(host, in, facts);
  DriverChild none;
  probe_images(host, in, {}, none, facts);
  return facts;
}
Inputs with(const char* name, const std::string& value) {
  Inputs in;
  in.set[name] = value;
  return in;
}
std::string nvcc_of(const Facts& facts) {
  return facts.toolkit() == nullptr ? "none" : facts.toolkit()->nvcc.value();
}

}  // namespace

TEST_CASE("no toolkit is an empty list with the places that were searched") {
  ToolkitHost host;
  Facts facts = gather(host);
  CHECK(facts.toolkits.list_known);
  CHECK(facts.toolkits.list.empty());
  CHECK_FALSE(facts.toolkits.selected.known());
  CHECK(facts.toolkits.on_path.is("none"));
  CHECK(contains(facts.toolkits.reason, "no nvcc in CUDACXX, CUDA_HOME"));
}

TEST_CASE("one install that many names lead to is listed once, with all of them") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.links["/usr/local/cuda"] = "cuda-13.2";
  host.wrapper("/usr/bin/nvcc", "/usr/local/cuda-13.2/bin/nvcc");
  host.variables["CUDA_HOME"] = "/usr/local/cuda";
  Facts facts = gather(host);
  REQUIRE(facts.toolkits.list.size() == 1);
  const Toolkit& t = facts.toolkits.list[0];
  CHECK(t.origin.is("CUDA_HOME, /usr/local/cuda, /usr/local/cuda-13.2, PATH, distribution"));
  CHECK(t.root.is("/usr/local/cuda"));
  CHECK(t.layout.is("default"));
  CHECK(t.version.is("13.2.78"));
  CHECK(t.headers.is("13.2"));
  CHECK(t.ptxas.is("13.2.78"));
  CHECK_FALSE(t.cudart.known());  // the name says 13 and no release
  CHECK(t.gcc_max.is(15));
  CHECK(t.clang_max.is(20));
  CHECK(facts.toolkits.on_path.is("13.2.78"));
  CHECK(t.missing.value() == List<std::string>{"nvrtc"});
}

TEST_CASE("the toolkit nearest to PyTorch's CUDA is chosen, not below it where one is above") {
  ToolkitHost host;
  for (const char* release : {"11.8.89", "12.4.131", "12.8.93", "13.0.88"})
    host.toolkit(cat("/usr/local/cuda-", Version::parse(release).major_minor()), release);
  auto version = [&](const char* torch) {
    Facts facts = gather(host, {}, torch);
    return facts.toolkit()->version.value();
  };
  CHECK(version("12.4") == "12.4.131");
  CHECK(version("12.6") == "12.8.93");
  CHECK(version("12.9") == "12.8.93");
  CHECK(version("12.1") == "12.4.131");
  CHECK(version("11.7") == "11.8.89");
  CHECK(version("13.2") == "13.0.88");
  CHECK(version("14.0") == "13.0.88");  // none of its major: the first found
  CHECK(version("") == "13.0.88");
}

TEST_CASE("the user's choice wins over one that fits better, in CMake's order") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.toolkit("/opt/old", "12.4.131");
  host.toolkit("/opt/older", "11.8.89");
  host.variables["CUDA_HOME"] = "/opt/old";
  CHECK(nvcc_of(gather(host, {}, "13.2")) == "/opt/old/bin/nvcc");
  host.variables["CUDACXX"] = "/opt/older/bin/nvcc";
  CHECK(nvcc_of(gather(host, {}, "13.2")) == "/opt/older/bin/nvcc");
  CHECK(nvcc_of(gather(host, with("TOOLKIT", "/opt/old"), "13.2")) == "/opt/old/bin/nvcc");
  Inputs tree = with("CMAKE_CUDA_COMPILER", "/opt/old/bin/nvcc");
  tree.set["TREE_CUDA_COMPILER"] = "/opt/older/bin/nvcc";
  CHECK(nvcc_of(gather(host, tree, "13.2")) == "/opt/older/bin/nvcc");
}

TEST_CASE("a CUDA_HOME that holds nothing is listed and not followed") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.variables["CUDA_HOME"] = "/gone";
  Facts facts = gather(host);
  CHECK(nvcc_of(facts) == "/usr/local/cuda-13.2/bin/nvcc");
  CHECK(facts.toolkits.list[0].failure.kind.is("start"));
  CHECK(facts.toolkits.list[0].failure.text.is("/gone: No such file or directory"));
  CHECK(facts.toolkits.list[0].origin.is("CUDA_HOME"));
  CHECK(facts.toolkits.list[0].nvcc.is("/gone/bin/nvcc"));
}

TEST_CASE("a CUDA_HOME or CUDA_PATH whose nvcc does not answer stays listed with its failure") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.program("/x/bin/nvcc", "ELF");
  auto nvcc = host.on_run;
  Outcome said;
  host.on_run = [&](const Command& c) { return c.argv[0] == "/x/bin/nvcc" ? said : nvcc(c); };
  struct {
    Outcome::State state;
    int code;
    const char *kind, *text;
  } rows[] = {{Outcome::State::TimedOut, 0, "hang", "/x/bin/nvcc --version: no answer in 3 s"},
              {Outcome::State::Signalled, 11, "crash",
               "/x/bin/nvcc --version: killed by signal 11 (SIGSEGV)"},
              {Outcome::State::Exited, 139, "crash",
               "/x/bin/nvcc --version printed '' (exit status 139); expected 'release X.Y, "
               "VX.Y.Z'"},
              {Outcome::State::Exited, 0, "output",
               "/x/bin/nvcc --version printed '' (exit status 0); expected 'release X.Y, "
               "VX.Y.Z'"}};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    for (const auto& row : rows) {
      said.state = row.state;
      said.code = row.code;
      said.ms = 3000;
      host.variables.erase("CUDA_HOME");
      host.variables[name] = "/x";
      Facts facts = gather(host);
      CHECK(nvcc_of(facts) == "/usr/local/cuda-13.2/bin/nvcc");
      CHECK(facts.toolkits.list[0].origin.is(name));
      CHECK(facts.toolkits.list[0].nvcc.is("/x/bin/nvcc"));
      CHECK(facts.toolkits.list[0].works.is(false));
      CHECK(facts.toolkits.list[0].failure.kind.is(row.kind));
      CHECK(facts.toolkits.list[0].failure.text.value() == row.text);
    }
}

TEST_CASE("an explicit compiler that cannot run stays the selected one, with the reason") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.files["/x/data"] = "text";
  host.program("/x/garbage", "ELF");
  struct {
    const char *compiler, *kind, *text;
  } rows[] = {{"/x/none", "start", "/x/none: No such file or directory"},
              {"/x", "start", "/x is a directory; expected the compiler"},
              {"/x/data", "start", "/x/data is not executable"},
              {"nvcc-99", "start", "PATH has no nvcc-99"},
              {"/x/garbage", "output",
               "/x/garbage --version printed 'no such program in this test' (exit status 127); "
               "expected 'release X.Y, VX.Y.Z'"}};
  for (const auto& row : rows) {
    Facts facts = gather(host, with("CMAKE_CUDA_COMPILER", row.compiler));
    REQUIRE(facts.toolkit() != nullptr);
    CHECK(facts.toolkits.selected.is(0));
    CHECK(facts.toolkit()->works.is(false));
    CHECK(facts.toolkit()->failure.kind.is(row.kind));
    CHECK(facts.toolkit()->failure.text.value() == row.text);
    CHECK(facts.toolkit()->nvcc.is(row.compiler));
    CHECK(facts.toolkit()->nvcc.from == "CMAKE_CUDA_COMPILER");
  }
}

TEST_CASE("a host compiler that hangs or crashes is to blame, not nvcc") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.program("/x/cxx", "#!");
  host.variables["CUDAHOSTCXX"] = "/x/cxx";
  auto nvcc = host.on_run;
  Outcome dead;
  host.on_run = [&](const Command& c) {
    bool asks_host = c.argv[0] == "/x/cxx";
    for (const std::string& word : c.argv) asks_host = asks_host || word == "--dryrun";
    return asks_host ? dead : nvcc(c);
  };
  Inputs in;
  in.work_dir = "/w";
  dead.state = Outcome::State::TimedOut;
  dead.ms = 3000;
  Facts facts = gather(host, in);
  CHECK(facts.toolkit()->works.is(false));
  CHECK(facts.toolkit()->failure.kind.is("host-compiler-run"));
  CHECK(facts.toolkit()->failure.text.is("/x/cxx -dM -E: no answer in 3 s"));
  CHECK(facts.host_compiler.path.is("/x/cxx"));
  CHECK(facts.host_compiler.path.from == "CUDAHOSTCXX");
  CHECK(host.compiles == 0);
  CHECK(facts.toolkit()->archs.value().size() == 6);
  dead.state = Outcome::State::Signalled;
  dead.code = 11;
  facts = gather(host, in);
  CHECK(facts.toolkit()->failure.kind.is("host-compiler-run"));
  CHECK(facts.toolkit()->failure.text.is("/x/cxx -dM -E: killed by signal 11 (SIGSEGV)"));
}

TEST_CASE("a host compiler that fails by itself is to blame unless nvcc says more") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  auto nvcc = host.on_run;
  host.on_run = [&](const Command& c) {
    for (const std::string& word : c.argv)
      if (word == "-dM") return MemoryHost::exits(1);
    return nvcc(c);
  };
  host.compile_error = "cannot execute cc1plus\n";
  Inputs in;
  in.work_dir = "/w";
  Facts facts = gather(host, in);
  CHECK(facts.toolkit()->failure.kind.is("host-compiler-run"));
  CHECK(facts.toolkit()->failure.text.is("/usr/bin/gcc -dM -E: exit status 1"));
  host.compile_error = "unsupported GNU version! gcc versions later than 11 are not supported!\n";
  CHECK(gather(host, in).toolkit()->failure.kind.is("host-compiler"));
}

TEST_CASE("a dry run that hangs with a sound host compiler is nvcc's own failure") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  auto nvcc = host.on_run;
  host.on_run = [&](const Command& c) {
    for (const std::string& word : c.argv)
      if (word == "--dryrun") {
        Outcome hang;
        hang.state = Outcome::State::TimedOut;
        hang.ms = 3000;
        return hang;
      }
    return nvcc(c);
  };
  Facts facts = gather(host);
  CHECK(facts.toolkit()->failure.kind.is("hang"));
  CHECK(facts.toolkit()->failure.text.is("nvcc --dryrun: no answer in 3 s"));
}

TEST_CASE("the -ccbin of nvcc's flag variables is the host compiler that counts, and is named") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.variables["NVCC_PREPEND_FLAGS"] = "-O2 -ccbin /nope";
  auto nvcc = host.on_run;
  host.on_run = [&](const Command& c) {
    if (c.argv[0] == "/nope") {
      Outcome none;
      none.why = "No such file or directory";
      return none;
    }
    for (const std::string& word : c.argv)
      if (word == "--dryrun")
        return MemoryHost::exits(1, "",
                                 "nope: No such file or directory\nnvcc fatal   : Failed to "
                                 "preprocess host compiler properties.\n");
    return nvcc(c);
  };
  Facts facts = gather(host);
  CHECK(facts.host_compiler.path.is("/nope"));
  CHECK(facts.host_compiler.path.from == "NVCC_PREPEND_FLAGS");
  CHECK_FALSE(facts.host_compiler.version.known());
  CHECK(facts.toolkit()->failure.kind.is("host-compiler-run"));
  CHECK(facts.toolkit()->failure.text.value() ==
        "/nope -dM -E: could not be started: No such file or directory (NVCC_PREPEND_FLAGS is "
        "'-O2 -ccbin /nope')");
}

TEST_CASE("an nvcc that hangs is a failure, and is asked nothing more") {
  ToolkitHost host;
  host.program("/x/nvcc", "ELF");
  host.on_run = [](const Command&) {
    Outcome o;
    o.state = Outcome::State::TimedOut;
    o.ms = 30000;
    return o;
  };
  Facts facts = gather(host, with("CMAKE_CUDA_COMPILER", "/x/nvcc"));
  CHECK(facts.toolkit()->failure.kind.is("hang"));
  CHECK(host.ran.size() == 1);
}

TEST_CASE("compiler launchers are seen through") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.variables["PATH"] = "/cc:/usr/local/cuda-13.2/bin:/usr/bin";
  host.program("/usr/bin/ccache", "ELF");
  host.links["/cc/nvcc"] = "/usr/bin/ccache";
  for (const char* text : {"ccache;nvcc", "/usr/bin/ccache nvcc", "/cc/nvcc",
                           "/usr/bin/ccache;/usr/local/cuda-13.2/bin/nvcc"}) {
    Facts facts = gather(host, with("CMAKE_CUDA_COMPILER", text));
    CHECK(nvcc_of(facts) == "/usr/local/cuda-13.2/bin/nvcc");
    CHECK(facts.toolkits.list.size() == 1);
  }
}

TEST_CASE("CUDA_HOME may end in bin, hold a colon list, or blanks and a semicolon") {
  ToolkitHost host;
  host.toolkit("/opt/my cuda;1", "13.2.78");
  for (const char* text :
       {"/opt/my cuda;1", "/opt/my cuda;1/", "/opt/my cuda;1/bin", "/gone:/opt/my cuda;1"}) {
    host.variables["CUDA_HOME"] = text;
    CHECK(nvcc_of(gather(host)) == "/opt/my cuda;1/bin/nvcc");
  }
}

TEST_CASE("cudart's release is that of its file, not of its soname") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "11.8.89", "lib64", {"libcudart.so.11.8.89"});
  host.links["/usr/local/cuda/lib64/libcudart.so.11.0"] = "libcudart.so.11.8.89";
  host.links["/usr/local/cuda/lib64/libcudart.so"] = "libcudart.so.11.0";
  CHECK(gather(host).toolkit()->cudart.is("11.8.89"));
  host.files["/usr/local/cuda/lib64/libcudart.so.11.0"] = "SO";
  host.links.erase("/usr/local/cuda/lib64/libcudart.so.11.0");
  host.files.erase("/usr/local/cuda/lib64/libcudart.so.11.8.89");
  CHECK_FALSE(gather(host).toolkit()->cudart.known());
}

TEST_CASE("a pip toolkit beside PyTorch is found, with what it lacks") {
  ToolkitHost host;
  host.toolkit("/v/site-packages/nvidia/cu13", "13.2.78", "lib", {"libcudart.so.13"});
  host.files["/v/site-packages/nvidia_cuda_runtime-13.2.75.dist-info/METADATA"] = "";
  Facts facts;
  facts.python.search_path = {"/v/site-packages"};
  facts.torch.root = Text("/v/site-packages/torch");
  facts.torch.cuda = Text("13.2");
  gather_toolkits(host, {}, facts);
  REQUIRE(facts.toolkit() != nullptr);
  const Toolkit& t = *facts.toolkit();
  CHECK(t.layout.is("pip"));
  CHECK(t.origin.is("pip package nvidia/cu13"));  // once, though both led there
  CHECK(t.missing.from == "its files");
  CHECK(t.cudart.is("13.2.75"));
  CHECK(t.library_dir.is("/v/site-packages/nvidia/cu13/lib"));
  CHECK(t.missing.value() == List<std::string>{"libcudart.so", "lib64", "nvrtc"});
}

TEST_CASE("a distribution's wrapper and its nvcc elsewhere are one toolkit below the prefix") {
  ToolkitHost host;
  host.program("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "ELF");
  host.program("/usr/lib/nvidia-cuda-toolkit/bin/cicc", "ELF");
  host.files["/usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile"] = "";
  host.releases["/usr/lib/nvidia-cuda-toolkit/bin/nvcc"] = "12.4.131";
  host.wrapper("/usr/bin/nvcc", "/usr/lib/nvidia-cuda-toolkit/bin/nvcc");
  for (const char* tool : {"ptxas", "cudafe++", "fatbinary"})
    host.program(cat("/usr/bin/", tool), "ELF");
  host.files["/usr/include/cuda.h"] = "#define CUDA_VERSION 12040\n";
  host.files["/usr/lib/x86_64-linux-gnu/libcudart.so.12"] = "SO";
  host.links["/usr/lib/x86_64-linux-gnu/libcudart.so"] = "libcudart.so.12";
  Facts facts = gather(host);
  REQUIRE(facts.toolkits.list.size() == 1);
  const Toolkit& t = facts.toolkits.list[0];
  CHECK(t.layout.is("distribution"));
  CHECK(t.root.is("/usr"));
  CHECK(t.nvcc.is("/usr/bin/nvcc"));
  CHECK(t.driver_dir.is("/usr/lib/nvidia-cuda-toolkit/bin"));
  CHECK(t.include_dir.is("/usr/include"));
  CHECK(t.library_dir.is("/usr/lib/x86_64-linux-gnu"));
  CHECK(t.headers.is("12.4"));
  for (const std::string& part : t.missing.value()) CHECK(part != "cicc");
}

TEST_CASE("suffixed architectures are those that a dry run takes") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  Facts facts = gather(host);
  CHECK(join(facts.toolkit()->archs.value(), " ") ==
        "sm_80 compute_80 sm_90 compute_90 sm_90a compute_90a sm_100 compute_100 sm_100a "
        "compute_100a sm_100f compute_100f");
  CHECK(host.dry_runs == 2);  // one for the layout, one for all suffixes together
  host.suffixed = {"100a"};   // 90a and 100f are refused, one dry run each
  facts = gather(host);
  CHECK(join(facts.toolkit()->archs.value(), " ") ==
        "sm_80 compute_80 sm_90 compute_90 sm_100 compute_100 sm_100a compute_100a");
  CHECK(host.dry_runs == 6);
}

TEST_CASE("without a work folder nothing is compiled and whether it works is unknown") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  Facts facts = gather(host);
  CHECK(host.compiles == 0);
  CHECK_FALSE(facts.toolkit()->works.known());
  CHECK(facts.host_compiler.version.is("12.2.0"));
  CHECK(facts.host_compiler.path.is("/usr/bin/gcc"));
}

TEST_CASE("one real compile says whether it works, and which cicc it was") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  Inputs in;
  in.work_dir = "/w";
  Facts facts = gather(host, in);
  CHECK(host.compiles == 1);
  CHECK(facts.toolkit()->works.is(true));
  CHECK(facts.toolkit()->cicc.is("13.2.78"));
  CHECK_FALSE(host.stat("/w").exists());  // nothing is left behind
}

TEST_CASE("a refused host compiler is told, and one of the machine that works is named") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.compile_error = "host_config.h:132:2: error: #error -- unsupported GNU version!\n";
  host.program("/usr/bin/g++-11", "ELF");
  Inputs in;
  in.work_dir = "/w";
  Facts facts = gather(host, in);
  CHECK(facts.toolkit()->works.is(false));
  CHECK(facts.toolkit()->failure.kind.is("host-compiler"));
  CHECK(contains(facts.toolkit()->failure.text.value(), "unsupported GNU version"));
  CHECK(facts.toolkit()->fitting_host_compiler.is("/usr/bin/g++-11"));
  CHECK_FALSE(facts.toolkit()->tried_host_compilers.known());
  host.variables["NVCC_CCBIN"] = "/usr/bin/gcc";  // the user's own choice is not second-guessed
  facts = gather(host, in);
  CHECK(facts.toolkit()->failure.kind.is("host-compiler"));
  CHECK_FALSE(facts.toolkit()->fitting_host_compiler.known());
}

TEST_CASE(
    "compilers of the machine are tried in turn: the first that works, and those that failed") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.compile_error = "host_config.h:132:2: error: #error -- unsupported GNU version!\n";
  for (const char* name : {"g++", "g++-13", "g++-12", "g++-11", "clang++-16"})
    host.program(cat("/usr/bin/", name), "ELF");
  host.bad_compilers = {"/usr/bin/g++-13"};
  Inputs in;
  in.work_dir = "/w";
  const auto toolkit = [&] { return *gather(host, in).toolkit(); };
  CHECK(toolkit().fitting_host_compiler.is("/usr/bin/g++-12"));
  CHECK(toolkit().tried_host_compilers.value() == List<std::string>{"/usr/bin/g++-13"});

  host.bad_compilers.insert({"/usr/bin/g++-12", "/usr/bin/g++-11", "/usr/bin/clang++-16"});
  CHECK_FALSE(toolkit().fitting_host_compiler.known());
  CHECK(toolkit().tried_host_compilers.value() ==
        List<std::string>{"/usr/bin/g++-13", "/usr/bin/g++-12", "/usr/bin/g++-11",
                          "/usr/bin/clang++-16"});

  // What the user named is not replaced; what would do is known, the machine's own first.
  in.set["CMAKE_CUDA_HOST_COMPILER"] = "/usr/bin/g++-13";
  CHECK_FALSE(toolkit().fitting_host_compiler.known());
  CHECK(toolkit().spare_host_compiler.is("/usr/bin/g++"));
  host.bad_compilers.insert("/usr/bin/g++");
  CHECK_FALSE(toolkit().spare_host_compiler.known());
  CHECK(toolkit().tried_host_compilers.value()[0] == "/usr/bin/g++");
}

TEST_CASE(
    "no more than four compilers are tried, none where nvcc would not listen, and none twice") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.compile_error = "host_config.h:132:2: error: #error -- unsupported GNU version!\n";
  for (const char* name : {"g++-15", "g++-14", "g++-13", "g++-12", "g++-11"}) {
    host.program(cat("/usr/bin/", name), "ELF");
    host.bad_compilers.insert(cat("/usr/bin/", name));
  }
  Inputs in;
  in.work_dir = "/w";
  const auto tried = [&] { return gather(host, in).toolkit()->tried_host_compilers; };
  CHECK(tried().value() == List<std::string>{"/usr/bin/g++-15", "/usr/bin/g++-14",
                                             "/usr/bin/g++-13", "/usr/bin/g++-12"});
  host.variables["NVCC_APPEND_FLAGS"] = "-ccbin /usr/bin/gcc";
  CHECK_FALSE(tried().known());
  host.variables.erase("NVCC_APPEND_FLAGS");
  host.links["/usr/bin/gcc"] = "/usr/bin/g++-14";  // what nvcc called was this one
  CHECK(tried().value()[1] == "/usr/bin/g++-13");
}

TEST_CASE("nothing is compiled in a folder whose name a shell would expand") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  Inputs in;
  in.work_dir = "/w/$(touch x)";
  Facts facts = gather(host, in);
  CHECK(host.compiles == 0);
  CHECK(contains(facts.toolkit()->reason, "holds characters that one expands"));
}

TEST_CASE("clang as CUDA compiler is not called nvcc; its toolkit is the one it finds") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda-13.2", "13.2.78");
  host.program("/usr/bin/clang++", "ELF");
  auto nvcc = host.on_run;
  host.on_run = [&](const Command& c) {
    if (c.argv[0] == "/usr/bin/clang++" && c.argv[1] == "-v")
      return MemoryHost::exits(0, "", "Found CUDA installation: /usr/local/cuda-13.2, version \n");
    return nvcc(c);
  };
  Facts facts = gather(host, with("CMAKE_CUDA_COMPILER", "/usr/bin/clang++"));
  REQUIRE(facts.toolkit() != nullptr);
  CHECK_FALSE(facts.toolkit()->nvcc.known());
  CHECK(facts.toolkit()->layout.is("clang"));
  CHECK(facts.toolkit()->root.is("/usr/local/cuda-13.2"));
  CHECK(facts.toolkit()->headers.is("13.2"));
  CHECK_FALSE(facts.toolkit()->archs.known());
  CHECK(facts.host_compiler.path.is("/usr/bin/clang++"));
}

TEST_CASE("an nvcc called through a bare link is its own install when the user named it") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.links["/home/me/bin/nvcc"] = "/usr/local/cuda/bin/nvcc";
  Facts facts = gather(host, with("CMAKE_CUDA_COMPILER", "/home/me/bin/nvcc"));
  CHECK(nvcc_of(facts) == "/home/me/bin/nvcc");
  CHECK(facts.toolkits.list.size() == 2);
  host.variables["PATH"] = "/home/me/bin:/usr/bin";
  facts = gather(host);  // found by itself: the place where it works
  CHECK(nvcc_of(facts) == "/usr/local/cuda/bin/nvcc");
  CHECK(facts.toolkits.list.size() == 1);
}

TEST_CASE("a conda prefix keeps headers and libraries under targets") {
  ToolkitHost host;
  host.toolkit("/c", "12.8.93", "targets/x86_64-linux/lib");
  for (const char* name : {"cuda.h", "cuda_runtime.h", "nvrtc.h", "crt/host_config.h"}) {
    host.files[cat("/c/targets/x86_64-linux/include/", name)] =
        host.files[cat("/c/include/", name)];
    host.files.erase(cat("/c/include/", name));
  }
  host.files["/c/conda-meta/history"] = "";
  host.variables["CONDA_PREFIX"] = "/c";
  Facts facts = gather(host, {}, "12.8");
  REQUIRE(facts.toolkit() != nullptr);
  CHECK(facts.toolkit()->origin.is("conda prefix"));
  CHECK(facts.toolkit()->layout.is("conda"));
  CHECK(facts.toolkit()->headers.is("12.8"));
  CHECK(facts.toolkit()->library_dir.is("/c/targets/x86_64-linux/lib"));
  CHECK(facts.toolkit()->missing.value() == List<std::string>{"nvrtc"});
}

TEST_CASE("a machine without a host compiler says which program nvcc looks for") {
  ToolkitHost host;
  host.toolkit("/usr/local/cuda", "13.2.78");
  host.files.erase("/usr/bin/gcc");
  auto nvcc = host.on_run;
  host.on_run = [&](const Command& c) {
    for (const std::string& word : c.argv)
      if (word == "--dryrun")
        return MemoryHost::exits(1, "",
                                 "gcc: No such file or directory\nnvcc fatal   : Failed to "
                                 "preprocess host compiler properties.\n");
    return nvcc(c);
  };
  Facts facts = gather(host);
  CHECK(facts.host_compiler.reason == "nvcc calls gcc, and PATH has no such program");
  CHECK(join(facts.toolkit()->archs.value(), " ") ==
        "sm_80 compute_80 sm_90 compute_90 sm_100 compute_100");
  CHECK(contains(facts.toolkit()->reason, "suffixed architectures are unknown"));
}
