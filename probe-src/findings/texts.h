// SPDX-License-Identifier: Apache-2.0
// The words of table.def, and the same in Chinese: zh.def. What JSON holds is English, always.
#pragma once
#include <string>

#include "findings/finding.h"

namespace tcs {

enum class Language { English, Chinese };

struct TextRow {
  int id;
  char kind;  // s: message, n: note, h: help, e: what explain prints
  const char* text;
};
struct TextRows {
  const TextRow *first, *last;
  const TextRow* begin() const { return first; }
  const TextRow* end() const { return last; }
};
TextRows texts_of(Language language);  // messages, notes and help
TextRows pages_of(Language language);  // what explain prints
// The page in that language, in English where there is none.
const char* explain_text(int id, Language language);

// False when an argument that the text depends on is empty. Placeholders: see table.def.
bool fill(const char* text, const List<std::string>& args, Language language, std::string& out);
// Message, notes and help of `f` in English, from its words.
void word(Finding& f);

// One line of printable text: whatever comes from outside is escaped, and what zh.def knows is
// said in that language. A clause that it does not know stays as it is.
std::string said(std::string_view text, Language language);
// The finding as it is printed.
Finding said(const Finding& f, Language language);

// Chinese as it is set: a space between a word of Latin letters and a character, none elsewhere.
std::string spaced(const std::string& text);

struct Phrase {
  const char *english, *chinese;  // {0} ... stand for anything, and are said in turn
};
struct Phrases {
  const Phrase *first, *last;
  const Phrase* begin() const { return first; }
  const Phrase* end() const { return last; }
};
Phrases phrases();

}  // namespace tcs
