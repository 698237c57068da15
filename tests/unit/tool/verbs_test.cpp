// SPDX-License-Identifier: Apache-2.0
// The verbs as a shell calls them: exit status, and what stands on either stream.
#include "tool/verbs.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <fstream>

#include "base/json.h"
#include "base/text.h"
#include "emit/forms.h"
#include "memory_host.h"
#include "readers/make_bytes.h"
#include "tool/settings.h"

using namespace tcs;

namespace {

// One of this process's streams into a file, while this lives.
class Captured {
 public:
  explicit Captured(int fd) : fd_(fd), old_(dup(fd)), file_(std::tmpfile()) {
    dup2(fileno(file_), fd_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    dup2(old_, fd_);
    ::close(old_);
    std::fclose(file_);
  }
  std::string text() const {
    std::string out;
    char byte = 0;
    for (off_t at = 0; pread(fileno(file_), &byte, 1, at) == 1; ++at) out += byte;
    return out;
  }

 private:
  int fd_, old_;
  FILE* file_;
};

struct Said {
  int status = -1;
  std::string out, err;
};

Said call(int (*verb)(Host&, const List<std::string>&), Host& host, const List<std::string>& args) {
  Said said;
  std::fflush(stdout);
  Captured out(1), err(2);
  said.status = verb(host, args);
  said.out = out.text();
  said.err = err.text();
  return said;
}

// A machine whose nvcc 13.0 builds 7.5 to 12.1, with a torch for it and no GPU.
const char* const kMachine = R"({"schema": "torch-cuda-stack/facts/1",
  "devices": {"state": "none", "list": []}, "driver": {"state": "absent"},
  "toolkits": {"list": [{"version": "13.0.88", "root": "/cuda", "nvcc": "/cuda/bin/nvcc"}],
               "selected": 0},
  "torch": {"state": "found", "flavour": "cuda", "version": "2.11.0+cu130", "cuda": "13.0",
            "images": ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]}})";

MemoryHost with_machine() {
  MemoryHost host;
  host.files["/f.json"] = kMachine;
  return host;
}

}  // namespace

TEST_CASE("an empty plan is never handed on, whatever is allowed") {
  MemoryHost host = with_machine();
  for (const char* form : {"cmake", "json", "torch-list", "gencode"}) {
    const Said said = call(verb_plan, host,
                           {"--facts", "/f.json", "--arch-list", "6.1", "--allow", "TCS901,TCS908",
                            "--fail-on", "never", "--emit", form});
    INFO(form);
    CHECK(said.status == 1);
    CHECK(said.out.empty());
    CHECK(contains(said.err, "TCS901"));
    CHECK(contains(said.err, "tcstack plan: the plan is empty"));
  }
}

TEST_CASE("a plan that holds something is handed on") {
  MemoryHost host = with_machine();
  const Said said =
      call(verb_plan, host, {"--facts", "/f.json", "--arch-list", "8.6", "--emit", "torch-list"});
  CHECK(said.status == 0);
  CHECK(said.out == "8.6\n");
  CHECK(said.err.empty());
}

TEST_CASE("a tool that a configure compiled says which one has the forms of a whole build") {
  MemoryHost host = with_machine();
  for (const std::string& form : split(kBuildForms, ", ")) {
    const Said said = call(verb_plan, host, {"--facts", "/f.json", "--emit", form});
    CHECK(said.status == 2);
    CHECK(said.out.empty());
    CHECK(contains(said.err, cat("has no `plan --emit ", form, "`; an installed one has:")));
  }
  const Said said = call(verb_plan, host, {"--facts", "/f.json", "--emit", "yaml"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "--emit: 'yaml' is none of cmake, json,"));
  CHECK(contains(said.err, "env, github-env,"));
}

