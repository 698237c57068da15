// SPDX-License-Identifier: Apache-2.0
// The Chinese texts are all there, with the placeholders, numbers and commands of the English ones.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "findings/texts.h"
#include "tables/tables.h"

using namespace tcs;

namespace {

using Words = std::set<std::string>;

// The texts of each finding and kind, in their order.
std::map<std::pair<int, char>, std::vector<std::string>> by_finding(const TextRows& rows) {
  std::map<std::pair<int, char>, std::vector<std::string>> out;
  for (const TextRow& row : rows) out[{row.id, row.kind}].push_back(row.text);
  return out;
}

// {1} and {1?} ask for the same: a word of English may have none in Chinese.
Words placeholders(const std::string& text) {
  Words out;
  for (size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const std::string one = text.substr(at, text.find('}', at) + 1 - at);
    if (one.size() < 5 && one.size() > 2) out.insert(replace_all(one, "?", ""));
  }
  return out;
}

bool is_chinese(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i));
    if (length > 2) return true;
    i += std::max<size_t>(length, 1);
  }
  return false;
}

bool is_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

// What nobody translates: options, variables, paths, targets, ids, `commands` and quoted messages.
Words verbatim(const std::string& english) {
  Words out;
  const Words meant = {"\"none\"", "\"all is well\""};  // words of ours, no message
  for (const char quote : {'`', '"'})
    for (size_t at = english.find(quote); at != std::string::npos;) {
      const size_t end = english.find(quote, at + 1);
      if (end == std::string::npos) break;
      if (contains(english.substr(at, end - at), "<")) break;
      const std::string quoted = english.substr(at, end + 1 - at);
      if (meant.count(quoted) == 0) out.insert(quoted);
      at = english.find(quote, end + 1);
    }
  for (std::string word : split(english, " ")) {
    word = word.substr(0, word.find('<'));  // <path>, <the others>
    word = word.substr(0, word.find('{'));
    while (!word.empty() && contains("(\"`'", word.substr(0, 1))) word.erase(0, 1);
    while (!word.empty() && contains(".,;:?)\"`'", word.substr(word.size() - 1))) word.pop_back();
    const bool option = starts_with(word, "-D") || starts_with(word, "--");
    if (word.size() > 3 && (option || contains(word, "_") || contains(word, "::") ||
                            starts_with(word, "/") || starts_with(word, "TCS")))
      out.insert(word);
  }
  return out;
}

// 12.9, 525.60.13 and 209: what a translation may get wrong and no reader would notice.
Words numbers(const std::string& text) {
  Words out;
  std::string one;
  for (const char c : text + " ") {
    if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && !one.empty())) {
      one += c;
      continue;
    }
    while (!one.empty() && one.back() == '.') one.pop_back();
    if (one.size() > 1) out.insert(one);
    one.clear();
  }
  return out;
}

Words lacking(const Words& wanted, const std::string& text) {
  Words out;
  for (const std::string& word : wanted)
    if (!contains(text, word)) out.insert(word);
  return out;
}

std::string in_words(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += cat(" ", word);
  return out;
}

// Placeholders and commands alone have nothing to translate.
bool has_words(const std::string& english) {
  return english.find_first_not_of("{}0123456789?*@ ") != std::string::npos &&
         !starts_with(english, "export ");
}

std::string wrong(const std::string& table, const std::string& translated) {
  const std::string english = replace_all(table, "\n", " ");
  const std::string chinese = replace_all(translated, "\n", " ");
  if (!is_utf8(chinese)) return "is not UTF-8";
  if (has_words(english) && !is_chinese(chinese)) return "is not translated";
  if (placeholders(english) != placeholders(chinese)) return "has other placeholders";
  if (const Words words = lacking(verbatim(english), chinese); !words.empty())
    return "lacks" + in_words(words);
  if (const Words words = lacking(numbers(english), chinese); !words.empty())
    return "lacks the number" + in_words(words);
  return "";
}

}  // namespace

TEST_CASE("each message, note and help of a finding is there in Chinese, and so is its page") {
  for (const auto& [english, chinese] :
       {std::make_pair(texts_of(Language::English), texts_of(Language::Chinese)),
        std::make_pair(pages_of(Language::English), pages_of(Language::Chinese))}) {
    const auto ours = by_finding(english), theirs = by_finding(chinese);
    for (const auto& [key, texts] : theirs) {
      INFO("TCS" << key.first << " " << key.second << " of zh.def is not in table.def");
      CHECK(ours.count(key) == 1);
    }
    for (const auto& [key, texts] : ours) {
      INFO("TCS" << key.first << " " << key.second);
      REQUIRE(theirs.count(key) == 1);
      const auto& others = theirs.at(key);
      REQUIRE(others.size() == texts.size());
      for (size_t i = 0; i < texts.size(); ++i) {
        INFO(texts[i] << "\n" << others[i]);
        CHECK(wrong(texts[i], others[i]) == "");
      }
    }
  }
  CHECK(by_finding(pages_of(Language::Chinese)).size() == registry().size());
}

