// SPDX-License-Identifier: Apache-2.0
#include "facts/toolkit_questions.h"

#include "base/text.h"
#include "facts/toolkit_parts.h"

namespace tcs {
namespace {

// The user's own nvcc flags may hold an -arch, which an arch question must not meet.
constexpr const char* kFlagVariables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};

constexpr const char* kKernel =
    "__global__ void tcs_kernel(int* p) { *p = 1; }\n"
    "void tcs_launch(int* p) { tcs_kernel<<<1, 1>>>(p); }\n";

Command nvcc_command(const std::string& nvcc, const std::string& ccbin, int timeout_ms) {
  Command c;
  c.argv = {nvcc};
  if (!ccbin.empty()) c.argv.append({"-ccbin", ccbin});
  c.timeout_ms = timeout_ms;
  return c;
}

Command ask_archs(const std::string& nvcc, const std::string& ccbin, int timeout_ms,
                  const List<Sm>& archs) {
  Command c = ask_dry_run(nvcc, ccbin, timeout_ms);
  for (const char* name : kFlagVariables) c.unset_env.push_back(name);
  for (const Sm& sm : archs) {
    c.argv.push_back("-gencode");
    c.argv.push_back(cat("arch=", sm.virt(), ",code=[", sm.virt(), ',', sm.real(), ']'));
  }
  return c;
}

// Which suffixes could exist: 'a' since 9.0, 'f' since 10.0. No list of nvcc's has them.
List<Sm> suffix_candidates(const List<Sm>& plain) {
  List<Sm> out;
  for (const Sm& sm : plain) {
    if (sm.major >= 9) out.push_back(Sm{sm.major, sm.minor, 'a'});
    if (sm.major >= 10) out.push_back(Sm{sm.major, sm.minor, 'f'});
  }
  return out;
}

class Questions {
 public:
  Questions(Host& host, const Inputs& in, Toolkit& toolkit, HostCompiler& compiler)
      : host_(host),
        in_(in),
        t_(toolkit),
        compiler_(compiler),
        choice_(host_compiler_choice(host, in)) {}

  void ask() {
    if (!ask_lists()) return;
    ask_tools();
    if (!t_.failure.kind.known() && dry_said_.state != Outcome::State::Exited)
      fail(failure_kind(dry_said_), cat("nvcc --dryrun: ", dry_said_.describe()));
    if (t_.failure.kind.known()) {  // each further question would end the same way
      t_.reason = cat("suffixed architectures are unknown: ", t_.failure.text.value());
      return;
    }
    try_compile();
    if (!t_.cicc.known()) read_cicc_release(host_, dry_, t_);
    ask_suffixes();
  }

 private:
  Command command(const std::string& ccbin) const {
    return nvcc_command(t_.nvcc.value(), ccbin, in_.timeout_ms);
  }

  // False when nvcc hangs or cannot be run: nothing more is asked of it.
  bool ask_lists() {
    Command arch = command(""), code = command("");
    arch.argv.push_back("--list-gpu-arch");
    code.argv.push_back("--list-gpu-code");
    List<Outcome> said =
        host_.run_all({ask_dry_run(t_.nvcc.value(), choice_.ccbin, in_.timeout_ms), arch, code}, 3);
    // The dry run calls the host compiler, and may hang or crash with it: ask_tools() tells.
    for (size_t i = 1; i < 3; ++i)
      if (said[i].state != Outcome::State::Exited)
        return fail(failure_kind(said[i]), cat("nvcc: ", said[i].describe()));
    dry_said_ = said[0];
    dry_ = parse_dry_run(cat(said[0].out, said[0].err));
    virtual_ = parse_gpu_list(said[1].out);
    real_ = parse_gpu_list(said[2].out);
    if (virtual_.empty() || real_.empty())
      return fail("output", cat("nvcc --list-gpu-arch: ", telling_lines(said[1])));
    t_.include_dir = t_.library_dir = Text();
    place_toolkit(host_, t_.nvcc.value(), dry_, t_);
    find_parts(host_, dry_, t_);
    keep_archs({});
    return true;
  }

  bool fail(const std::string& kind, const std::string& text) {
    t_.works = Flag(false, "nvcc");
    t_.failure.kind = Text(kind);
    t_.failure.text = Text(text);
    for (const char* name : kFlagVariables)
      if (std::string flags = host_.env_or(name, ""); !flags.empty())
        t_.failure.text = Text(cat(t_.failure.text.value(), " (", name, " is '", flags, "')"));
    return false;
  }

  void keep_archs(const List<Sm>& suffixed) {
    List<Image> images;
    for (const Sm& sm : real_) images.push_back({sm, false});
    for (const Sm& sm : virtual_) images.push_back({sm, true});
    for (const Sm& sm : suffixed) images.append({{sm, false}, {sm, true}});
    sort_few(images);
    List<std::string> names;
    for (const Image& image : images)
      if (names.empty() || names.back() != image.str()) names.push_back(image.str());
    t_.archs = Names(names, "nvcc --list-gpu-code, --list-gpu-arch, --dryrun");
  }

