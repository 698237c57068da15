// SPDX-License-Identifier: Apache-2.0
#include "full/glob.h"

#include <catch2/catch_test_macros.hpp>

#include "memory_host.h"

using namespace tcs;

TEST_CASE("a name is held against stars, question marks and sets") {
  CHECK(name_matches("_C.cpython-311-x86_64-linux-gnu.so", "*.so"));
  CHECK(name_matches("abc", "a*c"));
  CHECK(name_matches("aXcXc", "a*c"));
  CHECK(name_matches("abc", "a?c"));
  CHECK(name_matches("abc", "a[a-c]c"));
  CHECK(name_matches("abc", "a[!x]c"));
  CHECK(name_matches("a]c", "a[]]c"));
  CHECK(name_matches("a[c", "a[c"));
  CHECK(name_matches("", "*"));
  CHECK_FALSE(name_matches("abc", "a[!b]c"));
  CHECK_FALSE(name_matches("abc", "ab"));
  CHECK_FALSE(name_matches("ab", "abc"));
  CHECK_FALSE(name_matches("ab", "a?c"));
  CHECK_FALSE(name_matches("libx.so.1", "*.so"));
  // No run time that grows with a power of the length.
  CHECK_FALSE(name_matches(std::string(200, 'a'), "*a*a*a*a*a*a*a*a*a*a*a*a*b"));
}

TEST_CASE("files below a folder, through any number of folders, sorted and once") {
  MemoryHost host;
  for (const char* file :
       {"/w/a.so", "/w/p/b.so", "/w/p/q/c.so", "/w/p/q/c.txt", "/w/.git/d.so", "/x/e.so"})
    host.files[file] = "";
  host.links["/w/p/up"] = "..";
  CHECK(files_matching(host, "/w", "*.so") == List<std::string>{"/w/a.so"});
  CHECK(files_matching(host, "/w", "p/*.so") == List<std::string>{"/w/p/b.so"});
  CHECK(files_matching(host, "/w", "**/*.so") ==
        List<std::string>{"/w/a.so", "/w/p/b.so", "/w/p/q/c.so"});
  CHECK(files_matching(host, "/w", "**/q/**/*.so") == List<std::string>{"/w/p/q/c.so"});
  CHECK(files_matching(host, "/w", ".git/*") == List<std::string>{"/w/.git/d.so"});
  CHECK(files_matching(host, "/w", "/x/*.so") == List<std::string>{"/x/e.so"});
  CHECK(files_matching(host, "/w", "p/up/a.so") == List<std::string>{"/w/p/up/a.so"});
  CHECK(files_matching(host, "/w", ".//p/./b.so") == List<std::string>{"/w/p/b.so"});
  CHECK(files_matching(host, "/w", "p/**") ==
        List<std::string>{"/w/p/b.so", "/w/p/q/c.so", "/w/p/q/c.txt"});
  CHECK(files_matching(host, "/w", "**/**/c.so") == List<std::string>{"/w/p/q/c.so"});
  CHECK(files_matching(host, "/w", "**/d.so").empty());
  CHECK(files_matching(host, "/w", "**/d.so", true) == List<std::string>{"/w/.git/d.so"});
  CHECK(files_matching(host, "/w", "p").empty());  // a folder is no file
  CHECK(files_matching(host, "/w", "no/*").empty());
}
