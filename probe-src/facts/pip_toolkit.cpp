// SPDX-License-Identifier: Apache-2.0
#include "facts/pip_toolkit.h"

#include "base/text.h"
#include "base/utf8.h"
#include "facts/nvcc_output.h"
#include "tables/tables.h"

namespace tcs {
namespace {

constexpr int kDownloadMs = 3600 * 1000;

constexpr const char* kTorn = ".tmp-";

// Without the current folder, which -m would search first.
constexpr const char* kPip =
    "import runpy, sys; sys.path[:] = [p for p in sys.path if p]; "
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)";

Command pip(const std::string& python, const List<std::string>& words) {
  Command c;
  c.argv = {python, "-c", kPip};
  c.argv.append(words);
  return c;
}

List<WheelRow> wheels_of(const std::string& update) {
  List<WheelRow> out;
  for (const WheelRow& row : wheel_rows())
    if (update == row.update) out.push_back(row);
  return out;
}

// From pip's last "ERROR:" on, on one line.
std::string complaint(const Outcome& said) {
  const std::string text(trim(said.err.empty() ? said.out : said.err));
  const size_t error = text.rfind("ERROR: ");
  const size_t line = text.rfind('\n');
  List<std::string> words =
      split(error != std::string::npos ? text.substr(error + 7)
                                       : text.substr(line == std::string::npos ? 0 : line + 1),
            " \n\t");
  const char* reached = contains(text, "WARNING: Retrying") ? "pip did not reach its index: " : "";
  return words.empty() ? said.describe() : cat(reached, ascii(join(words, " ").substr(0, 400)));
}

// What to do about it; "" where pip's words say so.
const char* advice(const std::string& said) {
  if (contains(said, "No space left"))
    return "\n  help: the wheels and what is in them want 500 MB there";
  if (contains(said, "No matching distribution") || contains(said, "reach its index"))
    return "\n  help: a mirror is named by PIP_INDEX_URL, a proxy by https_proxy; without a "
           "network "
           "have the wheels of\n  'tcstack tables toolkit-wheels' in a folder: PIP_NO_INDEX=1 "
           "PIP_FIND_LINKS=FOLDER";
  return "";
}

// Names this machine, or this container of it: a cache may be shared by several.
std::string machine_name(const Host& host) {
  std::string text;
  for (const char* path : {"/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/hostname"})
    if (Result<std::string> line = host.read(path)) text += *line;
  return std::to_string(fnv1a(text));
}

// Folders of calls that were killed: of this machine those whose process is gone; of another,
// whose processes cannot be seen, those that nobody has written to for a day.
void remove_torn(Host& host, const std::string& parent, const std::string& prefix) {
  constexpr int64_t kDay = 24 * 3600, kNs = 1000000000;
  const std::string here = machine_name(host);
  Result<List<std::string>> names = host.list(parent);
  for (size_t i = 0; names && i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    if (!starts_with(name, prefix)) continue;
    const List<std::string> parts = split(name.substr(prefix.size()), "-");
    const std::string path = path_join(parent, name);
    const bool ours = parts.size() == 2 && parts[0] == here;
    if (ours ? !host.stat("/proc/" + parts[1]).exists()
             : host.stat(path).mtime_ns / kNs + kDay < host.now())
      (void)host.remove_tree(path).operator bool();
  }
}

Result<Done> fetch(Host& host, const Facts& facts, const List<WheelRow>& wheels,
                   const std::string& python, const std::string& to) {
  const bool arm = facts.host.arch.is("aarch64");
  Command c =
      pip(python, {"install", "--require-hashes", "--no-deps", "--only-binary=:all:", "--no-user",
                   "--no-input", "--no-compile", "--disable-pip-version-check",
                   "--prefix=", "--root=/", "--target", to, "-r", "/dev/stdin"});
  for (const WheelRow& row : wheels)
    c.input += cat(row.package, "==", row.version,
                   " --hash=sha256:", arm ? row.aarch64 : row.x86_64, "\n");
  c.set_env["PIP_REQUIRE_VIRTUALENV"] = "0";  // nothing is put into any environment
  c.set_env["TMPDIR"] = path_parent(to);      // what pip leaves when it is killed is found again
  // They are meant for what the user installs, and would keep the wheels away or elsewhere.
  c.unset_env = {"PIP_PREFIX",      "PIP_ROOT",     "PIP_DRY_RUN",  "PIP_REPORT",
                 "PIP_CONSTRAINT",  "PIP_EDITABLE", "PIP_PLATFORM", "PIP_PYTHON_VERSION",
                 "PIP_REQUIREMENT", "PIP_ABI",      "PIP_PYTHON",   "PIP_IMPLEMENTATION"};
  c.timeout_ms = kDownloadMs;
  const Outcome said = host.run(c);
  if (!said.ok()) {
    const std::string words = complaint(said);
    return Error{words + advice(words), cat(python, " -m pip install")};
  }
  const std::string nvcc = pip_root(to) + "/bin/nvcc";
  Command ask;
  ask.argv = {nvcc, "--version"};
  const Outcome answer = host.run(ask);
  if (parse_release(answer.out) == wheels[0].version) return Done{};
  return Error{cat(answer.describe(), "; expected release ", wheels[0].version),
               nvcc + " --version"};
}

// What makes it a toolkit last. What is there is another's of the same release.
Result<Done> move_entries(Host& host, const std::string& from, const std::string& to) {
  Result<List<std::string>> names = host.list(from);
  if (!names) return names.error();
  for (const bool last : {false, true})
    for (const std::string& name : *names) {
      if ((name == "nvidia") != last) continue;
      Result<Done> moved = host.rename(path_join(from, name), path_join(to, name));
      if (!moved && !host.stat(path_join(to, name)).exists()) return moved;
    }
  return Done{};
}

}  // namespace

