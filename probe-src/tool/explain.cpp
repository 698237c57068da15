// SPDX-License-Identifier: Apache-2.0
// `tcstack explain ID`: what a finding means, why, how to see it oneself, ways out, an example.
#include "base/text.h"
#include "findings/texts.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {
namespace {

constexpr TextRow kExamples[] = {
#define TCS_EXAMPLE(id, text) {id, 'x', text},
#include "findings/examples.def"
};
constexpr TextRow kChineseExamples[] = {
#define TCS_EXAMPLE(id, text) {id, 'x', text},
#include "findings/zh/examples.def"
};

std::string example_of(const RuleRow& of, Language language) {
  if (language == Language::Chinese)
    for (const TextRow& row : kChineseExamples)
      if (row.id == of.id) return cat("示例：\n", row.text);
  for (const TextRow& row : kExamples)
    if (row.id == of.id) return cat("Example:\n", row.text);
  return {};
}

Result<Language> language_for(const Host& host, const Options& options) {
  if (!options.has("--lang")) return make_language(host, Inputs());
  return language_named(options.get("--lang"));
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

int verb_explain(Host& host, const List<std::string>& args) {
  Options options;
  int status = 0;
  const List<OptionSpec> specs = {
      {"--lang", "WORD", "of what is printed: en or zh; else the locale's", false}};
  if (!parse_options(args, specs, "tcstack explain [--lang WORD] [ID | SLUG]...", options, status))
    return status;
  const Result<Language> language = language_for(host, options);
  if (!language) {
    print_err(cat("tcstack explain: ", language.error().str(), "\n"));
    return 2;
  }
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
    out += cat("TCS", row->id, " ", row->slug, " (", said(name_of(row->layer), *language), ", ",
               said(name_of(row->severity), *language), ")\n\n",
               trim(explain_text(row->id, *language)), "\n", example_of(*row, *language));
  }
  return print_out(out) ? 0 : 3;
}

}  // namespace tcs
