// SPDX-License-Identifier: Apache-2.0
#include "full/command_python.h"

#include <algorithm>

#include "base/text.h"

namespace tcs {

namespace {

bool is_one_of(std::string_view word, const char* words) {
  return contains(split(words, " "), std::string(word));
}

// "python", "python3", "python3.13t", "pypy3".
bool is_python_name(std::string_view name) {
  for (const char* stem : {"python", "pypy"}) {
    if (!starts_with(name, stem)) continue;
    std::string rest(name.substr(std::string_view(stem).size()));
    if (ends_with(rest, "t") && rest.size() > 1) rest.pop_back();
    if (rest.find_first_not_of("0123456789.") == std::string::npos) return true;
  }
  return false;
}

bool is_program(const Host& host, const std::string& path) {
  const FileStat stat = host.stat(path);
  return stat.is_file() && stat.executable;
}

std::string program(const Host& host, const std::string& name) {
  if (!contains(name, "/")) return find_program(host, name, host.env_or("PATH", ""));
  const bool dot = starts_with(name, "./");
  const std::string path = path_join(host.cwd(), dot ? name.substr(2) : name);
  return is_program(host, path) ? path : std::string();
}

// "pip3.12" -> "3.12".
std::string release_in_name_of(std::string_view name) {
  const size_t digit = name.find_first_of("0123456789");
  return digit == std::string_view::npos ? std::string() : std::string(name.substr(digit));
}

std::string python_in(const Host& host, const std::string& folder,
                      const std::string& release = {}) {
  for (const std::string& name :
       {cat("python", release), std::string("python3"), std::string("python")}) {
    const std::string path = path_join(folder, name);
    if (is_program(host, path)) return path;
  }
  return {};
}

// The interpreter in the first lines of a script; also of the longer form that pip writes where
// the path is too long for a first line: '''exec' "/long path/python" "$0" "$@".
std::string interpreter_of(const Host& host, const std::string& script) {
  Result<std::unique_ptr<File>> file = host.open(script);
  std::string head;
  if (!file || !(*file)->read(0, std::min<size_t>((*file)->size(), 4096), head) ||
      !starts_with(head, "#!"))
    return {};
  const List<std::string> lines = lines_of(head);
  const List<std::string> words = split(std::string_view(lines[0]).substr(2), " \t");
  if (words.empty()) return {};
  std::string name = path_name(words[0]);
  if (name == "env") {
    size_t at = 1;
    while (at < words.size() && (starts_with(words[at], "-") || contains(words[at], "="))) ++at;
    return at < words.size() && is_python_name(path_name(words[at])) ? program(host, words[at])
                                                                     : std::string();
  }
  if (is_python_name(name)) return words[0];
  const std::string exec = "'''exec' ";
  if (name != "sh" || lines.size() < 2 || !starts_with(lines[1], exec)) return {};
  std::string rest = lines[1].substr(exec.size());
  const char end = starts_with(rest, "\"") ? '"' : ' ';
  if (end == '"') rest.erase(0, 1);
  rest = rest.substr(0, rest.find(end));
  return is_python_name(path_name(rest)) ? rest : std::string();
}

// The value of the option `name`, or of its short form, before "--": "--python 3.12", "--python=x".
std::string option_value(const List<std::string>& command, const std::string& name,
                         const std::string& brief = {}) {
  std::string value;
  for (size_t i = 1; i < command.size() && command[i] != "--"; ++i) {
    const std::string& word = command[i];
    if ((word == name || (!brief.empty() && word == brief)) && i + 1 < command.size())
      value = command[i + 1];
    else if (starts_with(word, name + "="))
      value = word.substr(name.size() + 1);
  }
  return value;
}

// What --python of uv and pip names: a program, an environment's folder, or a release.
std::string named_python(const Host& host, const std::string& name) {
  if (contains(name, "/") || host.stat(path_join(host.cwd(), name)).is_dir()) {
    const std::string path = path_join(host.cwd(), name);
    return host.stat(path).is_dir() ? python_in(host, path + "/bin") : path;
  }
  return program(host, is_python_name(name) ? name : cat("python", name));
}

// The environment of a project: .venv in this folder, or in one above.
std::string project_python(const Host& host) {
  for (std::string folder = host.cwd(); !folder.empty(); folder = path_parent(folder)) {
    const std::string python = python_in(host, path_join(folder, ".venv/bin"));
    if (!python.empty() || folder == "/") return python;
  }
  return {};
}

CommandPython active_or_project(const Host& host, bool project_first) {
  const std::string active = host.env_or("VIRTUAL_ENV", ""), project = project_python(host);
  const bool own = !project.empty() && (active.empty() || project_first);
  if (own) return {project, "the project's .venv"};
  if (active.empty()) return {};
  return {python_in(host, active + "/bin"), "VIRTUAL_ENV"};
}

CommandPython uv_python(const Host& host, const List<std::string>& command) {
  std::string named = option_value(command, "--python", "-p");
  std::string from = "--python";
  if (named.empty()) {
    named = host.env_or("UV_PYTHON", "");
    from = "UV_PYTHON";
  }
  if (!named.empty()) return {named_python(host, named), from};
  if (contains(command, std::string("--system"))) return {};
  // `uv sync`, `uv run`: the project's, whatever environment is active.
  const bool project = command.size() > 1 && is_one_of(command[1], "sync run") &&
                       !contains(command, std::string("--active"));
  const std::string folder = host.env_or("UV_PROJECT_ENVIRONMENT", "");
  if (project && !folder.empty())
    return {python_in(host, path_join(host.cwd(), folder) + "/bin"), "UV_PROJECT_ENVIRONMENT"};
  if (!project && host.env_or("VIRTUAL_ENV", "").empty() &&
      !host.env_or("CONDA_PREFIX", "").empty())
    return {};
  return active_or_project(host, project);
}

// `conda run -n NAME`, `-p PREFIX`.
CommandPython conda_python(const Host& host, const List<std::string>& command) {
  const std::string prefix = option_value(command, "--prefix", "-p"),
                    name = option_value(command, "--name", "-n");
  if (!prefix.empty()) return {python_in(host, path_join(host.cwd(), prefix) + "/bin"), "--prefix"};
  if (name.empty()) return {};
  const std::string root = path_parent(path_parent(host.env_or("CONDA_EXE", "")));
  List<std::string> folders = split(host.env_or("CONDA_ENVS_PATH", ""), ":");
  if (!root.empty()) folders.push_back(root + "/envs");
  for (const std::string& folder : folders) {
    const std::string python = python_in(host, cat(folder, "/", name, "/bin"));
    if (!python.empty()) return {python, cat("conda's environment ", name)};
  }
  return {"", cat("conda's environment ", name)};
}

// The words of a command of pip, uv or build, without what starts it: {"pip", "install", "."} of
// `python -m pip install .`.
List<std::string> tool_words(const List<std::string>& command) {
  List<std::string> out = command;
  out[0] = path_name(out[0]);
  if (!is_python_name(out[0])) return out;
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-m" && i + 1 < command.size()) {
      out.clear();
      for (size_t k = i + 1; k < command.size(); ++k) out.push_back(command[k]);
      return out;
    }
    if (word == "-c" || !starts_with(word, "-")) break;
    if (is_one_of(word, "-W -X")) ++i;
  }
  return out;
}

