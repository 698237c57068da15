// SPDX-License-Identifier: Apache-2.0
// The toolkit and host compiler layers, each kind of trouble with a machine that has it and one
// that comes close.
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "findings/finding.h"

using namespace tcs;

namespace {

// A whole toolkit: every release is that of nvcc, nothing is missing.
Toolkit toolkit(const char* version, const char* root = "/opt/cuda") {
  Toolkit t;
  t.root = Text(root);
  t.nvcc = Text(cat(root, "/bin/nvcc"));
  t.version = t.headers = t.ptxas = t.cicc = t.cudart = Text(version);
  t.origin = Text("CUDA_HOME");
  t.layout = Text("default");
  t.missing = Names(List<std::string>{});
  return t;
}

HostCompiler compiler(const char* id, const char* version) {
  HostCompiler c;
  c.id = Text(id);
  c.version = Text(version);
  return c;
}

// One toolkit, and PyTorch of `cuda`; everything fits unless the test says otherwise.
Facts machine(const char* version, const char* cuda = "12.4", const char* gcc = "11.4.0") {
  Facts f;
  f.origin = "replayed";
  f.host.os = Text("linux");
  f.host.arch = Text("x86_64");
  f.host.glibc = Text("2.35");
  f.toolkits.list_known = true;
  f.toolkits.list.push_back(toolkit(version));
  f.toolkits.selected = Fact<int>(0);
  f.toolkits.on_path = Text(version);
  f.host_compiler = compiler("GNU", gcc);
  f.torch.state = Text("found");
  f.torch.version = Text(starts_with(cuda, "13") ? "2.11.0" : "2.2.0");
  f.torch.flavour = Text("cuda");
  f.torch.cuda = Text(cuda);
  f.torch.images = Names({"sm_80"});
  return f;
}

Report judged(const Facts& facts, const char* purpose = "extension") {
  Request request;
  request.purpose = purpose;
  request.arch_list = Text("8.0");
  const Plan plan = make_plan(facts, request);
  return judge(RuleInput{facts, request, plan}, Policy{});
}

const Finding* find(const Report& report, int id) {
  for (const Finding& f : report.findings)
    if (f.id == id) return &f;
  return nullptr;
}

// The toolkit's and the host compiler's findings, "302e 392u 403w 307n"; the C++ level of PyTorch's
// headers (340, 410) is another subject.
std::string said(const Report& report) {
  List<std::string> out;
  for (const Finding& f : report.findings)
    if (f.id / 100 >= 3 && f.id / 100 <= 4 && f.id != 340 && f.id != 410)
      out.push_back(cat(f.id, std::string(1, name_of(f.severity)[0])));
  sort_few(out);
  return join(out, " ");
}
std::string said(const Facts& facts) {
  return said(judged(facts));
}

std::string messages(const Report& report) {
  std::string out;
  for (const Finding& f : report.findings) out += f.message + "\n";
  return out;
}

Facts with_failure(Facts f, const char* kind, const char* text = "it said so") {
  Toolkit& t = f.toolkits.list[0];
  t.works = Flag(false);
  if (*kind) t.failure.kind = Text(kind);
  t.failure.text = Text(text);
  return f;
}

Facts with_missing(Facts f, const List<std::string>& parts, const char* layout = "default") {
  f.toolkits.list[0].missing = Names(parts);
  f.toolkits.list[0].layout = Text(layout);
  return f;
}

}  // namespace

TEST_CASE("a whole toolkit of PyTorch's release with a compiler that it takes is no finding") {
  CHECK(said(machine("12.4")) == "");
  CHECK(said(machine("12.4.131")) == "");
  CHECK(said(machine("11.8", "11.8")) == "");
}

TEST_CASE("a missing toolkit fits the PyTorch that is advised in the place of one for the CPU") {
  for (const char* version : {"2.2.0", "2.11.0"}) {
    Facts f = machine("12.4");
    f.toolkits.list.clear();
    f.toolkits.selected = Fact<int>();
    f.torch.version = Text(version);
    f.torch.flavour = Text("cpu");
    f.torch.cuda = Text();
    const Report report = judged(f);
    const std::string& torch = find(report, 603)->help[0];
    const size_t at = torch.find(" for CUDA ") + 10;
    CAPTURE(torch);
    CHECK(starts_with(find(report, 301)->help[0], "install CUDA toolkit " + torch.substr(at, 4)));
  }
}

