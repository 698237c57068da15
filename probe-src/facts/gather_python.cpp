// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/python_env.h"

namespace tcs {
namespace {

struct Candidate {
  std::string path;
  std::string from;
};

constexpr int newest_minor = 30;  // CMake looks for python3.N, newest first, before python3

// The interpreters of one folder in the order of CMake's FindPython (FIND_UNVERSIONED_NAMES LAST),
// but that scripts with a version come last: pyenv keeps a shim for each version it ever had, and
// most of them only say that theirs is not active.
void pythons_in(const Host& host, const std::string& folder, const std::string& from,
                List<Candidate>& out) {
  List<Candidate> scripts;
  auto take = [&](const std::string& name, bool versioned) {
    std::string path = path_join(folder, name);
    FileStat stat = host.stat(path);
    if (!stat.is_file() || !stat.executable) return;
    (versioned && !is_elf_program(host, path) ? scripts : out).push_back({path, from});
  };
  for (int minor = newest_minor; minor >= 6; --minor) take(cat("python3.", minor), true);
  take("python3", false);
  take("python", false);
  out.append(scripts);
}

// FindPython's order with its defaults: Python_EXECUTABLE, then Python_FIND_VIRTUALENV FIRST, then
// PATH folder by folder (Python_FIND_STRATEGY LOCATION).
List<Candidate> candidates(const Host& host, const Inputs& in) {
  List<Candidate> out;
  for (const char* name : {"Python_EXECUTABLE", "Python3_EXECUTABLE"}) {
    const std::string* given = in.find(name);
    if (given != nullptr && !given->empty()) return {Candidate{*given, name}};
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    std::string prefix = host.env_or(name, "");
    if (!prefix.empty()) pythons_in(host, prefix + "/bin", name, out);
  }
  for (const std::string& folder : split(host.env_or("PATH", ""), ":"))
    pythons_in(host, folder, "PATH", out);
  return out;
}

// Other interpreters at hand with a torch in packages of their own; only what their files tell.
void look_elsewhere(const Host& host, PythonFacts& python) {
  List<std::string> seen = python.search_path;
  for (const Candidate& candidate : candidates(host, {})) {
    PythonFacts other;
    if (!python_from_layout(host, candidate.path, other)) continue;
    for (const std::string& folder : other.search_path) {
      if (contains(seen, folder)) continue;
      seen.push_back(folder);
      if (!host.stat(folder + "/torch/version.py").is_file()) continue;
      python.elsewhere.push_back(candidate.path);
      break;
    }
  }
}

}  // namespace

void gather_python(Host& host, const Inputs& in, Facts& facts) {
  PythonFacts& python = facts.python;
  List<Candidate> all = candidates(host, in);
  if (all.empty()) {
    python.state = Text("absent", "PATH");
    python.reason = "no python3 or python in VIRTUAL_ENV, CONDA_PREFIX or PATH";
    return;
  }
  std::string first_reason;
  for (const Candidate& candidate : all) {
    FileStat stat = host.stat(candidate.path);
    if (!stat.is_file() || !stat.executable) {
      python.reason = cat(candidate.from, " names ", candidate.path, ", which is not a program");
    } else if (python_from_layout(host, candidate.path, python) ||
               python_from_child(host, candidate.path, in.timeout_ms, python)) {
      python.executable.from = candidate.from;
      break;
    }
    if (first_reason.empty()) first_reason = python.reason;
  }
  if (!python.state.known()) {
    python.state = Text("absent", all.front().from);
    python.reason = first_reason;
  }
  look_elsewhere(host, python);
}

}  // namespace tcs
