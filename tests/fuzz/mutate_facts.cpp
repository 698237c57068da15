// SPDX-License-Identifier: Apache-2.0
#include "mutate_facts.h"

#include <algorithm>

#include "base/text.h"

using namespace tcs;

namespace fuzz {
namespace {

// std::mt19937 gives the same numbers everywhere; the library's distributions do not.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  size_t below(size_t n) { return n ? engine_() % n : 0; }
  bool chance(size_t percent) { return below(100) < percent; }
  size_t few() { return 1 + below(chance(80) ? 3 : 20); }

 private:
  std::mt19937 engine_;
};

// --- the file as a tree

void nodes_of(Json& node, std::vector<Json*>& out) {
  out.push_back(&node);
  for (auto& member : node.members) nodes_of(member.second, out);
  for (auto& item : node.items) nodes_of(item, out);
}

Json* some_node(Json& document, Dice& dice, bool with_parts = false) {
  std::vector<Json*> all;
  nodes_of(document, all);
  if (with_parts)
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](Json* n) { return n->members.empty() && n->items.empty(); }),
              all.end());
  return all.empty() ? &document : all[dice.below(all.size())];
}

Json number(const std::string& digits) {
  Json out(0);
  out.text = digits;
  return out;
}

std::string random_utf8(Dice& dice, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    const size_t ranges[] = {0x80, 0x800, 0x10000, 0x110000};
    size_t c = dice.below(ranges[dice.below(4)]);
    if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
    auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | (c >> 6));
      tail(0);
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | (c >> 12));
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0 | (c >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }
  return out;
}

const char* const kWords[] = {"",
                              " ",
                              "none",
                              "absent",
                              "native",
                              "12.4",
                              "99999999999999999999.9",
                              "sm_90a",
                              "compute_120",
                              "sm_999",
                              "12.",
                              ".",
                              "-1",
                              "0",
                              "1.2.3.4.5",
                              "2.6.0+cu124",
                              "%s%n",
                              "../../etc/passwd",
                              "$(reboot)",
                              "]==]",
                              "{0}",
                              "\x1b[31m",
                              "a\nb",
                              "found",
                              "GNU",
                              "8.0;8.6+PTX",
                              "all"};
const char* const kNumbers[] = {"-1",          "-0",
                                "0.5",         "1e3",
                                "1e999",       "00",
                                "1.",          "2147483647",
                                "2147483648",  "4294967296",
                                "209",         "1E+2",
                                "-2147483649", "340282366920938463463374607431768211456"};

Json random_value(Dice& dice) {
  switch (dice.below(9)) {
    case 0:
      return Json();
    case 1:
      return Json(dice.chance(50));
    case 2:
      return number(kNumbers[dice.below(std::size(kNumbers))]);
    case 3:
      return Json(static_cast<int>(dice.below(1000)));
    case 4:
      return Json(std::string(dice.below(dice.chance(2) ? 200000 : 300), 'x'));
    case 5:
      return Json(random_utf8(dice, dice.below(40)));
    case 6:
      return dice.chance(50) ? Json::array() : Json::object();
    default:
      return Json(kWords[dice.below(std::size(kWords))]);
  }
}

void nest(Json& node, size_t depth, bool arrays) {
  for (size_t i = 0; i < depth; ++i) {
    Json outer = arrays ? Json::array() : Json::object();
    if (arrays)
      outer.push(std::move(node));
    else
      outer.add("a", std::move(node));
    node = std::move(outer);
  }
}

void take_part(Json& node, Dice& dice) {
  if (!node.members.empty())
    node.members.erase(node.members.begin() + dice.below(node.members.size()));
  else if (!node.items.empty())
    node.items.erase(node.items.begin() + dice.below(node.items.size()));
}

void repeat_part(Json& node, Dice& dice) {
  if (!node.members.empty()) {
    const auto member = node.members[dice.below(node.members.size())];
    node.members.push_back(member);
    if (dice.chance(50)) node.members.back().first += "2";
  } else if (!node.items.empty()) {
    const Json item = node.items[dice.below(node.items.size())];
    const size_t times = dice.chance(3) ? 300 : dice.few();
    for (size_t i = 0; i < times; ++i) node.items.push_back(item);
  }
}

void rename_member(Json& node, Json& other, Dice& dice) {
  if (node.members.empty()) return;
  Json* source = some_node(other, dice, true);
  node.members[dice.below(node.members.size())].first =
      !source->members.empty() && dice.chance(70)
          ? source->members[dice.below(source->members.size())].first
          : random_utf8(dice, dice.below(8));
}

