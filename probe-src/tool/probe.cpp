// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/utf8.h"
#include "facts/facts_io.h"
#include "facts/redact.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

const List<OptionSpec> probe_options = {
    {"--out", "FILE", "write the facts there instead of standard output", false},
    {"--redact", nullptr, "without names of users and hosts, UUIDs and secrets: for bug reports",
     false},
    {"--facts", "FILE", "a recorded machine instead of this one", false},
    {"--strict", nullptr, "refuse members that the schema does not have", false},
    {"--set", "NAME=VALUE", "an input by its CMake name, as -DNAME=VALUE too", true},
    {"--timeout", "SECONDS", "how long one child process may take (30)", false},
    {"--work-dir", "DIR", "compile one kernel there, to see that the toolkit works", false},
};

// False: `why` says what is wrong with the recording.
bool recorded(const Host& host, const Options& options, Facts& facts, std::string& why) {
  const std::string path = options.get("--facts");
  List<std::string> unknown;
  Result<Facts> read = read_facts_file(host, path, unknown);
  if (!read) return why = read.error().str(), false;
  for (const auto& member : unknown) {
    if (options.has("--strict")) return why = cat(path, ": unknown member ", member), false;
    print_err(
        cat("tcstack: note: ", ascii(cat(path, ": unknown member ", member)), " is left out\n"));
  }
  facts = *read;
  return true;
}

}  // namespace

int verb_probe(Host& host, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, probe_options, "tcstack probe [OPTIONS]", options, status))
    return status;
  auto refuse = [](const std::string& text) {
    print_err(cat("tcstack probe: ", ascii(text), "\n"));
    return 2;
  };
  if (!options.words.empty()) return refuse(cat("unexpected word ", tail(options.words[0], 60)));
  Inputs in;
  Result<Done> sets = take_sets(options.all("--set"), &input_names(), in);
  if (!sets) return refuse(sets.error().str());
  if (options.has("--timeout")) in.set["TIMEOUT"] = options.get("--timeout");
  Result<int> timeout = timeout_ms_of(host, in);
  if (!timeout)
    return refuse(options.has("--timeout") ? cat("--timeout: ", timeout.error().text)
                                           : timeout.error().str());
  in.timeout_ms = *timeout;
  in.work_dir = options.get("--work-dir");
  if (!in.work_dir.empty()) {
    Result<Done> made = host.make_directories(in.work_dir);
    if (!made) {
      print_err(cat("tcstack probe: cannot make ", made.error().str(), "\n"));
      return 3;
    }
  }
  Facts facts;
  std::string why;
  if (!options.has("--facts"))
    facts = gather_all(host, in);
  else if (!recorded(host, options, facts, why))
    return refuse(why);
  Json json = facts_to_json(facts);
  if (options.has("--redact")) json = redact(json, own_identity(host));
  const std::string text = write_json(json) + "\n";
  if (!options.has("--out")) return print_out(text) ? 0 : 3;
  Result<Done> written = host.write_atomic(options.get("--out"), text);
  if (written) return 0;
  print_err(cat("tcstack probe: cannot write ", written.error().str(), "\n"));
  return 3;
}

}  // namespace tcs
