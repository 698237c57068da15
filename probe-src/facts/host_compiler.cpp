// SPDX-License-Identifier: Apache-2.0
#include "facts/host_compiler.h"

#include "base/text.h"

namespace tcs {
namespace {

// PyTorch's headers need C++17 at least; older ones than these do not have it whole.
constexpr int kOldestGcc = 9, kOldestClang = 10;

std::string macro(const List<std::string>& lines, std::string_view name) {
  std::string prefix = cat("#define ", name, ' ');
  for (const std::string& line : lines)
    if (starts_with(line, prefix)) return std::string(trim(line.substr(prefix.size())));
  return {};
}

// The last -ccbin, as nvcc takes it: "-ccbin X", "-ccbin=X", "--compiler-bindir X" and "...=X".
std::string ccbin_in_flags(std::string_view flags) {
  std::string found;
  bool next = false;
  for (const std::string& word : split(flags, " \t\n")) {
    if (next) found = word;
    next = word == "-ccbin" || word == "--compiler-bindir";
    for (const char* sign : {"-ccbin=", "--compiler-bindir="})
      if (starts_with(word, sign)) found = word.substr(word.find('=') + 1);
  }
  return found;
}

}  // namespace

// nvcc takes the last one: of NVCC_APPEND_FLAGS, the command line, NVCC_PREPEND_FLAGS, NVCC_CCBIN.
HostCompilerChoice host_compiler_choice(const Host& host, const Inputs& in) {
  std::string value = ccbin_in_flags(host.env_or("NVCC_APPEND_FLAGS", ""));
  if (!value.empty()) return {"NVCC_APPEND_FLAGS", "", value};
  const std::string* given = in.find("CMAKE_CUDA_HOST_COMPILER");
  if (given && !given->empty()) return {"CMAKE_CUDA_HOST_COMPILER", *given, *given};
  value = host.env_or("CUDAHOSTCXX", "");
  if (!value.empty()) {
    List<std::string> words = split(value, " \t");
    if (!host.stat(value).exists() && !words.empty()) value = words[0];
    return {"CUDAHOSTCXX", value, value};
  }
  value = ccbin_in_flags(host.env_or("NVCC_PREPEND_FLAGS", ""));
  if (!value.empty()) return {"NVCC_PREPEND_FLAGS", "", value};
  value = host.env_or("NVCC_CCBIN", "");
  return value.empty() ? HostCompilerChoice() : HostCompilerChoice{"NVCC_CCBIN", "", value};
}

Command ask_macros(const std::string& compiler, int timeout_ms) {
  Command c;
  c.argv = {compiler, "-dM", "-E", "-x", "c++", "/dev/null"};
  c.timeout_ms = timeout_ms;
  return c;
}

void read_macros(const Outcome& outcome, const std::string& compiler, HostCompiler& out) {
  out.path = Text(compiler, "nvcc --dryrun");
  if (!outcome.ok()) {
    out.reason = cat(compiler, " -dM -E: ", outcome.describe());
    return;
  }
  List<std::string> lines = lines_of(outcome.out);
  auto set = [&](const char* id, const char* major, const char* minor, const char* patch) {
    out.id = Text(id, "predefined macros");
    out.version = Text(cat(macro(lines, major), '.', macro(lines, minor), '.', macro(lines, patch)),
                       "predefined macros");
  };
  // Others (icx, nvc++) define __GNUC__ as well, and clang's or their own name.
  if (!macro(lines, "__NVCOMPILER").empty())
    set("NVHPC", "__NVCOMPILER_MAJOR__", "__NVCOMPILER_MINOR__", "__NVCOMPILER_PATCHLEVEL__");
  else if (!macro(lines, "__clang_major__").empty())
    set("Clang", "__clang_major__", "__clang_minor__", "__clang_patchlevel__");
  else if (!macro(lines, "__GNUC__").empty())
    set("GNU", "__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__");
  else
    out.reason = cat(compiler, " -dM -E names no compiler that is known here");
}

List<std::string> fitting_host_compilers(const Host& host, const Toolkit& toolkit) {
  List<std::string> found;
  std::string path = host.env_or("PATH", "");
  auto look = [&](const char* name, int newest, int oldest) {
    for (int n = newest; n >= oldest; --n) {
      std::string program = find_program(host, cat(name, '-', n), path);
      if (!program.empty()) found.push_back(program);
    }
  };
  look("g++", toolkit.gcc_max.or_else(0), kOldestGcc);
  const int gcc_max = toolkit.gcc_max.or_else(0);
  look("clang++", toolkit.clang_max.or_else(0), kOldestClang);
  auto add = [&](const std::string& program) {
    const FileStat stat = host.stat(program);
    if (stat.is_file() && stat.executable) add_once(found, program);
  };
  // Its release is in no name: a compile tells.
  add(find_program(host, host.system().arch + "-conda-linux-gnu-g++",
                   cat(host.env_or("CONDA_PREFIX", ""), "/bin:", path)));
  for (int n = gcc_max; n >= kOldestGcc; --n)
    for (const char* name : {"gcc-toolset-", "devtoolset-"})
      add(cat("/opt/rh/", name, n, "/root/usr/bin/g++"));
  const std::string own = host.real_path(find_program(host, "g++", path));
  if (gcc_max != 0 && own != host.real_path("/usr/bin/g++")) add("/usr/bin/g++");
  return found;
}

}  // namespace tcs
