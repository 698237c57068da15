// SPDX-License-Identifier: Apache-2.0
#include "base/list.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <vector>

using namespace tcs;

namespace {

// Counts its living copies: a leak or a double destruction shows.
struct Counted {
  static int alive;
  std::string text = "long enough that it does not fit into the string object itself";
  Counted() { ++alive; }
  explicit Counted(const std::string& t) : text(t) { ++alive; }
  Counted(const Counted& other) : text(other.text) { ++alive; }
  Counted(Counted&& other) noexcept : text(std::move(other.text)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive; }
  bool operator==(const Counted& other) const { return text == other.text; }
  bool operator<(const Counted& other) const { return text < other.text; }
};
int Counted::alive = 0;

}  // namespace

TEST_CASE("every element is destroyed once, however the list grew, moved or shrank") {
  {
    List<Counted> list;
    for (int i = 0; i < 100; ++i)
      list.push_back(Counted(std::string(100, 'x') + std::to_string(i)));
    List<Counted> copy = list;
    List<Counted> moved = std::move(copy);
    CHECK(moved == list);
    copy = moved;
    copy = copy;  // NOLINT: on purpose
    CHECK(copy == list);
    moved.erase(moved.begin() + 50);
    moved.pop_back();
    CHECK(moved.size() == 98);
    CHECK(moved[50].text == list[51].text);
    list.clear();
    CHECK(list.empty());
    list = std::move(moved);
    CHECK(list.size() == 98);
    CHECK(Counted::alive == static_cast<int>(list.size() + copy.size() + moved.size()));
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("an element of the list itself may be added to it, and the list to itself") {
  List<std::string> list{"a string that is too long to be kept inside the object"};
  for (int i = 0; i < 20; ++i) list.push_back(list[0]);
  list.append(list);
  CHECK(list.size() == 42);
  for (const std::string& element : list) CHECK(element == list[0]);
  add_once(list, list[3]);
  CHECK(list.size() == 42);
}

TEST_CASE("a list behaves as std::vector does under the same steps") {
  unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  auto next = [&seed](unsigned n) { return (seed = seed * 1103515245u + 12345u) / 65536u % n; };
  List<std::string> list;
  std::vector<std::string> model;
  for (int step = 0; step < 2000; ++step) {
    std::string value = std::string(next(40), 'v') + std::to_string(step);
    switch (next(5)) {
      case 0:
      case 1:
        list.push_back(value);
        model.push_back(value);
        break;
      case 2:
        if (model.empty()) break;
        {
          size_t at = next(static_cast<unsigned>(model.size()));
          list.erase(list.begin() + at);
          model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
        }
        break;
      case 3:
        list.append({value, "b"});
        model.insert(model.end(), {value, "b"});
        break;
      default:
        if (next(50) == 0) {
          list.clear();
          model.clear();
        }
    }
    REQUIRE(list.size() == model.size());
  }
  CHECK(std::vector<std::string>(list.begin(), list.end()) == model);
}

TEST_CASE("sorting keeps equal ones in order, sort_unique keeps each once") {
  List<std::pair<int, int>> pairs{{2, 0}, {1, 1}, {2, 2}, {1, 3}};
  sort_few(pairs, [](const auto& a, const auto& b) { return a.first < b.first; });
  CHECK(pairs == List<std::pair<int, int>>{{1, 1}, {1, 3}, {2, 0}, {2, 2}});
  List<std::string> words{"b", "a", "b", "c", "a"};
  sort_unique(words);
  CHECK(words == List<std::string>{"a", "b", "c"});
  remove_from(words, "b");
  CHECK(words == List<std::string>{"a", "c"});
  CHECK(contains(words, "c"));
  CHECK_FALSE(contains(words, "b"));
}
