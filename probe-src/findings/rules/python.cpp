// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// A Python that a setting names and that does not answer; perhaps another was taken in its place.
void python_in_vain(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const bool instead = python.state.is("found");
  if (python.reason.empty() || !python.state.known()) return;
  const std::string who =
      instead ? python.reason.substr(0, python.reason.find_first_of(" :")) : python.state.from;
  if (who.empty() || who == "PATH") return;
  Finding& f = report(
      out, 702,
      {who, instead ? ": " + python.executable.value() + " is used" : "", tail(python.reason, 400),
       python.elsewhere.empty() || instead ? "" : python.elsewhere[0]});
  const bool environment = who == "VIRTUAL_ENV" || who == "CONDA_PREFIX";
  const bool harmless = in.facts.torch.state.is("found") || in.request.purpose == "pytorch-source";
  if (harmless && (instead || environment)) f.severity = Severity::Warning;
  add(f, "python", instead ? "another one" : "none", "a Python that answers", who);
  if (instead) add(f, "python", python.executable.value(), "", python.executable.from);
}

// PyTorch's own finding (602) is there as well: this one says where it is instead.
void other_environment(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  if (!in.facts.torch.state.is("absent") || python.elsewhere.empty()) return;
  Finding& f = report(out, 701,
                      {python.executable.or_else("the Python of this build"), python.elsewhere[0]});
  add(f, "python", python_label(python), "torch", python.executable.from);
  for (const auto& other : python.elsewhere) add(f, "python", other, "", "holds a torch");
}

}  // namespace

void rule_python(const RuleInput& in, List<Finding>& out) {
  python_in_vain(in, out);
  if (in.request.purpose != "pytorch-source") other_environment(in, out);
}

}  // namespace tcs
