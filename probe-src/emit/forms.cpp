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

// CMake refuses an empty list, and takes its own default where there is none.
std::string cmake_text(const Plan& plan) {
  const std::string text = cmake_architectures(plan).text;
  return text.empty() ? "OFF" : text;
}

// What a list cannot say goes to nvcc itself, which takes a flag given twice as given once.
std::string appended_flags(const Plan& plan, List<Dialect> dialects) {
  List<std::string> flags;
  for (const std::string& flag : gencode_flags(plan))
    for (const Dialect& dialect : dialects)
      if (contains(dialect.left_out, flag)) add_once(flags, flag);
  return join(flags, " ");
}

std::string cmake_lines(const Plan& plan, const char* cache) {
  const std::string torch = torch_list(plan).text;
  return (torch.empty() ? "" : set_line("TORCH_CUDA_ARCH_LIST", torch, cache)) +
         set_line("CMAKE_CUDA_ARCHITECTURES", cmake_text(plan), cache);
}

std::string env_lines(const Plan& plan) {
  const Dialect torch = torch_python_list(plan);
  std::string out;
  if (!torch.text.empty())
    out += cat("export TORCH_CUDA_ARCH_LIST=", shell_quote(torch.text), "\n");
  out += cat("export CUDAARCHS=", shell_quote(cmake_text(plan)), "\n");
  const std::string flags = appended_flags(plan, {torch, cmake_architectures(plan)});
  if (!flags.empty()) out += cat("export NVCC_APPEND_FLAGS=", shell_quote(flags), "\n");
  return out;
}

std::string flag_array(const Plan& plan) {
  Json flags = Json::array();
  for (const auto& flag : gencode_flags(plan)) flags.push(flag);
  return write_json(flags, 0) + "\n";
}

std::string preset(const Plan& plan) {
  Json cache = Json::object(), environment = Json::object(), row = Json::object();
  const Dialect torch = torch_list(plan), python = torch_python_list(plan);
  cache.add("CMAKE_CUDA_ARCHITECTURES", cmake_text(plan));
  if (!torch.text.empty()) cache.add("TORCH_CUDA_ARCH_LIST", torch.text);
  if (!python.text.empty()) environment.add("TORCH_CUDA_ARCH_LIST", python.text);
  const std::string flags = appended_flags(plan, {torch, python, cmake_architectures(plan)});
  if (!flags.empty()) environment.add("NVCC_APPEND_FLAGS", flags);
  row.add("name", "torch-cuda-stack").add("hidden", true);
  row.add("cacheVariables", std::move(cache)).add("environment", std::move(environment));
  Json presets = Json::array(), out = Json::object();
  presets.push(std::move(row));
  out.add("version", 6).add("configurePresets", std::move(presets));
  return write_json(out) + "\n";
}

// One line for each dialect that cannot say everything.
void gap(std::string& note, const char* what, const Dialect& dialect, const char* instead) {
  if (dialect.complete) return;
  note += cat(note.empty() ? "" : "\n", what, " cannot say ", join(dialect.left_out, " "), instead);
}

// One list on a line; nothing where the list can say nothing of the plan.
void one_list(const char* what, const Dialect& dialect, std::string& out, std::string& note) {
  out = dialect.text.empty() ? "" : dialect.text + "\n";
  gap(note, what, dialect, "");
}

}  // namespace

bool plan_form(const Plan& plan, const std::string& form, std::string& out, std::string& note) {
  const char* kCache = " CACHE STRING \"from tcstack plan\"";
  const char* kAppended = "; NVCC_APPEND_FLAGS does, where it is set when the build runs";
  note.clear();
  if (form == "cmake" || form == "initial-cache") {
    out = cmake_lines(plan, form == "cmake" ? "" : kCache);
    gap(note, "TORCH_CUDA_ARCH_LIST", torch_list(plan), "");
    gap(note, "CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan), "");
  } else if (form == "preset") {
    out = preset(plan);
    gap(note, "TORCH_CUDA_ARCH_LIST of CMake", torch_list(plan), kAppended);
    gap(note, "TORCH_CUDA_ARCH_LIST of the environment", torch_python_list(plan), kAppended);
    gap(note, "CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan), kAppended);
  } else if (form == "env") {
    out = env_lines(plan);
    gap(note, "TORCH_CUDA_ARCH_LIST", torch_python_list(plan), kAppended);
    gap(note, "CUDAARCHS", cmake_architectures(plan), kAppended);
  } else if (form == "json") {
    out = write_json(plan_json(plan)) + "\n";
  } else if (form == "gencode") {
    out = join(gencode_flags(plan), " ") + "\n";
  } else if (form == "cpp-extension") {
    out = flag_array(plan);  // for extra_compile_args={"nvcc": [...]}: a Python list as well
  } else if (form == "cmake-architectures") {
    one_list("CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan), out, note);
  } else if (form == "torch-list") {
    one_list("TORCH_CUDA_ARCH_LIST", torch_list(plan), out, note);
  } else {
    return false;
  }
  return true;
}

}  // namespace tcs
