// SPDX-License-Identifier: Apache-2.0
#include "facts/toolkit_compile.h"

#include "base/text.h"
#include "facts/toolkit_parts.h"
#include "facts/toolkit_questions.h"

namespace tcs {
namespace {

constexpr const char* kKernel =
    "__global__ void tcs_kernel(int* p) { *p = 1; }\n"
    "void tcs_launch(int* p) { tcs_kernel<<<1, 1>>>(p); }\n";

constexpr size_t kMostTried = 4;  // each takes a second or two

class TestCompile {
 public:
  TestCompile(Host& host, const Inputs& in, const TryFolder& folder, Toolkit& toolkit,
              HostCompiler& compiler)
      : host_(host), in_(in), folder_(folder), t_(toolkit), compiler_(compiler) {}

  void judge(const Compiled& tried) {
    const HostCompilerChoice choice = host_compiler_choice(host_, in_);
    if (tried.said.state == Outcome::State::NotStarted) {
      t_.reason = cat("the test compile ", tried.said.describe());
      return;
    }
    learn_cicc(tried);
    if (tried.said.ok() && !tried.object.empty()) {
      t_.works = Flag(true, "test compile");
      return;
    }
    const std::string kind = failure_kind(tried.said);
    const bool vague = kind == "output" || kind == "crash" || kind == "hang";
    if (vague && !compiler_runs()) {
      mark_failed(host_, "host-compiler-run", compiler_.reason, t_);
      return try_others(choice);
    }
    mark_failed(
        host_, kind.empty() ? "output" : kind,
        tried.said.ok() ? "nvcc exited with 0 and wrote no object" : telling_lines(tried.said), t_);
    t_.works.from = "test compile";
    if (kind == "host-compiler") try_others(choice);
  }

  Compiled compile(const std::string& ccbin) const {
    return compile_alone(host_, folder_, nvcc_command(t_.nvcc.value(), ccbin, in_.timeout_ms),
                         kKernel, {});
  }

 private:
  void learn_cicc(const Compiled& tried) {
    if (!t_.cicc.known() && !tried.release.empty())
      t_.cicc = Text(tried.release, "PTX of a test compile");
  }

  // One that only refuses the question for its macros may still compile.
  bool compiler_runs() const {
    return compiler_.reason.empty() || !compiler_.path.known() ||
           host_.run(ask_macros(compiler_.path.value(), in_.timeout_ms)).ok();
  }

  // nvcc's own choice, or the user's, fails: is there one on the machine that works? It is used in
  // the place of nvcc's own, never of the user's.
  void try_others(const HostCompilerChoice& choice) {
    const bool users = !choice.origin.empty();
    if (choice.origin == "NVCC_APPEND_FLAGS") return;  // comes after what is tried
    List<std::string> others;
    const std::string path = host_.env_or("PATH", ""), own = find_program(host_, "g++", path);
    const std::string refused = host_.real_path(compiler_.path.value());
    // A distribution's nvcc calls a compiler of its own choosing, not the one of PATH.
    const bool elsewhere = contains(compiler_.path.value(), "/") &&
                           refused != host_.real_path(find_program(host_, "gcc", path));
    if (!own.empty() && (users || elsewhere)) others.push_back(own);
    others.append(fitting_host_compilers(host_, t_));
    List<std::string> failed;
    for (const std::string& other : others) {
      if (failed.size() == kMostTried) break;
      if (!refused.empty() && host_.real_path(other) == refused) continue;
      const Compiled tried = compile(other);
      if (!tried.said.ok() || tried.object.empty()) {
        failed.push_back(other);
        continue;
      }
      (users ? t_.spare_host_compiler : t_.fitting_host_compiler) = Text(other, "test compile");
      learn_cicc(tried);
      if (!users) ask_suffixes(host_, in_, other, t_);  // a refused one may have spoilt it
      break;
    }
    if (!failed.empty()) t_.tried_host_compilers = Names(failed, "test compile");
  }

  Host& host_;
  const Inputs& in_;
  const TryFolder& folder_;
  Toolkit& t_;
  HostCompiler& compiler_;
};

}  // namespace

TryFolder::TryFolder(Host& host, const Inputs& in) : host_(host) {
  if (in.work_dir.empty()) return;
  // nvcc puts the folder it runs in between double quotes of a shell command.
  if (in.work_dir.find_first_of("$`\"\\") != std::string::npos) {
    why = cat("nothing was compiled: nvcc passes the folder's name to a shell, and ", in.work_dir,
              " holds characters that one expands");
    return;
  }
  // Of this process alone: two configures of one build tree must not meet.
  const std::string prefix = "nvcc-try-";
  const std::string own = prefix + path_name(host.real_path("/proc/self"));
  path = path_join(in.work_dir, own);
  // Left by one that was killed, which perhaps had our number.
  Result<List<std::string>> names = host.list(in.work_dir);
  for (size_t i = 0; names && i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    if (starts_with(name, prefix) &&
        (name == own || !host.stat("/proc/" + name.substr(prefix.size())).exists()))
      (void)host.remove_tree(path_join(in.work_dir, name)).operator bool();
  }
}

TryFolder::~TryFolder() {
  if (!path.empty()) (void)host_.remove_tree(path).operator bool();
}

Command nvcc_command(const std::string& nvcc, const std::string& ccbin, int timeout_ms) {
  Command c;
  c.argv = {nvcc};
  if (!ccbin.empty()) c.argv.append({"-ccbin", ccbin});
  c.timeout_ms = timeout_ms;
  return c;
}

Compiled compile_alone(Host& host, const TryFolder& folder, Command command,
                       const std::string& source, const List<std::string>& words) {
  Compiled out;
  Result<Done> ready = host.remove_tree(folder.path);
  if (ready) ready = host.make_directories(folder.path);
  if (ready) ready = host.write_atomic(path_join(folder.path, "try.cu"), source);
  if (!ready) {
    out.said.why = ready.error().str();
    return out;
  }
  command.cwd = folder.path;  // nvcc hands file names to a shell: only names of ours
  command.argv.append({"-c", "try.cu", "-o", "try.o", "--keep"});
  command.argv.append(words);
  out.said = host.run(command);
  const std::string object = path_join(folder.path, "try.o");
  if (host.stat(object).is_file()) out.object = object;
  Result<List<std::string>> names = host.list(folder.path);
  for (size_t i = 0; names && out.release.empty() && i < names->size(); ++i) {
    if (!ends_with((*names)[i], ".ptx")) continue;
    Result<std::string> kept = host.read(path_join(folder.path, (*names)[i]), 1u << 20);
    if (kept) out.release = parse_release(*kept);
  }
  return out;
}

void test_compile(Host& host, const Inputs& in, const TryFolder& folder, Toolkit& toolkit,
                  HostCompiler& compiler, const Compiled* said) {
  TestCompile test(host, in, folder, toolkit, compiler);
  test.judge(said != nullptr ? *said : test.compile(host_compiler_choice(host, in).ccbin));
}

}  // namespace tcs
