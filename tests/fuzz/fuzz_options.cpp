// SPDX-License-Identifier: Apache-2.0
// Words of a command line, then plan.json, facts.json, a list of objects and a stamp, with a line
// of "--" between them: an answer or a refusal, never a crash. (-close_fd_mask=3: it prints.)
#include "fuzz.h"
#include "memory_host.h"
#include "readers/make_bytes.h"
#include "tool/stamp.h"
#include "tool/verbs.h"
#include "tool/verify.h"

using namespace tcs;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const List<OptionSpec> specs = {{"--plan", "PLAN", "a file", false},
                                         {"--set", "NAME=VALUE", "a pair", true},
                                         {"--quiet", nullptr, "nothing", false}};
  const List<std::string> parts = fuzz::parts_of(data, size, 5);
  const List<std::string> words = lines_of(parts[0]);
  Options options;
  int status = -1;
  if (parse_options(words, specs, "tool", options, status)) {
    require(status == -1 && options.given.size() + options.words.size() <= words.size(), "words");
  } else {
    require(status == 0 || status == 2, "a status");
  }
  MemoryHost host;
  host.files["/plan.json"] = parts[1];
  host.files["/facts.json"] = parts[2];
  host.files["/objects"] = parts[3];
  host.files["/a.so"] = make::library({"liba.so", {"libcudart.so.12"}});
  host.files["/b.fatbin"] = make::fat_binary({make::cubin(90), make::ptx(90, 8, 5)});
  VerifyRequest request{{"/b.fatbin", "/a.so"}, "/plan.json", "", "/objects", "/facts.json"};
  for (int i = 0; i < 3; ++i) {
    const Verdict verdict = verify(host, request);
    require(verdict.status >= 0 && verdict.status <= 2 && !verdict.text.empty(), "a verdict");
    (i == 0 ? request.objects : request.facts).clear();
  }
  require(!stamp_holds(host, {}, parts[4]) || tcs::contains(parts[4], "watch "), "a stamp");
  return 0;
}