TEST_CASE("a tool that a configure compiled says which one has the forms for CI") {
  MemoryHost host = with_machine();
  for (const std::string& form : split(kReportForms, ", ")) {
    const Said said = call(verb_check, host, {"--facts", "/f.json", "--format", form});
    CHECK(said.status == 2);
    CHECK(said.out.empty());
    CHECK(contains(said.err, cat("has no `check --format ", form, "`; an installed one has:")));
  }
  const Said said = call(verb_check, host, {"--facts", "/f.json", "--format", "xml"});
  CHECK(said.status == 2);
  CHECK(
      contains(said.err, "--format: 'xml' is none of text, json, junit, sarif, github, markdown"));
}

TEST_CASE("a form that can say nothing of the plan is no answer") {
  MemoryHost host = with_machine();
  const Said said =
      call(verb_plan, host,
           {"--facts", "/f.json", "--arch-list", "8.6(8.0)", "--emit", "cmake-architectures"});
  CHECK(said.status == 1);
  CHECK(said.out.empty());
  CHECK(contains(said.err,
                 "CMAKE_CUDA_ARCHITECTURES cannot say -gencode=arch=compute_80,code=sm_86"));
}

TEST_CASE("configure fails with an empty plan, whatever is allowed, and says why") {
  MemoryHost host = with_machine();
  const List<std::string> args = {"--dir", "/d",
                                  "--set", "FACTS=/f.json",
                                  "--set", "TORCH_CUDA_ARCH_LIST=6.1",
                                  "--set", "FAIL_ON=never",
                                  "--set", "ALLOW=TCS901;TCS908"};
  CHECK(call(verb_configure, host, args).status == 1);
  const std::string plan = host.files["/d/plan.cmake"];
  CHECK(contains(plan, "set(_tcs_outcome [[fail]])"));
  CHECK(contains(plan, "no architecture is planned"));
  CHECK(contains(plan, "TCS901"));
  CHECK(host.files["/d/stamp"].empty());
}

TEST_CASE("configure writes its answers and proceeds with a plan") {
  MemoryHost host = with_machine();
  const Said said = call(verb_configure, host,
                         {"--dir", "/d", "--set", "FACTS=/f.json", "--set",
                          "TORCH_CUDA_ARCH_LIST=8.6", "--set", "REPORT_DIR=/r"});
  CHECK(said.status == 0);
  CHECK(said.out.empty());
  for (const char* file : {"/r/facts.json", "/r/report.json", "/r/report.txt", "/d/plan.json",
                           "/d/plan.cmake", "/d/stamp"}) {
    INFO(file);
    CHECK(host.files.count(file) == 1);
  }
  CHECK(contains(host.files["/d/plan.cmake"], "TORCH_CUDA_ARCH_LIST [[8.6]]"));
}

TEST_CASE("an empty file name is refused with the option's name") {
  MemoryHost host = with_machine();
  Said said = call(verb_check, host, {"--facts="});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "tcstack: --facts needs a value (FILE), not an empty one"));
  said = call(verb_check, host, {"--facts", "/f.json", "--out", ""});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "tcstack: --out needs a value (FILE), not an empty one"));
  for (auto verb : {verb_images, verb_verify}) {
    said = call(verb, host, {""});
    CHECK(said.status == 2);
    CHECK(contains(said.err, "tcstack: an argument is empty"));
  }
}

TEST_CASE("an empty list of wanted images is not taken for none given") {
  MemoryHost host;
  for (const char* option : {"--images", "--targets"}) {
    const Said said = call(verb_verify, host, {"/lib.so", "--plan", "/plan.json", option, ""});
    CHECK(said.status == 2);
    CHECK(contains(said.err, cat(option, ": names no image to look for")));
  }
}

TEST_CASE("a relative cache folder is refused by cache and by configure") {
  MemoryHost host = with_machine();
  host.variables["TORCH_CUDA_STACK_CACHE_DIR"] = "some/where";
  Said said = call(verb_cache, host, {"clear"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "'some/where' is no absolute path"));
  said = call(verb_configure, host, {"--dir", "/d", "--set", "FACTS=/f.json"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "'some/where' is no absolute path"));
}

