// SPDX-License-Identifier: Apache-2.0
#include "findings/texts.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "tables/tables.h"

namespace tcs {
namespace {

constexpr TextRow kEnglish[] = {
#define TCS_SAY(id, text) {id, 's', text},
#define TCS_NOTE(id, text) {id, 'n', text},
#define TCS_HELP(id, text) {id, 'h', text},
#include "findings/table.def"
};
constexpr TextRow kChinese[] = {
#define TCS_SAY(id, text) {id, 's', text},
#define TCS_NOTE(id, text) {id, 'n', text},
#define TCS_HELP(id, text) {id, 'h', text},
#include "findings/zh.def"
};
constexpr TextRow kEnglishPages[] = {
#define TCS_EXPLAIN(id, text) {id, 'e', text},
#include "findings/table.def"
};
constexpr TextRow kChinesePages[] = {
#define TCS_EXPLAIN(id, text) {id, 'e', text},
#include "findings/zh.def"
};
constexpr Phrase kPhrases[] = {
#define TCS_PHRASE(english, chinese) {english, chinese},
#include "findings/zh.def"
};

template <size_t n>
TextRows rows(const TextRow (&list)[n]) {
  return {list, list + n};
}

// The text that stands for kEnglish[at]: of the same id and kind, at the same place among them.
const char* chinese_for(const TextRow& english) {
  int before = 0;
  for (const TextRow* row = kEnglish; row != &english; ++row)
    before += row->id == english.id && row->kind == english.kind;
  for (const TextRow& row : kChinese)
    if (row.id == english.id && row.kind == english.kind && before-- == 0) return row.text;
  return nullptr;
}

bool is_slot(const char* text) {
  return text[0] == '{' && text[1] >= '0' && text[1] <= '9' && text[2] == '}';
}

// Whether `text` is `pattern`; a slot takes as little as it can, and never nothing.
bool matches(const char* pattern, std::string_view text, List<std::string>& slots) {
  for (; *pattern != '\0' && !is_slot(pattern); ++pattern) {
    if (text.empty() || text[0] != *pattern) return false;
    text.remove_prefix(1);
  }
  if (*pattern == '\0') return text.empty();
  const size_t slot = static_cast<size_t>(pattern[1] - '0');
  while (slots.size() <= slot) slots.add();
  // {7}, {8} and {9} are words.
  const size_t most = slot >= 7 ? std::min(text.find(' '), text.size()) : text.size();
  for (size_t taken = 1; taken <= most; ++taken) {
    if (pattern[3] == '\0') taken = most;
    slots[slot] = std::string(text.substr(0, taken));
    if (matches(pattern + 3, text.substr(taken), slots)) return true;
  }
  return false;
}

constexpr size_t kLongest = 400;  // of what is looked for: slots make the search a product

std::string phrase(const std::string& text, int depth) {
  if (text.empty() || text.size() > kLongest || depth > 6) return text;
  for (const Phrase& row : kPhrases) {
    List<std::string> slots;
    if (!matches(row.english, text, slots)) continue;
    for (std::string& slot : slots) slot = phrase(slot, depth + 1);
    std::string out;
    (void)fill(row.chinese, slots, Language::Chinese, out);
    return out;
  }
  return text;
}

std::string text_of(const Finding& f, char kind, const std::string& text) {
  List<std::string> words;
  for (const TextRow& row : kEnglish) {
    std::string english, chinese;
    if (row.id != f.id || row.kind != kind) continue;
    (void)fill(row.text, f.words, Language::English, english);
    const char* other = english == text ? chinese_for(row) : nullptr;
    if (other == nullptr) continue;
    for (const std::string& value : f.words) words.push_back(said(value, Language::Chinese));
    (void)fill(other, words, Language::Chinese, chinese);
    return spaced(chinese);
  }
  return said(text, Language::Chinese);
}

}  // namespace

TextRows texts_of(Language language) {
  return language == Language::English ? rows(kEnglish) : rows(kChinese);
}

TextRows pages_of(Language language) {
  return language == Language::English ? rows(kEnglishPages) : rows(kChinesePages);
}

Phrases phrases() {
  return {kPhrases, kPhrases + sizeof kPhrases / sizeof *kPhrases};
}

const char* explain_text(int id, Language language) {
  for (const TextRow& row : pages_of(language))
    if (row.id == id) return row.text;
  return language == Language::English ? "" : explain_text(id, Language::English);
}

bool fill(const char* text, const List<std::string>& args, Language language, std::string& out) {
  bool whole = true;
  for (const char* c = text; *c; ++c) {
    if (starts_with(c, "{@}")) {
      out += language == Language::English ? cat("tables of ", kTablesDate)
                                           : cat("依据 ", kTablesDate, " 的数据表");
      c += 2;
      continue;
    }
    const bool digit = *c == '{' && c[1] >= '0' && c[1] <= '9';
    const char mode = digit ? c[2] : 0;
    if (mode != '}' && mode != '?' && mode != '*') {
      out += *c;
      continue;
    }
    const size_t i = static_cast<size_t>(c[1] - '0');
    const std::string value = i < args.size() ? args[i] : std::string();
    if (mode != '*' && value.empty()) whole = false;
    if (mode != '?') out += value;
    c += mode == '}' ? 2 : 3;
  }
  return whole;
}

void word(Finding& f) {
  for (const auto& row : kEnglish) {
    std::string text;
    if (row.id != f.id || (!fill(row.text, f.words, Language::English, text) && row.kind != 's'))
      continue;
    if (row.kind == 's') f.message = text;
    if (row.kind == 'n') f.notes.push_back(text);
    if (row.kind == 'h') f.help.push_back(text);
  }
}

std::string said(std::string_view text, Language language) {
  const std::string clean = ascii(replace_all(replace_all(text, "\n", " "), "\t", " "));
  return language == Language::English ? clean : spaced(phrase(clean, 0));
}

std::string spaced(const std::string& text) {
  enum class Is { None, Space, Mark, Character, Latin, Other };
  const auto kind_of = [](std::string_view c) {
    if (c == " ") return Is::Space;
    if (c.size() > 1) return contains("，。；：、！？（）《》", c) ? Is::Mark : Is::Character;
    const char letter = static_cast<char>(c[0] | 0x20);
    const bool latin = (c[0] >= '0' && c[0] <= '9') || (letter >= 'a' && letter <= 'z');
    return latin ? Is::Latin : Is::Other;
  };
  std::string out;
  bool space = false;
  Is last = Is::None;
  for (size_t i = 0; i < text.size();) {
    const size_t length = std::max<size_t>(utf8_length(std::string_view(text).substr(i)), 1);
    const std::string c = text.substr(i, length);
    const Is is = kind_of(c);
    i += length;
    if (is == Is::Space) {
      if (space) out += ' ';
      space = true;
      continue;
    }
    const bool wide = last == Is::Character && is == Is::Character;
    const bool meet =
        (last == Is::Character && is == Is::Latin) || (last == Is::Latin && is == Is::Character);
    if ((space && last != Is::Mark && is != Is::Mark && !wide) || (!space && meet)) out += ' ';
    out += c;
    last = is;
    space = false;
  }
  return out;
}

Finding said(const Finding& f, Language language) {
  Finding out = f;
  const bool chinese = language == Language::Chinese;
  const auto text = [&](char kind, const std::string& english) {
    return chinese ? text_of(f, kind, english) : said(english, language);
  };
  out.message = text('s', f.message);
  for (std::string& note : out.notes) note = text('n', note);
  for (std::string& help : out.help) help = text('h', help);
  for (Evidence& e : out.evidence)
    for (std::string* cell : {&e.layer, &e.has, &e.needs, &e.from}) *cell = said(*cell, language);
  return out;
}

}  // namespace tcs
