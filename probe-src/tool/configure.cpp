// SPDX-License-Identifier: Apache-2.0
// `tcstack configure`: the one call of FindTorchCudaStack.cmake (docs/internals.md).
#include "base/text.h"
#include "emit/emit.h"
#include "emit/plan_cmake.h"
#include "facts/driver.h"
#include "facts/facts_io.h"
#include "tool/judge_build.h"
#include "tool/provision.h"
#include "tool/settings.h"
#include "tool/stamp.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

const List<OptionSpec> configure_options = {
    {"--dir", "DIR", "where facts.json, report.json, plan.json, plan.cmake are written", false},
    {"--set", "NAME=VALUE", "an input by its CMake name (docs/internals.md)", true},
};

int refuse(const Error& error) {
  print_err(cat("tcstack configure: ", error.str(), "\n"));
  return 2;
}

Result<Inputs> read_inputs(const Host& host, const Options& options) {
  Inputs in;
  // Any name: a module may pass what an older tool does not ask for.
  Result<Done> sets = take_sets(options.all("--set"), nullptr, in);
  if (!sets) return sets.error();
  Result<int> timeout = timeout_ms_of(host, in);
  if (!timeout) return timeout.error();
  in.timeout_ms = *timeout;
  const std::string* cross = in.find("CROSSCOMPILING");
  in.cross_compiling = cross != nullptr && !cross->empty() && *cross != "OFF" && *cross != "0";
  return in;
}

bool already_done(const Host& host, const Inputs& in, const std::string& dir,
                  const std::string& reports) {
  Result<std::string> stamp = host.read(path_join(dir, "stamp"));
  if (!stamp || !stamp_holds(host, in, *stamp)) return false;
  for (const char* name : {"facts.json", "report.json", "report.txt"}) {
    if (!host.stat(path_join(reports, name)).is_file()) return false;
  }
  return host.stat(path_join(dir, "plan.json")).is_file();
}

int write_failed(const Error& error) {
  print_err(cat("tcstack configure: cannot write ", error.str(), "\n"));
  return 3;
}

struct Answer {
  Inputs in;
  Policy policy;
  Language language = Language::English;
  std::string dir, reports;  // `reports`: where what a person reads goes
  Facts facts;
  JudgedBuild judged;
  bool complete = true;  // what was to be fetched was
};

Result<Done> learn(const Host& host, const Options& options, Answer& a) {
  if (!options.words.empty()) return Error{cat("unexpected word ", tail(options.words[0], 60)), ""};
  if (!options.has("--dir")) return Error{"needs --dir DIR", ""};
  Result<Inputs> in = read_inputs(host, options);
  if (!in) return in.error();
  Result<Policy> policy = make_policy(host, *in);
  if (!policy) return policy.error();
  Result<Language> language = make_language(host, *in);
  if (!language) return language.error();
  a.in = *in;
  a.policy = *policy;
  a.language = *language;
  a.dir = options.get("--dir");
  a.reports = own_input(host, *in, "REPORT_DIR").value;
  if (a.reports.empty()) a.reports = a.dir;
  a.in.work_dir = path_join(a.dir, "probe");
  Result<std::string> cache = cache_folder(host, a.in);
  if (!cache) return cache.error();
  // Images run on the device, answers are believed: none that somebody else could have written.
  if (!host.stat(*cache).foreign) a.in.cache_dir = *cache;
  return Done{};
}

// Memory in use, another program on the board: of this moment.
bool try_again(const Facts& facts) {
  for (const Device& device : facts.devices.list)
    for (const ImageProbe& row : device.image_probe)
      if (row.error.known() && !row.result.known()) return true;
  return false;
}

Result<Done> write_answer(Host& host, const Answer& a) {
  std::string root = toolkit_root(host, a.facts, path_join(a.dir, "toolkit"), a.in.cache_dir);
  Result<Done> done = host.make_directories(a.reports);
  const List<std::pair<std::string, std::string>> outputs = {
      {path_join(a.reports, "facts.json"), write_json(facts_to_json(a.facts)) + "\n"},
      {path_join(a.reports, "report.json"),
       write_json(report_json(a.judged.report, a.facts, a.judged.plan)) + "\n"},
      {path_join(a.dir, "plan.json"), write_json(plan_json(a.judged.plan)) + "\n"},
      {path_join(a.reports, "report.txt"),
       report_text(a.judged.report, a.facts, a.judged.plan, a.language)},
      {path_join(a.dir, "plan.cmake"),
       plan_cmake(PlanCmakeInput{a.facts, a.judged.request, a.judged.plan, a.judged.report,
                                 a.policy, a.reports, root, a.language})},
      // A failure is never remembered: what was missing may come from where nobody looked.
      {path_join(a.dir, "stamp"),
       a.judged.report.outcome == "fail" || try_again(a.facts) || !a.complete
           ? ""
           : make_stamp(host, a.in, a.facts)},
  };
  for (const auto& output : outputs) {
    if (!done) break;
    done = host.write_atomic(output.first, output.second);
  }
  return done;
}

}  // namespace

int verb_configure(Host& host, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, configure_options, "tcstack configure --dir DIR [--set NAME=VALUE]...",
                     options, status)) {
    return status;
  }
  Answer a;
  Result<Done> learnt = learn(host, options, a);
  if (!learnt) return refuse(learnt.error());
  if (already_done(host, a.in, a.dir, a.reports)) return 0;
  Result<Done> made = host.make_directories(a.in.work_dir);
  if (!made) return write_failed(made.error());
  DriverChild child;
  Result<Facts> facts = obtain_facts(host, a.in, child);
  if (!facts) return refuse(facts.error());
  a.facts = *facts;
  a.complete =
      provision_toolkit(host, a.in, a.in.cache_dir.empty() ? a.dir : a.in.cache_dir, a.facts);
  Request request = make_request(variables_of(host), a.in);
  settle_purpose(a.in, a.facts, request);
  a.judged = judge_build(host, a.in, request, a.policy, child, a.facts);
  Result<Done> written = write_answer(host, a);
  if (!written) return write_failed(written.error());
  trim_cache(host);
  return a.judged.report.outcome == "fail" ? 1 : 0;
}

}  // namespace tcs