std::string pip_update(const HostFacts& host, int release) {
  const bool fits = host.os.or_else("linux") == "linux" &&
                    (host.arch.is("x86_64") || host.arch.is("aarch64")) &&
                    Version::parse(host.glibc.value()) >= Version::parse("2.17");
  std::string update;
  for (const WheelRow& row : wheel_rows())
    if (fits && release_of(Version::parse(row.update)) == release) update = row.update;
  return update;
}

std::string user_named(const Toolkit& toolkit) {
  for (const std::string& word : split(toolkit.origin.value(), ",")) {
    const std::string name(trim(word));
    if (name != "PATH" && name != "conda prefix" && name != "distribution" &&
        name != "TorchCudaStack_PROVISION" && !starts_with(name, "/") &&
        !starts_with(name, "pip package"))
      return name;
  }
  return {};
}

Result<std::string> python_with_pip(Host& host, const Facts& facts) {
  const std::string path = host.env_or("PATH", "");
  Error why{"there is no Python: neither the environment's nor python3 on PATH", ""};
  for (const std::string& program :
       {facts.python.executable.value(), find_program(host, "python3", path),
        std::string("/usr/bin/python3")}) {
    if (program.empty()) continue;
    const Outcome said = host.run(pip(program, {"--version"}));
    if (said.ok()) return program;
    if (why.place.empty()) why = Error{complaint(said), program + " -m pip"};
  }
  why.text +=
      "\n  help: python3 -m ensurepip, your distribution's python3-pip, or uv pip install pip";
  return why;
}

Result<bool> has_pip_toolkit(const Host& host, const std::string& update, const std::string& dir) {
  Result<List<std::string>> names = host.list(dir);
  if (!names && !host.stat(dir).exists()) return false;
  if (!names) return names.error();
  size_t laid = 0, others = 0;
  const List<WheelRow> wheels = wheels_of(update);
  for (const std::string& name : *names) {
    bool ours = starts_with(name, kTorn);
    for (const WheelRow& row : wheels)
      if (name == cat(replace_all(row.package, "-", "_"), "-", row.version, ".dist-info"))
        ours = true, ++laid;
    others += !ours;
  }
  if (others == 0) return false;
  if (laid < wheels.size())
    return Error{cat("holds something other than CUDA ", update, " of PyPI: it is left as it is"),
                 dir};
  if (host.stat(pip_root(dir) + "/bin/nvcc").exists()) return true;
  return Error{cat("its CUDA ", update, " has lost its nvcc: remove the folder, and ask again"),
               dir};
}

Result<Done> bring_pip_toolkit(Host& host, const Facts& facts, const std::string& update,
                               const std::string& python, const std::string& dir) {
  // An empty folder may be a mount, or all that this user may write to: it is filled, not replaced.
  const bool fill = host.stat(dir).exists();
  const std::string prefix = fill ? path_join(dir, kTorn) : cat(dir, kTorn);
  const std::string temporary =
      cat(prefix, machine_name(host), "-", path_name(host.real_path("/proc/self")));
  const std::string whole = path_join(temporary, path_name(dir));
  remove_torn(host, path_parent(prefix), path_name(prefix));
  Result<Done> done = host.make_directories(temporary, 0777);
  if (done) done = fetch(host, facts, wheels_of(update), python, whole);
  if (done) done = fill ? move_entries(host, whole, dir) : host.rename(whole, dir);
  (void)host.remove_tree(temporary).operator bool();
  if (done) return done;
  const Result<bool> others = has_pip_toolkit(host, update, dir);  // another was faster
  return others && *others ? Done{} : done;
}

}  // namespace tcs