TEST_CASE("what links in the cache lead to is not counted as the cache's") {
  MemoryHost host;
  host.files["/c/toolkits/k/notes"] = std::string(1024, 'x');
  host.files["/usr/local/cuda/bin/nvcc"] = std::string(1 << 20, 'x');
  host.links["/c/toolkits/k/bin"] = "/usr/local/cuda/bin";
  host.links["/c/toolkits/k/nvcc"] = "/usr/local/cuda/bin/nvcc";
  CHECK(contains(call(verb_cache, host, {"info", "--dir", "/c"}).out, "toolkits: 1 file, 1 KiB\n"));
}

TEST_CASE("a document that no reader takes is named with its path") {
  MemoryHost host;
  auto refused = [&](const std::string& bytes, const char* text) {
    host.files["/f.json"] = bytes;
    const Said said = call(verb_check, host, {"--facts", "/f.json"});
    INFO(said.err);
    CHECK(said.status == 2);
    CHECK(contains(said.err, text));
  };
  refused("\xff\xfe{", "tcstack check: /f.json: is UTF-16; expected plain UTF-8");
  refused("\xef\xbb\xbf{}", "/f.json: is UTF-8 with a byte order mark; expected plain UTF-8");
  refused(std::string("{\0", 2), "tcstack check: /f.json: is UTF-16; expected plain UTF-8");
  refused(std::string(40u << 20, ' '),
          "tcstack check: /f.json: has 41943040 bytes; at most 16777216 are taken");
  refused(" \n", "tcstack check: /f.json: is empty; expected JSON");
  refused("{\"schema\": 3", "tcstack check: /f.json: line 1, column");
}

TEST_CASE("the deadline that was wrong is the one that is named") {
  MemoryHost host;
  Said said = call(verb_probe, host, {"--timeout", "0"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "tcstack probe: --timeout: '0' is no number of seconds"));
  host.variables["TORCH_CUDA_STACK_TIMEOUT"] = "x";
  said = call(verb_probe, host, {});
  CHECK(contains(said.err, "TORCH_CUDA_STACK_TIMEOUT (environment): 'x' is no number"));
}

TEST_CASE("an input that probe does not have is refused with the nearest") {
  MemoryHost host;
  const Said said = call(verb_probe, host, {"--set", "Python_EXECUTBLE=/usr/bin/python3"});
  CHECK(said.status == 2);
  CHECK(contains(said.err,
                 "--set: there is no input 'Python_EXECUTBLE'; did you mean Python_EXECUTABLE?"));
}

TEST_CASE("the inputs that probe knows are those that the module and the gate pass, and FRESH") {
  std::string module = "FRESH";
  for (const char* name : {"_tcs_inputs", "_tcs_gate"}) {
    std::ifstream file(cat(TCS_SOURCE_DIR "/modules/TorchCudaStack/detail/", name, ".cmake"));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    REQUIRE_FALSE(text.empty());
    module += text;
  }
  std::ifstream page(TCS_SOURCE_DIR "/docs/internals.md");
  const std::string internals((std::istreambuf_iterator<char>(page)), {});
  for (const std::string& name : input_names()) {
    INFO(name);
    CHECK(contains(module, name));
    CHECK(contains(internals, name));
  }
}

TEST_CASE("a NAME=VALUE without a name is refused by every verb that takes one") {
  MemoryHost host;
  CHECK(contains(call(verb_probe, host, {"--set", "=x"}).err, "'=x' is not NAME=VALUE"));
  CHECK(contains(call(verb_configure, host, {"--dir", "/d", "--set", "=x"}).err,
                 "tcstack configure: --set: '=x' is not NAME=VALUE"));
}

