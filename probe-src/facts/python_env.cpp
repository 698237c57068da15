// SPDX-License-Identifier: Apache-2.0
#include "facts/python_env.h"

#include "base/text.h"
#include "facts/nvcc_output.h"

namespace tcs {
namespace {

std::string lib_folder(const std::string& prefix, const std::string& release) {
  return cat(prefix, "/lib/python", release);
}

// "3.11" of "python3.11"; "" for any other name.
std::string release_in_name(std::string_view name) {
  if (!starts_with(name, "python")) return {};
  Version version = Version::parse(name.substr(6));
  if (version.numbers.size() != 2 || !(version.rest.empty() || version.rest == "t")) return {};
  return std::string(name.substr(6));
}

// The X.Y of the one standard library under `prefix`; "" when there is none or several.
std::string release_in_prefix(const Host& host, const std::string& prefix) {
  std::string found;
  Result<List<std::string>> names = host.list(prefix + "/lib");
  if (!names) return {};
  for (const std::string& name : *names) {
    std::string release = release_in_name(name);
    if (release.empty() || !host.stat(lib_folder(prefix, release) + "/os.py").is_file()) continue;
    if (!found.empty()) return {};
    found = release;
  }
  return found;
}

// PEP 405: "key = value" lines.
std::string venv_value(const std::string& config, std::string_view key) {
  for (const std::string& line : lines_of(config)) {
    size_t equals = line.find('=');
    if (equals == std::string::npos || lower(trim(std::string_view(line).substr(0, equals))) != key)
      continue;
    return std::string(trim(std::string_view(line).substr(equals + 1)));
  }
  return {};
}

std::string kind_of(const Host& host, const std::string& prefix, bool venv) {
  std::string all = prefix + ":" + host.env_or("PYTHONPATH", "");
  // The throw-away environments of pip, build and uv (PEP 517 isolation).
  for (const char* sign : {"/pip-build-env-", "/build-env-", "/builds-v0/"})
    if (contains(all, sign)) return "isolated-build";
  if (venv) return "venv";
  if (host.stat(prefix + "/conda-meta").is_dir()) return "conda";
  if (contains(prefix, "/.pyenv/versions/")) return "pyenv";
  return prefix == "/usr" ? "system" : "prefix";
}

// A venv's lib64 is a link to its lib: one folder.
void add_folder(const Host& host, const std::string& folder, List<std::string>& out) {
  if (folder.empty() || !host.stat(folder).is_dir()) return;
  const std::string real = host.real_path(folder);
  for (const std::string& seen : out)
    if (seen == folder || (!real.empty() && host.real_path(seen) == real)) return;
  out.push_back(folder);
}

// site.py of CPython, and Debian's change to it (dist-packages).
void add_sites(const Host& host, const std::string& prefix, const std::string& release, bool user,
               List<std::string>& out) {
  std::string ignored;
  std::string home = host.env_or("PYTHONUSERBASE", host.env_or("HOME", "") + "/.local");
  if (user && !host.env("PYTHONNOUSERSITE", ignored) && starts_with(home, "/"))
    add_folder(host, lib_folder(home, release) + "/site-packages", out);
  if (prefix == "/usr") {
    add_folder(host, lib_folder("/usr/local", release) + "/dist-packages", out);
    add_folder(host, "/usr/lib/python3/dist-packages", out);
    add_folder(host, lib_folder("/usr/local", release) + "/site-packages", out);
  }
  add_folder(host, lib_folder(prefix, release) + "/site-packages", out);
  add_folder(host, cat(prefix, "/lib64/python", release, "/site-packages"), out);
}

// Where the standard library of a real interpreter (no venv) lies.
bool base_layout(const Host& host, const std::string& real, std::string& prefix,
                 std::string& release) {
  prefix = path_parent(path_parent(real));
  release = release_in_name(path_name(real));
  if (release.empty()) release = release_in_prefix(host, prefix);
  return !release.empty() && host.stat(lib_folder(prefix, release) + "/os.py").is_file();
}

// PEP 703: such a build has a library folder of its own, lib/python3.13t.
Flag free_threaded_of(const std::string& release) {
  return Flag(ends_with(release, "t"), "lib/python" + release);
}

// PY_VERSION of the headers where they are installed, else the X.Y that the layout has.
Text release_of(const Host& host, const std::string& prefix, const std::string& release) {
  std::string header = cat(prefix, "/include/python", release, "/patchlevel.h");
  Result<std::string> text = host.read(header, 65536);
  if (text)
    for (const std::string& line : lines_of(*text)) {
      List<std::string> words = split(line, " \t\"");
      if (words.size() == 3 && words[0] == "#define" && words[1] == "PY_VERSION" &&
          Version::parse(words[2]).known())
        return Text(words[2], header);
    }
  return Text(release, lib_folder(prefix, release));
}

bool venv_layout(const Host& host, const std::string& prefix, const std::string& config,
                 const std::string& real, PythonFacts& out) {
  std::string base_prefix, release;
  std::string written = venv_value(config, "version");
  if (written.empty()) written = venv_value(config, "version_info");  // virtualenv, uv
  if (!base_layout(host, real, base_prefix, release)) {
    release = Version::parse(written).major_minor();
    if (release.empty()) release = release_in_prefix(host, prefix);
    if (release.empty()) return false;
  }
  const bool system_sites = lower(venv_value(config, "include-system-site-packages")) == "true";
  out.version = Version::parse(written).known() ? Text(written, prefix + "/pyvenv.cfg")
                                                : release_of(host, base_prefix, release);
  out.prefix = Text(prefix, prefix + "/pyvenv.cfg");
  out.free_threaded = free_threaded_of(release);
  add_folder(host, lib_folder(prefix, release) + "/site-packages", out.search_path);
  add_folder(host, cat(prefix, "/lib64/python", release, "/site-packages"), out.search_path);
  if (system_sites && base_prefix.empty()) return false;
  if (system_sites) add_sites(host, base_prefix, release, true, out.search_path);
  return true;
}

// What the child prints: one "name value" a line; "path" repeats.
constexpr const char* kQuestion =
    "import sys\n"
    "print('tcs-python 1')\n"
    "print('executable ' + sys.executable)\n"
    "print('version ' + '.'.join(map(str, sys.version_info[:3])))\n"
    "print('prefix ' + sys.prefix)\n"
    "print('base ' + sys.base_prefix)\n"
    "print('abiflags ' + getattr(sys, 'abiflags', ''))\n"
    "for p in sys.path:\n"
    "    if p: print('path ' + p)\n"
    "print('end')\n";

bool read_answer(const Host& host, const std::string& text, PythonFacts& out) {
  List<std::string> lines = lines_of(text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() < 3 || lines.front() != "tcs-python 1" || lines.back() != "end") return false;
  std::string base;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const size_t space = lines[i].find(' ');
    if (space == std::string::npos) return false;
    const std::string name = lines[i].substr(0, space), value = lines[i].substr(space + 1);
    if (name == "version") {
      if (Version version = Version::parse(value);
          version.numbers.size() == 3 && version.rest.empty())
        out.version = Text(value, "sys.version_info");
    } else if (name == "abiflags") {
      out.free_threaded = Flag(contains(value, "t"), "sys.abiflags");
    } else if (!starts_with(value, "/")) {
      if (name != "path") return false;
    } else if (name == "executable") {
      out.executable = Text(value, "sys.executable");
    } else if (name == "prefix") {
      out.prefix = Text(value, "sys.prefix");
    } else if (name == "base") {
      base = value;
    } else if (name == "path") {
      add_folder(host, value, out.search_path);
    } else {
      return false;
    }
  }
  if (!out.version.known() || !out.prefix.known() || !out.executable.known()) return false;
  out.kind = Text(kind_of(host, out.prefix.value(), base != out.prefix.value()), "sys.prefix");
  return true;
}

}  // namespace

