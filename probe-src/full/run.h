// SPDX-License-Identifier: Apache-2.0
// The parts of `tcstack run`.
#pragma once
#include <string>

#include "drive/drive.h"
#include "full/command_python.h"
#include "tool/asked.h"
#include "tool/judge_build.h"

namespace tcs {

struct Run {
  Asked asked;
  List<std::string> words;  // COMMAND ARGS...
  CommandPython python;
  std::string work_dir;  // of this process alone, removed when it is done; "" = there is none
  Facts facts;
  JudgedBuild judged;
  Drive drive;
  StringMap users;           // the environment that the command would have without us
  Command command;           // what is started
  List<BuildSetting> cmake;  // -D words of a command that is cmake itself
  List<std::string> notes;   // of what is told to CMake
};

// run_settings.cpp: what the command is told. Fills drive, users, command and notes.
void settle_command(Host& host, const std::string& root, Run& run);
// For a person: what is set and why, one line each; not `whole`: without the words of projects that
// the command does not name.
std::string settings_text(const Run& run, bool whole);
// What the words of a cmake command set, where the options of `run` do not: NAME=VALUE.
List<std::string> cmake_words(const List<std::string>& command);

// run_tree.cpp: inputs of a command that builds PyTorch itself; and, of its facts, that the list is
// handed over whatever the build folder has.
void learn_tree(const Host& host, Run& run);
void list_is_given(Run& run);

// run_verify.cpp: 0, or 1 where a pattern names no file or a file lacks what was planned. `before`:
// files_before(), of the time before the command was started.
StringMap files_before(const Host& host, const Run& run);
int verify_built(Host& host, const Run& run, const StringMap& before);

}  // namespace tcs
