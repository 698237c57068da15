// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/utf8.h"
#include "facts/facts_io.h"
#include "facts/image_probe.h"
#include "facts/redact.h"
#include "plan/grammar.h"
#include "plan/plan.h"
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
    {"--work-dir", "DIR", "compile a kernel there for what a build here would be for, and try it",
     false},
    {"--try", "LIST", "compile and try these, as in TORCH_CUDA_ARCH_LIST, or all that nvcc knows",
     false},
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

void want(List<WantedImage>& wanted, const Sm& virt, const Sm& real, bool ptx) {
  WantedImage one;
  one.virt = virt;
  one.real = real;
  one.ptx = ptx;
  wanted.push_back(one);
}

// --try: also what was written and this nvcc does not have, so that nvcc itself refuses it. What is
// wrong with the list, where nothing is tried.
std::string try_list(Host& host, const Inputs& in, const std::string& list, DriverChild& child,
                     Facts& facts) {
  List<WantedImage> wanted;
  List<Image> images;
  if (lower(trim(list)) == "all") {
    Image image;
    if (const Toolkit* toolkit = facts.toolkit())
      for (const std::string& name : toolkit->archs.value())
        if (parse_image(name, image)) images.push_back(image);
  } else {
    Request request;
    request.arch_list = Text(list, "--try");
    const Plan plan = make_plan(facts, request);
    using Kind = PlanIssue::Kind;
    for (const PlanIssue& issue : plan.issues)
      for (Kind kind : {Kind::Nonsense, Kind::NoSuchSuffix, Kind::NoVisibleDevice, Kind::NoMember})
        if (issue.kind == kind)
          return cat("--try: '", tail(issue.token, 40), "' names nothing that can be built here");
    for (const Gencode& g : plan.gencodes) want(wanted, g.virt, g.real, g.ptx);
    images = plan.written;
  }
  for (const Image& image : images) want(wanted, image.sm, image.sm, image.ptx);
  probe_images(host, in, wanted, child, facts);
  order_facts(facts);
  return {};
}

// What is wrong with the words of --try.
std::string wrong_list(const Options& options) {
  if (options.get("--work-dir").empty()) return "--try needs --work-dir";
  if (trim(options.get("--try")).empty()) return "--try needs a list, or all";
  const List<PlanIssue> issues = parse_arch_list(options.get("--try"), "torch").issues;
  if (issues.empty()) return {};
  const std::string& better = issues[0].corrected;
  return cat("--try: '", tail(issues[0].token, 40), "' is no architecture",
             better.empty() ? "" : cat("; did you mean ", better, "?"));
}

}  // namespace

void probe_plan(Host& host, const Inputs& in, const Request& request, DriverChild& child,
                Facts& facts) {
  if (facts.origin != "measured") return;
  List<WantedImage> wanted;
  if (!in.cross_compiling)
    for (const Gencode& g : make_plan(facts, request).gencodes) want(wanted, g.virt, g.real, g.ptx);
  probe_images(host, in, wanted, child, facts);
  order_facts(facts);
}

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
  std::string why;
  if (options.has("--try"))
    why = options.has("--facts") ? "--try is for this machine" : wrong_list(options);
  if (!why.empty()) return refuse(why);
  if (!in.work_dir.empty()) {
    Result<Done> made = host.make_directories(in.work_dir);
    if (!made) {
      print_err(cat("tcstack probe: cannot make ", made.error().str(), "\n"));
      return 3;
    }
  }
  Facts facts;
  if (!options.has("--facts")) {
    DriverChild child;
    facts = gather_all(host, in, child);
    if (options.has("--try"))
      why = try_list(host, in, options.get("--try"), child, facts);
    else {
      Request request = make_request(variables_of(host), in);
      settle_purpose(in, facts, request);
      probe_plan(host, in, request, child, facts);
    }
    if (!why.empty()) return refuse(why);
  } else if (!recorded(host, options, facts, why))
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
