// SPDX-License-Identifier: Apache-2.0
#include "drive/drive.h"

#include "base/text.h"

namespace tcs {

namespace {

class Settings {
 public:
  explicit Settings(const DriveInput& in) : in_(in) {}

  // The user's own value stays.
  void variable(const char* name, const std::string& value, const std::string& why) {
    BuildSetting one;
    const std::string* users = in_.users.find(name);
    one.name = name;
    one.users = users != nullptr && !users->empty();
    one.value = one.users ? *users : value;
    one.why = why;
    if (!one.value.empty()) out.environment.push_back(one);
  }

  Drive out;

 private:
  const DriveInput& in_;
};

}  // namespace

Drive make_drive(const DriveInput& in) {
  Settings s(in);
  s.variable("TORCH_CUDA_ARCH_LIST", torch_python_list(in.plan).text, "the plan");
  s.variable("CUDAARCHS", cmake_architectures(in.plan).text, "the plan, in CMake's words");
  s.variable("CUDA_HOME", in.root, "the toolkit");
  return s.out;
}

}  // namespace tcs