// By a variable or a file of settings, as far as their words tell.
bool isolation_is_off(const Host& host, bool uv) {
  const std::string value =
      lower(trim(host.env_or(uv ? "UV_NO_BUILD_ISOLATION" : "PIP_NO_BUILD_ISOLATION", "")));
  // pip takes the variable for the value of `build isolation`: "0" is what switches it off.
  if (is_one_of(value, uv ? "1 true yes on y t" : "0 false no off n f")) return true;
  const std::string home = host.env_or("HOME", ""),
                    config = host.env_or("XDG_CONFIG_HOME", home + "/.config");
  const List<std::string> files =
      uv ? List<std::string>{path_join(host.cwd(), "uv.toml"),
                             path_join(host.cwd(), "pyproject.toml"), config + "/uv/uv.toml"}
         : List<std::string>{host.env_or("PIP_CONFIG_FILE", ""), config + "/pip/pip.conf",
                             home + "/.pip/pip.conf", "/etc/pip.conf",
                             host.env_or("VIRTUAL_ENV", "") + "/pip.conf"};
  for (const std::string& file : files) {
    Result<std::string> text = host.read(file, 1u << 20);
    if (!text) continue;
    for (const std::string& line : lines_of(*text))
      if (starts_with(trim(line), "no-build-isolation")) return true;
  }
  return false;
}

}  // namespace