TEST_CASE("a text that has lost a placeholder, a number, a command or its translation is noticed") {
  CHECK(wrong("install {9} ({@})", "安装 {9}") == "has other placeholders");
  CHECK(wrong("use {1*} now", "现在使用 {1}") == "has other placeholders");
  CHECK(wrong("{0} is {1} old", "{0} 很旧{1?}") == "");
  CHECK(wrong("it ends with 12.9", "到 12.8 为止") == "lacks the number 12.9");
  CHECK(wrong("leave it: -DTorchCudaStack_ALLOW=TCS303",
              "保持现状：-DTorchCudaStack_ALLOW=TCS304") == "lacks -DTorchCudaStack_ALLOW=TCS303");
  CHECK(wrong("see `dmesg | grep xid`", "查看 `dmesg`") == "lacks `dmesg | grep xid`");
  CHECK(wrong("there is no PyTorch here", "there is no PyTorch here") == "is not translated");
  CHECK(wrong("{2}", "{2}") == "");
  CHECK(wrong("no", "\xe6\xb2") == "is not UTF-8");
}

TEST_CASE("each clause that has a row is said as the row says, with the slots of the English one") {
  std::set<std::string> seen;
  for (const Phrase& row : phrases()) {
    INFO(row.english);
    CHECK(seen.insert(row.english).second);
    CHECK(is_utf8(row.chinese));
    CHECK(placeholders(row.english) == placeholders(row.chinese));
    if (placeholders(row.english).empty())
      CHECK(said(row.english, Language::Chinese) == spaced(row.chinese));
  }
}

TEST_CASE("what the driver's errors mean, and what to do, has a row each") {
  struct Row {
    const char *meaning, *help;
  };
  const Row rows[] = {
#define TCS_DRIVER_ERROR(code, finding, name, meaning, help) {meaning, help},
#define TCS_NVML_ERROR(code, meaning) {meaning, meaning},
#include "tables/driver_errors.def"
  };
  for (const Row& row : rows)
    for (const char* text : {row.meaning, row.help}) {
      INFO(text);
      CHECK(wrong(text, said(text, Language::Chinese)) == "");
    }
}

TEST_CASE("what layers and severities are called has a row each") {
  for (const RuleRow& row : registry()) {
    if (row.layer != Layer::Torch && row.layer != Layer::Python)
      CHECK(is_chinese(said(name_of(row.layer), Language::Chinese)));
    CHECK(is_chinese(said(name_of(row.severity), Language::Chinese)));
  }
}

TEST_CASE("slots of a row are said in their turn, and what has no row stays") {
  const auto zh = [](const char* text) { return said(text, Language::Chinese); };
  CHECK(zh("CUDA 12, which the installed PyTorch uses") == "已安装的 PyTorch 所用的 CUDA 12");
  CHECK(zh("NVIDIA H100, compute 9.0") == "NVIDIA H100，计算能力 9.0");
  CHECK(zh("nvcc 12.4 in /opt/a b") == "nvcc 12.4，位于 /opt/a b");
  CHECK(zh("nothing of the kind was ever said") == "nothing of the kind was ever said");
  CHECK(zh("") == "");
}

TEST_CASE("a long text from outside costs no time: it is looked for no more") {
  const std::string text = std::string(100000, 'a') + ", compute 9.0";
  CHECK(said(text, Language::Chinese) == text);
}

TEST_CASE("text from outside is escaped in Chinese too, whatever it looks like") {
  Finding f = make_finding(604, "");
  f.words = {"PyTorch \xe4\xb8\xad\x1b[31m", "a\nb"};
  word(f);
  const Finding shown = said(f, Language::Chinese);
  CHECK(shown.message == "PyTorch \\xe4\\xb8\\xad\\x1b[31m 已损坏，或只有一部分");
  CHECK(shown.notes == List<std::string>{"a b"});
  CHECK(said("\xe4\xb8\xad", Language::Chinese) == "\\xe4\\xb8\\xad");
}

TEST_CASE("what a rule wrote over a message or added to it is said as a clause") {
  Finding f = make_finding(604, "something that no table has");
  f.notes.push_back("allowed by the request, so it is a note here");
  const Finding shown = said(f, Language::Chinese);
  CHECK(shown.message == "something that no table has");
  CHECK(shown.notes == List<std::string>{"请求中已放行，所以在这里只是说明"});
}

TEST_CASE("Latin words stand apart from Chinese by a space, and nothing else does") {
  CHECK(spaced("没有判断nvcc 的版本") == "没有判断 nvcc 的版本");
  CHECK(spaced("而 驱动 535 最高") == "而驱动 535 最高");
  CHECK(spaced("代码： 6.1 （见下） 。") == "代码：6.1（见下）。");
  CHECK(spaced("a  b -c") == "a  b -c");
}
