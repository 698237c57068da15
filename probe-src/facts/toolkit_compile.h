// SPDX-License-Identifier: Apache-2.0
// Compiling with the chosen nvcc: the folder for it, one call, and the test whether it works at
// all.
#pragma once
#include <string>

#include "facts/host_compiler.h"

namespace tcs {

// The user's own nvcc flags may hold an -arch, which an arch question must not meet.
constexpr const char* kFlagVariables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};

// A folder of this process's own under work_dir, gone with this object.
class TryFolder {
 public:
  TryFolder(Host& host, const Inputs& in);
  ~TryFolder();
  TryFolder(const TryFolder&) = delete;
  TryFolder& operator=(const TryFolder&) = delete;

  std::string path;  // "" = there is none
  std::string why;   // of a work folder that cannot be used

 private:
  Host& host_;
};

struct Compiled {
  Outcome said;
  std::string object;   // its path; "" = none was written
  std::string release;  // of cicc, which it writes into the PTX
};

// nvcc's call without words and deadline of its own.
Command nvcc_command(const std::string& nvcc, const std::string& ccbin, int timeout_ms);
// `source`, alone in the folder as try.cu, compiled to try.o; `words` are added to `command`.
Compiled compile_alone(Host& host, const TryFolder& folder, Command command,
                       const std::string& source, const List<std::string>& words);

// One kernel for nvcc's default architecture: works, failure, cicc, fitting_host_compiler. `said`:
// what an earlier compile that ended without an answer left to say, in place of another.
void test_compile(Host& host, const Inputs& in, const TryFolder& folder, Toolkit& toolkit,
                  HostCompiler& compiler, const Compiled* said = nullptr);

}  // namespace tcs
