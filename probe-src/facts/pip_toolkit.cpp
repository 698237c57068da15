// SPDX-License-Identifier: Apache-2.0
#include "facts/pip_toolkit.h"

#include "base/text.h"
#include "facts/nvcc_output.h"
#include "tables/tables.h"

namespace tcs {
namespace {

constexpr int kDownloadMs = 3600 * 1000;

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
  return words.empty() ? said.describe() : cat(reached, join(words, " ").substr(0, 400));
}

void remove_torn(Host& host, const std::string& dir) {
  const std::string prefix = path_name(dir) + ".tmp-", parent = path_parent(dir);
  Result<List<std::string>> names = host.list(parent);
  for (size_t i = 0; names && i < names->size(); ++i)
    if (starts_with((*names)[i], prefix) &&
        !host.stat("/proc/" + (*names)[i].substr(prefix.size())).exists())
      (void)host.remove_tree(path_join(parent, (*names)[i])).operator bool();
}

Result<Done> fetch(Host& host, const Facts& facts, const List<WheelRow>& wheels,
                   const std::string& python, const std::string& to) {
  const bool arm = facts.host.arch.is("aarch64");
  Command c = pip(python, {"install", "--require-hashes", "--no-deps",
                           "--only-binary=:all:", "--no-user", "--no-input", "--no-compile",
                           "--disable-pip-version-check", "--target", to, "-r", "/dev/stdin"});
  for (const WheelRow& row : wheels)
    c.input += cat(row.package, "==", row.version,
                   " --hash=sha256:", arm ? row.aarch64 : row.x86_64, "\n");
  c.set_env["PIP_REQUIRE_VIRTUALENV"] = "0";  // nothing is put into any environment
  c.set_env["TMPDIR"] = path_parent(to);      // what pip leaves when it is killed is found again
  c.timeout_ms = kDownloadMs;
  const Outcome said = host.run(c);
  if (!said.ok()) return Error{complaint(said), cat(python, " -m pip install")};
  const std::string nvcc = pip_root(to) + "/bin/nvcc";
  Command ask;
  ask.argv = {nvcc, "--version"};
  const Outcome answer = host.run(ask);
  if (parse_release(answer.out) == wheels[0].version) return Done{};
  return Error{cat(answer.describe(), "; expected release ", wheels[0].version),
               nvcc + " --version"};
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

std::string python_with_pip(Host& host, const Facts& facts) {
  const std::string path = host.env_or("PATH", "");
  for (const std::string& program :
       {facts.python.executable.value(), find_program(host, "python3", path),
        std::string("/usr/bin/python3")})
    if (!program.empty() && host.run(pip(program, {"--version"})).ok()) return program;
  return {};
}

Result<bool> has_pip_toolkit(const Host& host, const std::string& update, const std::string& dir) {
  Result<List<std::string>> names = host.list(dir);
  if (!names && !host.stat(dir).exists()) return false;
  if (!names) return names.error();
  if (names->empty()) return false;
  for (const WheelRow& row : wheels_of(update))
    if (!contains(*names, cat(replace_all(row.package, "-", "_"), "-", row.version, ".dist-info")))
      return Error{cat("holds something other than CUDA ", update, " of PyPI: it is left as it is"),
                   dir};
  return true;
}

Result<Done> bring_pip_toolkit(Host& host, const Facts& facts, const std::string& update,
                               const std::string& python, const std::string& dir) {
  const std::string temporary = cat(dir, ".tmp-", path_name(host.real_path("/proc/self")));
  const std::string whole = path_join(temporary, path_name(dir));
  remove_torn(host, dir);
  Result<Done> done = host.make_directories(temporary, 0777);
  if (done) done = fetch(host, facts, wheels_of(update), python, whole);
  if (done) done = host.rename(whole, dir);
  (void)host.remove_tree(temporary).operator bool();
  if (done) return done;
  const Result<bool> others = has_pip_toolkit(host, update, dir);  // another was faster
  return others && *others ? Done{} : done;
}

}  // namespace tcs