TEST_CASE("no toolkit is an error where something is compiled, and nothing where it is only run") {
  Facts f = machine("12.4");
  f.toolkits.list.clear();
  f.toolkits.selected = Fact<int>();
  CHECK(said(f) == "301e");
  CHECK(said(judged(f, "pytorch-source")) == "301e");
  CHECK(said(judged(f, "run")) == "");
  f.toolkits.list_known = false;
  CHECK(said(f) == "390u");
}

TEST_CASE(
    "another major than PyTorch's is an error, another minor a warning, another patch nothing") {
  CHECK(said(machine("11.8")) == "302e");
  CHECK(said(machine("13.0")) == "302e");
  CHECK(said(machine("12.1")) == "303w");
  CHECK(said(machine("12.6")) == "303w");
  CHECK(said(machine("12.4.99")) == "");
  CHECK(said(judged(machine("11.8"), "pytorch-source")) == "");
}

TEST_CASE("which toolkit is used is not known: what holds for each is said, and no more") {
  Facts f = machine("11.8");
  f.toolkits.list.push_back(toolkit("11.5", "/usr"));
  f.toolkits.selected = Fact<int>();
  CHECK(said(f) == "302e 390u");
  CHECK(contains(join(find(judged(f), 302)->notes, "\n"), "which of the 2 toolkits"));
  f.toolkits.list[1] = toolkit("12.4", "/usr");  // one fits, so nobody knows
  CHECK(said(f) == "390u");
  f.toolkits.list[1] = toolkit("12.1", "/usr");  // an error for one, a warning for the other
  CHECK(said(f) == "390u");
  f.toolkits.list[0] = toolkit("12.6");
  CHECK(said(f) == "303w 390u");
  f.host_compiler = compiler("GNU", "15.1");  // beyond both
  CHECK(said(f) == "303w 390u 401e");
  f.toolkits.list.erase(f.toolkits.list.begin());
  CHECK(said(f) == "303w 390u 401e");
}

TEST_CASE("the distribution's old nvcc before a new /usr/local/cuda") {
  Facts f = machine("11.5", "12.4", "10.5.0");
  f.toolkits.list[0].layout = Text("distribution");
  f.toolkits.list[0].origin = Text("PATH");
  f.toolkits.list.push_back(toolkit("12.4", "/usr/local/cuda"));
  f.toolkits.list[1].origin = Text("/usr/local/cuda");
  CHECK(said(f) == "302e");
  CHECK(contains(find(judged(f), 302)->help[0], "/usr/local/cuda"));
}

TEST_CASE("PATH against CUDA_HOME is a warning, and equal releases are one install") {
  Facts f = machine("12.4");
  f.toolkits.on_path = Text("11.8");
  CHECK(said(f) == "304w");
  f.toolkits.on_path = Text("12.4.131");
  CHECK(said(f) == "");
  f.toolkits.on_path = Text("none");
  CHECK(said(f) == "");
  f.toolkits.on_path = Text("/opt/cuda/bin/nvcc");
  CHECK(said(f) == "");
  f.toolkits.on_path = Text("/usr/bin/nvcc");
  CHECK(said(f) == "392u");
  f.toolkits.list.push_back(toolkit("11.5", "/usr"));
  f.toolkits.list[1].origin = Text("PATH");
  CHECK(said(f) == "304w");
  f.toolkits.on_path = Text();
  CHECK(said(f) == "304w");
  f.toolkits.list[0].origin = Text("CMAKE_CUDA_COMPILER");  // named to every consumer
  CHECK(said(f) == "304n");
}

TEST_CASE("a folder whose name begins like another's is not that other") {
  Facts f = machine("12.4");
  f.toolkits.list.push_back(toolkit("11.8", "/opt/cuda-11.8"));
  f.toolkits.on_path = Text("/opt/cuda-11.8/bin/nvcc");
  CHECK(said(f) == "304w");
}

