// SPDX-License-Identifier: Apache-2.0
#include "tool/settings.h"

#include "base/text.h"
#include "base/utf8.h"
#include "emit/plan_cmake.h"
#include "facts/facts_io.h"

namespace tcs {

namespace {

// Variables of the environment that a request is made of; docs/internals.md.
constexpr const char *kList = "TORCH_CUDA_ARCH_LIST", *kCMakeList = "CUDAARCHS",
                     *kTargets = "TORCH_CUDA_STACK_TARGETS";

Setting variable(const Inputs& in, const std::string& name) {
  const std::string* value = in.find(name);
  if (value == nullptr || value->empty()) return {};
  return {true, *value, name + " (CMake variable)"};
}

Setting environment(const std::string& name, const std::string& value) {
  if (value.empty()) return {};
  return {true, value, name + " (environment)"};
}
Setting environment(const StringMap& variables, const std::string& name) {
  const std::string* set = variables.find(name);
  return environment(name, set ? *set : "");
}

struct ListSetting {
  Setting setting;
  const char* dialect;
};

// In the order in which they say what is built.
List<ListSetting> lists_given(const StringMap& variables, const Inputs& in) {
  List<ListSetting> lists;
  Setting torch = variable(in, kList);
  if (!torch.set) torch = environment(variables, kList);
  if (torch.set) lists.push_back({torch, "torch"});
  Setting cmake = variable(in, "CMAKE_CUDA_ARCHITECTURES");
  if (cmake.set && !is_off(cmake.value)) lists.push_back({cmake, "cmake"});
  Setting cudaarchs = environment(variables, kCMakeList);
  if (cudaarchs.set) lists.push_back({cudaarchs, "cmake"});
  return lists;
}

}  // namespace

bool is_off(const std::string& value) {
  std::string word = lower(trim(value));
  return word.empty() || word == "off" || word == "false" || word == "no" || word == "0";
}

Setting own_input(const Host& host, const Inputs& in, const std::string& name) {
  const std::string* value = in.find(name);
  if (value != nullptr) return {true, *value, "TorchCudaStack_" + name};
  return environment("TORCH_CUDA_STACK_" + name, host.env_or("TORCH_CUDA_STACK_" + name, ""));
}

StringMap variables_of(const Host& host) {
  StringMap out;
  for (const char* name : {kList, kCMakeList, kTargets}) {
    std::string value;
    if (host.env(name, value)) out[name] = value;
  }
  return out;
}

Request make_request(const StringMap& variables, const Inputs& in) {
  Request request;
  List<ListSetting> lists = lists_given(variables, in);
  if (!lists.empty()) {
    request.arch_list = Text(lists[0].setting.value, lists[0].setting.from);
    request.arch_dialect = lists[0].dialect;
  }
  if (lists.size() > 1) {
    request.other_list = Text(lists[1].setting.value, lists[1].setting.from);
    request.other_dialect = lists[1].dialect;
  }
  const std::string* given = in.find("TARGETS");
  const Setting targets =
      given ? Setting{true, *given, "TorchCudaStack_TARGETS"} : environment(variables, kTargets);
  if (targets.set && !trim(targets.value).empty()) {
    request.targets_known = true;
    for (const std::string& target : split(targets.value, ";")) {
      std::string word(trim(target));
      if (!word.empty()) request.targets.push_back(word);
    }
    request.targets_from = targets.from;
  }
  return request;
}

void settle_purpose(const Inputs& in, const Facts& facts, Request& request) {
  const std::string* named = in.find("PURPOSE");
  if (named && !named->empty())
    request.purpose = *named;
  else if (facts.tree.state.is("found"))
    request.purpose = "pytorch-source";
}

Result<Done> set_fail_on(const std::string& word, Policy& policy) {
  policy.never = word == "never";
  if (word == "error" || word == "never")
    policy.fail_on = Severity::Error;
  else if (word == "warning")
    policy.fail_on = Severity::Warning;
  else if (word == "unknown")
    policy.fail_on = Severity::Unknown;
  else
    return Error{cat("'", tail(word, 40), "' is none of error, warning, unknown, never"), ""};
  return Done{};
}

Result<Policy> make_policy(const Host& host, const Inputs& in) {
  Policy policy;
  if (const std::string* asked = in.find("COMPONENTS")) {
    for (const std::string& name : split(*asked, ";"))
      for (const Component& component : kComponents)
        if (name == component.name) policy.components.push_back(component.layer);
  }
  Setting fail_on = own_input(host, in, "FAIL_ON");
  if (fail_on.set && !fail_on.value.empty()) {
    Result<Done> ok = set_fail_on(fail_on.value, policy);
    if (!ok) return Error{ok.error().text, fail_on.from};
  }
  Setting allow = own_input(host, in, "ALLOW");
  for (const std::string& id : split(allow.value, ";, ")) {
    if (find_row(id) == nullptr)
      return Error{cat("'", tail(id, 40), "' is no finding"), allow.from};
    policy.allow.push_back(id);
  }
  return policy;
}

Result<Language> language_named(const std::string& word) {
  if (word == "zh") return Language::Chinese;
  if (word == "en") return Language::English;
  return Error{cat("'", tail(word, 40), "' is none of en, zh"), ""};
}

namespace {

// "zh_CN.UTF-8", "zh_TW", "zh". Of another encoding none: what is printed is UTF-8.
bool is_chinese(const std::string& locale) {
  const size_t dot = locale.find('.');
  const std::string encoding =
      dot == std::string::npos ? "" : lower(locale.substr(dot + 1, locale.find('@') - dot - 1));
  return (locale == "zh" || starts_with(locale, "zh_") || starts_with(locale, "zh.")) &&
         (encoding.empty() || encoding == "utf-8" || encoding == "utf8");
}

}  // namespace

Result<Language> make_language(const Host& host, const Inputs& in) {
  const Setting set = own_input(host, in, "LANG");
  if (!set.value.empty()) {
    Result<Language> named = language_named(set.value);
    return named ? named : Error{named.error().text, set.from};
  }
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const std::string locale = host.env_or(name, ""); !locale.empty())
      return is_chinese(locale) ? Language::Chinese : Language::English;
  return Language::English;
}

