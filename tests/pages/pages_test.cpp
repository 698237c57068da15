// SPDX-License-Identifier: Apache-2.0
// The explain texts keep to their form, and what is made from them is up to date.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.h"
#include "base/utf8.h"
#include "pages.h"

using namespace tcs;

namespace {

List<std::string> sentences_of(const std::string& prose) {
  return lines_of(replace_all(replace_all(prose, "\n", " "), ". ", "\n"));
}

}  // namespace

TEST_CASE(
    "docs/findings and the examples are what write-pages makes of the table and the machines") {
  const auto files = pages::all_files();
  for (const auto& [path, text] : files) {
    INFO("stale: " << path << "; run: cmake --build build/dev --target write-pages");
    CHECK((pages::read_source(path) == text));
  }
  for (const std::string folder : {"docs/findings/", "docs/findings/zh/"})
    for (const auto& entry :
         std::filesystem::directory_iterator(cat(TCS_SOURCE_DIR, "/", folder))) {
      const std::string path = folder + entry.path().filename().string();
      INFO("no finding has the page " << path);
      CHECK((entry.is_directory() || files.count(path) == 1));
    }
}

TEST_CASE("every finding has an example, printed for its own machine") {
  for (const RuleRow& row : registry()) {
    INFO(row.id);
    CHECK(contains(pages::example_of(row), cat("[TCS", row.id, " ", row.slug, "]: ")));
  }
}

TEST_CASE("every way out has its cost") {
  for (const RuleRow& row : registry()) {
    const pages::Explained text = pages::parts_of(row.explain);
    CHECK_FALSE(text.ways.empty());
    for (const pages::Way& way : text.ways) {
      INFO(row.id << ": " << way.text);
      CHECK_FALSE(way.text.empty());
      CHECK_FALSE(way.cost.empty());
    }
  }
}

TEST_CASE("what shows a finding is indented, a line each, and has something to run or to read") {
  for (const RuleRow& row : registry()) {
    const std::string text = row.explain;
    const size_t at = text.find("\nSee it yourself:\n") + 18;
    const List<std::string> lines = lines_of(text.substr(at, text.find("\nWays out:\n") - at));
    CHECK_FALSE(lines.empty());
    for (const auto& line : lines) {
      INFO(row.id << ": " << line);
      CHECK((starts_with(line, "  ") && line.size() <= 100 && line.size() > 2 && line[2] != ' '));
      CHECK(line.back() != '\\');
    }
  }
}

TEST_CASE("a page in Chinese has the commands of the English one, its form and its width") {
  for (const RuleRow& row : registry()) {
    const std::string chinese = explain_text(row.id, Language::Chinese);
    const pages::Explained ours = pages::parts_of(row.explain), theirs = pages::parts_of(chinese);
    INFO(row.id);
    REQUIRE(theirs.commands.size() == ours.commands.size());
    for (size_t i = 0; i < ours.commands.size(); ++i) {
      const auto command = [](const std::string& line) { return line.substr(0, line.find("  ")); };
      CHECK(command(theirs.commands[i]) == command(ours.commands[i]));
      CHECK(contains(ours.commands[i], "  ") == contains(theirs.commands[i], "  "));
    }
    REQUIRE(theirs.ways.size() == ours.ways.size());
    for (const pages::Way& way : theirs.ways) CHECK_FALSE((way.text.empty() || way.cost.empty()));
    for (const std::string& line : lines_of(chinese)) {
      INFO(line);
      CHECK(display_width(line) <= 100);
    }
  }
}

TEST_CASE(
    "an example in Chinese fits the line, and has no more English words than a message quotes") {
  for (const RuleRow& row : registry()) {
    const std::string text = pages::example_of(row, Language::Chinese);
    INFO(text);
    CHECK(contains(text, cat("[TCS", row.id, " ", row.slug, "]：")));
    for (const std::string& line : lines_of(text)) CHECK(display_width(line) <= 100);
    for (const char* word : {" the ", " is ", " this ", " was ", "{0"})
      if (row.id != 507 && row.id != 341) CHECK_FALSE(contains(text, word));
  }
}

TEST_CASE("what only root can do says so") {
  for (const RuleRow& row : registry())
    for (const std::string& line : lines_of(row.explain)) {
      if (!starts_with(line, "  ")) continue;
      INFO(row.id << ": " << line);
      for (const char* command : {"modprobe ", "dmesg", "nvidia-smi -c ", "nvidia-smi -mig",
                                  "--gpu-reset", "mokutil --import", "nvidia-modprobe "})
        if (contains(line, command)) CHECK((contains(line, "sudo ") || contains(line, "root")));
    }
}

TEST_CASE("no two explain texts share a sentence") {
  std::map<std::string, int> seen;
  for (const RuleRow& row : registry())
    for (const std::string& sentence : sentences_of(pages::parts_of(row.explain).prose)) {
      if (sentence.size() < 25) continue;
      INFO(row.id << " and " << seen[sentence] << ": " << sentence);
      CHECK(seen[sentence] == 0);
      seen[sentence] = row.id;
    }
}

TEST_CASE("docs/troubles.md leads to the page of each finding that it names") {
  for (const std::string& line : lines_of(pages::read_source("docs/troubles.md"))) {
    if (!starts_with(line, "| ")) continue;
    for (const RuleRow& row : registry()) {
      const std::string code = cat("TCS", row.id);
      if (!contains(line, code)) continue;
      INFO(line);
      CHECK(contains(line, cat("[", code, "](findings/", code, "-", row.slug, ".md)")));
    }
  }
}