void change_tree(Json& document, Json& other, Dice& dice) {
  switch (dice.below(9)) {
    case 0:
    case 1:
      return take_part(*some_node(document, dice, true), dice);
    case 2:
      return repeat_part(*some_node(document, dice, true), dice);
    case 3:
    case 4:
      *some_node(document, dice) = random_value(dice);
      return;
    case 5:
      return rename_member(*some_node(document, dice, true), other, dice);
    case 6: {
      const Json moved = *some_node(other, dice);  // of another machine, or of this one
      *some_node(document, dice) = moved;
      return;
    }
    case 7:
      return nest(*some_node(document, dice), dice.chance(90) ? dice.few() : 70, dice.chance(50));
    default: {
      Json* node = some_node(document, dice, true);
      if (node->items.size() > 1)
        std::swap(node->items[0], node->items[dice.below(node->items.size())]);
      else if (node->is(Json::Kind::Object))
        node->add(kWords[dice.below(std::size(kWords))], random_value(dice));
      return;
    }
  }
}

// --- the file as text

void change_bytes(std::string& text, Dice& dice) {
  const size_t count = dice.few();
  for (size_t i = 0; i < count && !text.empty(); ++i) {
    const size_t at = dice.below(text.size());
    switch (dice.below(4)) {
      case 0:
        text[at] = static_cast<char>(dice.below(256));
        break;
      case 1:
        text.erase(at, dice.few());
        break;
      case 2:
        text.insert(at, 1, "{}[]\",:\\0-.eE\t\n\0u"[dice.below(18)]);
        break;
      default:
        text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
    }
  }
}

// Strings, numbers, words and marks.
std::vector<std::pair<size_t, size_t>> tokens_of(const std::string& text) {
  std::vector<std::pair<size_t, size_t>> out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2u : 1u;
      end = std::min(end + 1, text.size());
    } else if (std::string_view("{}[]:,").find(text[at]) == std::string_view::npos) {
      while (end < text.size() && std::string_view("{}[]:,\"").find(text[end]) == std::string::npos)
        ++end;
    }
    out.push_back({at, end - at});
    at = end;
  }
  return out;
}

void change_tokens(std::string& text, const std::string& other, Dice& dice) {
  const char* const marks[] = {
      "{",   "}",   "[",  "]",           ",",           ":",      "null",         "true",
      "NaN", "'a'", "\"", "\"\\ud800\"", "\"\\u0000\"", "// a\n", "\xef\xbb\xbf", "\"\xff\""};
  const auto tokens = tokens_of(text), others = tokens_of(other);
  if (tokens.empty() || others.empty()) return;
  const auto [at, size] = tokens[dice.below(tokens.size())];
  const auto [from, length] = others[dice.below(others.size())];
  switch (dice.below(4)) {
    case 0:
      text.erase(at, size);
      return;
    case 1:
      text.insert(at, text.substr(at, size));
      return;
    case 2:
      text.replace(at, size, other.substr(from, length));
      return;
    default:
      text.insert(dice.chance(90) ? at : 0, marks[dice.below(std::size(marks))]);
  }
}

void change_text(std::string& text, const std::string& other, Dice& dice) {
  const size_t way = dice.below(100);
  if (way < 35) return change_bytes(text, dice);
  if (way < 70) return change_tokens(text, other, dice);
  if (way < 85) return text.resize(dice.below(text.size() + 1));
  if (way < 90)  // two files run together
    text = text.substr(0, dice.below(text.size() + 1)) + other.substr(dice.below(other.size() + 1));
  else if (way < 94)
    text = std::string(1 + dice.below(300), '[') + text;
  else if (way < 97)
    text.insert(dice.below(text.size() + 1), random_utf8(dice, dice.below(30)));
  else
    text.insert(dice.below(text.size() + 1), std::string(dice.below(100000), ' '));
}

}  // namespace

Mutator::Mutator(const std::vector<std::string>& machines) {
  for (const std::string& text : machines) {
    const Result<Json> document = parse_json(text);
    const Json* facts = document ? document->find("facts") : nullptr;
    if (!facts) continue;
    const Json* request = document->find("request");
    machines_.push_back({*facts, request ? *request : Json::object()});
  }
}

MachineFiles Mutator::damaged(unsigned seed) const {
  Dice dice(seed);
  Machine machine = machines_[dice.below(machines_.size())];
  Machine other = machines_[dice.below(machines_.size())];
  const size_t ways = dice.below(100);
  const bool of_request = dice.chance(12);
  Json& tree = of_request ? machine.request : machine.facts;
  Json& source = of_request && dice.chance(70) ? other.request : other.facts;
  if (ways < 75)
    for (size_t i = dice.chance(60) ? 1 : dice.few(); i > 0; --i) change_tree(tree, source, dice);
  MachineFiles out = {write_json(machine.facts, static_cast<int>(dice.below(3))),
                      write_json(machine.request, 0)};
  std::string& text = of_request ? out.request : out.facts;
  if (ways >= 60)
    for (size_t i = 1 + dice.below(2); i > 0; --i) change_text(text, write_json(source, 0), dice);
  return out;
}

}  // namespace fuzz