TEST_CASE("parts of one toolkit: cicc newer than ptxas fails, others may") {
  Facts f = machine("12.4");
  Toolkit& t = f.toolkits.list[0];
  t.cicc = Text("12.6");
  CHECK(said(f) == "309e");
  t.works = Flag(true);  // it was tried and works
  CHECK(said(f) == "309w");
  t.works = Flag();
  t.cicc = Text("12.1");
  CHECK(said(f) == "309w");
  t.cicc = Text("12.4.99");
  CHECK(said(f) == "");
  t.ptxas = Text("12.1");  // the older one of the two
  CHECK(said(f) == "309e");
  t.ptxas = t.cicc = Text("12.4");
  t.cudart = Text("12.6");
  CHECK(said(f) == "309w");
  t.cudart = Text("12.4");
  t.headers = Text("12.1");  // PyTorch's CMake code stops
  CHECK(said(f) == "309e");
}

TEST_CASE("cicc of 12.6 writes the PTX of 12.5, so it does not fail for that") {
  Facts f = machine("12.5", "12.5");
  f.toolkits.list[0].cicc = Text("12.6");
  CHECK(said(f) == "309w");
}

TEST_CASE("parts that are seen to fail are the cause of a broken toolkit") {
  Facts f = machine("12.4");
  f.toolkits.list[0].cicc = Text("12.1");
  const Report report = judged(with_failure(f, "ptxas"));
  CHECK(said(report) == "309e");
  CHECK(contains(find(report, 309)->consequences, "TCS305"));
  CHECK(said(with_failure(f, "hang")) == "305e 309w");
}

TEST_CASE("missing parts: needed, made by the module, of no use, and of unknown use") {
  const Facts f = machine("12.4");
  struct Row {
    const char *part, *layout, *says;
  };
  for (const Row& row :
       {Row{"nvrtc", "conda", "308e"}, Row{"nvrtc", "pip", "307n"}, Row{"nvrtc", "default", "308e"},
        Row{"cudart", "pip", "308e"}, Row{"cudart-dev", "conda", "308e"},
        Row{"lib64", "pip", "307n"}, Row{"libcudart.so", "pip", "307n"}, Row{"cccl", "pip", "308e"},
        Row{"thrust", "conda", "308e"}, Row{"ptxas", "default", "308e"},
        Row{"cicc", "default", "308e"}, Row{"libdevice", "default", "308e"},
        Row{"headers", "conda", "308e"}, Row{"cusparse.h", "conda", "308e"},
        Row{"cuda_runtime.h", "default", "308e"}, Row{"cuobjdump", "pip", "313n"},
        Row{"nsight-systems", "default", "313n"}, Row{"frobnicator", "pip", "308w"}}) {
    INFO(row.part << " " << row.layout);
    Facts g = with_missing(f, {row.part}, row.layout);
    g.toolkits.list[0].version = Text("11.8");  // libnvToolsExt is still there
    Toolkit& t = g.toolkits.list[0];
    t.headers = t.ptxas = t.cicc = t.cudart = g.toolkits.on_path = t.version;
    g.torch.cuda = Text("11.8");
    const Report report = judged(g);
    CHECK(said(report) == row.says);
    CHECK(contains(messages(report), row.part));
    CHECK_FALSE(contains(said(judged(g, "run")), "e"));
  }
}

TEST_CASE("every word of a list of missing parts is in some finding") {
  Facts f = with_missing(
      machine("12.4"), {"nvrtc", "lib64", "cuobjdump", "frobnicator", "nvToolsExt", "zork"}, "pip");
  const Report report = judged(f);
  for (const char* word : {"nvrtc", "lib64", "cuobjdump", "frobnicator", "nvToolsExt", "zork"})
    CHECK(contains(messages(report), word));
  CHECK(said(report) == "307n 308w 312n 313n");
}

TEST_CASE("a link is not made to a libcudart that is missing itself") {
  const Report report = judged(with_missing(machine("12.4"), {"cudart", "libcudart.so"}, "pip"));
  CHECK(said(report) == "308e");
}

