// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

const OptionSpec* find_spec(const List<OptionSpec>& specs, std::string_view name) {
  for (const OptionSpec& spec : specs) {
    if (name == spec.name) return &spec;
  }
  return nullptr;
}

std::string help_text(const List<OptionSpec>& specs, const char* synopsis) {
  std::string out = cat("usage: ", synopsis, "\n");
  if (!specs.empty()) out += "\n";
  for (const OptionSpec& spec : specs) {
    std::string left = cat("  ", spec.name, spec.value != nullptr ? cat(" ", spec.value) : "");
    if (left.size() < 24) left.append(24 - left.size(), ' ');
    out += cat(left, "  ", spec.help, "\n");
  }
  return out;
}

std::string unknown_option(const List<OptionSpec>& specs, const std::string& name) {
  List<std::string> names;
  for (const OptionSpec& spec : specs) names.push_back(spec.name);
  return cat("tcstack: unknown option ", tail(name, 60), did_you_mean(name, names), "\n");
}

// An unset variable of a script must not become "the file of no name".
bool names_a_file(const OptionSpec& spec) {
  const std::string_view value = spec.value != nullptr ? spec.value : "";
  return value == "FILE" || value == "DIR" || value == "GLOB";
}

// What a help line offers for cmake, -DTorchCudaStack_TARGETS=8.6 or -DPython_EXECUTABLE:PATH=p, is
// --set TARGETS=8.6 here.
bool take_cmake_option(const std::string& arg, const List<OptionSpec>& specs, Options& out) {
  const size_t equals = arg.find('=');
  if (!starts_with(arg, "-D") || equals == std::string::npos || !find_spec(specs, "--set"))
    return false;
  std::string name = arg.substr(2, equals - 2);
  name = name.substr(0, name.find(':'));
  const std::string own = "TorchCudaStack_";
  if (starts_with(name, own)) name = name.substr(own.size());
  out.given.push_back({"--set", name + arg.substr(equals)});
  return true;
}

// The option at args[at] with its value; "" or what is wrong with it.
std::string take_option(const List<std::string>& args, size_t& at, const List<OptionSpec>& specs,
                        Options& out) {
  const std::string& arg = args[at];
  const size_t equals = arg.find('=');
  const std::string name = arg.substr(0, equals);
  const OptionSpec* spec = find_spec(specs, name);
  if (spec == nullptr) return unknown_option(specs, name);
  if (!spec->repeats && out.has(spec->name)) return cat("tcstack: ", name, " was given twice\n");
  std::string value;
  if (spec->value == nullptr) {
    if (equals != std::string::npos) return cat("tcstack: ", name, " takes no value\n");
  } else if (equals != std::string::npos) {
    value = arg.substr(equals + 1);
  } else if (at + 1 < args.size()) {
    value = args[++at];
  } else {
    return cat("tcstack: ", name, " needs a value (", spec->value, ")\n");
  }
  if (value.empty() && names_a_file(*spec))
    return cat("tcstack: ", name, " needs a value (", spec->value, "), not an empty one\n");
  out.given.push_back({spec->name, value});
  return {};
}

}  // namespace

bool Options::has(const char* name) const {
  for (const auto& option : given) {
    if (option.first == name) return true;
  }
  return false;
}

std::string Options::get(const char* name, const char* fallback) const {
  std::string value = fallback;
  for (const auto& option : given) {
    if (option.first == name) value = option.second;
  }
  return value;
}

List<std::string> Options::all(const char* name) const {
  List<std::string> values;
  for (const auto& option : given) {
    if (option.first == name) values.push_back(option.second);
  }
  return values;
}

bool parse_options(const List<std::string>& args, const List<OptionSpec>& specs,
                   const char* synopsis, Options& out, int& status) {
  auto refuse = [&](const std::string& text) {
    print_err(text + cat("usage: ", synopsis, "\n"));
    status = 2;
    return false;
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      for (++i; i < args.size(); ++i) out.words.push_back(args[i]);
      break;
    }
    if (arg == "--help" || arg == "-h") {
      status = print_out(help_text(specs, synopsis)) ? 0 : 3;
      return false;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      out.words.push_back(arg);
      continue;
    }
    if (take_cmake_option(arg, specs, out)) continue;
    const std::string wrong = take_option(args, i, specs, out);
    if (!wrong.empty()) return refuse(wrong);
  }
  if (contains(out.words, "")) return refuse("tcstack: an argument is empty\n");
  return true;
}

bool print_out(const std::string& text) {
  if (write_all(1, text)) return true;
  print_err(cat("tcstack: cannot write to standard output: ", std::strerror(errno), "\n"));
  return false;
}

void print_err(const std::string& text) {
  write_all(2, text);
}

int refuse_full(const std::string& what) {
  print_err(cat("tcstack: this one was compiled at a configure step and has no ", what,
                "; an installed one has:\n",
                "  cmake -G Ninja -S <TorchCudaStack> -B build -DTCS_BUILD_TESTS=OFF && cmake "
                "--build build\n",
                "  cmake --install build --prefix ~/.local\n"));
  return 2;
}

}  // namespace tcs
