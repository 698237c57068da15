// SPDX-License-Identifier: Apache-2.0
// Findings: values until an emitter prints them.
#pragma once
#include <string>

#include "base/list.h"
#include "facts/facts.h"
#include "plan/plan.h"

namespace tcs {

enum class Severity { Note, Unknown, Warning, Error };
enum class Layer {
  Device,
  Driver,
  Toolkit,
  HostCompiler,
  Runtime,
  Torch,
  Python,
  Environment,
  Arch,
  Probe
};
const char* name_of(Severity severity);  // note unknown warning error
const char* name_of(Layer layer);        // device driver toolkit host-compiler runtime torch ...

// One row of the table under a finding's first line.
struct Evidence {
  TCS_COPIED(Evidence);
  std::string layer;
  std::string has;
  std::string needs;  // may be empty for all rows: the column is left out then
  std::string from;
};

// Text rules: `message` is one fact that stands alone, lower case start unless a proper name, no
// full stop; the fix only in `help`; ASCII; lines are wrapped by the emitter, never here.
struct Finding {
  TCS_VALUE(Finding);
  int id = 0;  // 601
  const char* slug = "";
  Layer layer = Layer::Probe;
  Severity severity = Severity::Error;
  std::string message;
  List<Evidence> evidence;
  List<std::string> notes;
  List<std::string> help;
  List<std::string> words;         // what the rule found, for {0} ... of its texts
  List<std::string> missing;       // of an unknown one: the facts, "driver.cuda" (docs/facts.md)
  List<std::string> consequences;  // codes of what it silenced, sorted, never its own
  int caused_by = 0;               // silent beside this one too: a cause that only the rule can see
  std::string code() const;        // "TCS601"
};

struct RuleInput {
  const Facts& facts;
  const Request& request;
  const Plan& plan;
};
using Rule = void (*)(const RuleInput& in, List<Finding>& out);

// The registry, one row an id: findings/table.def.
struct RuleRow {
  int id;
  const char* slug;
  Layer layer;
  Severity severity;  // the usual one; a rule may lower or raise it
  const char* explain;
};
const List<RuleRow>& registry();
const RuleRow* find_row(
    std::string_view id_or_slug);                   // "TCS601", "601", "torch-lacks-device-image"
Finding make_finding(int id, std::string message);  // severity, slug, layer from the registry

struct Policy {
  Severity fail_on = Severity::Error;
  bool never = false;         // --fail-on never
  bool may_be_empty = false;  // no plan is no failure: nobody has asked for one yet
  List<std::string> allow;    // ids or slugs: reported as notes
  List<Layer>
      components;  // the components asked for, empty = all; what others have to say is a note
};

// Does it fail under this policy? A note never does: what was allowed is a note.
bool reaches(const Finding& finding, const Policy& policy);

struct Report {
  TCS_VALUE(Report);
  std::string outcome;  // ok | warn | fail
  bool complete = true;
  List<Finding> findings;  // sorted: severity high to low, then id, then message
};
// Runs every rule, applies the policy, silences consequences of a root cause, and makes what is
// missing in one layer one finding.
Report judge(const RuleInput& in, const Policy& policy);

}  // namespace tcs
