// SPDX-License-Identifier: Apache-2.0
// The files of a source tree of PyTorch and of its build folder, with a line of "--" between them:
// whatever is learnt, the recording of it can be read again, and is judged with a list.
#include "facts/facts_io.h"
#include "facts/gather.h"
#include "findings/finding.h"
#include "fuzz.h"
#include "memory_host.h"

using namespace tcs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char* const names[] = {
      "CMakeLists.txt", "cmake/public/cuda.cmake", "pyproject.toml",   "setup.py",
      "version.txt",    "build/CMakeCache.txt",    "build/build.ninja"};
  const List<std::string> parts = fuzz::parts_of(data, size, std::size(names));
  MemoryHost host;
  for (const char* folder : {"aten", "c10", "torch"}) host.directories.insert(cat("/pt/", folder));
  host.files["/pt/cmake/Dependencies.cmake"] = "";
  for (size_t i = 0; i < parts.size(); ++i) host.files[cat("/pt/", names[i])] = parts[i];
  Inputs in;
  in.set["SOURCE_DIR"] = "/pt";
  in.set["BINARY_DIR"] = size % 2 ? "/pt/build" : "";
  Facts facts;
  gather_tree(host, in, facts);
  fuzz::require(facts.tree.state.is("found"), "a tree");
  List<std::string> unknown;
  Result<Facts> again = read_facts(write_json(facts_to_json(facts)), unknown);
  fuzz::require(bool(again), "the recording is read again", again ? "" : again.error().str());
  fuzz::require(write_json(facts_to_json(*again)) == write_json(facts_to_json(facts)), "as it was");
  Request request;
  request.purpose = "pytorch-source";
  request.arch_list = Text("8.0;9.0a", "TORCH_CUDA_ARCH_LIST (environment)");
  facts.toolkits.list_known = true;
  facts.toolkits.list.add().version = Text("12.4");
  facts.toolkits.selected = Fact<int>(0);
  const Plan plan = make_plan(facts, request);
  for (const Finding& finding : judge(RuleInput{facts, request, plan}, Policy{}).findings)
    fuzz::require(!finding.message.empty(), "a message");
  return 0;
}
