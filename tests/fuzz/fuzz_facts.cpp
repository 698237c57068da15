// SPDX-License-Identifier: Apache-2.0
// Any machine {"facts": ..., "request": ...} (the form of tests/machines) goes through `tcstack
// check` and is judged and told in every form, or refused with a place; bytes of another form are a
// facts file. (-close_fd_mask=2: it prints.)
#include "check_machine.h"
#include "emit/emit.h"
#include "emit/forms.h"
#include "emit/plan_cmake.h"
#include "facts/facts_io.h"
#include "fuzz.h"

using namespace tcs;
using fuzz::require;

// set(NAME [==[text]==]) and nothing else: no text may become CMake code.
static void check_cmake(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '#') at = text.find('\n', at) + 1;
    const size_t open = text.find(" [", at), bracket = text.find('[', open + 2);
    require(text.compare(at, 4, "set(") == 0 && open != std::string::npos, "set()", text);
    const std::string close =
        cat("]", text.substr(open + 2, bracket - open - 2), "])\n");  // the same fence
    const size_t end = text.find(close.substr(0, close.size() - 2), bracket + 1);
    require(end != std::string::npos && text.compare(end, close.size(), close) == 0, "fence", text);
    at = end + close.size();
  }
}

static void judge_machine(const Facts& facts, const Request& request) {
  const Plan plan = make_plan(facts, request);
  const Policy policy;
  const Report report = judge(RuleInput{facts, request, plan}, policy);
  for (const Finding& finding : report.findings)
    require(find_row(finding.code()) != nullptr && !finding.message.empty(),
            "a registered finding");
  require(bool(parse_json(write_json(report_json(report, facts, plan)))), "a report that is JSON");
  require(!report_text(report, facts, plan).empty() && !summary_line(report, facts, plan).empty(),
          "a text");
  check_cmake(plan_cmake({facts, request, plan, report, policy, "/dir", "/toolkit"}));
  std::string text, note;
  for (const std::string& form : split(kPlanForms, ", "))
    require(plan_form(plan, form, text, note), "a form", form);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string facts_file(reinterpret_cast<const char*>(data), size), request_file = "{}";
  if (const Result<Json> machine = parse_json(facts_file)) {
    const Json *given = machine->find("facts"), *asked = machine->find("request");
    if (asked) request_file = write_json(*asked);
    if (given) facts_file = write_json(*given);
  }
  const char* format = size % 2 ? "json" : "text";
  const fuzz::Answer answer = fuzz::check_machine(facts_file, request_file, format);
  const std::string wrong = fuzz::wrong_answer(answer.status, answer.out, answer.err);
  require(wrong.empty(), "an answer of check", wrong);

  List<std::string> unknown;
  Result<Facts> facts = read_facts(facts_file, unknown);
  Result<Request> request = read_request(request_file, unknown);
  require((facts && request) == (answer.status != 2), "check reads what the reader reads");
  if (!facts || !request) return 0;
  const std::string written = write_json(facts_to_json(*facts));
  Result<Facts> again = read_facts(written, unknown);
  require(again && write_json(facts_to_json(*again)) == written, "facts read again", written);
  judge_machine(*facts, *request);
  return 0;
}
