// SPDX-License-Identifier: Apache-2.0
#include "facts/torch_files.h"

#include "base/text.h"

namespace tcs {
namespace {

constexpr size_t longest_value = 128;

bool version_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '+' || c == '-' || c == '_' || c == '!';
}

// 'TEXT' or "TEXT" or None, a comment may follow.
bool literal(std::string_view text, std::string& out) {
  text = trim(text);
  if (size_t hash = text.find('#'); hash != std::string_view::npos)
    text = trim(text.substr(0, hash));
  if (text == "None") {
    out.clear();
    return true;
  }
  if (text.size() < 3 || text.size() > longest_value + 2) return false;
  if ((text[0] != '\'' && text[0] != '"') || text.back() != text[0]) return false;
  text = text.substr(1, text.size() - 2);
  for (char c : text)
    if (!version_character(c)) return false;
  out = text;
  return true;
}

}  // namespace

bool version_py_value(std::string_view text, std::string_view name, std::string& value) {
  for (const std::string& line : lines_of(text)) {
    if (!starts_with(line, name)) continue;
    std::string_view rest = trim(std::string_view(line).substr(name.size()));
    size_t equals = rest.find('=');
    if (equals == std::string_view::npos || (equals > 0 && rest[0] != ':')) continue;
    if (literal(rest.substr(equals + 1), value)) return true;
  }
  return false;
}

std::string cuda_of_local_version(std::string_view version) {
  size_t plus = version.find('+');
  if (plus == std::string_view::npos) return {};
  for (const std::string& part : split(version.substr(plus + 1), ".")) {
    uint64_t number = 0;
    if (!starts_with(part, "cu") || part.size() > 6) continue;
    if (parse_number(std::string_view(part).substr(2), 9999, number) && number >= 80)
      return cat(number / 10, '.', number % 10);
  }
  return {};
}

int standard_of_guard(std::string_view header) {
  const std::string_view sign = "__cplusplus < ";
  size_t at = header.find(sign);
  if (at == std::string_view::npos || header.find("#error", at) == std::string_view::npos) return 0;
  std::string_view digits = header.substr(at + sign.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  uint64_t number = 0;  // year and month of the standard, 201703
  if (digits.size() != 6 || !parse_number(digits, 209912, number) || number < 201100) return 0;
  return static_cast<int>(number / 100 % 100);
}

// conda and distributions keep libtorch in the prefix and only links, or nothing, in torch/lib.
std::string torch_library_folder(const Host& host, const Facts& facts) {
  List<std::string> folders = {facts.torch.root.value() + "/lib"};
  if (facts.python.prefix.known()) folders.push_back(facts.python.prefix.value() + "/lib");
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    folders.push_back(folder);
  const auto has = [&](const std::string& folder, const char* name) {
    return host.stat(path_join(folder, name)).is_file();
  };
  for (const std::string& folder : folders) {
    if (!has(folder, "libtorch.so") && !has(folder, "libtorch_cpu.so")) continue;
    // Debian's python3-torch-cuda 2.6 has links to all but libtorch_cuda.so, which is beside the
    // others.
    const std::string real = path_parent(host.real_path(folder + "/libtorch_cpu.so"));
    const bool elsewhere = !has(folder, "libtorch_cuda.so") && has(real, "libtorch_cuda.so");
    return elsewhere ? real : folder;
  }
  return {};
}

}  // namespace tcs
