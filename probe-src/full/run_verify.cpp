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
  int64_t start;
  List<BuiltFile> files{};    // with device code
  List<std::string> plain{};  // names of those without
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
    c.plain.push_back(name);
  }
}

void take_wheel(Checker& c, const std::string& path) {
  const std::string folder = path_join(c.run.work_dir, cat("wheel-", fnv1a(path)));
  Command unpack;
  unpack.argv = {c.run.facts.python.executable.value(), "-m", "zipfile", "-e", path, folder};
  unpack.timeout_ms = 600000;
  Outcome outcome = c.host.run(unpack);
  if (!outcome.ok()) {
    c.fail(cat(ascii(path), ": could not be unpacked: ", ascii(outcome.describe()), " ",
               tail(trim(outcome.err), 200)));
    return;
  }
  for (const char* pattern : {"**/*.so", "**/*.so.*"})
    for (const std::string& file : files_matching(c.host, folder, pattern))
      take_file(c, file, cat(path, ": ", file.substr(folder.size() + 1)));
}

void take_pattern(Checker& c, const std::string& pattern) {
  List<std::string> found = files_matching(c.host, c.host.cwd(), pattern);
  for (const std::string& folder : c.run.facts.python.search_path)
    if (found.empty()) found = files_matching(c.host, folder, pattern);
  if (found.empty())
    c.fail(cat("'", ascii(pattern), "' names no file, here or in the packages of ",
               ascii(c.run.facts.python.executable.or_else("a Python"))));
  for (const std::string& path : found) {
    if (c.host.stat(path).mtime_ns / 1000000000 < c.start)
      print_err(cat("tcstack run: note: ", ascii(path), " was there before the command\n"));
    if (ends_with(path, ".whl"))
      take_wheel(c, path);
    else
      take_file(c, path, path);
  }
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

int verify_built(Host& host, const Run& run, int64_t start) {
  Checker c{host, run, start};
  for (const std::string& pattern : run.asked.options.all("--verify")) take_pattern(c, pattern);
  if (c.files.empty() && c.failures.empty())
    c.fail(c.plain.empty() ? "none of the files that --verify names can hold device code"
                           : cat(ascii(join(c.plain, ", ")), ": no device code"));
  Verdict verdict;
  if (!c.files.empty()) verdict = hold_against_plan(c);
  print_err(verdict.text);
  for (const std::string& name : c.plain)
    if (!c.files.empty()) print_err(cat("  ", ascii(name), ": no device code\n"));
  if (!c.failures.empty()) print_err(cat("tcstack run: not verified\n", c.failures));
  return verdict.status != 0 || !c.failures.empty() ? 1 : 0;
}

}  // namespace tcs
