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
  const std::string* root = in.find("Python_ROOT_DIR");
  if (root != nullptr && !root->empty()) pythons_in(host, *root + "/bin", "Python_ROOT_DIR", out);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    std::string prefix = host.env_or(name, "");
    if (!prefix.empty()) pythons_in(host, prefix + "/bin", name, out);
  }
  // The Python package's `tcstack` names the environment that it is installed in, where that has a
  // PyTorch.
  const std::string own = host.env_or("TORCH_CUDA_STACK_PYTHON", "");
  if (!own.empty()) out.push_back(Candidate{own, "TORCH_CUDA_STACK_PYTHON"});
  for (const std::string& folder : split(host.env_or("PATH", ""), ":"))
    pythons_in(host, folder, "PATH", out);
  return out;
}

// Other interpreters at hand with a torch in packages of their own; only what their files tell.
void look_elsewhere(const Host& host, PythonFacts& python) {
  python.elsewhere_known = true;
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

// "" when it is a Python, else what it was.
std::string try_candidate(Host& host, const Inputs& in, const Candidate& candidate,
                          List<std::string>& silent, PythonFacts& python) {
  FileStat stat = host.stat(candidate.path);
  if (!stat.is_file() || !stat.executable)
    return cat(candidate.from, " names ", candidate.path, ", which is not a program");
  if (python_from_layout(host, candidate.path, python)) {
    python.executable.from = candidate.from;
    return {};
  }
  // Its other names in this folder would cost the same time again.
  const std::string real = cat(path_parent(candidate.path), ' ', host.real_path(candidate.path));
  if (!contains(silent, real) && python_from_child(host, candidate.path, in.timeout_ms, python)) {
    python.executable.from = candidate.from;
    return {};
  }
  add_once(silent, real);
  return candidate.from == "PATH" ? python.reason : cat(candidate.from, ": ", python.reason);
}

// The environment that the user activated and that is not the one used: CMake would pass it over
// without a word. A conda prefix need not hold a Python.
std::string named_in_vain(const Host& host, const List<Candidate>& all,
                          const List<std::string>& dead, const PythonFacts& python) {
  const std::string& from = python.executable.from;
  if (!dead.empty() && all.front().from != "PATH") {
    if (!python.state.known() || from != "PATH") return dead.front();
    return cat(dead.front(), "; used instead: ", python.executable.value(), " (PATH)");
  }
  const std::string prefix = host.env_or("VIRTUAL_ENV", "");
  if (prefix.empty() || from != "PATH" || (!all.empty() && all.front().from != "PATH")) return {};
  return cat("VIRTUAL_ENV is ", prefix, ", which has no bin/python",
             host.stat(prefix).exists() ? "" : " (no such folder)",
             "; used instead: ", python.executable.value(), " (PATH)");
}

}  // namespace

void gather_python(Host& host, const Inputs& in, Facts& facts) {
  PythonFacts& python = facts.python;
  List<Candidate> all = candidates(host, in);
  List<std::string> dead, silent;  // reasons; real programs that did not answer
  for (const Candidate& candidate : all) {
    std::string why = try_candidate(host, in, candidate, silent, python);
    if (why.empty()) break;
    dead.push_back(why);
  }
  std::string named = named_in_vain(host, all, dead, python);
  if (python.state.known()) {
    python.reason = named;
  } else {
    python.state = Text("absent", all.empty() ? "PATH" : all.front().from);
    python.reason = !named.empty()  ? named
                    : !dead.empty() ? dead.front()
                                    : "no python3 or python in VIRTUAL_ENV, CONDA_PREFIX or PATH";
  }
  std::string home = host.env_or("PYTHONHOME", "");
  if (!home.empty() && !dead.empty()) python.reason += "; PYTHONHOME is " + home;
  look_elsewhere(host, python);
}

}  // namespace tcs
