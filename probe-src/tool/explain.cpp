// SPDX-License-Identifier: Apache-2.0
// `tcstack explain ID`: what a finding means, why, how to see it oneself, ways out, an example.
#include "base/text.h"
#include "findings/finding.h"
#include "tool/verbs.h"

namespace tcs {
namespace {

std::string example_of(const RuleRow& of) {
  constexpr struct {
    int id;
    const char* text;
  } rows[] = {
#define TCS_EXAMPLE(id, text) {id, text},
#include "findings/examples.def"
  };
  for (const auto& row : rows)
    if (row.id == of.id) return cat("Example:\n", row.text);
  return {};
}

std::string list_all() {
  std::string out;
  for (const auto& row : registry()) {
    std::string slug = row.slug;
    slug.append(slug.size() < 34 ? 34 - slug.size() : 1, ' ');
    out += cat("TCS", row.id, "  ", slug, " ", name_of(row.layer), "\n");
  }
  return out;
}

std::string nearest(const std::string& word) {
  List<std::string> names;
  for (const auto& row : registry()) {
    if (contains(row.slug, lower(word))) return cat("; the nearest is TCS", row.id, " ", row.slug);
    names.append({row.slug, cat("TCS", row.id)});
  }
  const RuleRow* best = find_row(closest(word, names, 40));
  return best != nullptr ? cat("; the nearest is TCS", best->id, " ", best->slug) : std::string();
}

}  // namespace

int verb_explain(Host&, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, {}, "tcstack explain [ID | SLUG]...", options, status)) return status;
  if (options.words.empty()) return print_out(list_all()) ? 0 : 3;
  std::string out;
  for (const auto& word : options.words) {
    if (!out.empty()) out += "\n";
    const RuleRow* row = find_row(word);
    if (!row) {
      const std::string asked = tail(word, 60);
      print_err(cat("tcstack explain: there is no finding '", asked, "'", nearest(word), "\n"));
      return 2;
    }
    out += cat("TCS", row->id, " ", row->slug, " (", name_of(row->layer), ", ",
               name_of(row->severity), ")\n\n", trim(row->explain), "\n", example_of(*row));
  }
  return print_out(out) ? 0 : 3;
}

}  // namespace tcs
