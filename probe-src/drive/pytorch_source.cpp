// SPDX-License-Identifier: Apache-2.0
#include "drive/pytorch_source.h"

#include "base/text.h"
#include "tables/tables.h"

namespace tcs {

namespace {

// Up to 2.14 setup.py runs cmake, hands over what begins with CMAKE_, USE_ or BUILD_ and a list of
// names, and reads no CMAKE_ARGS (tools/setup_helpers/cmake.py). From 2.15 on it is
// scikit-build-core, and the tree takes the same names from the environment once it is configured:
// too late for what must be there at project(), which comes by CMAKE_ARGS.
struct Era {
  const char* name;
  int first;  // PyTorch's release: 215 = 2.15
  bool cmake_args;
};
constexpr Era kEras[] = {{"setup.py", 0, false}, {"scikit-build-core", 215, true}};

// Without a tree, or one that does not say, the newest.
const Era& era_of(const DriveInput& in) {
  const TreeFacts& tree = in.facts.tree;
  const int release = release_of(Version::parse(tree.version.value()));
  const Era* found = kEras + sizeof kEras / sizeof kEras[0] - 1;
  for (const Era& era : kEras)
    if (tree.era.known() ? tree.era.is(era.name) : release >= era.first && release != 0)
      found = &era;
  return *found;
}

// The parser of the tree reads the list, not that of a PyTorch that is installed.
Plan plan_of(const DriveInput& in) {
  Plan plan = in.plan;
  if (in.facts.tree.version.known()) plan.torch_version = in.facts.tree.version.value();
  return plan;
}

BuildSetting setting(const char* name, const std::string& value, const char* why) {
  BuildSetting one;
  one.name = name;
  one.value = value;
  one.why = why;
  return one;
}

std::string users_or(const DriveInput& in, const char* name, const std::string& ours) {
  const std::string* set = in.users.find(name);
  return set != nullptr && !set->empty() ? *set : ours;
}

}  // namespace

Dialect tree_list(const DriveInput& in) {
  return torch_list(plan_of(in));
}

bool pytorch_reads_cmake_args(const DriveInput& in) {
  return era_of(in).cmake_args;
}

// The list is read by the tree's CMake, and so in its words. The tree takes CUDACXX and CUDAHOSTCXX
// for the two that come after it, where those are not set.
List<BuildSetting> pytorch_environment(const DriveInput& in) {
  List<BuildSetting> out = {
      setting("USE_CUDA", "1", "a build without CUDA stops"),
      setting("TORCH_CUDA_ARCH_LIST", tree_list(in).text, "the plan"),
      setting("CUDA_NVCC_EXECUTABLE", users_or(in, "CUDACXX", nvcc_of(in)), "nvcc"),
      setting("CUDA_HOST_COMPILER", users_or(in, "CUDAHOSTCXX", in.host_compiler),
              "a host compiler that this nvcc takes"),
  };
  if (!era_of(in).cmake_args)
    out.push_back(
        setting("CMAKE_PROJECT_TOP_LEVEL_INCLUDES", in.gate, "the checks, inside the configure"));
  return out;
}

// No CMAKE_CUDA_ARCHITECTURES: cmake/public/cuda.cmake puts it OFF, with a warning.
List<BuildSetting> pytorch_cache(const DriveInput& in) {
  return {
      setting("USE_CUDA", "ON", "a build without CUDA stops"),
      setting("TORCH_CUDA_ARCH_LIST", tree_list(in).text, "the plan"),
  };
}

}  // namespace tcs