Result<std::string> cache_folder(const Host& host, const Inputs& in) {
  Setting set = own_input(host, in, "CACHE_DIR");
  if (!set.value.empty()) {
    if (is_off(set.value)) return std::string();
    if (starts_with(set.value, "/")) return set.value;
    return Error{cat("'", tail(set.value, 60), "' is no absolute path, and not OFF"), set.from};
  }
  std::string base = host.env_or("XDG_CACHE_HOME", "");
  if (!starts_with(base, "/") && !host.env_or("HOME", "").empty()) {
    base = path_join(host.env_or("HOME", ""), ".cache");
  }
  return starts_with(base, "/") ? path_join(base, "torch-cuda-stack") : std::string();
}

const List<std::string>& input_names() {
  static const List<std::string> names = split(
      "TARGETS TOOLKIT PROVISION FACTS FAIL_ON ALLOW TIMEOUT REPORT_DIR CACHE_DIR LANG "
      "TORCH_CUDA_ARCH_LIST CMAKE_CUDA_ARCHITECTURES CMAKE_CUDA_COMPILER "
      "CMAKE_CUDA_HOST_COMPILER CUDA_TOOLKIT_ROOT_DIR CUDAToolkit_ROOT Torch_DIR "
      "Torch_ROOT TORCH_ROOT CMAKE_PREFIX_PATH Python_EXECUTABLE Python_ROOT_DIR "
      "TREE_CUDA_COMPILER CXX_COMPILER CROSSCOMPILING COMPONENTS CMAKE_VERSION SOURCE_DIR "
      "BINARY_DIR PURPOSE FRESH TORCH_OPTIONAL",
      " ");
  return names;
}

Result<Done> take_sets(const List<std::string>& pairs, const List<std::string>* names, Inputs& in) {
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{cat("'", tail(pair, 60), "' is not NAME=VALUE"), "--set"};
    const std::string name = pair.substr(0, equals);
    if (names != nullptr && !contains(*names, name))
      return Error{cat("there is no input '", tail(name, 60), "'", did_you_mean(name, *names)),
                   "--set"};
    in.set[name] = pair.substr(equals + 1);
  }
  const std::string* purpose = in.find("PURPOSE");
  if (purpose && !purpose->empty() &&
      !contains(List<std::string>{"extension", "pytorch-source", "run"}, *purpose))
    return Error{cat("'", tail(*purpose, 40), "' is none of extension, pytorch-source, run"),
                 "PURPOSE"};
  return Done{};
}

// "-" is standard input. A large file is refused by its size, not by reading it.
Result<std::string> read_document(const Host& host, const std::string& path) {
  const std::string file = path == "-" ? "/dev/stdin" : path;
  const size_t most = JsonLimits{}.bytes;
  const FileStat at = host.stat(file);
  if (at.is_file() && at.size > most)
    return Error{cat("has ", at.size, " bytes; at most ", most, " are taken"), path};
  Result<std::string> text = host.read(file, most);
  if (!text) return Error{text.error().text, path};
  if (trim(*text).empty()) return Error{"is empty; expected JSON", path};
  // PowerShell's `>` writes these.
  const bool wide = text->size() > 1 && (text->front() == '\0') != ((*text)[1] == '\0');
  const char* mark = wide || starts_with(*text, "\xff\xfe") || starts_with(*text, "\xfe\xff")
                         ? "UTF-16"
                     : starts_with(*text, "\xef\xbb\xbf") ? "UTF-8 with a byte order mark"
                                                          : nullptr;
  if (mark != nullptr) return Error{cat("is ", mark, "; expected plain UTF-8"), path};
  return text;
}

Result<Json> read_json_file(const Host& host, const std::string& path) {
  Result<std::string> text = read_document(host, path);
  if (!text) return text.error();
  Result<Json> json = parse_json(*text);
  if (!json) return Error{json.error().str(), path};
  return json;
}

template <class T>
static Result<T> read_as(const Host& host, const std::string& path, List<std::string>& unknown,
                         Result<T> (*reader)(std::string_view, List<std::string>&)) {
  Result<std::string> text = read_document(host, path);
  if (!text) return text.error();
  Result<T> value = reader(*text, unknown);
  if (!value) return Error{ascii(value.error().str()), path};
  for (std::string& member : unknown) member = ascii(member);
  return value;
}

Result<Facts> read_facts_file(const Host& host, const std::string& path,
                              List<std::string>& unknown_members) {
  return read_as(host, path, unknown_members, read_facts);
}

Result<Request> read_request_file(const Host& host, const std::string& path,
                                  List<std::string>& unknown_members) {
  return read_as(host, path, unknown_members, read_request);
}

Result<int> timeout_ms_of(const Host& host, const Inputs& in) {
  Setting timeout = own_input(host, in, "TIMEOUT");
  if (!timeout.set || timeout.value.empty()) return 30000;
  uint64_t seconds = 0;
  if (!parse_number(timeout.value, 3600, seconds) || seconds == 0) {
    return Error{cat("'", tail(timeout.value, 40), "' is no number of seconds from 1 to 3600"),
                 timeout.from};
  }
  return static_cast<int>(seconds) * 1000;
}

}  // namespace tcs
