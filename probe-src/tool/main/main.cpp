// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <string>

#include "base/list.h"
#include "base/text.h"
#include "probes/driver.h"
#include "probes/nvml.h"
#include "probes/nvrtc.h"
#include "tool/verbs.h"
#ifdef TCS_FULL
#include "full/foreground.h"
#include "full/verbs.h"
#endif

namespace {

struct Verb {
  const char* name;
  int (*run)(tcs::Host&, const tcs::List<std::string>&);
  const char* help;
};

#ifdef TCS_FULL
constexpr auto check = tcs::verb_full_check;
constexpr auto plan = tcs::verb_full_plan;
#else
constexpr auto check = tcs::verb_check;
constexpr auto plan = tcs::verb_plan;
#endif

const Verb verbs[] = {
    {"probe", tcs::verb_probe, "measure this machine and print the facts"},
    {"check", check, "say which layers of the stack disagree"},
    {"plan", plan, "print the architecture plan in the form a consumer reads"},
    {"images", tcs::verb_images, "list the cubins and PTX that files hold"},
    {"verify", tcs::verb_verify, "check that a built file holds the planned images"},
    {"intersect", tcs::verb_intersect, "say which of a file's architectures the plan needs"},
    {"explain", tcs::verb_explain, "say what a finding means and what to do"},
    {"tables", tcs::verb_tables,
     "list what is known of GPUs, CUDA releases, PyTorch and compilers"},
    {"cache", tcs::verb_cache, "show or clear the per-user cache"},
    {"configure", tcs::verb_configure,
     "probe, check and write plan.cmake (for FindTorchCudaStack)"},
#ifdef TCS_FULL
    {"run", tcs::verb_run, "check, then run any build under the plan"},
    {"toolkit", tcs::verb_toolkit, "bring a CUDA toolkit from PyPI into a folder"},
#endif
};

// What an installed tcstack has and one that a configure compiled has not.
[[maybe_unused]] const char* const full_verbs[] = {"run", "toolkit"};

std::string usage() {
  std::string out =
      "tcstack " TCS_VERSION
      ": checks the chain GPU - driver - CUDA toolkit - PyTorch - Python before a build\n\n"
      "usage: tcstack VERB [OPTIONS]        tcstack VERB --help for each\n\n";
  for (const Verb& verb : verbs) {
    std::string name = verb.name;
    name.append(12 - name.size(), ' ');
    out += tcs::cat("  ", name, verb.help, "\n");
  }
  return out +
         "\nexit status: 0 ok, 1 findings that fail, 2 usage or bad input, 3 tcstack could not "
         "work\n";
}

int unknown_verb(const std::string& name) {
#ifndef TCS_FULL
  for (const char* verb : full_verbs)
    if (name == verb) return tcs::refuse_full(tcs::cat("`", name, "`"));
#endif
  tcs::List<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  tcs::print_err(tcs::cat("tcstack: no such verb: ", tcs::tail(name, 60),
                          tcs::did_you_mean(name, names), "\nsee tcstack --help\n"));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  tcs::List<std::string> args;
  for (int i = 1; i < argc; ++i) args.push_back(argv[i]);
  if (args.empty()) {
    tcs::print_err(usage());
    return 2;
  }
  if (args[0] == "--driver-probe") return driver_probe_main();
  if (args[0] == "--nvml-probe") return nvml_probe_main();
  if (args[0] == "--nvrtc-probe" && args.size() == 2) return nvrtc_probe_main(args[1].c_str());
  if (args[0] == "--version") return tcs::print_out("tcstack " TCS_VERSION "\n") ? 0 : 3;
  if (args[0] == "help" && args.size() > 1) args = {args[1], "--help"};
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    return tcs::print_out(usage()) ? 0 : 3;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // ignored by who started us, a child's exit status would be lost
#ifdef TCS_FULL
  std::unique_ptr<tcs::Host> host = tcs::make_real_host(tcs::run_foreground);
#else
  std::unique_ptr<tcs::Host> host = tcs::make_real_host();
#endif
  const std::string name = args[0];
  args.erase(args.begin());
  for (const Verb& verb : verbs) {
    if (name != verb.name) continue;
    const int status = verb.run(*host, args);
#ifdef TCS_FULL
    if (status < 0) tcs::die_of(-status);
#endif
    return status;
  }
  return unknown_verb(name);
}
