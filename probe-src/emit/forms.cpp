// SPDX-License-Identifier: Apache-2.0
#include "emit/forms.h"

#include "base/text.h"
#include "emit/emit.h"

namespace tcs {
namespace {

std::string set_line(const char* name, const std::string& value) {
  return cat("set(", name, " ", cmake_quote(value), ")\n");
}

// CMake refuses an empty list, and takes its own default where there is none.
std::string cmake_text(const Plan& plan) {
  const std::string text = cmake_architectures(plan).text;
  return text.empty() ? "OFF" : text;
}

std::string cmake_lines(const Plan& plan) {
  const std::string torch = torch_list(plan).text;
  return (torch.empty() ? "" : set_line("TORCH_CUDA_ARCH_LIST", torch)) +
         set_line("CMAKE_CUDA_ARCHITECTURES", cmake_text(plan));
}

std::string flag_array(const Plan& plan) {
  Json flags = Json::array();
  for (const auto& flag : gencode_flags(plan)) flags.push(flag);
  return write_json(flags, 0) + "\n";
}

// One line for each dialect that cannot say everything.
void gap(std::string& note, const char* what, const Dialect& dialect) {
  if (dialect.complete) return;
  note += cat(note.empty() ? "" : "\n", what, " cannot say ", join(dialect.left_out, " "));
}

// One list on a line; nothing where the list can say nothing of the plan.
void one_list(const char* what, const Dialect& dialect, std::string& out, std::string& note) {
  out = dialect.text.empty() ? "" : dialect.text + "\n";
  gap(note, what, dialect);
}

}  // namespace

bool plan_form(const Plan& plan, const std::string& form, std::string& out, std::string& note) {
  note.clear();
  if (form == "cmake") {
    out = cmake_lines(plan);
    gap(note, "TORCH_CUDA_ARCH_LIST", torch_list(plan));
    gap(note, "CMAKE_CUDA_ARCHITECTURES", cmake_architectures(plan));
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
