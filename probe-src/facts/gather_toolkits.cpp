// SPDX-License-Identifier: Apache-2.0
// toolkits, host_compiler: every install that could be meant, and the one this build uses.
#include "base/text.h"
#include "facts/answer_cache.h"
#include "facts/gather.h"
#include "facts/toolkit_parts.h"
#include "facts/toolkit_questions.h"
#include "facts/toolkit_search.h"

namespace tcs {
namespace {

// Asking for a version takes milliseconds; one that nobody named must not hold up a configure.
constexpr int kVersionTimeoutMs = 10000;

struct Install {
  NvccPlace place;      // the first that led here
  std::string key;      // real path: equal = one install
  bool script = false;  // a wrapper: its nvcc lies elsewhere
  Toolkit toolkit;
  DryRun dry;
  bool answers = false;
};

bool is_script(const Host& host, const std::string& path) {
  Result<std::unique_ptr<File>> file = host.open(path);
  std::string head;
  return file && (*file)->read(0, 2, head) && head == "#!";
}

void add_place(List<Install>& installs, Install next) {
  for (Install& known : installs) {
    if (next.key.empty() || known.key != next.key) continue;
    known.place.origin += ", " + next.place.origin;
    if (next.place.say > known.place.say) known.place.say = next.place.say;
    return;
  }
  installs.push_back(std::move(next));
}

List<Install> by_program(const Host& host, const List<NvccPlace>& places) {
  List<Install> installs;
  for (const NvccPlace& place : places) {
    Install next;
    next.place = place;
    next.key = host.real_path(place.program);
    // An nvcc called through a link misses its nvcc.profile: not the install that it points at.
    if (!place.program.empty() && path_name(next.key) == "nvcc" &&
        !host.stat(path_join(path_parent(place.program), "nvcc.profile")).exists() &&
        host.stat(path_join(path_parent(next.key), "nvcc.profile")).exists())
      next.key = place.program;
    next.script = !place.program.empty() && !place.clang && is_script(host, next.key);
    add_place(installs, next);
  }
  return installs;
}

void read_version(const Outcome& said, Install& install) {
  Toolkit& t = install.toolkit;
  std::string release = parse_release(said.out);
  if (said.ok() && !release.empty()) {
    t.version = Text(release, "nvcc --version");
    install.answers = true;
    return;
  }
  t.works = Flag(false, "nvcc --version");
  std::string kind = failure_kind(said);
  t.failure.kind = Text(kind.empty() || kind == "host-compiler" ? "output" : kind);
  std::string_view printed = trim(said.out.empty() ? said.err : said.out);
  t.failure.text = Text(said.state != Outcome::State::Exited
                            ? cat(install.place.program, " --version: ", said.describe())
                            : cat(install.place.program, " --version printed '",
                                  tail(printed.substr(0, 120), 120), "' (", said.describe(),
                                  "); expected 'release X.Y, VX.Y.Z'"));
}

// clang finds a toolkit by itself and says where: "Found CUDA installation: /usr/local/cuda-13.0".
void read_clang(const Host& host, const Outcome& said, Install& install) {
  Toolkit& t = install.toolkit;
  t.reason = "clang is the CUDA compiler: its architectures were not asked";
  constexpr std::string_view kFound = "Found CUDA installation: ";
  for (const std::string& line : lines_of(said.err)) {
    size_t at = line.find(kFound);
    if (at == std::string::npos) continue;
    std::string root = line.substr(at + kFound.size());
    place_toolkit(host, path_join(root.substr(0, root.find(", version")), "bin/nvcc"), {}, t);
    t.root.from = "clang -v";
    t.layout = Text("clang");
    find_parts(host, {}, t);
    t.version = t.headers;
  }
  if (!t.root.known())
    t.reason += cat("; ", install.place.program, " -v names no CUDA installation");
}

// One --version of each, and a dry run of wrappers, all at once.
void ask_all(Host& host, const Inputs& in, List<Install>& installs) {
  List<Command> commands;
  List<size_t> owner;
  int timeout = in.timeout_ms < kVersionTimeoutMs ? in.timeout_ms : kVersionTimeoutMs;
  for (size_t i = 0; i < installs.size(); ++i) {
    const Install& install = installs[i];
    if (install.place.program.empty()) continue;
    Command c;
    c.argv = {install.place.program, install.place.clang ? "-v" : "--version"};
    c.timeout_ms = install.place.say == Say::Explicit ? in.timeout_ms : timeout;
    commands.push_back(c);
    owner.push_back(i);
    if (!install.script) continue;
    commands.push_back(ask_dry_run(install.place.program, "", c.timeout_ms));
    owner.push_back(i);
  }
  List<Outcome> said = host.run_all(commands, host.cores() < 2 ? 2 : host.cores());
  for (size_t i = 0; i < said.size(); ++i) {
    Install& install = installs[owner[i]];
    if (i > 0 && owner[i] == owner[i - 1])
      install.dry = parse_dry_run(cat(said[i].out, said[i].err));
    else if (install.place.clang)
      read_clang(host, said[i], install);
    else
      read_version(said[i], install);
  }
}

// A wrapper and the nvcc it calls are one install.
List<Install> by_toolkit(const Host& host, List<Install> asked) {
  List<Install> installs;
  for (Install& install : asked) {
    std::string behind = host.real_path(path_join(install.dry.here, "nvcc"));
    if (!install.dry.here.empty() && !behind.empty()) install.key = behind;
    add_place(installs, std::move(install));
  }
  return installs;
}

void describe(const Host& host, Install& install) {
  Toolkit& t = install.toolkit;
  const NvccPlace& place = install.place;
  t.origin = Text(place.origin);
  if (place.clang) {
    t.origin = Text(place.origin + " (clang as CUDA compiler)");
    return;
  }
  if (!place.reason.empty()) t.reason = place.reason;
  if (place.program.empty()) {
    t.works = Flag(false, place.origin);
    t.failure.kind = Text("start");
    t.failure.text = Text(place.reason);
    if (!place.named.empty()) t.nvcc = Text(place.named, place.origin);
    return;
  }
  t.nvcc = Text(place.program, place.origin);
  if (!install.answers) return;
  place_toolkit(host, place.program, install.dry, t);
  find_parts(host, install.dry, t);
}

// Smaller is better; `torch`: the CUDA release PyTorch was built with, perhaps unknown.
int distance(const Install& install, const Version& torch) {
  if (!install.answers) return 100000;
  Version v = Version::parse(install.toolkit.version.value());
  if (!torch.known() || v.major() != torch.major()) return 10000;
  int newer = v.minor() - torch.minor();
  return newer >= 0 ? newer : 1000 - newer;
}

int choose(const List<Install>& installs, const Version& torch) {
  int best = -1, best_distance = 0;
  for (Say say : {Say::Explicit, Say::Environment})
    for (size_t i = 0; i < installs.size(); ++i)
      if (installs[i].place.say == say && (say == Say::Explicit || installs[i].answers))
        return static_cast<int>(i);
  for (size_t i = 0; i < installs.size(); ++i) {
    int d = distance(installs[i], torch);
    if (best >= 0 && d >= best_distance) continue;
    best = static_cast<int>(i);
    best_distance = d;
  }
  return best;
}

void question_or_recall(Host& host, const Inputs& in, Toolkit& toolkit, HostCompiler& compiler) {
  const std::string key = answers_key(host, in, toolkit);
  if (!recall_answers(host, in, key, toolkit, compiler))
    question_toolkit(host, in, toolkit, compiler);
  toolkit.key = key;
}

}  // namespace

void gather_toolkits(Host& host, const Inputs& in, Facts& facts) {
  List<Install> installs = by_program(host, nvcc_places(host, in, facts));
  ask_all(host, in, installs);
  installs = by_toolkit(host, std::move(installs));
  for (Install& install : installs) describe(host, install);

  ToolkitFacts& out = facts.toolkits;
  out.list_known = true;
  int selected = choose(installs, Version::parse(facts.torch.cuda.value()));
  out.on_path = Text("none", "PATH");
  for (Install& install : installs) {
    // One that does not tell its release is named by its path.
    for (const std::string& origin : split(install.place.origin, ","))
      if (trim(origin) == "PATH")
        out.on_path = install.toolkit.version.known() ? install.toolkit.version
                                                      : Text(install.place.program, "PATH");
    out.list.push_back(std::move(install.toolkit));
  }
  if (selected < 0) {
    out.reason =
        "no nvcc in CUDACXX, CUDA_HOME, CUDA_PATH, PATH, the Python environment, a conda prefix, "
        "/usr/local/cuda*, /opt/cuda or /usr/bin";
    facts.host_compiler.reason = "no toolkit whose host compiler it would be";
    return;
  }
  out.selected = Fact<int>(selected, out.list[static_cast<size_t>(selected)].origin.value());
  Toolkit& chosen = out.list[static_cast<size_t>(selected)];
  const NvccPlace& place = installs[static_cast<size_t>(selected)].place;
  if (place.clang)  // it compiles the host code too
    read_macros(host.run(ask_macros(place.program, in.timeout_ms)), place.program,
                facts.host_compiler);
  else if (chosen.version.known())
    question_or_recall(host, in, chosen, facts.host_compiler);
  else
    facts.host_compiler.reason = "the chosen nvcc gives no version";
}

}  // namespace tcs
