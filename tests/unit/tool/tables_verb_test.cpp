// SPDX-License-Identifier: Apache-2.0
// `tcstack tables`: what it prints is what tcstack uses.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "memory_host.h"
#include "tables/tables.h"
#include "tool/verbs.h"

using namespace tcs;

namespace {

std::string printed(const List<std::string>& words, int status = 0) {
  MemoryHost host;
  std::fflush(stdout);
  const int old = dup(1);
  FILE* file = std::tmpfile();
  dup2(fileno(file), 1);
  const int got = verb_tables(host, words);
  dup2(old, 1);
  close(old);
  std::string out;
  char byte = 0;
  for (off_t at = 0; pread(fileno(file), &byte, 1, at) == 1; ++at) out += byte;
  std::fclose(file);
  CHECK(got == status);
  return out;
}

List<Json> rows_of_table(const char* name) {
  const Result<Json> read = parse_json(printed({name, "--json"}));
  REQUIRE(read);
  REQUIRE(read->find("tables")->items.size() == 1);
  return read->find("tables")->items[0].find("rows")->items;
}

std::string cell(const Json& row, const char* column) {
  return row.find(column) ? row.find(column)->text : "?";
}

}  // namespace

TEST_CASE("tables lists each table with its rows, sources and the date of all") {
  const std::string out = printed({});
  for (const char* name :
       {"gpus", "archs", "cuda", "toolkits", "torch", "driver-errors", "jetpack"})
    CHECK(contains(out, cat("\n    ", name, " ")));
  CHECK(contains(out, cat("as of ", kTablesDate, "\n")));
  const Result<Json> read = parse_json(printed({"--json"}));
  REQUIRE(read);
  CHECK(read->find("schema")->text == "torch-cuda-stack/tables/1");
  for (const Json& one : read->find("tables")->items) {
    INFO(one.find("name")->text);
    CHECK_FALSE(one.find("rows")->items.empty());
    CHECK_FALSE(one.find("sources")->text.empty());
    CHECK_FALSE(one.find("use")->text.empty());
  }
}

TEST_CASE("the rows that tables prints are those that tcstack uses") {
  const List<Json> gpus = rows_of_table("gpus"), archs = rows_of_table("archs");
  REQUIRE(gpus.size() == gpu_rows().count);
  for (size_t i = 0; i < gpus.size(); ++i) {
    CHECK(cell(gpus[i], "name") == gpu_rows().first[i].name);
    CHECK(cell(gpus[i], "capability") == gpu_rows().first[i].sm.dotted());
  }
  REQUIRE(archs.size() == arch_rows().count);
  for (size_t i = 0; i < archs.size(); ++i) {
    CHECK(cell(archs[i], "arch") == arch_rows().first[i].sm.dotted());
    CHECK(cell(archs[i], "last") == release_text(arch_rows().first[i].last));
  }
  const List<Json> errors = rows_of_table("driver-errors");
  REQUIRE(errors.size() == driver_error_rows().count);
  for (size_t i = 0; i < errors.size(); ++i)
    CHECK(cell(errors[i], "help") == driver_error_rows().first[i].help);
  CHECK(rows_of_table("torch").size() == torch_rows().count);
  CHECK(rows_of_table("jetpack").size() == jetpack_rows().count);
}

TEST_CASE("words after a table's name choose rows, and an unknown table is bad input") {
  CHECK(printed({"gpus", "4090", "laptop"}) ==
        "    name                          capability\n    GeForce RTX 4090 Laptop GPU   8.9\n");
  CHECK(contains(printed({"cuda", "12.6"}), "12.6   8.5\n"));
  CHECK(printed({"gpus", "xyzzy"}, 1).empty());
  CHECK(printed({"gpu"}, 2).empty());
}
