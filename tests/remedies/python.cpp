// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/python.def does.
#include "base/text.h"
#include "remedy.h"
#include "tables/tables.h"

namespace tcs::remedies {
namespace {

// Another interpreter, in an environment of its own that holds a PyTorch for this machine.
void use_python(Machine& m, const std::string& path) {
  PythonFacts& python = m.facts.python;
  python.state = "found";
  python.executable = Text(path, "Python_EXECUTABLE");
  python.version = "3.12.3";
  python.kind = "venv";
  python.free_threaded = false;
  python.reason.clear();
  m.facts.environment.erase("CONDA_PREFIX");
  m.facts.environment.erase("VIRTUAL_ENV");
  m.facts.extensions_known = false;
  m.forgot = true;
  fitting_torch(m);
}

void use_1(Machine& m, const Words& w) {
  use_python(m, w[1]);
}

void use_3(Machine& m, const Words& w) {
  use_python(m, w[3]);
}

void use_another(Machine& m, const Words&) {
  use_python(m, "/opt/env/bin/python3");
}

// "free-threaded Python 3.13"
void use_python_of_1(Machine& m, const Words& w) {
  PythonFacts& python = m.facts.python;
  python.version = cat(w[1].substr(w[1].rfind(' ') + 1), ".1");
  python.free_threaded = starts_with(w[1], "free-threaded");
  python.executable = "/opt/other/bin/python3";
}

void torch_for_python(Machine& m, const Words& w) {
  const std::string digits = replace_all(w[3].substr(w[3].rfind(' ') + 1), ".", "");
  if (!w[4].empty()) {
    const size_t at = w[4].find("==") + 2;
    install_torch(m, w[4].substr(at, w[4].find(' ', at) - at), m.facts.torch.cuda.value());
  }
  m.facts.torch.python_tag = cat("cp", digits, starts_with(w[3], "free-threaded") ? "t" : "");
}

void torch_in_environment(Machine& m, const Words&) {
  m.facts.environment["PYTHONNOUSERSITE"] = "1";
  m.facts.torch.root = m.facts.environment["CONDA_PREFIX"] + "/lib/python3.12/site-packages/torch";
}

void deactivate(Machine& m, const Words&) {
  m.facts.environment.erase("CONDA_PREFIX");
}

// Where there was none, nothing was known of what is beside it.
void own_torch(Machine& m, const Words&) {
  m.forgot = true;
  fitting_torch(m);
}

void not_isolated(Machine& m, const Words&) {
  m.facts.python.kind = "venv";
  own_torch(m, {});
}

}  // namespace

Effects python_effects() {
  return {
      {701, "name the interpreter", Way::Mends, use_1},
      {701, "or activate", Way::Mends, use_another},
      {702, "name the one that holds", Way::Mends, use_3},
      {702, "run it by hand", Way::Looks, nullptr},
      {702, "or name another", Way::Mends, use_another},
      {703, "use {1}", Way::Mends, use_python_of_1},
      {703, "or install one for", Way::Mends, torch_for_python},
      {704, "keep the user's folder out", Way::Mends, torch_in_environment},
      {704, "use one of them", Way::Mends, deactivate},
      {705, "build in the environment", Way::Mends, not_isolated},
      {705, "or let the build bring", Way::Mends, own_torch},
      {790, "name the interpreter", Way::Looks, nullptr},
  };
}

}  // namespace tcs::remedies
