// SPDX-License-Identifier: Apache-2.0
// `tcstack configure`: the one call of FindTorchCudaStack.cmake (docs/internals.md).
#include "base/text.h"
#include "emit/emit.h"
#include "emit/plan_cmake.h"
#include "facts/facts_io.h"
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
  for (const std::string& pair : options.all("--set")) {
    size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{cat("'", tail(pair, 60), "' is not NAME=VALUE"), "--set"};
    }
    in.set[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  Result<int> timeout = timeout_ms_of(host, in);
  if (!timeout) return timeout.error();
  in.timeout_ms = *timeout;
  const std::string* cross = in.find("CROSSCOMPILING");
  in.cross_compiling = cross != nullptr && !cross->empty() && *cross != "OFF" && *cross != "0";
  return in;
}

// Recorded facts when FACTS names a file, else this machine's.
Result<Facts> obtain_facts(Host& host, const Inputs& in) {
  Setting replay = own_input(host, in, "FACTS");
  if (!replay.set || replay.value.empty()) return gather_all(host, in);
  Result<std::string> text = host.read(replay.value);
  if (!text) return Error{text.error().str(), replay.from};
  List<std::string> unknown;
  Result<Facts> facts = read_facts(*text, unknown);
  if (!facts) return Error{facts.error().str(), cat(replay.from, ": ", replay.value)};
  for (const std::string& name : unknown) {
    print_err(cat("tcstack: note: ", replay.value, ": unknown member ", name, "\n"));
  }
  facts->origin = "replayed";
  return *facts;
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

// The chosen toolkit, completed when it needs to be; a farm that cannot be laid leaves the real
// root.
std::string toolkit_root(Host& host, const Facts& facts, const std::string& dir) {
  const Toolkit* toolkit = facts.toolkit();
  if (toolkit == nullptr || facts.origin == "replayed") return {};
  Result<std::string> root = lay_link_farm(host, *toolkit, path_join(dir, "toolkit"));
  if (root) return *root;
  print_err(cat("tcstack: note: the toolkit could not be completed: ", root.error().str(), "\n"));
  return toolkit->root.value();
}

int write_failed(const Error& error) {
  print_err(cat("tcstack configure: cannot write ", error.str(), "\n"));
  return 3;
}

}  // namespace

int verb_configure(Host& host, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, configure_options, "tcstack configure --dir DIR [--set NAME=VALUE]...",
                     options, status)) {
    return status;
  }
  if (!options.has("--dir") || !options.words.empty()) {
    return refuse(Error{options.words.empty() ? "needs --dir DIR"
                                              : cat("unexpected word ", tail(options.words[0], 60)),
                        ""});
  }
  std::string dir = options.get("--dir");
  Result<Inputs> in = read_inputs(host, options);
  if (!in) return refuse(in.error());
  Result<Policy> policy = make_policy(host, *in);
  if (!policy) return refuse(policy.error());
  Setting elsewhere = own_input(host, *in, "REPORT_DIR");
  std::string reports = elsewhere.value.empty() ? dir : elsewhere.value;
  if (already_done(host, *in, dir, reports)) return 0;
  in->work_dir = path_join(dir, "probe");
  in->cache_dir = cache_folder(host, *in);
  Result<Done> made = host.make_directories(in->work_dir);
  if (!made) return write_failed(made.error());
  Result<Facts> facts = obtain_facts(host, *in);
  if (!facts) return refuse(facts.error());

  Request request = make_request(host, *in);
  Plan plan = make_plan(*facts, request);
  Report report = judge(RuleInput{*facts, request, plan}, *policy);
  std::string root = toolkit_root(host, *facts, dir);
  Result<Done> ready = host.make_directories(reports);
  if (!ready) return write_failed(ready.error());
  const List<std::pair<std::string, std::string>> outputs = {
      {path_join(reports, "facts.json"), write_json(facts_to_json(*facts)) + "\n"},
      {path_join(reports, "report.json"), write_json(report_json(report, *facts, plan)) + "\n"},
      {path_join(dir, "plan.json"), write_json(plan_json(plan)) + "\n"},
      {path_join(reports, "report.txt"), report_text(report, *facts, plan)},
      {path_join(dir, "plan.cmake"),
       plan_cmake(PlanCmakeInput{*facts, plan, report, *policy, reports, root})},
      // A failure is never remembered: what was missing may come from where nobody looked.
      {path_join(dir, "stamp"), report.outcome == "fail" ? "" : make_stamp(host, *in, *facts)},
  };
  for (const auto& output : outputs) {
    Result<Done> written = host.write_atomic(output.first, output.second);
    if (!written) return write_failed(written.error());
  }
  trim_cache(host);
  return report.outcome == "fail" ? 1 : 0;
}

}  // namespace tcs
