// SPDX-License-Identifier: Apache-2.0
// One function per verb. `args` are the words after the verb. Returns the exit status.
#pragma once
#include <string>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

int verb_probe(Host& host, const List<std::string>& args);      // tool/probe.cpp
int verb_check(Host& host, const List<std::string>& args);      // tool/check.cpp
int verb_plan(Host& host, const List<std::string>& args);       // tool/check.cpp
int verb_images(Host& host, const List<std::string>& args);     // tool/images.cpp
int verb_verify(Host& host, const List<std::string>& args);     // tool/verify.cpp
int verb_configure(Host& host, const List<std::string>& args);  // tool/configure.cpp
int verb_explain(Host& host, const List<std::string>& args);    // tool/explain.cpp
int verb_intersect(Host& host, const List<std::string>& args);  // tool/intersect.cpp
int verb_tables(Host& host, const List<std::string>& args);     // tool/tables.cpp
int verb_cache(Host& host, const List<std::string>& args);      // tool/cache.cpp

// Where this tool was compiled into a user's cache: keeps the newest few builds of it, its own
// always.
void trim_cache(Host& host);  // tool/cache.cpp

// --- options.cpp: table-driven. "--name VALUE", "--name=VALUE", flags, "--" ends
// options.
struct OptionSpec {
  const char* name;   // "--facts"
  const char* value;  // "FILE" in the help; null = a flag
  const char* help;   // one line
  bool repeats;
};
struct Options {
  List<std::pair<std::string, std::string>> given;  // name, value
  List<std::string> words;                          // the rest
  bool has(const char* name) const;
  std::string get(const char* name, const char* fallback = "") const;  // the last one given
  List<std::string> all(const char* name) const;
};
// True = go on. False = return `status`: 0 after --help (printed to stdout), 2 after a usage error.
bool parse_options(const List<std::string>& args, const List<OptionSpec>& specs,
                   const char* synopsis, Options& out, int& status);

// stdout and stderr without iostream; a failed write to stdout is exit 3.
bool print_out(const std::string& text);
void print_err(const std::string& text);
// What an installed tcstack has and one that a configure compiled has not: how to get one; 2.
int refuse_full(const std::string& what);

}  // namespace tcs
