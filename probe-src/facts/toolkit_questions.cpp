// SPDX-License-Identifier: Apache-2.0
#include "facts/toolkit_questions.h"

#include "base/text.h"
#include "facts/toolkit_compile.h"
#include "facts/toolkit_parts.h"

namespace tcs {
namespace {

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

void keep_archs(const List<Sm>& virtuals, const List<Sm>& reals, const List<Sm>& suffixed,
                Toolkit& t) {
  List<Image> images;
  for (const Sm& sm : reals) images.push_back({sm, false});
  for (const Sm& sm : virtuals) images.push_back({sm, true});
  for (const Sm& sm : suffixed) images.append({{sm, false}, {sm, true}});
  sort_few(images);
  List<std::string> names;
  for (const Image& image : images)
    if (names.empty() || names.back() != image.str()) names.push_back(image.str());
  t.archs = Names(names, "nvcc --list-gpu-code, --list-gpu-arch, --dryrun");
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
    if (in_.work_dir.empty()) read_cicc_release(host_, dry_, t_);  // else a compile tells
    ask_suffixes(host_, in_, compiler_.path.known() ? compiler_.path.value() : choice_.ccbin, t_);
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
    keep_archs(virtual_, real_, {}, t_);
    return true;
  }

  bool fail(const std::string& kind, const std::string& text) {
    mark_failed(host_, kind, text, t_);
    return false;
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
    if (!program.empty() && !said[0].ok() &&
        (said[0].state != Outcome::State::Exited || said[0].code > 128))
      fail("host-compiler-run", compiler_.reason);
    if (!choice_.origin.empty()) compiler_.path.from = choice_.origin;
    if (!parse_release(said[1].out).empty())
      t_.ptxas = Text(parse_release(said[1].out), ptxas + " --version");
  }

  Host& host_;
  const Inputs& in_;
  Toolkit& t_;
  HostCompiler& compiler_;
  HostCompilerChoice choice_;
  DryRun dry_;
  Outcome dry_said_;
  List<Sm> virtual_, real_;
};

}  // namespace

Command ask_dry_run(const std::string& nvcc, const std::string& ccbin, int timeout_ms) {
  Command c = nvcc_command(nvcc, ccbin, timeout_ms);
  c.argv.append({"--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"});
  return c;
}

void mark_failed(const Host& host, const std::string& kind, const std::string& text, Toolkit& t) {
  t.works = Flag(false, "nvcc");
  t.failure.kind = Text(kind);
  t.failure.text = Text(text);
  for (const char* name : kFlagVariables)
    if (std::string flags = host.env_or(name, ""); !flags.empty())
      t.failure.text = Text(cat(t.failure.text.value(), " (", name, " is '", flags, "')"));
}

// All candidates in one dry run; each refusal names the one arch that nvcc does not know.
void ask_suffixes(Host& host, const Inputs& in, const std::string& ccbin, Toolkit& t) {
  List<Sm> virtuals, reals;
  for (const std::string& name : t.archs.value()) {
    Image image;
    if (parse_image(name, image) && image.sm.plain())
      (image.ptx ? virtuals : reals).push_back(image.sm);
  }
  const std::string unknown = "suffixed architectures are unknown: nvcc --dryrun: ";
  List<Sm> left = suffix_candidates(virtuals);
  while (!left.empty()) {
    Outcome said = host.run(ask_archs(t.nvcc.value(), ccbin, in.timeout_ms, left));
    if (said.ok()) break;
    Sm refused;
    size_t before = left.size();
    if (parse_refused_arch(said.err, refused)) remove_from(left, refused);
    if (left.size() == before) {
      t.reason = unknown + telling_lines(said);
      return;
    }
  }
  if (starts_with(t.reason, unknown)) t.reason.clear();
  keep_archs(virtuals, reals, left, t);
}

void question_toolkit(Host& host, const Inputs& in, Toolkit& toolkit, HostCompiler& compiler) {
  Questions(host, in, toolkit, compiler).ask();
}

}  // namespace tcs
