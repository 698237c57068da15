// SPDX-License-Identifier: Apache-2.0
#include "drive/forms.h"

#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"

namespace tcs {

std::string shell_quote(const std::string& text) {
  return cat("'", replace_all(text, "'", "'\\''"), "'");
}

namespace {

// What the user set is in the environment already.
List<BuildSetting> ours(const Drive& drive) {
  List<BuildSetting> out;
  for (const BuildSetting& one : drive.environment)
    if (!one.users) out.push_back(one);
  return out;
}

// PATH as it is when the lines are read, not as it was when they were written.
std::string env_lines(const Drive& drive) {
  std::string out;
  for (const BuildSetting& one : ours(drive)) {
    const std::string value = one.name == "PATH"
                                  ? shell_quote(drive.path_first) + "\"${PATH:+:$PATH}\""
                                  : shell_quote(one.value);
    out += cat("export ", one.name, "=", value, "\n");
  }
  return out;
}

// A value may be of several lines: up to a delimiter that none of them is.
std::string github_lines(const Drive& drive, List<std::string>& notes) {
  std::string out;
  for (const BuildSetting& one : ours(drive)) {
    if (one.name == "PATH") continue;
    std::string end = "END";
    while (contains(one.value, end)) end += "_";
    out += cat(one.name, "<<", end, "\n") + cat(one.value, "\n", end, "\n");
  }
  if (contains(drive.path_first, "\n"))
    notes.push_back("PATH has a file of its own, which cannot hold a folder of several lines");
  else if (!drive.path_first.empty())
    notes.push_back(cat("PATH has a file of its own: printf '%s\\n' ",
                        shell_quote(drive.path_first), " >> \"$GITHUB_PATH\""));
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// JSON has no bytes but UTF-8.
bool fits_preset(const BuildSetting& one, const std::string& value, List<std::string>& notes) {
  if (is_utf8(value)) return true;
  notes.push_back(cat("a preset cannot hold ", one.name, ", whose value is not UTF-8"));
  return false;
}

// cmake-presets(7): $env{...} and the like are read in every value.
std::string preset_text(const std::string& text) {
  return replace_all(text, "$", "${dollar}");
}

Json preset_environment(const Drive& drive, List<std::string>& notes) {
  Json out = Json::object();
  for (const BuildSetting& one : ours(drive)) {
    if (one.name == "CMAKE_ARGS") continue;  // cmake itself reads none
    const bool path = one.name == "PATH";
    if (!fits_preset(one, path ? drive.path_first : one.value, notes)) continue;
    out.add(one.name,
            path ? preset_text(drive.path_first) + ":$penv{PATH}" : preset_text(one.value));
  }
  return out;
}

// `cmake --preset torch-cuda-stack`, alone or inherited by one that has more to say. The build
// preset has the same environment, which nvcc reads when it is called.
std::string preset(const Drive& drive, List<std::string>& notes) {
  Json cache = Json::object(), row = Json::object(), build = Json::object();
  for (const BuildSetting& one : drive.cache)
    if (fits_preset(one, one.value, notes)) cache.add(one.name, preset_text(one.value));
  row.add("name", "torch-cuda-stack").add("displayName", "as tcstack planned it");
  row.add("binaryDir", "${sourceDir}/build");
  row.add("cacheVariables", std::move(cache)).add("environment", preset_environment(drive, notes));
  build.add("name", "torch-cuda-stack").add("configurePreset", "torch-cuda-stack");
  if (drive.jobs > 0) build.add("jobs", drive.jobs);
  Json configures = Json::array(), builds = Json::array(), out = Json::object();
  configures.push(std::move(row));
  builds.push(std::move(build));
  out.add("version", 6).add("configurePresets", std::move(configures));
  out.add("buildPresets", std::move(builds));
  return write_json(out) + "\n";
}

std::string initial_cache(const Drive& drive) {
  std::string out;
  for (const BuildSetting& one : drive.cache)
    out += cat("set(", one.name, " ", cmake_quote(one.value),
               " CACHE STRING \"from tcstack plan\")\n");
  return out;
}

std::string cmake_args(const Drive& drive) {
  List<std::string> words;
  for (const BuildSetting& one : drive.cache)
    words.push_back(cat("-D", one.name, "=", shell_quote(one.value)));
  return join(words, " ") + "\n";
}

// What only the environment can carry, and forms of the cache alone leave out.
void note_environment(const Drive& drive, List<std::string>& notes) {
  for (const BuildSetting& one : ours(drive))
    if (one.name == "NVCC_APPEND_FLAGS")
      notes.push_back(cat("set it when the build runs, too: export NVCC_APPEND_FLAGS=",
                          shell_quote(one.value)));
}

}  // namespace

std::string build_form(const Drive& drive, const std::string& form, List<std::string>& notes) {
  if (form == "env") return env_lines(drive);
  if (form == "github-env") return github_lines(drive, notes);
  if (form == "preset") return preset(drive, notes);
  note_environment(drive, notes);
  if (form == "initial-cache") return initial_cache(drive);
  return form == "cmake-args" ? cmake_args(drive) : std::string();
}

}  // namespace tcs
