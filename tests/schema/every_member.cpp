// SPDX-License-Identifier: Apache-2.0
// Prints what facts_io.cpp knows: {"facts": MEMBERS, "request": MEMBERS, "example": DOCUMENT}.
// MEMBERS is the tree of members with their kinds, as visit() names them; DOCUMENT are facts in
// which each is known, as the writer writes them.
#include "facts/every_field.h"

#include <cstdio>

#include "base/json.h"

namespace tcs {
namespace {

class Members {
 public:
  Json out = Json::object();

  void field(const char* name, const Text&) { add(name, "text"); }
  void field(const char* name, const Flag&) { add(name, "flag"); }
  void field(const char* name, const Fact<int>&) { add(name, "number"); }
  void field(const char* name, const int&) { add(name, "number"); }
  void field(const char* name, const std::string&) { add(name, "text"); }
  void field(const char* name, const List<std::string>&, bool* = nullptr) { add(name, "texts"); }
  void field(const char* name, const Names&) { add(name, "texts"); }
  void field(const char* name, const StringMap&) { add(name, "map"); }
  template <class T>
  void choice(const char* name, const T&, const char* words) {
    Json list = Json::array();
    for (const auto& word : split(words, "|")) list.push(word);
    out.add(name, std::move(list));
  }
  void capability(const char* name, const Text&) { add(name, "capability"); }
  template <class T>
  void images(const char* name, const T&) {
    add(name, "images");
  }
  void reason(std::string&) { add("reason", "text"); }
  void unknown_unless_read(const Flag&) {}
  template <class T>
  void object(const char* name, T& value) {
    Members inner;
    visit(inner, value);
    out.add(name, std::move(inner.out));
  }
  template <class F>
  void group(const char* name, F body) {
    Members inner;
    body(inner);
    out.add(name, std::move(inner.out));
  }
  template <class T>
  void list(const char* name, List<T>&, bool* = nullptr) {
    Members inner;
    T element;
    visit(inner, element);
    Json items = Json::object();
    items.add("[]", std::move(inner.out));
    out.add(name, std::move(items));
  }

 private:
  void add(const char* name, const char* kind) { out.add(name, kind); }
};

template <class T>
Json members_of(T value) {
  Members members;
  visit(members, value);
  return members.out;
}

}  // namespace
}  // namespace tcs

int main() {
  using namespace tcs;
  Json all = Json::object();
  all.add("facts", members_of(Facts()))
      .add("request", members_of(Request()))
      .add("example", facts_to_json(every_field("12.4")));
  std::puts(write_json(all).c_str());
  return 0;
}