CommandPython python_of_command(const Host& host, const List<std::string>& command) {
  const List<std::string> words = tool_words(command);
  const std::string name = path_name(command[0]);
  if (name == "uv") return uv_python(host, command);
  if (is_one_of(name, "conda mamba micromamba")) return conda_python(host, command);
  // Of these, their own Python is not that of what they build.
  if (is_one_of(name, "poetry pdm hatch pipenv")) return active_or_project(host, false);
  if (is_one_of(name, "pipx tox nox env sudo")) return {};
  const bool pip = words[0] == "pip" || starts_with(words[0], "pip3");
  const std::string named = pip ? option_value(words, "--python") : std::string();
  if (!named.empty()) return {named_python(host, named), "--python"};
  const std::string path = program(host, command[0]);
  if (path.empty()) return {};
  if (is_python_name(name)) return {path, "the command"};
  // pyenv's stand-ins are scripts of a shell; each version has them all.
  if (ends_with(path_parent(path), "/shims") && pip) {
    const std::string same = python_in(host, path_parent(path), release_in_name_of(name));
    return {same, same.empty() ? "" : "the same shims"};
  }
  const std::string found = interpreter_of(host, path);
  if (found.empty()) return {};
  return {found, cat("the first line of ", path)};
}

std::string missing_no_isolation(const Host& host, const List<std::string>& command) {
  List<std::string> words = tool_words(command);
  if (words[0] == "uv" && words.size() > 1 && words[1] == "pip") words.erase(words.begin());
  const bool uv = command.size() > 0 && path_name(command[0]) == "uv";
  const bool build = is_one_of(words[0], "build pyproject-build");
  const bool pip = words[0] == "pip" || starts_with(words[0], "pip3");
  std::string verb;
  for (size_t i = 1; i < words.size() && verb.empty(); ++i)
    if (!starts_with(words[i], "-")) verb = words[i];
  if (!build && !(pip && is_one_of(verb, "install wheel download")) &&
      !(words[0] == "uv" && is_one_of(verb, "build sync run")))
    return {};
  for (const std::string& word : words) {
    if (starts_with(word, "--no-build-isolation")) return {};
    if (build && is_one_of(word, "--no-isolation -n")) return {};
    if (is_one_of(word, "--help -h --version -V")) return {};
  }
  if ((uv || pip) && isolation_is_off(host, uv)) return {};
  return build ? "--no-isolation" : "--no-build-isolation";
}

bool configures_with_cmake(const List<std::string>& command) {
  if (!is_one_of(path_name(command[0]), "cmake cmake3") || command.size() < 2) return false;
  for (const std::string& word : command) {
    if (starts_with(word, "--help") || starts_with(word, "--workflow")) return false;
    if (is_one_of(word,
                  "--build --install -E -P --open --find-package --version -version /V -help -h -H "
                  "/? --system-information -N"))
      return false;
  }
  return true;
}

}  // namespace tcs