TEST_CASE(
    "libnvToolsExt is gone from 12.9, for a PyTorch that asks for it, and the module stands in") {
  const auto of = [](const char* cuda, const char* torch, const char* layout, const char* os) {
    Facts f = machine(cuda, cuda);
    f.toolkits.list[0].layout = Text(layout);
    f.torch.version = Text(torch);
    f.host.os = Text(os);
    return f;
  };
  CHECK(said(of("12.9", "2.7.1", "default", "linux")) == "312n");
  CHECK(said(of("12.8", "2.7.1", "default", "linux")) == "");
  CHECK(said(of("12.1", "2.3.0", "conda", "linux")) == "312n");
  CHECK(said(of("12.1", "2.3.0", "default", "windows")) == "312n");
  CHECK(said(of("11.8", "2.3.0", "conda", "linux")) == "");
  CHECK(said(of("13.0", "2.11.0", "default", "linux")) == "");
  // Seen not to be there: repaired on Linux, an error where nothing repairs it.
  CHECK(said(with_missing(of("12.4", "2.6.0", "default", "linux"), {"libnvToolsExt.so"})) ==
        "312n");
  CHECK(said(with_missing(of("12.4", "2.6.0", "default", "windows"), {"nvToolsExt"})) == "312e");
  CHECK(said(with_missing(of("13.0", "2.11.0", "default", "windows"), {"nvToolsExt"})) == "");
}

TEST_CASE("a launcher is no broken toolkit") {
  Facts f = with_failure(machine("12.4"), "output", "ccache version 4.8");
  f.toolkits.list[0].nvcc = Text("/usr/bin/ccache");
  Report report = judged(f);
  CHECK(said(report) == "311e");
  CHECK(contains(find(report, 311)->help[0], "CMAKE_CUDA_COMPILER_LAUNCHER=ccache"));
  f.toolkits.list[0].works = Flag(true);
  f.toolkits.list[0].failure = ToolkitFailure();
  f.toolkits.list[0].nvcc = Text("ccache /opt/cuda/bin/nvcc");
  report = judged(f);
  CHECK(said(report) == "311n");
  CHECK(contains(find(report, 311)->message, "nvcc behind a compiler launcher"));
  f.toolkits.list[0].nvcc = Text("/opt/ccache-builds/bin/nvcc");
  CHECK(said(f) == "");
}

TEST_CASE("limits of GCC and Clang, and where they moved within a minor release") {
  struct Row {
    const char *cuda, *id, *version;
    bool refused;
  };
  for (const Row& row :
       {Row{"11.4.0", "GNU", "11.1", true},        Row{"11.4.1", "GNU", "11.1", false},
        Row{"11.4.48", "GNU", "11.1", true},       Row{"11.4.100", "GNU", "11.1", false},
        Row{"11.4", "GNU", "11.1", false},         Row{"12.2.0", "Clang", "16.0.6", true},
        Row{"12.2.1", "Clang", "16.0.6", false},   Row{"12.2.91", "Clang", "16.0.6", true},
        Row{"12.2.128", "Clang", "16.0.6", false}, Row{"12.2", "Clang", "16.0.6", false},
        Row{"12.3", "GNU", "13.2.0", true},        Row{"12.4", "GNU", "13.2.0", false},
        Row{"12.8", "GNU", "14", false},           Row{"12.8", "GNU", "15", true},
        Row{"13.4", "GNU", "16.1", false},         Row{"13.3", "GNU", "16.1", true},
        Row{"12.0", "Clang", "15.0", true},        Row{"12.1", "Clang", "15.0", false},
        Row{"11.8", "GNU", "12.3", true},          Row{"12.3", "AppleClang", "17.0", false},
        Row{"13.0", "IntelLLVM", "2025.0", true},  Row{"12.4", "IntelLLVM", "2024.1", true},
        Row{"11.8", "Intel", "2021.9", false},     Row{"13.0", "Intel", "2021.9", true}}) {
    INFO("CUDA " << row.cuda << " " << row.id << " " << row.version);
    Facts f = machine(row.cuda, "13.0");
    f.torch.cuda = Text(row.cuda);
    f.host_compiler = compiler(row.id, row.version);
    CHECK(contains(said(f), "401e") == row.refused);
  }
}