  // The host compiler and the ptxas that nvcc calls: where its own is gone, another toolkit's.
  void ask_tools() {
    std::string path = dry_.path.empty() ? host_.env_or("PATH", "") : dry_.path;
    std::string name = dry_.host_compiler;
    if (name.empty()) name = choice_.named;
    if (contains(name, "/") && host_.stat(name).is_dir()) name += "/gcc";  // as nvcc does
    if (name.empty()) name = "gcc";
    std::string program = contains(name, "/") ? name : find_program(host_, name, path);
    std::string ptxas = find_program(host_, "ptxas", path);
    Command release;
    release.argv = {ptxas, "--version"};
    release.timeout_ms = in_.timeout_ms;
    List<Outcome> said = host_.run_all({ask_macros(program, in_.timeout_ms), release}, 2);
    if (program.empty())
      compiler_.reason = cat("nvcc calls ", name, ", and PATH has no such program");
    else
      read_macros(said[0], program, compiler_);
    // One that only refuses the question may still compile.
    compiler_runs_ = program.empty() || said[0].ok();
    if (!compiler_runs_ && (said[0].state != Outcome::State::Exited || said[0].code > 128))
      fail("host-compiler-run", compiler_.reason);
    if (!choice_.origin.empty()) compiler_.path.from = choice_.origin;
    if (!parse_release(said[1].out).empty())
      t_.ptxas = Text(parse_release(said[1].out), ptxas + " --version");
  }

  // One kernel for nvcc's default architecture, in a folder of its own under work_dir.
  Outcome compile(const std::string& ccbin, bool& object, std::string& ptx) {
    // Of this process alone: two configures of one build tree must not meet.
    std::string process = path_name(host_.real_path("/proc/self"));
    std::string folder = path_join(in_.work_dir, "nvcc-try-" + process);
    Outcome none;
    Result<Done> ready = host_.make_directories(folder);
    if (ready) ready = host_.write_atomic(path_join(folder, "try.cu"), kKernel);
    if (!ready) {
      none.why = ready.error().str();
      return none;
    }
    Command c = command(ccbin);
    c.cwd = folder;  // nvcc hands file names to a shell: only names of ours
    c.argv.append({"-c", "try.cu", "-o", "try.o", "--keep"});
    Outcome said = host_.run(c);
    object = host_.stat(path_join(folder, "try.o")).is_file();
    Result<std::string> kept = host_.read(path_join(folder, "try.ptx"), 1u << 20);
    if (kept) ptx = *kept;
    (void)host_.remove_tree(folder).operator bool();
    return said;
  }

  void try_compile() {
    if (in_.work_dir.empty()) return;
    // nvcc puts the folder it runs in between double quotes of a shell command.
    if (in_.work_dir.find_first_of("$`\"\\") != std::string::npos) {
      t_.reason = cat("nothing was compiled: nvcc passes the folder's name to a shell, and ",
                      in_.work_dir, " holds characters that one expands");
      return;
    }
    bool object = false;
    std::string ptx;
    Outcome said = compile(choice_.ccbin, object, ptx);
    if (said.state == Outcome::State::NotStarted) {
      t_.reason = cat("the test compile ", said.describe());
      return;
    }
    // cicc answers no question about its release, but writes it into the PTX.
    std::string release = parse_release(ptx);
    if (!release.empty()) t_.cicc = Text(release, "PTX of a test compile");
    if (said.ok() && object) {
      t_.works = Flag(true, "test compile");
      return;
    }
    std::string kind = failure_kind(said);
    for (const char* vague : {"output", "crash", "hang"})
      if (!compiler_runs_ && kind == vague)
        return (void)fail("host-compiler-run", compiler_.reason);
    fail(kind.empty() ? "output" : kind,
         said.ok() ? "nvcc exited with 0 and wrote no object" : telling_lines(said));
    t_.works.from = "test compile";
    if (kind == "host-compiler" && choice_.origin.empty()) try_others();
  }

  // nvcc's own choice is refused and the user made none: is there one on the machine that works?
  void try_others() {
    List<std::string> others = fitting_host_compilers(host_, t_);
    for (size_t i = 0; i < others.size() && i < 3; ++i) {
      bool object = false;
      std::string ptx;
      if (!compile(others[i], object, ptx).ok() || !object) continue;
      t_.fitting_host_compiler = Text(others[i], "test compile");
      if (!t_.cicc.known() && !parse_release(ptx).empty())
        t_.cicc = Text(parse_release(ptx), "PTX of a test compile");
      return;
    }
  }

  // All candidates in one dry run; each refusal names the one arch that nvcc does not know.
  void ask_suffixes() {
    List<Sm> left = suffix_candidates(virtual_);
    // The dry run itself asks the host compiler for its properties; a refused one spoils it.
    std::string ccbin = t_.fitting_host_compiler.known() ? t_.fitting_host_compiler.value()
                        : compiler_.path.known()         ? compiler_.path.value()
                                                         : choice_.ccbin;
    while (!left.empty()) {
      Outcome said = host_.run(ask_archs(t_.nvcc.value(), ccbin, in_.timeout_ms, left));
      if (said.ok()) break;
      Sm refused;
      size_t before = left.size();
      if (parse_refused_arch(said.err, refused)) remove_from(left, refused);
      if (left.size() == before) {
        t_.reason = cat("suffixed architectures are unknown: nvcc --dryrun: ", telling_lines(said));
        return;
      }
    }
    keep_archs(left);
  }

  Host& host_;
  const Inputs& in_;
  Toolkit& t_;
  HostCompiler& compiler_;
  HostCompilerChoice choice_;
  DryRun dry_;
  Outcome dry_said_;
  bool compiler_runs_ = true;
  List<Sm> virtual_, real_;
};

}  // namespace

Command ask_dry_run(const std::string& nvcc, const std::string& ccbin, int timeout_ms) {
  Command c = nvcc_command(nvcc, ccbin, timeout_ms);
  c.argv.append({"--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"});
  return c;
}

void question_toolkit(Host& host, const Inputs& in, Toolkit& toolkit, HostCompiler& compiler) {
  Questions(host, in, toolkit, compiler).ask();
}

}  // namespace tcs
