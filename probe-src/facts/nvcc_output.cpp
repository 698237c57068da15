// SPDX-License-Identifier: Apache-2.0
#include "facts/nvcc_output.h"

#include "base/text.h"

namespace tcs {
namespace {

// Words of a command line as nvcc prints it: "quoted parts" may hold blanks and join what follows.
List<std::string> words_of(std::string_view line) {
  List<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

List<std::string> with_prefix(std::string_view line, std::string_view prefix) {
  List<std::string> out;
  for (const std::string& word : words_of(line))
    if (starts_with(word, prefix) && word.size() > prefix.size())
      out.push_back(word.substr(prefix.size()));
  return out;
}

// The decimal number that follows `op` in `text`, e.g. 15 in "__GNUC__ > 15".
bool number_after(std::string_view text, std::string_view op, int& out) {
  size_t at = text.find(op);
  if (at == std::string_view::npos) return false;
  std::string_view rest = trim(text.substr(at + op.size()));
  size_t end = rest.find_first_not_of("0123456789");
  uint64_t value = 0;
  if (!parse_number(rest.substr(0, end), 99999, value)) return false;
  out = static_cast<int>(value);
  return true;
}

struct Sign {
  const char* kind;
  const char* text;
};
constexpr Sign kSigns[] = {
#define TCS_NVCC_FAILURE(kind, text) {kind, text},
#include "tables/nvcc_failures.def"
#undef TCS_NVCC_FAILURE
};

}  // namespace

std::string parse_release(std::string_view printed) {
  for (const std::string& line : lines_of(printed)) {
    size_t at = line.find(", V");
    if (!contains(line, "release ") || at == std::string::npos) continue;
    Version v = Version::parse(trim(std::string_view(line).substr(at + 3)));
    if (v.numbers.size() >= 2) return v.dotted();
  }
  return {};
}

List<Sm> parse_gpu_list(std::string_view printed) {
  List<Sm> list;
  for (const std::string& line : lines_of(printed)) {
    Image image;
    if (parse_image(trim(line), image)) list.push_back(image.sm);
  }
  return list;
}

DryRun parse_dry_run(std::string_view printed) {
  DryRun d;
  for (const std::string& line : lines_of(printed)) {
    if (!starts_with(line, "#$ ")) continue;
    std::string_view rest = std::string_view(line).substr(3);
    auto take = [&](std::string_view name, std::string& out) {
      if (starts_with(rest, name)) out = std::string(trim(rest.substr(name.size())));
    };
    take("_HERE_=", d.here);
    take("TOP=", d.top);
    take("PATH=", d.path);
    take("CICC_PATH=", d.cicc_dir);
    take("NVVMIR_LIBRARY_DIR=", d.libdevice_dir);
    if (starts_with(rest, "INCLUDES=")) d.include_dirs = with_prefix(rest.substr(9), "-I");
    if (starts_with(rest, "LIBRARIES=")) d.library_dirs = with_prefix(rest.substr(10), "-L");
    if (d.host_compiler.empty() && contains(rest, " -E -x c++ ")) {
      List<std::string> words = words_of(rest);
      if (!words.empty()) d.host_compiler = words[0];
    }
  }
  return d;
}

bool parse_refused_arch(std::string_view printed, Sm& out) {
  size_t at = printed.find("Unsupported gpu architecture '");
  if (at == std::string_view::npos) return false;
  std::string_view name = printed.substr(at + 30);
  Image image;
  if (!parse_image(name.substr(0, name.find('\'')), image)) return false;
  out = image.sm;
  return true;
}

// The lines read are '#if __GNUC__ > 15' and '#if (__clang_major__ >= 21) || ...'; up to 12.3 some
// use '> N'. The block for Grace's own clang (GRCO) has other bounds and does not concern the rest.
void parse_host_limits(std::string_view host_config, Fact<int>& gcc_max, Fact<int>& clang_max) {
  for (const std::string& line : lines_of(host_config)) {
    int n = 0;
    if (!starts_with(trim(line), "#if") || contains(line, "GRCO")) continue;
    if (number_after(line, "__GNUC__ >=", n) && n > 0)
      gcc_max = Fact<int>(n - 1, "crt/host_config.h");
    else if (number_after(line, "__GNUC__ >", n))
      gcc_max = Fact<int>(n, "crt/host_config.h");
    if (number_after(line, "__clang_major__ >=", n) && n > 0)
      clang_max = Fact<int>(n - 1, "crt/host_config.h");
    else if (number_after(line, "__clang_major__ >", n))
      clang_max = Fact<int>(n, "crt/host_config.h");
  }
}

std::string parse_cuda_version(std::string_view header) {
  int n = 0;
  if (!number_after(header, "#define CUDA_VERSION ", n) || n < 1000) return {};
  return cat(n / 1000, '.', n % 1000 / 10);
}

std::string failure_kind(const Outcome& outcome) {
  if (outcome.state == Outcome::State::NotStarted) return "start";
  if (outcome.state == Outcome::State::TimedOut) return "hang";
  if (outcome.state == Outcome::State::Signalled) return "crash";
  if (outcome.ok()) return {};
  for (const Sign& sign : kSigns)
    if (contains(outcome.err, sign.text)) return sign.kind;
  return outcome.code > 128 ? "crash" : "output";  // how a shell passes a signal on
}

std::string telling_lines(const Outcome& outcome) {
  if (outcome.state != Outcome::State::Exited) return outcome.describe();
  List<std::string> picked;
  for (const std::string& line : lines_of(outcome.err)) {
    // gcc shows the source line again behind a bar; the advice of host_config.h is ours to give.
    if (starts_with(line, "#$ ") || contains(line, " | ") || picked.size() == 2) continue;
    std::string_view text = trim(line).substr(0, trim(line).find(" The nvcc flag"));
    for (const char* word : {"error", "fatal", "ERROR", "not found", "No such file", "Use 'nvcc"})
      if (contains(text, word)) {
        picked.push_back(tail(text.substr(0, 300), 300));
        break;
      }
  }
  if (!picked.empty()) return join(picked, "; ");
  std::string_view rest = trim(outcome.err.empty() ? outcome.out : outcome.err);
  return rest.empty() ? outcome.describe() : cat(outcome.describe(), ": ", tail(rest, 200));
}

}  // namespace tcs