TEST_CASE("MSVC is counted by its toolset, by cl's number and by Visual Studio's") {
  struct Row {
    const char *cuda, *version;
    const char* says;
  };
  for (const Row& row : {Row{"12.2", "14.40.33807", "401e"}, Row{"12.2", "19.40.33811.0", "401e"},
                         Row{"12.2", "17.10", "401e"}, Row{"12.2", "14.39.33519", "312n"},
                         Row{"12.2", "19.39.33523", "312n"}, Row{"12.8", "14.40.33807", "312n"},
                         Row{"13.2", "14.50.0", ""}, Row{"13.0", "14.50.0", "401e"},
                         Row{"13.0", "14.16.27023", "401e"}, Row{"12.8", "14.16.27023", "312n"},
                         Row{"12.8", "2022", "312n 490u"}}) {
    INFO("CUDA " << row.cuda << " MSVC " << row.version);
    Facts f = machine(row.cuda, row.cuda);
    f.host.os = Text("windows");
    f.host.glibc = Text();  // there is none
    f.host_compiler = compiler("MSVC", row.version);
    std::string all = said(f);
    if (std::string_view(row.says) == "401e") all = contains(all, "401e") ? "401e" : all;
    CHECK(all == row.says);
  }
  Facts f = machine("13.0", "13.0");
  f.host_compiler = compiler("MSVC", "14.16.27023");
  CHECK(contains(find(judged(f), 401)->message, "the oldest it takes is toolset 14.20"));
}

TEST_CASE("a toolkit's own header decides over the table, and a compile over both") {
  Facts f = machine("12.3", "12.3");
  f.host_compiler = compiler("Clang", "17.0.6");
  f.toolkits.list[0].clang_max = Fact<int>(17);
  CHECK(said(f) == "");
  f.toolkits.list[0].clang_max = Fact<int>();
  CHECK(said(f) == "401e");
  f.toolkits.list[0].works = Flag(true);
  CHECK(said(f) == "");
  f = machine("12.8", "12.8", "14.2");
  f.toolkits.list[0].gcc_max = Fact<int>(13);
  CHECK(said(f) == "401e");
}

TEST_CASE("a check that is switched off makes it a warning until a compile failed") {
  Facts f = machine("12.3", "12.3", "13.2.0");
  for (const char* name : {"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"}) {
    Facts g = f;
    g.environment[name] = "-O2 -allow-unsupported-compiler";
    const Report report = judged(g);
    CHECK(said(report) == "401w");
    CHECK(contains(find(report, 401)->message, name));
    CHECK(contains(join(find(report, 401)->notes, "\n"), "_Float32"));
    CHECK(said(with_failure(g, "headers")) == "401e");
  }
  f.environment["NVCC_APPEND_FLAGS"] = "-D__NV_NO_HOST_COMPILER_CHECK=1";
  CHECK(said(f) == "401w");
  f.environment["NVCC_APPEND_FLAGS"] = "-O2";
  CHECK(said(f) == "401e");
}

TEST_CASE("pairs that nvcc takes and that are known to fail") {
  struct Row {
    const char *cuda, *gcc, *glibc, *arch, *says;
  };
  for (const Row& row : {Row{"11.5.119", "11.4.0", "2.35", "x86_64", "403w"},
                         Row{"11.7", "11.4.0", "2.35", "x86_64", ""},
                         Row{"11.5", "10.5.0", "2.35", "x86_64", ""},
                         Row{"11.4.0", "10.2.1", "2.31", "x86_64", "403w"},
                         Row{"11.4.48", "10.2.1", "2.31", "x86_64", "403w"},
                         Row{"11.4.2", "10.2.1", "2.31", "x86_64", ""},
                         Row{"12.9.86", "14.3.0", "2.41", "x86_64", "312n 403w"},
                         Row{"12.9.86", "14.3.0", "2.40", "x86_64", "312n"},
                         Row{"13.0", "14.3.0", "2.41", "x86_64", ""},
                         Row{"13.0", "14.3.0", "2.42", "x86_64", "403w"},
                         Row{"13.1.80", "14.3.0", "2.43", "x86_64", "403w"},
                         Row{"13.2", "14.3.0", "2.42", "x86_64", ""},
                         Row{"12.8", "11.4.0", "2.26", "x86_64", "403w"},
                         Row{"12.8", "11.4.0", "2.27", "x86_64", ""},
                         Row{"12.6", "11.4.0", "2.26", "x86_64", ""},
                         Row{"12.4", "13.2.0", "2.39", "aarch64", "403w"},
                         Row{"12.4", "13.3.0", "2.39", "aarch64", ""},
                         Row{"12.4", "13.2.0", "2.39", "x86_64", ""},
                         Row{"9.2.148", "7.5.0", "2.27", "x86_64", "403w"},
                         Row{"10.0", "7.5.0", "2.27", "x86_64", ""}}) {
    INFO("CUDA " << row.cuda << " GCC " << row.gcc << " glibc " << row.glibc << " " << row.arch);
    Facts f = machine(row.cuda, row.cuda, row.gcc);
    f.host.glibc = Text(row.glibc);
    f.host.arch = Text(row.arch);
    CHECK(said(f) == row.says);
    f.toolkits.list[0].works = Flag(true);
    CHECK_FALSE(contains(said(f), "403"));
  }
}

