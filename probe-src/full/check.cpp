// SPDX-License-Identifier: Apache-2.0
// `tcstack check` of the full tool.
#include "base/text.h"
#include "drive/serves.h"
#include "formats/formats.h"
#include "full/verbs.h"
#include "tool/asked.h"

namespace tcs {

namespace {

std::string more_of_source(const Facts& facts, const Request& request, const Plan& plan) {
  const std::string text =
      request.purpose == "pytorch-source" ? serves_text(facts, plan) : std::string();
  return text.empty() ? text : "\n" + text;
}

// What a code host can show a remark at where nothing is named: the file that builds are made of.
std::string file_that_asks(const Host& host) {
  for (const char* name : {"CMakeLists.txt", "pyproject.toml", "setup.py"})
    if (host.stat(path_join(host.cwd(), name)).is_file()) return name;
  return "";
}

Result<Done> take_place(const std::string& given, FormInput& in) {
  const size_t colon = given.rfind(':');
  uint64_t line = 1;
  in.file = given;
  if (colon != std::string::npos) {
    if (!parse_number(given.substr(colon + 1), 1000000000, line) || line == 0)
      return Error{cat("'", tail(given.substr(colon + 1), 40), "' is no line"), "--at"};
    in.file.resize(colon);
  }
  in.line = static_cast<int>(line);
  if (in.file.empty()) return Error{"names no file", "--at"};
  return Done{};
}

Result<std::string> formed(const Host& host, const Asked& asked, const std::string& form,
                           const List<Checked>& judged) {
  FormInput in = {judged, asked.policy, asked.language, file_that_asks(host), 1};
  if (asked.options.has("--at")) {
    Result<Done> taken = take_place(asked.options.get("--at"), in);
    if (!taken) return taken.error();
  }
  if (form == "junit") return junit_xml(in);
  if (form == "sarif") return sarif_json(in);
  return form == "github" ? github_commands(in) : markdown(in);
}

}  // namespace

int verb_full_check(Host& host, const List<std::string>& args) {
  return answer_check(host, args, {more_of_source, formed});
}

}  // namespace tcs
