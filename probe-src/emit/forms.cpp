// SPDX-License-Identifier: Apache-2.0
#include "emit/forms.h"

#include "base/text.h"
#include "emit/emit.h"

namespace tcs {
namespace {

// One POSIX shell word that means exactly `text`.
std::string shell_quote(const std::string& text) {
  return cat("'", replace_all(text, "'", "'\\''"), "'");
}

std::string set_line(const char* name, const std::string& value, const char* cache) {
  return cat("set(", name, " ", cmake_quote(value), cache, ")\n");
}

std::string cmake_lines(const Plan& plan, const char* cache) {
  return set_line("TORCH_CUDA_ARCH_LIST", torch_list(plan).text, cache) +
         set_line("CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan).text, cache);
}

std::string env_lines(const Plan& plan) {
  const Dialect torch = torch_python_list(plan);
  std::string out = cat("export TORCH_CUDA_ARCH_LIST=", shell_quote(torch.text), "\n");
  out += cat("export CUDAARCHS=", shell_quote(cmake_architectures(plan).text), "\n");
  if (!torch.left_out.empty())
    out += cat("export NVCC_APPEND_FLAGS=", shell_quote(join(torch.left_out, " ")), "\n");
  return out;
}

std::string flag_array(const Plan& plan) {
  Json flags = Json::array();
  for (const auto& flag : gencode_flags(plan)) flags.push(flag);
  return write_json(flags, 0) + "\n";
}

std::string preset(const Plan& plan) {
  Json cache = Json::object(), environment = Json::object(), row = Json::object();
  cache.add("CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan).text);
  cache.add("TORCH_CUDA_ARCH_LIST", torch_list(plan).text);
  environment.add("TORCH_CUDA_ARCH_LIST", torch_python_list(plan).text);
  row.add("name", "torch-cuda-stack").add("hidden", true);
  row.add("cacheVariables", std::move(cache)).add("environment", std::move(environment));
  Json presets = Json::array(), out = Json::object();
  presets.push(std::move(row));
  out.add("version", 6).add("configurePresets", std::move(presets));
  return write_json(out) + "\n";
}

std::string gap(const char* what, const Dialect& dialect) {
  return dialect.complete ? "" : cat(what, " cannot say ", join(dialect.left_out, " "));
}

}  // namespace

bool plan_form(const Plan& plan, const std::string& form, std::string& out, std::string& note) {
  const char* kCache = " CACHE STRING \"from tcstack plan\"";
  note.clear();
  if (form == "cmake" || form == "initial-cache" || form == "preset") {
    out = form == "preset" ? preset(plan) : cmake_lines(plan, form == "cmake" ? "" : kCache);
    note = gap("TORCH_CUDA_ARCH_LIST", torch_list(plan));
  } else if (form == "env") {
    out = env_lines(plan);
  } else if (form == "json") {
    out = write_json(plan_json(plan)) + "\n";
  } else if (form == "gencode") {
    out = join(gencode_flags(plan), " ") + "\n";
  } else if (form == "cpp-extension") {
    out = flag_array(plan);  // for extra_compile_args={"nvcc": [...]}: a Python list as well
  } else if (form == "cmake-architectures") {
    out = cmake_architectures(plan).text + "\n";
    note = gap("CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan));
  } else if (form == "torch-list") {
    out = torch_list(plan).text + "\n";
    note = gap("TORCH_CUDA_ARCH_LIST", torch_list(plan));
  } else {
    return false;
  }
  return true;
}

}  // namespace tcs