TEST_CASE("a known-bad pair that was seen to fail is the error, and names what it silences") {
  const Facts f = machine("11.5", "11.5", "11.4.0");
  for (const char* kind : {"host-compiler", "headers"}) {
    const Report report = judged(with_failure(f, kind));
    CHECK(said(report) == "403e");
    CHECK(contains(find(report, 403)->consequences, "TCS305"));
  }
  // A hang has another reason; of a failure without a kind nobody knows.
  CHECK(said(with_failure(f, "hang")) == "305e 403w");
  CHECK(said(with_failure(f, "")) == "305e 392u 403w");
}

TEST_CASE("what the host compiler is to blame for is one error") {
  Facts f = machine("12.4", "12.4", "12.2.0");
  Report report = judged(with_failure(f, "host-compiler"));
  CHECK(said(report) == "402e");
  CHECK(contains(find(report, 402)->consequences, "TCS305"));
  CHECK(said(with_failure(f, "host-compiler-run")) == "402e");
  CHECK(said(with_failure(f, "crash")) == "305e");
  CHECK(said(with_failure(f, "")) == "305e 392u");
  f.host_compiler = compiler("GNU", "14.2.0");
  report = judged(with_failure(f, "host-compiler"));
  CHECK(said(report) == "401e");
  CHECK(contains(find(report, 401)->consequences, "TCS402"));
  CHECK(contains(find(report, 401)->consequences, "TCS305"));
}

TEST_CASE("another host compiler that nvcc takes turns a refusal into a note") {
  Facts f = with_failure(machine("12.4", "12.4", "14.2.0"), "host-compiler");
  f.toolkits.list[0].fitting_host_compiler = Text("/usr/bin/g++-13");
  const Report report = judged(f);
  CHECK(said(report) == "401n");
  CHECK(contains(find(report, 401)->consequences, "TCS305"));
}

TEST_CASE(
    "what was tried in the place of a refused compiler is named, and what is here is advised") {
  Facts f = with_failure(machine("12.4", "12.4", "14.1.0"), "host-compiler");
  Toolkit& t = f.toolkits.list[0];
  t.tried_host_compilers = Names({"/usr/bin/g++-13", "/usr/bin/g++-12"});
  Report report = judged(f);
  REQUIRE(find(report, 401));
  CHECK(contains(join(find(report, 401)->notes, "\n"),
                 "tried in its place, and failed too: /usr/bin/g++-13, /usr/bin/g++-12"));
  CHECK(contains(find(report, 401)->help[0], "install it and name it: "));
  CHECK(contains(find(report, 401)->help[0], "HOST_COMPILER=g++-11 "));
  t.spare_host_compiler = Text("/usr/bin/g++-11");
  report = judged(f);
  CHECK(contains(find(report, 401)->help[0], "name one that is here: "));
  CHECK(contains(find(report, 401)->help[0], "HOST_COMPILER=/usr/bin/g++-11 "));

  f = with_failure(machine("12.4", "12.4", "13.1.0"), "host-compiler");
  f.toolkits.list[0].tried_host_compilers = Names({"/usr/bin/g++-12"});
  report = judged(f);
  REQUIRE(find(report, 402));
  CHECK(contains(join(find(report, 402)->notes, "\n"), "failed too: /usr/bin/g++-12"));
  CHECK(contains(find(report, 402)->help[0], "install it and name it: "));
  CHECK(contains(find(report, 402)->help[0], "HOST_COMPILER=g++-11 "));
  f.toolkits.list[0].spare_host_compiler = Text("/usr/bin/g++");
  CHECK(contains(find(judged(f), 402)->help[0],
                 "name one that is here: -DCMAKE_CUDA_HOST_COMPILER=/usr/bin/g++ "));

  f = with_failure(machine("12.4"), "host-compiler-run");
  f.host_compiler.path = Text("gcc");
  f.toolkits.list[0].fitting_host_compiler = Text("/usr/bin/g++-12");
  report = judged(f);
  CHECK(said(report) == "401n");
  CHECK(find(report, 401)->message == "gcc does not run; /usr/bin/g++-12 is used in its place");
}