TEST_CASE("explain speaks Chinese where it is asked to, or where the locale does, and no other") {
  MemoryHost host;
  const std::string english = call(verb_explain, host, {"TCS601"}).out;
  const std::string chinese = call(verb_explain, host, {"TCS601", "--lang", "zh"}).out;
  CHECK(contains(chinese, "TCS601 torch-lacks-device-image (torch, 错误)\n\nPyTorch 的核函数"));
  CHECK(contains(chinese, "\n自己查看：\n  tcstack images <torch>/lib/libtorch_cuda.so\n"));
  CHECK(contains(chinese, "\n示例：\n  错误[TCS601 torch-lacks-device-image]："));
  host.variables["LANG"] = "zh_CN.UTF-8";
  CHECK(call(verb_explain, host, {"TCS601"}).out == chinese);
  CHECK(call(verb_explain, host, {"TCS601", "--lang=en"}).out == english);
  host.variables["TORCH_CUDA_STACK_LANG"] = "en";
  CHECK(call(verb_explain, host, {"TCS601"}).out == english);
  const Said said = call(verb_explain, host, {"TCS601", "--lang", "fr"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "tcstack explain: 'fr' is none of en, zh"));
}

TEST_CASE("check speaks Chinese in text alone: JSON is the same in every language") {
  MemoryHost host;
  host.files["/f.json"] = kMachine;
  const auto check = [&](const char* form, const char* language) {
    return call(verb_check, host, {"--facts", "/f.json", "--format", form, "--lang", language}).out;
  };
  CHECK(contains(check("text", "zh"),
                 "说明[TCS201 driver-missing]：动态加载器找不到 NVIDIA 驱动：没有 libcuda.so.1\n"));
  CHECK(contains(check("text", "en"),
                 "note[TCS201 driver-missing]: no NVIDIA driver is in the loader"));
  CHECK(check("json", "zh") == check("json", "en"));
  const Said said = call(verb_check, host, {"--facts", "/f.json", "--lang", "zh_CN"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "tcstack check: --lang: 'zh_CN' is none of en, zh"));
}

TEST_CASE("a finding that does not exist is answered with the nearest") {
  MemoryHost host;
  Said said = call(verb_explain, host, {"TCS602x"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "there is no finding 'TCS602x'; the nearest is TCS602 "));
  said = call(verb_explain, host, {"torch-lacks-device"});
  CHECK(contains(said.err, "the nearest is TCS601 torch-lacks-device-image"));
}

TEST_CASE("explain takes several findings, by number and by name, and shows an example of each") {
  MemoryHost host;
  const Said said = call(verb_explain, host, {"TCS601", "303", "Driver-Stub"});
  CHECK(said.status == 0);
  for (const char* part : {"TCS601 torch-lacks-device-image (torch, error)\n\n",
                           "\n\nTCS303 toolkit-minor-differs-from-torch (toolkit, warning)\n",
                           "\n\nTCS202 driver-stub (driver, error)\n", "\nSee it yourself:\n",
                           "\nWays out:\n", "\nExample:\n  error[TCS202 driver-stub]: "})
    CHECK(contains(said.out, part));
  CHECK(contains(call(verb_explain, host, {}).out, "\nTCS601  torch-lacks-device-image "));
}

TEST_CASE("an unknown option is answered with the nearest") {
  MemoryHost host;
  const Said said = call(verb_check, host, {"--fact", "/f.json"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "unknown option --fact; did you mean --facts?"));
}

TEST_CASE("a file name cannot reach the terminal through images") {
  MemoryHost host;
  host.files["/a\x1b[31m\nb.o"] = make::elf({{".text", "code"}});
  const Said said = call(verb_images, host, {"/a\x1b[31m\nb.o", "/n\x1b.o"});
  CHECK(said.status == 2);
  CHECK(said.out == "/a\\x1b[31m\\x0ab.o: no device code\n");
  CHECK(contains(said.err, "/n\\x1b.o: No such file or directory"));
}

