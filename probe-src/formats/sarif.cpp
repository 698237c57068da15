// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "formats/formats.h"

namespace tcs {
namespace {

// What the section on `kind` of the standard asks for: insufficient information is "open", and a
// result that is no failure has no level.
Json& add_level(Json& result, Severity severity) {
  if (severity == Severity::Unknown) return result.add("kind", "open").add("level", "none");
  return result.add("level", severity == Severity::Error     ? "error"
                             : severity == Severity::Warning ? "warning"
                                                             : "note");
}

Json text_object(const std::string& text) {
  return std::move(Json::object().add("text", text));
}

Json rule_json(int id) {
  const RuleRow& row = *find_row(std::to_string(id));
  const Finding f = make_finding(id, "");
  const std::string text = explain_text(id, Language::English);
  Json level = Json::object();
  level.add("level", row.severity == Severity::Error     ? "error"
                     : row.severity == Severity::Warning ? "warning"
                                                         : "note");
  Json rule = Json::object();
  rule.add("id", f.code()).add("name", row.slug);
  rule.add("shortDescription", text_object(replace_all(row.slug, "-", " ")));
  rule.add("help", text_object(text)).add("defaultConfiguration", std::move(level));
  return rule;
}

// The same trouble on the same machine is the same result in the next run.
std::string fingerprint(const Checked& judged, const Finding& f) {
  return std::to_string(fnv1a(cat(judged.machine, "\n", f.code(), "\n", f.message)));
}

// RFC 3986: what is neither unreserved nor a slash is percent-encoded.
std::string uri(const std::string& path) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += cat("%", std::string(1, digits[byte >> 4]), std::string(1, digits[byte & 15]));
  }
  return out;
}

Json place_json(const FormInput& in) {
  Json region = Json::object(), physical = Json::object(), location = Json::object();
  region.add("startLine", in.line);
  physical.add("artifactLocation", std::move(Json::object().add("uri", uri(in.file))));
  physical.add("region", std::move(region));
  location.add("physicalLocation", std::move(physical));
  return location;
}

Json result_json(const FormInput& in, const Checked& judged, const Finding& f, int rule) {
  Json result = Json::object();
  result.add("ruleId", f.code()).add("ruleIndex", rule);
  add_level(result, f.severity);
  std::string text = said(f.message, Language::English);
  for (const std::string& note : f.notes) text += "\nnote: " + said(note, Language::English);
  for (const std::string& help : f.help) text += "\nhelp: " + said(help, Language::English);
  result.add("message", text_object(text));
  Json places = Json::array();
  if (!in.file.empty()) places.push(place_json(in));
  result.add("locations", std::move(places));
  Json prints = Json::object();
  prints.add("tcstack/v1", fingerprint(judged, f));
  result.add("partialFingerprints", std::move(prints));
  if (!judged.machine.empty())
    result.add("properties", std::move(Json::object().add("machine", judged.machine)));
  return result;
}

}  // namespace

std::string sarif_json(const FormInput& in) {
  List<int> ids;
  Json rules = Json::array(), results = Json::array();
  for (const Checked& judged : in.judged)
    for (const Finding& f : judged.report.findings) {
      int at = 0;
      while (at < static_cast<int>(ids.size()) && ids[static_cast<size_t>(at)] != f.id) ++at;
      if (at == static_cast<int>(ids.size())) {
        ids.push_back(f.id);
        rules.push(rule_json(f.id));
      }
      results.push(result_json(in, judged, f, at));
    }
  Json driver = Json::object(), tool = Json::object(), run = Json::object(), log = Json::object();
  driver.add("name", "tcstack").add("version", TCS_VERSION).add("rules", std::move(rules));
  tool.add("driver", std::move(driver));
  run.add("tool", std::move(tool)).add("columnKind", "unicodeCodePoints");
  run.add("results", std::move(results));
  log.add("$schema", "https://json.schemastore.org/sarif-2.1.0.json").add("version", "2.1.0");
  log.add("runs", std::move(Json::array().push(std::move(run))));
  return write_json(log) + "\n";
}

}  // namespace tcs