TEST_CASE("an old GCC is a warning by CUDA's documents until a compile was tried") {
  const auto of = [](const char* cuda, const char* gcc) {
    Facts f = machine(cuda, cuda, gcc);
    f.torch.version = Text("1.12.1");  // whose headers are C++14
    return f;
  };
  Facts f = of("11.6", "5.4.0");
  CHECK(said(f) == "405w");
  f.toolkits.list[0].works = Flag(true);
  CHECK(said(f) == "");
  CHECK(said(of("11.3", "5.4.0")) == "");
}

TEST_CASE("a variable that names no usable toolkit, beside one that is used") {
  Facts f = machine("12.4");
  Toolkit broken = toolkit("12.4", "/nope");
  broken.version = Text();
  broken.works = Flag(false);
  broken.failure.kind = Text("start");
  f.toolkits.list.push_back(broken);
  CHECK(said(f) == "310w");
  f.toolkits.list[1].origin = Text("/usr/local/cuda-11.0");
  CHECK(said(f) == "");
  f.toolkits.list[1].origin = Text();
  CHECK(said(f) == "392u");
}

TEST_CASE("a part that nothing is known of is named where it would decide") {
  struct Row {
    Text Toolkit::*part;
    const char* path;
  };
  for (const Row& row :
       {Row{&Toolkit::headers, "toolkits.list[].headers"},
        Row{&Toolkit::ptxas, "toolkits.list[].ptxas"}, Row{&Toolkit::cicc, "toolkits.list[].cicc"},
        Row{&Toolkit::cudart, "toolkits.list[].cudart"}}) {
    INFO(row.path);
    Facts f = machine("12.4");
    f.toolkits.list[0].*row.part = Text();
    const Report report = judged(f);
    CHECK(said(report) == "392u");
    CHECK(find(report, 392)->missing == List<std::string>{row.path});
    CHECK_FALSE(report.complete);
    CHECK(said(judged(f, "run")) == "");
  }
  Facts f = machine("12.4");
  f.toolkits.list[0].missing = Names();
  f.toolkits.on_path = Text();
  CHECK(find(judged(f), 392)->missing ==
        List<std::string>{"toolkits.list[].missing", "toolkits.on_path"});
  // What is not there has no release.
  CHECK(said(with_missing(
            [] {
              Facts g = machine("12.4");
              g.toolkits.list[0].ptxas = Text();
              return g;
            }(),
            {"ptxas"})) == "308e");
}

TEST_CASE("a C library that nothing is known of is named where a toolkit's headers care") {
  for (const char* cuda : {"11.8", "12.9", "13.0"}) {
    Facts f = machine(cuda, cuda);
    f.host.glibc = Text();
    const Report report = judged(f);
    REQUIRE(find(report, 490));
    CHECK(find(report, 490)->missing == List<std::string>{"host.glibc"});
  }
  Facts f = machine("11.8", "11.8");
  f.host.glibc = Text();
  f.toolkits.list[0].works = Flag(true);
  CHECK(said(f) == "");
  f = machine("11.8", "11.8", "12.3.0");  // refused in any case
  f.host.glibc = Text();
  CHECK(said(f) == "401e");
}

TEST_CASE("a host compiler that nothing is known of is named, and one that no table has") {
  Facts f = machine("12.4");
  f.host_compiler = HostCompiler();
  CHECK(find(judged(f), 490)->missing == List<std::string>{"host_compiler.id"});
  f.host_compiler = compiler("GNU", "");
  f.host_compiler.version = Text();
  CHECK(find(judged(f), 490)->missing == List<std::string>{"host_compiler.version"});
  f.host_compiler = compiler("NVHPC", "24.1");
  CHECK(find(judged(f), 490)->missing == List<std::string>{"toolkits.list[].works"});
  f.toolkits.list[0].works = Flag(true);
  CHECK(said(f) == "");
}

