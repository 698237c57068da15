// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include "base/text.h"
#include "base/utf8.h"

namespace tcs {

TCS_DEFINE_VALUE(Json);
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json&&) noexcept = default;

const Json* Json::find(std::string_view name) const {
  for (const auto& member : members) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

Json& Json::add(const Piece& name, Json value) {
  members.push_back({cat(name), std::move(value)});
  return *this;
}
Json& Json::add(const Piece& name, const std::string& value) {
  return add(name, Json(value));
}
Json& Json::add(const Piece& name, const char* value) {
  return add(name, Json(value));
}

Json& Json::push(Json value) {
  items.push_back(std::move(value));
  return *this;
}

const char* Json::kind_name() const {
  switch (kind) {
    case Kind::Null:
      return "null";
    case Kind::Bool:
      return "boolean";
    case Kind::Number:
      return "number";
    case Kind::String:
      return "string";
    case Kind::Array:
      return "array";
    case Kind::Object:
      return "object";
  }
  return "?";
}

std::string Json::place() const {
  return cat("line ", line, ", column ", column);
}

namespace {

class Parser {
 public:
  Parser(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Result<Json> document() {
    if (text_.size() > limits_.bytes) {
      return Error{cat("JSON text of ", text_.size(), " bytes; at most ", limits_.bytes), ""};
    }
    Json value;
    skip_blank();
    if (!parse_value(value, 0)) return error_;
    skip_blank();
    if (at_ != text_.size()) {
      fail("text after the end of the JSON value");
      return error_;
    }
    return value;
  }

 private:
  bool fail(std::string what) {
    error_ = Error{std::move(what), cat("line ", line_, ", column ", at_ - line_start_ + 1)};
    return false;
  }
  bool more() const { return at_ < text_.size(); }
  char peek() const { return more() ? text_[at_] : '\0'; }
  // How the next byte is named in an error.
  std::string found() const {
    if (!more()) return "the end of the text";
    unsigned char c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x20 || c >= 0x7f) return cat("byte ", static_cast<int>(c));
    return cat("'", static_cast<char>(c), "'");
  }

  void skip_blank() {
    const char *data = text_.data(), *end = data + text_.size();
    for (const char* p = data + at_; p != end; ++p) {
      const char c = *p;
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        break;
      }
      ++at_;
    }
  }

  bool parse_value(Json& out, int depth) {
    if (depth > limits_.depth) return fail(cat("nested deeper than ", limits_.depth, " levels"));
    if (++values_ > limits_.values) return fail(cat("more than ", limits_.values, " values"));
    out.line = line_;
    out.column = static_cast<int>(at_ - line_start_ + 1);
    switch (peek()) {
      case '{':
        return parse_object(out, depth);
      case '[':
        return parse_array(out, depth);
      case '"':
        out.kind = Json::Kind::String;
        return parse_string(out.text);
      case 't':
        return parse_word("true", out, Json(true));
      case 'f':
        return parse_word("false", out, Json(false));
      case 'n':
        return parse_word("null", out, Json());
      default:
        return parse_number_text(out);
    }
  }

  bool parse_word(std::string_view word, Json& out, const Json& value) {
    if (text_.substr(at_, word.size()) != word) {
      return fail(cat("expected a value, found ", found()));
    }
    at_ += word.size();
    out.kind = value.kind;
    out.boolean = value.boolean;
    return true;
  }

  size_t digits() {
    size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - begin;
  }

  bool parse_number_text(Json& out) {
    size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
      if (digits() != 0) return fail("a number with a leading zero");
    } else if (digits() == 0) {
      return fail(cat("expected a value, found ", found()));
    }
    if (peek() == '.') {
      ++at_;
      if (digits() == 0) return fail(cat("expected a digit after '.', found ", found()));
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) return fail(cat("expected a digit in the exponent, found ", found()));
    }
    out.kind = Json::Kind::Number;
    out.text = std::string(text_.substr(begin, at_ - begin));
    return true;
  }

  bool hex4(uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      char c = peek();
      uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<uint32_t>(c - 'A' + 10);
      } else {
        return fail(cat("expected four hex digits after \\u, found ", found()));
      }
      out = out * 16 + digit;
    }
    return true;
  }

  bool parse_unicode_escape(std::string& out) {
    uint32_t code = 0;
    if (!hex4(code)) return false;
    if (code >= 0xDC00 && code <= 0xDFFF) return fail("a lone low surrogate");
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (text_.substr(at_, 2) != "\\u") return fail("a lone high surrogate");
      at_ += 2;
      uint32_t low = 0;
      if (!hex4(low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return fail("a high surrogate without its low one");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
    return true;
  }

  bool parse_escape(std::string& out) {
    ++at_;
    char c = peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return true;
      case 'b':
        out += '\b';
        return true;
      case 'f':
        out += '\f';
        return true;
      case 'n':
        out += '\n';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'u':
        return parse_unicode_escape(out);
      default:
        --at_;
        return fail(cat("no such escape: \\ followed by ", found()));
    }
  }

  // Plain ASCII is most of all text; by pointer, since without optimisation each call costs.
  void take_plain(std::string& out) {
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size(), *p = begin;
    while (p != end && *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\') ++p;
    out.append(begin, static_cast<size_t>(p - begin));
    at_ += static_cast<size_t>(p - begin);
  }

  bool parse_string(std::string& out) {
    ++at_;
    while (take_plain(out), more()) {
      unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!parse_escape(out)) return false;
        continue;
      }
      if (c < 0x20) return fail(cat("control character ", static_cast<int>(c), " in a string"));
      size_t length = utf8_length(text_.substr(at_));
      if (length == 0) return fail(cat("not UTF-8: byte ", static_cast<int>(c)));
      out += text_.substr(at_, length);
      at_ += length;
    }
    return fail("a string without its closing quote");
  }

  bool parse_array(Json& out, int depth) {
    out.kind = Json::Kind::Array;
    ++at_;
    skip_blank();
    if (peek() == ']') {
      ++at_;
      return true;
    }
    while (true) {
      out.items.add();
      skip_blank();
      if (!parse_value(out.items.back(), depth + 1)) return false;
      skip_blank();
      if (peek() == ']') break;
      if (peek() != ',') return fail(cat("expected ',' or ']', found ", found()));
      ++at_;
    }
    ++at_;
    return true;
  }

  // How an error names a member.
  static std::string shown(std::string_view name) {
    return cat("\"", ascii(name.substr(0, 60)), name.size() > 60 ? "..." : "", "\"");
  }

  // Members by the hash of their names, 0 = free: for large objects, whose search must not be
  // quadratic.
  using Slots = List<size_t>;

  // Where the name is, or the free slot for it.
  static size_t& slot_of(const Json& object, const std::string& name, Slots& slots) {
    size_t at = fnv1a(name) % slots.size();
    while (slots[at] != 0 && object.members[slots[at] - 1].first != name)
      at = (at + 1) % slots.size();
    return slots[at];
  }

  static bool stands_twice(const Json& object, const std::string& name, Slots& slots) {
    const size_t count = object.members.size();
    if (count < 32) return object.find(name) != nullptr;
    if (slots.size() < 2 * count) {
      slots = Slots(8 * count);
      for (size_t i = 0; i < count; ++i) slot_of(object, object.members[i].first, slots) = i + 1;
    }
    size_t& slot = slot_of(object, name, slots);
    if (slot != 0) return true;
    slot = count + 1;
    return false;
  }

  bool parse_member(Json& out, int depth, Slots& slots) {
    if (peek() != '"') return fail(cat("expected a member name in quotes, found ", found()));
    std::string name;
    size_t begin = at_;
    if (!parse_string(name)) return false;
    if (stands_twice(out, name, slots)) {
      at_ = begin;
      return fail(cat("the member ", shown(name), " stands twice in this object"));
    }
    skip_blank();
    if (peek() != ':') return fail(cat("expected ':' after ", shown(name), ", found ", found()));
    ++at_;
    skip_blank();
    out.members.push_back({std::move(name), Json()});
    return parse_value(out.members.back().second, depth + 1);
  }

  bool parse_object(Json& out, int depth) {
    out.kind = Json::Kind::Object;
    ++at_;
    skip_blank();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    Slots slots;
    while (true) {
      skip_blank();
      if (!parse_member(out, depth, slots)) return false;
      skip_blank();
      if (peek() == '}') break;
      if (peek() != ',') return fail(cat("expected ',' or '}', found ", found()));
      ++at_;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  size_t values_ = 0;
  Error error_;
};

void write_string(const std::string& value, std::string& out) {
  const char* hex = "0123456789abcdef";
  out += '"';
  std::string_view rest = value;
  while (!rest.empty()) {
    unsigned char c = static_cast<unsigned char>(rest[0]);
    size_t length = utf8_length(rest);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += rest[0];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20) {
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

bool is_scalar_list(const Json& value) {
  for (const Json& item : value.items) {
    if (item.is(Json::Kind::Array) || item.is(Json::Kind::Object)) return false;
  }
  return true;
}

void write_value(const Json& value, int indent, int depth, std::string& out) {
  auto new_line = [&](int d) {
    if (indent == 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent) * static_cast<size_t>(d), ' ');
  };
  switch (value.kind) {
    case Json::Kind::Null:
      out += "null";
      break;
    case Json::Kind::Bool:
      out += value.boolean ? "true" : "false";
      break;
    case Json::Kind::Number:
      out += value.text;
      break;
    case Json::Kind::String:
      write_string(value.text, out);
      break;
    case Json::Kind::Array: {
      bool one_line = indent == 0 || is_scalar_list(value);
      out += '[';
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i != 0) out += one_line && indent != 0 ? ", " : ",";
        if (!one_line) new_line(depth + 1);
        write_value(value.items[i], indent, depth + 1, out);
      }
      if (!one_line && !value.items.empty()) new_line(depth);
      out += ']';
      break;
    }
    case Json::Kind::Object: {
      out += '{';
      for (size_t i = 0; i < value.members.size(); ++i) {
        if (i != 0) out += ',';
        new_line(depth + 1);
        write_string(value.members[i].first, out);
        out += indent == 0 ? ":" : ": ";
        write_value(value.members[i].second, indent, depth + 1, out);
      }
      if (!value.members.empty()) new_line(depth);
      out += '}';
      break;
    }
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  return Parser(text, limits).document();
}

std::string write_json(const Json& value, int indent) {
  std::string out;
  write_value(value, indent, 0, out);
  return out;
}

}  // namespace tcs
