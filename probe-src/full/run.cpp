// SPDX-License-Identifier: Apache-2.0
// `tcstack run [OPTIONS] -- COMMAND ARGS...`: checks first, then runs any build under the plan.
#include "full/run.h"

#include <cerrno>

#include "base/text.h"
#include "base/utf8.h"
#include "drive/serves.h"
#include "emit/emit.h"
#include "full/build_input.h"
#include "full/verbs.h"
#include "tool/provision.h"

namespace tcs {

namespace {

constexpr const char* kSynopsis = "tcstack run [OPTIONS] -- COMMAND ARGS...";

void say(const std::string& text) {
  print_err(cat("tcstack run: ", text, "\n"));
}

List<OptionSpec> run_options() {
  List<OptionSpec> specs = asking_options();
  specs.append(List<OptionSpec>{
      {"--verify", "GLOB", "files that hold the plan's images afterwards: 'pkg/*.so', 'dist/*.whl'",
       true},
      {"--provision", nullptr, "bring the nvcc of PyTorch's CUDA from PyPI where it is not here",
       false},
      {"--dry-run", nullptr, "print what would be set, and run nothing", false},
      {"--quiet", nullptr, "say nothing where nothing is wrong", false},
  });
  return specs;
}

// False: `status` says why.
bool read_words(Host& host, const List<std::string>& args, Run& run, int& status) {
  List<std::string> own;
  size_t at = 0;
  while (at < args.size() && args[at] != "--") own.push_back(args[at++]);
  const bool divided = at < args.size();
  for (++at; at < args.size(); ++at) run.words.push_back(args[at]);
  run.asked.verb = "run";
  if (!learn_asked(host, own, run_options(), kSynopsis, run.asked, status)) {
    if (status == 2 && !divided) say(cat("the command comes after --: ", kSynopsis));
    return false;
  }
  status = 2;
  if (run.words.empty() || run.words[0].empty())
    say(cat("there is no command: ", kSynopsis));
  else
    return true;
  return false;
}

// What the options leave open and the command says.
void learn_from_command(const Host& host, Run& run) {
  StringMap& set = run.asked.inputs.set;
  for (const std::string& pair : cmake_words(run.words)) {
    const size_t equals = pair.find('=');
    std::string name = pair.substr(0, equals);
    // FindPython3's word and pybind11's old one.
    if (name == "Python3_EXECUTABLE" || name == "PYTHON_EXECUTABLE") name = "Python_EXECUTABLE";
    if (contains(input_names(), name) && !set.find(name)) set[name] = pair.substr(equals + 1);
  }
  if (set.find("Python_EXECUTABLE")) return;
  run.python = python_of_command(host, run.words);
  if (!run.python.path.empty()) set["Python_EXECUTABLE"] = run.python.path;
}

Result<Done> judge_run(Host& host, const std::string& cache, Run& run) {
  Inputs& in = run.asked.inputs;
  in.cache_dir = cache;
  in.work_dir = run.work_dir;
  if (run.asked.options.has("--provision")) in.set["PROVISION"] = "ON";
  DriverChild child;
  Result<Facts> facts = obtain_facts(host, in, child);
  if (!facts) return facts.error();
  run.facts = *facts;
  (void)provision_toolkit(host, in, path_parent(path_parent(run.work_dir)), run.facts);
  list_is_given(run);
  run.judged =
      judge_build(host, in, request_for(run.asked, run.facts), run.asked.policy, child, run.facts);
  return Done{};
}

int refuse_to_run(const Run& run) {
  print_err(report_text(run.judged.report, run.facts, run.judged.plan, run.asked.language));
  say(run.judged.plan.gencodes.empty() ? "the plan is empty: the command was not started"
                                       : "the command was not started");
  return 1;
}

void say_judged(const Run& run) {
  for (const Finding& finding : run.judged.report.findings)
    if (finding.severity != Severity::Note)
      print_err(finding_text(finding, run.asked.language) + "\n");
  if (run.asked.options.has("--quiet")) return;
  print_err(summary_line(run.judged.report, run.facts, run.judged.plan, run.asked.language) + "\n");
  if (run.judged.request.purpose == "pytorch-source")
    print_err(serves_text(run.facts, run.judged.plan));
}

void say_isolated(const Host& host, const Run& run) {
  const std::string option = missing_no_isolation(host, run.words);
  if (option.empty()) return;
  say(cat(
      "warning: what this command builds, it builds in an environment of its own, with a ",
      "PyTorch of its own choosing, not the one that was checked here; to build with this one: ",
      option, " (the package's build tools must then be installed)"));
}

// As a shell has it: 127 not found, 126 found and not to be run.
int not_started(const Run& run, const Outcome& outcome) {
  say(cat(ascii(tail(run.words[0], 200)), ": ",
          outcome.code == ENOENT ? "no such command, or the interpreter of the script is missing"
                                 : outcome.why));
  return outcome.code == ENOENT ? 127 : 126;
}

int run_and_verify(Host& host, const Run& run) {
  const StringMap before = files_before(host, run);
  const Outcome outcome = host.foreground(run.command, true);
  if (outcome.state == Outcome::State::NotStarted) return not_started(run, outcome);
  if (outcome.ok()) return verify_built(host, run, before);
  say(cat("the command failed (", outcome.describe(), "): nothing was verified"));
  return outcome.state == Outcome::State::Signalled ? -outcome.code : outcome.code;
}

int check_and_run(Host& host, const std::string& base, const std::string& cache, Run& run) {
  Result<Done> judged = judge_run(host, cache, run);
  if (!judged) return say(ascii(judged.error().str())), 2;
  if (run.judged.report.outcome == "fail") return refuse_to_run(run);
  say_judged(run);
  const std::string farm = farm_folder(base, run.facts);
  settle_command(host, toolkit_root(host, run.facts, farm, cache), run);
  if (run.asked.options.has("--dry-run")) return print_out(settings_text(run, true)) ? 0 : 3;
  if (!run.asked.options.has("--quiet")) print_err(settings_text(run, false));
  say_isolated(host, run);
  if (run.asked.options.has("--verify")) return run_and_verify(host, run);
  (void)host.remove_tree(run.work_dir);
  return not_started(run, host.foreground(run.command, false));
}

}  // namespace

int verb_run(Host& host, const List<std::string>& args) {
  Run run;
  int status = 0;
  if (!read_words(host, args, run, status)) return status;
  if (const std::string fault = gate_fault(host); !fault.empty()) return say(fault), 2;
  learn_from_command(host, run);
  learn_tree(host, run);
  Result<std::string> folder = cache_folder(host, run.asked.inputs);
  if (!folder) return say(ascii(folder.error().str())), 2;
  // Images run on the device, answers are believed: none that somebody else could have written.
  const std::string cache = host.stat(*folder).foreign ? std::string() : *folder;
  std::string base = cache;
  run.work_dir = own_folder(host, base);
  if (run.work_dir.empty()) {
    base = path_join(host.env_or("TMPDIR", "/tmp"), "tcstack-" + host.env_or("USER", "user"));
    run.work_dir = own_folder(host, base);
  }
  if (run.work_dir.empty())
    return say(cat("cannot make a folder of its own below ", ascii(base))), 3;
  status = check_and_run(host, base, cache, run);
  (void)host.remove_tree(run.work_dir);
  return status;
}

}  // namespace tcs
