// SPDX-License-Identifier: Apache-2.0
// Facts in which every field is known and every text is the same: made by facts_io.cpp's own
// visit(), so a field added later is filled without being listed here.
// facts_io.cpp is included as a whole, since its visit() is its own: the linker then takes
// read_facts() from here and leaves that file's object out.
#pragma once
#include <map>
#include <string>

#include "base/text.h"
#include "facts/facts_io.cpp"  // NOLINT

namespace tcs {
namespace {

class Filler {
 public:
  explicit Filler(std::string text) : text_(std::move(text)) {}

  void field(const char*, Text& out) { out = Text(text_, text_); }
  void field(const char*, Flag& out) { out = Flag(true, text_); }
  void field(const char*, Fact<int>& out) { out = Fact<int>(0, text_); }
  void field(const char*, int& out) { out = 1; }
  void field(const char*, std::string& out) { out = text_; }
  void field(const char*, List<std::string>& out, bool* known = nullptr) {
    if (known != nullptr) *known = true;
    out = {text_};
  }
  void field(const char*, Names& out) { out = Names({text_}, text_); }
  void field(const char*, StringMap& out) {
    out = {{"PATH", text_}, {"CUDA_HOME", text_}, {"TORCH_API_TOKEN", "the token"}};
  }
  void choice(const char*, Text& out, const char* words) { out = Text(first(words), text_); }
  void choice(const char*, std::string& out, const char* words) { out = first(words); }
  void capability(const char*, Text& out) { out = Text("8.6", text_); }
  void images(const char*, Names& out) { out = Names({"sm_86"}, text_); }
  void images(const char*, List<std::string>& out) { out = {"sm_86"}; }
  void unknown_unless_read(const Flag&) {}
  void reason(std::string& out) { out = text_; }
  template <class T>
  void object(const char*, T& out) {
    visit(*this, out);
  }
  template <class F>
  void group(const char*, F body) {
    body(*this);
  }
  template <class T>
  void list(const char*, List<T>& out, bool* known = nullptr) {
    if (known != nullptr) *known = true;
    out.clear();
    visit(*this, out.add());
  }

 private:
  static std::string first(const char* words) { return split(words, "|")[0]; }
  std::string text_;
};

Facts every_field(const std::string& text) {
  Facts facts;
  Filler filler(text);
  visit(filler, facts);
  return facts;
}

}  // namespace
}  // namespace tcs