bool is_elf_program(const Host& host, const std::string& path) {
  Result<std::unique_ptr<File>> file = host.open(path);
  std::string magic;
  return file && (*file)->read(0, 4, magic) &&
         magic ==
             "\x7f"
             "ELF";
}

bool python_from_layout(const Host& host, const std::string& executable, PythonFacts& out) {
  const std::string real = host.real_path(executable);
  if (real.empty() || !is_elf_program(host, real)) {
    out.reason = executable + " is a script that starts an interpreter";
    return false;
  }
  std::string python_path = host.env_or("PYTHONPATH", ""), ignored;
  // pip's build isolation rearranges sys.path in code; PYTHONHOME moves the library.
  if (contains(python_path, "/pip-build-env-") || host.env("PYTHONHOME", ignored)) return false;
  PythonFacts found;
  for (const std::string& folder : split(python_path, ":"))
    if (starts_with(folder, "/")) add_folder(host, folder, found.search_path);
  std::string prefix = path_parent(path_parent(executable)), release;
  Result<std::string> config = host.read(prefix + "/pyvenv.cfg", 65536);
  if (!config) config = host.read(path_parent(executable) + "/pyvenv.cfg", 65536);
  bool venv = false;
  if (config) {
    venv = true;
    if (!venv_layout(host, prefix, *config, real, found)) return false;
  } else {
    if (!base_layout(host, real, prefix, release)) {
      out.reason = "no lib/pythonX.Y/os.py beside " + real;
      return false;
    }
    found.version = release_of(host, prefix, release);
    found.free_threaded = free_threaded_of(release);
    found.prefix = Text(prefix, lib_folder(prefix, release));
    add_sites(host, prefix, release, true, found.search_path);
  }
  found.executable = Text(executable, real);
  found.kind = Text(kind_of(host, found.prefix.value(), venv), found.prefix.from);
  found.state = Text("found", executable);
  out = std::move(found);
  return true;
}

bool python_from_child(Host& host, const std::string& executable, int timeout_ms,
                       PythonFacts& out) {
  Command command;
  command.argv = {executable, "-c", kQuestion};
  command.timeout_ms = timeout_ms;
  command.output_limit = 1u << 20;
  Outcome outcome = host.run(command);
  PythonFacts found;
  if (outcome.ok() && read_answer(host, outcome.out, found)) {
    found.state = Text("found", executable);
    out = std::move(found);
    return true;
  }
  out.reason = outcome.ok() ? cat(executable, " did not answer as a Python does: \"",
                                  tail(outcome.out, 200), '"')
                            : cat(executable, " gave no answer: ", telling_lines(outcome));
  return false;
}

}  // namespace tcs
