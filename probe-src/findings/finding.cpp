// SPDX-License-Identifier: Apache-2.0
#include "findings/finding.h"

#include "base/text.h"

namespace tcs {

TCS_DEFINE_VALUE(Finding);
TCS_DEFINE_VALUE(Report);
namespace {

struct ExplainRow {
  int id;
  const char* text;
};
constexpr ExplainRow kExplain[] = {
#define TCS_EXPLAIN(id, text) {id, text},
#include "findings/table.def"
};

constexpr RuleRow kRows[] = {
#define TCS_FINDING(id, slug, layer, severity) {id, slug, Layer::layer, Severity::severity, ""},
#include "findings/table.def"
};

const char* explain_of(int id) {
  for (const auto& row : kExplain)
    if (row.id == id) return row.text;
  return "";
}

}  // namespace

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return "note";
    case Severity::Unknown:
      return "unknown";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      return "error";
  }
  return "";
}

const char* name_of(Layer layer) {
  switch (layer) {
    case Layer::Device:
      return "device";
    case Layer::Driver:
      return "driver";
    case Layer::Toolkit:
      return "toolkit";
    case Layer::HostCompiler:
      return "host-compiler";
    case Layer::Runtime:
      return "runtime";
    case Layer::Torch:
      return "torch";
    case Layer::Python:
      return "python";
    case Layer::Environment:
      return "environment";
    case Layer::Arch:
      return "arch";
    case Layer::Probe:
      return "probe";
  }
  return "";
}

std::string Finding::code() const {
  return cat("TCS", id);
}

const List<RuleRow>& registry() {
  static List<RuleRow> rows;
  if (rows.empty())
    for (const RuleRow& row : kRows) {
      rows.push_back(row);
      rows.back().explain = explain_of(row.id);
    }
  return rows;
}

const RuleRow* find_row(std::string_view id_or_slug) {
  std::string word = lower(id_or_slug);
  if (starts_with(word, "tcs")) word.erase(0, 3);
  for (const auto& row : registry())
    if (word == row.slug || word == cat(row.id)) return &row;
  return nullptr;
}

Finding make_finding(int id, std::string message) {
  Finding finding;
  finding.id = id;
  finding.message = std::move(message);
  for (const auto& row : registry()) {
    if (row.id != id) continue;
    finding.slug = row.slug;
    finding.layer = row.layer;
    finding.severity = row.severity;
  }
  return finding;
}

}  // namespace tcs
