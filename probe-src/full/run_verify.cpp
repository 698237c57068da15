// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/utf8.h"
#include "facts/facts_io.h"
#include "full/glob.h"
#include "full/run.h"
#include "readers/images.h"
#include "tool/verify.h"

namespace tcs {

namespace {

struct BuiltFile {
  TCS_COPIED(BuiltFile);
  std::string path;
  std::string name;  // for a person: of a wheel's file "x.whl: pkg/_C.so"
};

struct Checker {
  Host& host;
  const Run& run;
  const StringMap& before;
  List<BuiltFile> files{};    // with device code
  List<std::string> plain{};  // what is said of those without
  List<std::string> old{};    // nobody wrote them since the command was started
  StringMap taken{};
  std::string failures{};

  void fail(const std::string& text) { failures += cat("  ", text, "\n"); }
};

bool is_library(const std::string& name) {
  return ends_with(name, ".so") || contains(name, ".so.");
}
bool may_hold_code(const std::string& name) {
  for (const char* end : {".a", ".o", ".cubin", ".fatbin"})
    if (ends_with(name, end)) return true;
  return is_library(name);
}

void take_file(Checker& c, const std::string& path, const std::string& name) {
  Result<std::unique_ptr<File>> file = c.host.open(path);
  if (!file) return c.fail(cat(ascii(name), ": ", ascii(file.error().text)));
  Result<ImageList> list = read_images(c.host, path);
  if (!list) {
    // A pattern may name a whole folder: text beside the libraries is none of our business.
    if (may_hold_code(path)) c.fail(cat(ascii(name), ": ", ascii(list.error().text)));
  } else if (list->fat_binaries > 0 || !list->images.empty()) {
    BuiltFile one;
    one.path = path;
    one.name = name;
    c.files.push_back(one);
  } else if (may_hold_code(path)) {
    c.plain.push_back(cat(name, ": no device code"));
  }
}

void take_wheel(Checker& c, const std::string& path) {
  const std::string folder = path_join(c.run.work_dir, cat("wheel-", fnv1a(path)));
  const Text& python = c.run.facts.python.executable;
  Command unpack;
  // -I: a zipfile.py of the project, in the current folder, is not Python's.
  unpack.argv = {python.value(), "-I", "-m", "zipfile", "-e", path, folder};
  unpack.timeout_ms = 600000;
  Outcome outcome = c.host.run(unpack);
  if (!outcome.ok()) {
    c.fail(cat(ascii(path), ": could not be unpacked by ",
               ascii(python.or_else("a Python, of which there is none")), ": ",
               ascii(outcome.describe()), " ", tail(trim(outcome.err), 200)));
    return;
  }
  bool library = false;
  for (const char* pattern : {"**/*.so", "**/*.so.*"}) {
    for (const std::string& file : files_matching(c.host, folder, pattern, true)) {
      take_file(c, file, cat(path, ": ", file.substr(folder.size() + 1)));
      library = true;
    }
  }
  if (!library) c.plain.push_back(cat(path, ": no library in it"));
}

struct Found {
  List<std::string> files, unread;
};

// What a pattern names: here, else among the packages of that Python. A file that is called as the
// pattern is written, brackets and all, is meant too.
Found files_named(const Host& host, const Run& run, const std::string& pattern) {
  Found out;
  out.files = files_matching(host, host.cwd(), pattern, false, &out.unread);
  const std::string plain = path_join(host.cwd(), pattern);
  if (out.files.empty() && host.stat(plain).is_file()) out.files.push_back(plain);
  for (const std::string& folder : run.facts.python.search_path)
    if (out.files.empty()) out.files = files_matching(host, folder, pattern);
  return out;
}

std::string why_none(const Checker& c, const std::string& pattern, const Found& found) {
  const std::string path = path_join(c.host.cwd(), pattern), quoted = cat("'", ascii(pattern), "'");
  const FileStat stat = c.host.stat(path);
  if (stat.is_dir())
    return cat(quoted, " is a folder; all that is in it: '", ascii(path_join(pattern, "**")), "'");
  if (stat.exists()) return cat(quoted, " is no regular file");
  if (!found.unread.empty())
    return cat(quoted, " names no file that could be seen; ", ascii(found.unread[0]));
  Result<List<std::string>> names = c.host.list(path_parent(path));
  if (names && contains(*names, path_name(path))) return cat(quoted, " is a link to nothing");
  return cat(quoted, " names no file, here or in the packages of ",
             ascii(c.run.facts.python.executable.or_else("a Python")));
}

// The same before and after: nobody wrote it in between, whatever the clocks say.
std::string state_of(const Host& host, const std::string& path) {
  const FileStat stat = host.stat(path);
  return cat(stat.inode, " ", stat.size, " ", stat.mtime_ns);
}

void take_pattern(Checker& c, const std::string& pattern) {
  const Found found = files_named(c.host, c.run, pattern);
  if (found.files.empty()) c.fail(why_none(c, pattern, found));
  for (const std::string& path : found.files) {
    if (c.taken.find(path)) continue;
    c.taken[path] = "";
    const size_t known = c.files.size();
    if (ends_with(path, ".whl"))
      take_wheel(c, path);
    else
      take_file(c, path, path);
    const std::string* before = c.before.find(path);
    if (c.files.size() > known && before != nullptr && *before == state_of(c.host, path))
      c.old.push_back(path);
  }
}

void say_old(const List<std::string>& old) {
  constexpr size_t kShown = 5;
  const auto note = [](const std::string& what) {
    print_err(cat("tcstack run: note: ", what, " there before the command\n"));
  };
  for (size_t i = 0; i < old.size() && i < kShown; ++i) note(cat(ascii(old[i]), " was"));
  if (old.size() > kShown) note(cat(old.size() - kShown, " more were"));
}

Verdict hold_against_plan(Checker& c) {
  VerifyRequest request;
  List<std::string> images;
  for (const Gencode& g : c.run.judged.plan.gencodes) images.push_back(g.image().str());
  request.images = join(images, ";");
  bool libraries = true;
  for (const BuiltFile& file : c.files) {
    request.files.push_back(file.path);
    libraries = libraries && is_library(file.path);
  }
  const std::string facts = path_join(c.run.work_dir, "facts.json");
  if (libraries && c.host.write_atomic(facts, write_json(facts_to_json(c.run.facts))))
    request.facts = facts;
  Verdict verdict = verify(c.host, request);
  for (const BuiltFile& file : c.files)
    verdict.text = replace_all(verdict.text, ascii(file.path) + ":", ascii(file.name) + ":");
  return verdict;
}

}  // namespace

StringMap files_before(const Host& host, const Run& run) {
  StringMap out;
  for (const std::string& pattern : run.asked.options.all("--verify"))
    for (const std::string& path : files_named(host, run, pattern).files)
      out[path] = state_of(host, path);
  return out;
}

int verify_built(Host& host, const Run& run, const StringMap& before) {
  Checker c{host, run, before};
  for (const std::string& pattern : run.asked.options.all("--verify")) take_pattern(c, pattern);
  say_old(c.old);
  if (c.files.empty() && c.failures.empty())
    c.fail(c.plain.empty() ? "none of the files that --verify names can hold device code"
                           : ascii(join(c.plain, ", ")));
  Verdict verdict;
  if (!c.files.empty()) verdict = hold_against_plan(c);
  print_err(verdict.text);
  for (const std::string& name : c.plain)
    if (!c.files.empty()) print_err(cat("  ", ascii(name), "\n"));
  if (!c.failures.empty()) print_err(cat("tcstack run: not verified\n", c.failures));
  return verdict.status != 0 || !c.failures.empty() ? 1 : 0;
}

}  // namespace tcs
