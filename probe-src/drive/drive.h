// SPDX-License-Identifier: Apache-2.0
// What a build that nobody edits is told, and in which words: from facts and a plan to variables of
// its environment and entries of its CMake cache. Pure; `tcstack run` sets them, `tcstack plan
// --emit env|github-env|preset|initial-cache|cmake-args` prints them.
#pragma once
#include <string>

#include "base/list.h"
#include "base/string_map.h"
#include "facts/facts.h"
#include "plan/plan.h"

namespace tcs {

struct BuildSetting {
  TCS_COPIED(BuildSetting);
  std::string name, value;
  std::string why;      // one clause: "the plan, in flash-attn's words"
  std::string project;  // whose word it is, "flash-attn"; "" = everybody's
  bool users = false;   // `value` is what the user set, and it stays as it is
};

struct DriveInput {
  const Facts& facts;
  const Request& request;
  const Plan& plan;
  const StringMap& users;        // the environment that the build would have without us
  std::string root;              // of the toolkit, completed (toolkit_root() in tool/judge_build.h)
  std::string host_compiler;     // to be named to nvcc; "" = the one that it takes by itself
  std::string gate;              // path of TorchCudaStackGate.cmake; "" = not at hand
  List<std::string> named = {};  // words of the command: the projects of projects.def among them
                                 // are told about in notes
};

struct Drive {
  List<BuildSetting> environment;  // PATH is whole: path_first before the user's
  List<BuildSetting> cache;        // CMake: name, value; as -DNAME=VALUE or set(... CACHE)
  List<std::string> notes;         // what a dialect cannot say, what the user's value changes
  std::string path_first;          // the toolkit's folder of programs; "" = unknown
  int jobs = 0;                    // 0 = unknown
};

Drive make_drive(const DriveInput& in);

// The toolkit's own, or that of the folder that completes it; "" = unknown.
std::string nvcc_of(const DriveInput& in);

}  // namespace tcs
