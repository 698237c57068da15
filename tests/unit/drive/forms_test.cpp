// SPDX-License-Identifier: Apache-2.0
// tests/drive/forms_test.py has the forms read by those that they are for.
#include "drive/forms.h"

#include <catch2/catch_test_macros.hpp>

#include "base/json.h"
#include "base/text.h"
#include "drive/build_of.h"

using namespace tcs;

namespace {

struct Written {
  std::string text, notes;
};
Written written(const Build& build, const char* form) {
  List<std::string> notes;
  Written out;
  out.text = build_form(build.drive(), form, notes);
  out.notes = join(notes, "\n");
  return out;
}

}  // namespace

TEST_CASE("the environment's lines are quoted, and PATH is what it is when they are read") {
  Build build("9.0;12.0f");
  build.root = "/it's";
  build.users = {{"PATH", "/usr/bin"}};
  const std::string text = written(build, "env").text;
  CHECK(contains(text, "export TORCH_CUDA_ARCH_LIST='9.0'\n"));
  CHECK(contains(text, "export CUDA_HOME='/it'\\''s'\n"));
  CHECK(contains(text, "export PATH='/it'\\''s/bin'\"${PATH:+:$PATH}\"\n"));
  CHECK(contains(text, "export NVCC_APPEND_FLAGS='-gencode=arch=compute_120f,code=sm_120f'\n"));
  CHECK_FALSE(contains(text, "/usr/bin"));
}

TEST_CASE("what the user set is not said again") {
  Build build("9.0");
  build.users = {{"MAX_JOBS", "3"}, {"MMCV_WITH_OPS", "0"}};
  for (const char* form : {"env", "github-env", "preset"}) {
    CHECK_FALSE(contains(written(build, form).text, "MMCV_WITH_OPS"));
    CHECK_FALSE(contains(written(build, form).text, "MAX_JOBS"));
    CHECK(contains(written(build, form).text, "CMAKE_BUILD_PARALLEL_LEVEL"));
  }
}

TEST_CASE("GitHub's file has a delimiter that the value does not hold, and PATH is told apart") {
  Build build("9.0");
  build.root = "/END_";
  const Written out = written(build, "github-env");
  CHECK(contains(out.text, "CUDA_HOME<<END__\n/END_\nEND__\n"));
  CHECK(contains(out.text, "TORCH_CUDA_ARCH_LIST<<END\n9.0\nEND\n"));
  CHECK_FALSE(contains(out.text, "\nPATH<<"));
  CHECK(contains(out.notes, "printf '%s\\n' '/END_/bin' >> \"$GITHUB_PATH\""));
  build.root = "/a\nb";
  CHECK_FALSE(contains(written(build, "github-env").notes, "GITHUB_PATH"));
}

TEST_CASE("what has several lines is left out of CMake's cache, which would cut it, and is told") {
  Build build("9.0");
  build.root = "/a\nb";
  for (const char* form : {"initial-cache", "cmake-args"}) {
    CHECK_FALSE(contains(written(build, form).text, "CUDAToolkit_ROOT"));
    CHECK(contains(written(build, form).text, "CMAKE_CUDA_ARCHITECTURES"));
  }
  CHECK(contains(join(build.drive().notes, "\n"), "cannot hold CUDAToolkit_ROOT"));
}

TEST_CASE("the preset is whole: it can be configured with, built with and inherited") {
  Build build("9.0");
  build.root = "/$env{HOME}";
  const Result<Json> json = parse_json(trim(written(build, "preset").text));
  REQUIRE(json);
  CHECK(json->find("version")->text == "6");
  const Json& row = json->find("configurePresets")->items[0];
  CHECK(row.find("hidden") == nullptr);
  CHECK(row.find("binaryDir") != nullptr);
  CHECK(row.find("cacheVariables")->find("CUDAToolkit_ROOT")->text == "/${dollar}env{HOME}");
  CHECK(row.find("environment")->find("PATH")->text == "/${dollar}env{HOME}/bin:$penv{PATH}");
  CHECK(row.find("environment")->find("CMAKE_ARGS") == nullptr);
  CHECK(json->find("buildPresets")->items[0].find("jobs")->text == "8");
}

TEST_CASE("a preset leaves out what is not UTF-8, which JSON would change, and tells it") {
  Build build("9.0");
  build.root = "/\xFF";
  const Written out = written(build, "preset");
  for (const char* name : {"CUDAToolkit_ROOT", "CUDA_HOME", "PATH"}) {
    CHECK_FALSE(contains(out.text, cat('"', name, '"')));
    CHECK(contains(out.notes, cat("a preset cannot hold ", name)));
  }
  CHECK(contains(out.text, "CMAKE_CUDA_ARCHITECTURES"));
  CHECK(contains(written(build, "env").text, "CUDA_HOME='/\xFF'"));
}

TEST_CASE("forms of the cache alone say what nvcc must be told when it runs") {
  for (const char* form : {"initial-cache", "cmake-args"}) {
    CHECK(contains(written(Build("9.0;12.0f"), form).notes, "export NVCC_APPEND_FLAGS='-gencode="));
    CHECK(written(Build("9.0"), form).notes.empty());
  }
}

TEST_CASE("a toolkit in the system's folder gives PATH nothing, and no file of its own") {
  Build build("9.0");
  build.root = "/usr";
  CHECK(written(build, "github-env").notes.empty());
}

TEST_CASE("the preset's environment keeps a dollar, and its jobs are there where they are known") {
  Build build("9.0");
  build.root = "/$env{HOME}";
  build.facts.host.cores = Fact<int>(1);
  const auto json = [&] {
    Result<Json> read = parse_json(trim(written(build, "preset").text));
    REQUIRE(read);
    return *read;
  };
  CHECK(json().find("configurePresets")->items[0].find("environment")->find("CUDA_HOME")->text ==
        "/${dollar}env{HOME}");
  CHECK(json().find("buildPresets")->items[0].find("jobs")->text == "1");
  build.facts.host.cores = Fact<int>();
  CHECK(json().find("buildPresets")->items[0].find("jobs") == nullptr);
}

TEST_CASE("each form of the cache is quoted for its reader, and an unknown form is empty") {
  Build build("9.0");
  build.root = "/it's \"my\" $x";
  CHECK(contains(written(build, "initial-cache").text,
                 "set(CUDAToolkit_ROOT [[/it's \"my\" $x]] CACHE STRING"));
  CHECK(contains(written(build, "cmake-args").text, "-DCUDAToolkit_ROOT='/it'\\''s \"my\" $x' "));
  CHECK(written(build, "nonsense").text.empty());
}
