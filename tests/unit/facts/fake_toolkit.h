// SPDX-License-Identifier: Apache-2.0
// A machine with toolkits in memory: an nvcc that answers as the real ones do.
#pragma once
#include <algorithm>
#include <string>

#include "base/list.h"
#include "facts/gather.h"
#include "memory_host.h"

namespace tcs {

class ToolkitHost : public MemoryHost {
 public:
  // Suffixed architectures that every nvcc here takes, and the folder-wide host compiler limit.
  List<std::string> suffixed{"90a", "100a", "100f"};
  std::string gcc_macros =
      "#define __GNUC__ 12\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 0\n";
  std::string compile_error;                    // of a compile without -ccbin
  std::set<std::string> bad_compilers;          // that -ccbin may name, and that fail likewise
  std::map<std::string, std::string> releases;  // path of an nvcc -> release
  int dry_runs = 0, compiles = 0;

  ToolkitHost() {
    variables["PATH"] = "/usr/bin";
    program("/usr/bin/gcc", "ELF");
    on_run = [this](const Command& c) { return answer(c); };
  }
  // A complete one at `root`, library names as given under `lib`.
  void toolkit(const std::string& root, const std::string& release,
               const std::string& lib = "lib64",
               List<std::string> libraries = {"libcudart.so", "libcudart.so.13"}) {
    for (const char* tool : {"nvcc", "ptxas", "cudafe++", "fatbinary"})
      program(root + "/bin/" + tool, "ELF");
    program(root + "/nvvm/bin/cicc", "ELF");
    files[root + "/bin/nvcc.profile"] = "TOP = $(_HERE_)/..";
    files[root + "/nvvm/libdevice/libdevice.10.bc"] = "BC";
    std::string number = Version::parse(release).major_minor();
    number = cat(number.substr(0, 2), "0", number.substr(3), "0");
    files[root + "/include/cuda.h"] = "#define CUDA_VERSION " + number + "\n";
    files[root + "/include/cuda_runtime.h"] = "";
    files[root + "/include/nvrtc.h"] = "";
    files[root + "/include/crt/host_config.h"] =
        "#if __GNUC__ > 15\n#if (__clang_major__ >= 21) || (__clang_major__ < 3)\n";
    for (const std::string& name : libraries) files[cat(root, "/", lib, "/", name)] = "SO";
    releases[root + "/bin/nvcc"] = release;
  }
  // A script at `path` that runs the nvcc at `nvcc`.
  void wrapper(const std::string& path, const std::string& nvcc) {
    program(path, "#!/bin/sh\nexec " + nvcc + " \"$@\"\n");
    wraps_[path] = nvcc;
  }

 private:
  std::map<std::string, std::string> wraps_;

  Outcome answer(const Command& c) {
    std::string program = c.argv[0];
    auto has = [&](const char* word) {
      return std::find(c.argv.begin(), c.argv.end(), word) != c.argv.end();
    };
    if (has("-dM")) return exits(0, gcc_macros);
    if (wraps_.count(program)) program = wraps_[program];
    if (ends_with(program, "/ptxas"))
      return exits(0, tools(releases[path_parent(real_path(program)) + "/nvcc"]));
    std::string real = real_path(program);
    if (!releases.count(real)) return exits(127, "", "no such program in this test");
    if (has("--version")) return exits(0, tools(releases[real]));
    if (has("--list-gpu-arch")) return exits(0, "compute_80\ncompute_90\ncompute_100\n");
    if (has("--list-gpu-code")) return exits(0, "sm_80\nsm_90\nsm_100\n");
    if (has("--dryrun")) return dry_run(c, path_parent(program));
    if (has("-c")) return compile(c, has("-ccbin"));
    return exits(1, "", "nvcc fatal   : Unknown option");
  }
  static std::string tools(const std::string& release) {
    return cat("Cuda compilation tools, release ", Version::parse(release).major_minor(), ", V",
               release, "\n");
  }
  Outcome dry_run(const Command& c, const std::string& here) {
    ++dry_runs;
    for (const std::string& word : c.argv) {
      if (!starts_with(word, "arch=compute_")) continue;
      std::string digits = word.substr(13, word.find(',') - 13);
      bool plain = digits.find_first_of("af") == std::string::npos;
      if (!plain && std::find(suffixed.begin(), suffixed.end(), digits) == suffixed.end())
        return exits(1, "",
                     cat("nvcc fatal   : Unsupported gpu architecture 'compute_", digits, "'"));
    }
    return exits(0, "",
                 cat("#$ _HERE_=", here, "\n#$ TOP=", here, "/..\n#$ PATH=", here,
                     ":/usr/bin\n#$ gcc -D__CUDA_ARCH_LIST__=750 -E -x c++ \"x.cu\"\n"));
  }
  Outcome compile(const Command& c, bool ccbin) {
    ++compiles;
    if (!compile_error.empty() && !ccbin) return exits(1, "", compile_error);
    for (const std::string& word : c.argv)
      if (bad_compilers.count(word) != 0) return exits(1, "", compile_error);
    files[c.cwd + "/try.o"] = "ELF";
    files[c.cwd + "/try.ptx"] = "// Cuda compilation tools, release 13.2, V13.2.78\n";
    return exits(0);
  }
};

}  // namespace tcs