TEST_CASE("which toolkit and which toolset would do is named") {
  Facts f = machine("12.1", "12.1", "13.2.0");
  CHECK(contains(join(find(judged(f), 401)->help, "\n"), "install CUDA toolkit 12.4 (tables of "));
  f = machine("11.8", "11.8", "12.3.0");
  CHECK(contains(find(judged(f), 401)->help[0], "-DCMAKE_CUDA_HOST_COMPILER=g++-11 "));
  CHECK(find(judged(f), 401)->help.size() == 1);  // none of this PyTorch's CUDA major takes it
  f = machine("13.4", "13.4", "99.1.0");
  CHECK(find(judged(f), 401)->help.size() == 1);  // none takes it yet
  f = machine("12.2", "12.2");
  f.host_compiler = compiler("MSVC", "19.41.34120");
  const Report msvc = judged(f);
  const Finding* cl = find(msvc, 401);
  REQUIRE(cl);
  CHECK(contains(cl->message, "refuses MSVC toolset 14.41; the newest it takes is toolset 14.39"));
  CHECK(contains(cl->help[0], "cmake -T v143,version=14.39"));
  CHECK(cl->notes.empty());
  f = machine("12.8", "12.8");
  f.host_compiler = compiler("MSVC", "14.50.35717");
  CHECK(contains(find(judged(f), 401)->message, "the newest it takes is toolset 14.4x"));
  CHECK(contains(find(judged(f), 401)->help[0], "install toolset 14.44"));
}

TEST_CASE("how a toolkit comes from PyPI is said where it is for this machine") {
  const auto help = [](const Facts& f) {
    std::string all;
    for (const Finding& finding : judged(f).findings) all += join(finding.help, "\n") + "\n";
    return all;
  };
  const std::string both =
      "13.0 (from PyPI: -DTorchCudaStack_PROVISION=ON, or tcstack toolkit add 13.0 --into DIR)";
  Facts f = machine("12.4", "13.0");
  f.toolkits.list[0].origin = Text("PATH");
  CHECK(contains(help(f), both));
  // What the user named is not replaced; one that is not PyTorch's is not brought by itself.
  f.toolkits.list[0].origin = Text("CUDA_HOME, PATH");
  CHECK(contains(help(f), "13.0 (from PyPI: tcstack toolkit add 13.0 --into DIR)"));
  CHECK_FALSE(contains(help(f), "PROVISION"));
  f = machine("13.0", "13.0", "99.1.0");
  f.toolkits.list.clear();
  f.toolkits.selected = Fact<int>();
  f.host_compiler = compiler("GNU", "11.4.0");
  CHECK(contains(help(f), both));
  for (const char* glibc : {"2.12", ""}) {
    f.host.glibc = Text(glibc);
    CHECK(contains(help(f), "13.0 (from PyPI: pip install 'nvidia-cuda-nvcc==13.0.*' "));
  }
  f = machine("11.8", "12.4");
  f.toolkits.list[0].origin = Text("PATH");
  CHECK(contains(help(f), "12.4"));
  CHECK_FALSE(contains(help(f), "PyPI"));
}

TEST_CASE("a toolkit that is older than the GPU is the cause, not its difference from PyTorch") {
  Facts f = machine("12.4", "12.8");
  Request request;
  request.arch_list = Text("12.0");
  const Report report = judge(RuleInput{f, request, make_plan(f, request)}, Policy{});
  REQUIRE(find(report, 902));
  CHECK(find(report, 303) == nullptr);
  CHECK(contains(find(report, 902)->consequences, std::string("TCS303")));
  CHECK(find(judged(f), 303));
}

TEST_CASE("nvidia-smi's CUDA Version is no toolkit") {
  Facts f = machine("12.4");
  f.toolkits.list.clear();
  f.toolkits.selected = Fact<int>();
  CHECK_FALSE(contains(join(find(judged(f), 301)->notes, " "), "nvidia-smi"));
  f.driver.cuda = Text("12.8");
  CHECK(contains(join(find(judged(f), 301)->notes, " "), "nvidia-smi prints, 12.8,"));
}