TEST_CASE("probe --redact names neither user nor machine, of this one and of a recorded one") {
  MemoryHost host = with_machine();
  host.variables = {{"HOME", "/home/alice"},
                    {"USER", "alice"},
                    {"HOSTNAME", "box17"},
                    {"CUDA_HOME", "/home/alice/cuda"},
                    {"LD_LIBRARY_PATH", "/opt/box17/lib"}};
  Said said = call(verb_probe, host, {});
  CHECK(said.status == 0);
  CHECK(contains(said.out, "/home/alice/cuda"));
  said = call(verb_probe, host, {"--redact"});
  CHECK(said.status == 0);
  CHECK(contains(said.out, "\"CUDA_HOME\": \"/<home-1>/cuda\""));
  CHECK(contains(said.out, "/opt/<host-1>/lib"));
  CHECK_FALSE(contains(said.out, "alice"));
  host.files["/old.json"] = replace_all(kMachine, "/cuda/", "/home/bob/cuda/");
  said = call(verb_probe, host, {"--redact", "--facts", "/old.json"});
  CHECK(said.status == 0);
  CHECK(contains(said.out, "/home/<user-2>/cuda/bin/nvcc"));
}

TEST_CASE("probe reads a recording as strictly as check does") {
  MemoryHost host = with_machine();
  host.files["/f.json"] = replace_all(kMachine, "\"driver\"", "\"drivel\": 1, \"driver\"");
  Said said = call(verb_probe, host, {"--facts", "/f.json"});
  CHECK(said.status == 0);
  CHECK(contains(said.err, "/f.json: unknown member drivel (line 2, column"));
  CHECK_FALSE(contains(said.out, "drivel"));
  said = call(verb_probe, host, {"--facts", "/f.json", "--strict"});
  CHECK(said.status == 2);
  CHECK(said.out.empty());
  said = call(verb_probe, host, {"--facts", "/none.json"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "tcstack probe: /none.json: No such file"));
}

TEST_CASE("what a help line offers to cmake works after tcstack check too") {
  MemoryHost host = with_machine();
  host.files["/f.json"] = kMachine;
  const List<std::string> check = {"--facts", "/f.json", "--format", "json"};
  auto plan_of = [&](const char* option) {
    List<std::string> args = check;
    args.push_back(option);
    const Said said = call(verb_check, host, args);
    INFO(said.err);
    const Result<Json> report = parse_json(said.out);
    REQUIRE(report);
    return report->find("plan")->find("torch_cuda_arch_list")->find("text")->text;
  };
  CHECK(plan_of("-DTorchCudaStack_TARGETS=9.0") == "9.0");
  CHECK(plan_of("-DTORCH_CUDA_ARCH_LIST:STRING=8.6+PTX") == "8.6+PTX");
  CHECK(plan_of("--set=TARGETS=9.0") == "9.0");
  const Said said =
      call(verb_check, host, {"--facts", "/f.json", "-DPython_EXECUTBLE=/usr/bin/python3"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "no input 'Python_EXECUTBLE'; did you mean Python_EXECUTABLE?"));
}

TEST_CASE("the option --tree takes a source tree of PyTorch and nothing else") {
  MemoryHost host = with_machine();
  host.directories.insert("/pt");
  const Said said = call(verb_check, host, {"--tree", "/pt"});
  CHECK(said.status == 2);
  CHECK(contains(said.err, "/pt: no source tree of PyTorch"));
  for (const char* folder : {"aten", "c10", "torch"}) host.directories.insert(cat("/pt/", folder));
  host.files["/pt/version.txt"] = "2.6.0\n";
  host.files["/pt/cmake/Dependencies.cmake"] = "";
  const Said taken = call(verb_check, host, {"--tree", "/pt", "--arch-list", "8.0"});
  CHECK(taken.status == 1);  // there is no nvcc
  CHECK(contains(taken.out, "TCS301"));
  CHECK_FALSE(contains(taken.out, "TCS602"));  // and no PyTorch, which is no matter
  const Said other =
      call(verb_check, host, {"--tree", "/pt", "--arch-list", "8.0", "--purpose", "extension"});
  CHECK(contains(other.out, "TCS602"));
}
