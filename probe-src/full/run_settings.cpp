// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "drive/projects.h"
#include "full/build_input.h"
#include "full/run.h"

namespace tcs {

namespace {

// What `run` was told, the checks inside the build are told: those of a gate or a find_package.
void tell_inner_checks(const Host& host, Run& run) {
  const auto tell = [&](const std::string& name, const std::string& value, const char* why) {
    BuildSetting one;
    one.name = "TORCH_CUDA_STACK_" + name;
    one.value = value;
    one.why = why;
    run.drive.environment.push_back(one);
  };
  for (const char* name :
       {"TARGETS", "TOOLKIT", "FACTS", "FAIL_ON", "ALLOW", "TIMEOUT", "CACHE_DIR", "LANG"})
    if (const std::string* value = run.asked.inputs.find(name)) {
      // The build is in another folder.
      const std::string path = path_join(host.cwd(), *value);
      const bool file = contains(List<std::string>{"TOOLKIT", "FACTS"}, std::string(name)) &&
                        host.stat(path).exists();
      tell(name, file ? path : *value, "an option of run");
    }
  if (run.asked.options.has("--targets"))
    tell("TARGETS", run.asked.options.get("--targets"), "--targets");
  if (host.env_or("TORCH_CUDA_STACK_TOOL", "").empty())
    tell("TOOL", host.self(), "checks inside the build need compile none");
}

// The build folder of a configuring cmake: -B, else the folder it is called in.
std::string cached_text(const Host& host, const List<std::string>& command) {
  std::string folder;
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "--fresh") return {};
    if (command[i] == "-B" && i + 1 < command.size())
      folder = command[i + 1];
    else if (starts_with(command[i], "-B"))
      folder = command[i].substr(2);
  }
  Result<std::string> text = host.read(path_join(path_join(host.cwd(), folder), "CMakeCache.txt"));
  return text ? "\n" + *text : std::string();
}

bool uses_preset(const List<std::string>& command) {
  for (const std::string& word : command)
    if (starts_with(word, "--preset")) return true;
  return false;
}

// Where a configuring cmake finds the user's own value: it stays.
struct Holders {
  List<std::string> own;  // NAME=VALUE of the command
  std::string presets, cached;

  Holders(const Host& host, const List<std::string>& command)
      : own(cmake_words(command)), cached(cached_text(host, command)) {
    if (!uses_preset(command)) return;
    for (const char* name : {"CMakePresets.json", "CMakeUserPresets.json"})
      if (Result<std::string> text = host.read(path_join(host.cwd(), name)); text) presets += *text;
  }
  // "" = nowhere.
  const char* holder(const std::string& name) const {
    for (const std::string& pair : own)
      if (starts_with(pair, name + "=")) return "the command's own -D";
    if (contains(presets, cat('"', name, '"'))) return "a preset";
    return contains(cached, cat("\n", name, ":")) ? "the build folder" : "";
  }
};

// -D words right after `cmake`: later ones, the user's own, win. With the gate that one alone: it
// takes the plan anew at each configure, where a word would stay in the cache.
void give_to_cmake(const Host& host, Run& run) {
  const Holders holders(host, run.words);
  List<BuildSetting> others;
  List<std::string> kept;
  bool checks = false;
  for (const BuildSetting& setting : run.drive.cache) {
    if (setting.users ||
        !(setting.project.empty() || names_project(run.words, setting.project.c_str())))
      continue;
    const bool gate = ends_with(setting.value, kGate);
    const std::string holder = holders.holder(setting.name);
    if (gate && (holder.empty() || contains(holders.cached, cat("=", setting.value, "\n")))) {
      checks = true;
      run.cmake.push_back(setting);
    } else if (holder.empty()) {
      (setting.project.empty() ? others : run.cmake).push_back(setting);
    } else {
      kept.push_back(cat(setting.name, " stays as ", holder, " has it",
                         gate ? cat("; for the checks add to it ;", setting.value) : ""));
    }
  }
  if (!checks) run.cmake.append(others);
  if (!checks) run.notes.append(kept);
  run.command.argv = {run.words[0]};
  for (const BuildSetting& setting : run.cmake)
    run.command.argv.push_back(cat("-D", setting.name, "=", setting.value));
  for (size_t i = 1; i < run.words.size(); ++i) run.command.argv.push_back(run.words[i]);
}

// A value that only puts something before the user's: "/cuda/bin:$PATH".
std::string shown(const Run& run, const BuildSetting& setting) {
  const std::string* users = run.users.find(setting.name);
  if (setting.users || users == nullptr || users->size() < 20) return ascii(setting.value);
  return ascii(replace_all(setting.value, *users, cat("$", setting.name)));
}

}  // namespace

List<std::string> cmake_words(const List<std::string>& command) {
  List<std::string> out;
  if (!configures_with_cmake(command)) return out;
  for (size_t i = 1; i < command.size(); ++i) {
    if (!starts_with(command[i], "-D")) continue;
    std::string pair = command[i].substr(2);
    if (pair.empty() && i + 1 < command.size()) pair = command[++i];
    const size_t equals = pair.find('='), colon = pair.find(':');
    if (equals == std::string::npos) continue;
    std::string name = pair.substr(0, std::min(colon, equals));
    if (starts_with(name, "TorchCudaStack_")) name.erase(0, 15);
    out.push_back(name + pair.substr(equals));
  }
  return out;
}

void settle_command(Host& host, const std::string& root, Run& run) {
  for (const auto& variable : host.environment()) run.users[variable.first] = variable.second;
  forget_replaced(run.judged.request, run.asked.inputs, run.users);
  const std::string gate = gate_path(host);
  run.drive =
      make_drive(DriveInput{run.facts, run.judged.request, run.judged.plan, run.users, root,
                            host_compiler_of(run.facts, run.asked.inputs), gate, run.words});
  tell_inner_checks(host, run);
  run.command.argv = run.words;
  for (const BuildSetting& setting : run.drive.environment)
    if (!setting.users) run.command.set_env[setting.name] = setting.value;
  if (configures_with_cmake(run.words)) give_to_cmake(host, run);
  if (run.python.path.empty() && !run.python.from.empty())
    run.notes.push_back(cat("the Python of ", run.python.from,
                            " is not here; the one that was checked is another"));
}

std::string settings_text(const Run& run, bool whole) {
  std::string out;
  const PythonFacts& python = run.facts.python;
  const std::string from = run.python.path.empty() ? python.executable.from : run.python.from;
  if (python.executable.known())
    out += cat("  checked for ", ascii(python.executable.value()),
               from.empty() ? "" : cat(" (", ascii(from), ")"), "\n");
  int others = 0;
  const auto list = [&](const List<BuildSetting>& settings, const char* lead) {
    for (const BuildSetting& setting : settings) {
      const bool own = setting.users || setting.project.empty();
      if (!own && !whole && !names_project(run.words, setting.project.c_str())) {
        ++others;
        continue;
      }
      out += cat("  ", lead, setting.name, "=", shown(run, setting), "   # ",
                 setting.users ? "yours" : setting.why, own ? "" : cat(" (", setting.project, ")"),
                 "\n");
    }
  };
  list(run.drive.environment, "");
  list(run.cmake, "-D");
  if (others > 0) out += cat("  and ", others, " words of known projects: --dry-run lists them\n");
  for (const List<std::string>* notes : {&run.drive.notes, &run.notes})
    for (const std::string& note : *notes) out += cat("  note: ", ascii(note), "\n");
  return cat("tcstack run: the command is told\n", out);
}

}  // namespace tcs
