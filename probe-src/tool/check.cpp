// SPDX-License-Identifier: Apache-2.0
// `tcstack check` and `tcstack plan`: recorded machines, or this one.
#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"
#include "emit/forms.h"
#include "facts/gather.h"
#include "tool/asked.h"

namespace tcs {

List<OptionSpec> asking_options() {
  return {
      {"--targets", "LIST", "what must be served: native;torch;8.6 or a GPU's name", false},
      {"--arch-list", "LIST", "what is built, as in TORCH_CUDA_ARCH_LIST", false},
      {"--purpose", "WORD", "extension, pytorch-source or run", false},
      {"--tree", "DIR", "a source tree of PyTorch, which is to be built", false},
      {"--fail-on", "LEVEL", "error (default), warning, unknown or never", false},
      {"--allow", "IDS", "findings that are only noted: TCS303,library-missing", false},
      {"--lang", "WORD", "of what is printed: en or zh; else the locale's", false},
      {"--set", "NAME=VALUE", "an input by its CMake name, as -DNAME=VALUE too", true},
  };
}

namespace {

List<OptionSpec> specs_with(const OptionSpec& own) {
  List<OptionSpec> specs = {
      {"--facts", "FILE", "a recorded machine instead of this one; - is standard input", true},
      {"--request", "FILE", "what is asked for, as JSON (docs/facts.md)", false},
      own,
      {"--out", "FILE", "write the answer there", false},
      {"--strict", nullptr, "refuse members that the schema does not have", false},
  };
  specs.append(asking_options());
  return specs;
}

int refuse(const Asked& asked, const std::string& text) {
  print_err(cat("tcstack ", asked.verb, ": ", ascii(text), "\n"));
  return 2;
}

// Unknown members: a note each, or with --strict the first one as an error.
Result<Done> note_unknown(const Asked& asked, const std::string& path,
                          const List<std::string>& members) {
  for (const auto& member : members) {
    if (asked.options.has("--strict")) return Error{cat("unknown member ", member), path};
    print_err(cat("tcstack: note: ", ascii(path), ": unknown member ", member, " is ignored\n"));
  }
  return Done{};
}

// One of read_facts_file and read_request_file.
template <class T>
Result<T> read_noting(const Host& host, const Asked& asked, const std::string& path,
                      Result<T> (*reader)(const Host&, const std::string&, List<std::string>&)) {
  List<std::string> unknown;
  Result<T> value = reader(host, path, unknown);
  if (!value) return value;
  Result<Done> noted = note_unknown(asked, path, unknown);
  if (!noted) return noted.error();
  return value;
}

Result<Done> take_tree(const Host& host, const std::string& folder, Inputs& in) {
  const std::string tree = path_join(host.cwd(), folder);
  if (!is_pytorch_tree(host, tree)) return Error{"no source tree of PyTorch", tree};
  in.set["SOURCE_DIR"] = tree;
  return Done{};
}

Result<Done> learn_policy(const Host& host, Asked& asked) {
  const Options& given = asked.options;
  Result<Done> sets = take_sets(given.all("--set"), &input_names(), asked.inputs);
  if (sets && given.has("--purpose"))
    sets = take_sets({cat("PURPOSE=", given.get("--purpose"))}, nullptr, asked.inputs);
  if (sets && given.has("--tree")) sets = take_tree(host, given.get("--tree"), asked.inputs);
  if (!sets) return sets.error();
  if (given.has("--fail-on")) asked.inputs.set["FAIL_ON"] = given.get("--fail-on");
  if (given.has("--allow")) asked.inputs.set["ALLOW"] = given.get("--allow");
  Result<Policy> policy = make_policy(host, asked.inputs);
  if (!policy) {
    const bool level = contains(policy.error().place, "FAIL_ON"),
               option = given.has(level ? "--fail-on" : "--allow");
    return Error{policy.error().text,
                 option ? (level ? "--fail-on" : "--allow") : policy.error().place};
  }
  asked.policy = *policy;
  if (given.has("--lang")) asked.inputs.set["LANG"] = given.get("--lang");
  Result<Language> language = make_language(host, asked.inputs);
  if (!language)
    return Error{language.error().text, given.has("--lang") ? "--lang" : language.error().place};
  asked.language = *language;
  Result<int> timeout = timeout_ms_of(host, asked.inputs);
  if (!timeout) return timeout.error();
  asked.inputs.timeout_ms = *timeout;
  return Done{};
}

Result<Done> learn_request(const Host& host, Asked& asked) {
  const Options& given = asked.options;
  if (given.has("--request")) {
    Result<Request> request = read_noting(host, asked, given.get("--request"), read_request_file);
    if (!request) return request.error();
    asked.request = *request;
  }
  return Done{};
}

}  // namespace

Request request_for(const Asked& asked, const Facts& facts) {
  const Options& given = asked.options;
  Request request = asked.request;
  if (!given.has("--request")) request = make_request(facts.environment, asked.inputs);
  if (!given.has("--request") || given.has("--purpose"))
    settle_purpose(asked.inputs, facts, request);
  if (given.has("--arch-list")) {
    request.arch_list = Text(given.get("--arch-list"), "--arch-list");
    request.arch_dialect = "torch";
  }
  if (given.has("--targets")) {
    request.targets_known = true;
    request.targets.clear();
    for (const auto& part : split(given.get("--targets"), ";"))
      if (!trim(part).empty()) request.targets.push_back(std::string(trim(part)));
    request.targets_from = "--targets";
  }
  return request;
}

bool learn_asked(Host& host, const List<std::string>& args, const List<OptionSpec>& specs,
                 const char* synopsis, Asked& asked, int& status) {
  if (!parse_options(args, specs, synopsis, asked.options, status)) return false;
  Result<Done> done = Done{};
  if (!asked.options.words.empty())
    done = Error{cat("unexpected word '", tail(asked.options.words[0], 60), "'"), ""};
  if (done) done = learn_policy(host, asked);
  if (done) done = learn_request(host, asked);
  if (done) return true;
  status = refuse(asked, done.error().str());
  return false;
}

namespace {

struct Machine {
  std::string path;  // "" = this one
  Facts facts;
};

bool machines(Host& host, const Asked& asked, List<Machine>& out, int& status) {
  for (const auto& path : asked.options.all("--facts")) {
    Result<Facts> facts = read_noting(host, asked, path, read_facts_file);
    if (!facts) {
      status = refuse(asked, facts.error().str());
      return false;
    }
    facts->origin = "replayed";
    out.push_back({path, *facts});
  }
  if (out.empty()) out.push_back({"", gather_all(host, asked.inputs)});
  return true;
}

int answer(Host& host, const Asked& asked, const std::string& text, int status) {
  if (!asked.options.has("--out")) return print_out(text) ? status : 3;
  Result<Done> written = host.write_atomic(asked.options.get("--out"), text);
  if (written) return status;
  print_err(cat("tcstack ", asked.verb, ": cannot write ", written.error().str(), "\n"));
  return 3;
}

// Whatever is allowed: a consumer that is handed an empty list makes up one of its own.
int refuse_empty(const Report& report, Language language) {
  for (const auto& finding : report.findings) print_err(finding_text(finding, language) + "\n");
  print_err("tcstack plan: the plan is empty: there is nothing to hand on\n");
  return 1;
}

}  // namespace

int answer_check(Host& host, const List<std::string>& args, CheckMore more) {
  Asked asked;
  asked.verb = "check";
  int status = 0;
  List<Machine> all;
  const std::string forms = cat("text (default), json, ", kReportForms);
  List<OptionSpec> specs = specs_with({"--format", "FORM", forms.c_str(), false});
  specs.push_back(
      {"--at", "FILE:LINE", "what asks, for sarif and github: CMakeLists.txt:4", false});
  if (!learn_asked(host, args, specs, "tcstack check [OPTIONS]", asked, status)) return status;
  const std::string format = asked.options.get("--format", "text");
  const bool other = contains(split(kReportForms, ", "), format);
  if (other && more.form == nullptr) return refuse_full(cat("`check --format ", format, "`"));
  if (!other && format != "text" && format != "json")
    return refuse(asked,
                  cat("--format: '", tail(format, 40), "' is none of text, json, ", kReportForms));
  if (!machines(host, asked, all, status)) return status;
  std::string text;
  List<Checked> judged;
  Json reports = Json::array();
  for (const auto& machine : all) {
    const Request request = request_for(asked, machine.facts);
    Plan plan = make_plan(machine.facts, request);
    Report report = judge(RuleInput{machine.facts, request, plan}, asked.policy);
    if (report.outcome == "fail") status = 1;
    if (other) {
      judged.push_back({machine.path, machine.facts, plan, report});
      continue;
    }
    if (format == "json") {
      reports.push(report_json(report, machine.facts, plan));
      if (all.size() > 1) reports.items.back().add("facts", machine.path);
      continue;
    }
    if (all.size() > 1) text += cat(machine.path, ":\n");
    text += report_text(report, machine.facts, plan, asked.language);
    if (more.text) text += more.text(machine.facts, request, plan);
  }
  if (other) {
    Result<std::string> formed = more.form(host, asked, format, judged);
    if (!formed) return refuse(asked, formed.error().str());
    text = *formed;
  }
  if (format == "json") text = write_json(all.size() == 1 ? reports.items[0] : reports) + "\n";
  return answer(host, asked, text, status);
}

int answer_plan(Host& host, const List<std::string>& args, BuildForms build_forms) {
  Asked asked;
  asked.verb = "plan";
  int status = 0;
  List<Machine> all;
  const std::string forms = cat("one of ", kPlanForms, ", ", kBuildForms);
  const auto specs = specs_with({"--emit", "FORM", forms.c_str(), false});
  if (!learn_asked(host, args, specs, "tcstack plan --emit FORM [OPTIONS]", asked, status))
    return status;
  if (!machines(host, asked, all, status)) return status;
  if (all.size() > 1) return refuse(asked, "takes one --facts");
  const Facts& facts = all[0].facts;
  const Request request = request_for(asked, facts);
  Plan plan = make_plan(facts, request);
  std::string text, note;
  const std::string form = asked.options.get("--emit", "json");
  const bool build = contains(split(kBuildForms, ", "), form);
  if (build && build_forms == nullptr) return refuse_full(cat("`plan --emit ", form, "`"));
  if (!build && !plan_form(plan, form, text, note))
    return refuse(asked, cat("--emit: '", tail(form, 40), "' is ", "none of ", kPlanForms, ", ",
                             kBuildForms));
  Report report = judge(RuleInput{facts, request, plan}, asked.policy);
  if (plan.gencodes.empty()) return refuse_empty(report, asked.language);
  // A plan that cannot work is not handed on as if it could; `check` speaks of the other layers.
  for (const auto& finding : report.findings) {
    const bool ours = finding.layer == Layer::Arch || finding.layer == Layer::Device ||
                      finding.layer == Layer::Toolkit;
    if (!ours || !reaches(finding, asked.policy)) continue;
    print_err(finding_text(finding, asked.language) + "\n");
    status = 1;
  }
  if (status != 0) return status;
  if (build) text = build_forms(host, {asked, facts, request, plan, form}, note);
  for (const auto& line : lines_of(note)) print_err(cat("tcstack: note: ", line, "\n"));
  return text.empty() ? 1 : answer(host, asked, text, 0);
}

int verb_check(Host& host, const List<std::string>& args) {
  return answer_check(host, args, {});
}

int verb_plan(Host& host, const List<std::string>& args) {
  return answer_plan(host, args, nullptr);
}

}  // namespace tcs
