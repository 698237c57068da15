// SPDX-License-Identifier: Apache-2.0
#include "facts/answer_cache.h"

#include "base/text.h"
#include "facts/facts_io.h"
#include "facts/host_compiler.h"

namespace tcs {
namespace {

// Bounds the cache's size; two keys that meet in a slot cost a question, no more.
constexpr uint64_t kAnswerSlots = 64;

std::string slot(const std::string& key) {
  return cat("answers/", fnv1a(key) % kAnswerSlots, ".json");
}

void add_file(const Host& host, const std::string& path, std::string& key) {
  FileStat stat = host.stat(path);
  key += cat(path, " = ", host.real_path(path), " ", stat.size, " ", stat.mtime_ns, "\n");
}

// What nvcc and its helpers may start.
const char* const kPrograms[] = {"gcc",     "g++",   "cc",   "c++", "clang",
                                 "clang++", "ptxas", "cicc", "as",  "ld"};

bool is_compiler(const std::string& name) {  // g++-11, too
  for (const char* program : kPrograms)
    if (name == program || starts_with(name, cat(program, "-"))) return true;
  return false;
}

// The folders of PATH that hold one of them: pip's build isolation has another one each time, with
// none.
std::string telling_path(const Host& host, const std::string& path) {
  std::string out;
  for (const std::string& folder : split(path, ":")) {
    Result<List<std::string>> names = host.list(folder);
    bool tells = false;
    if (names)
      for (const std::string& name : *names) tells = tells || is_compiler(name);
    if (tells) out += folder + ":";
  }
  return out;
}

}  // namespace

Result<Facts> recall_facts(const Host& host, const Inputs& in, const std::string& slot,
                           const std::string& key) {
  if (in.cache_dir.empty()) return Error{"no cache", ""};
  Result<std::string> text = host.read(path_join(in.cache_dir, slot), 4u << 20);
  if (!text) return text.error();
  Result<Json> json = parse_json(*text);
  const Json* kept = json ? json->find("key") : nullptr;
  const Json* answers = json ? json->find("answers") : nullptr;
  if (kept == nullptr || answers == nullptr || kept->text != key) return Error{"another key", slot};
  List<std::string> unknown;
  return read_facts(write_json(*answers, 0), unknown);
}

void keep_facts(Host& host, const Inputs& in, const std::string& slot, const std::string& key,
                const Facts& facts) {
  if (in.cache_dir.empty()) return;
  Json json = Json::object();
  json.add("key", key).add("answers", facts_to_json(facts));
  const std::string path = path_join(in.cache_dir, slot);
  if (host.make_directories(path_parent(path)))
    (void)host.write_atomic(path, write_json(json, 0)).operator bool();
}

std::string answers_key(const Host& host, const Inputs& in, const Toolkit& toolkit) {
  std::string key =
      cat("answers/3 " TCS_VERSION, in.work_dir.empty() ? " listed\n" : " compiled\n");
  const SystemNames system = host.system();  // a home may be shared by machines
  key += cat(system.arch, " ", system.glibc, "\n");
  const std::string root = toolkit.root.value(), include = toolkit.include_dir.value();
  add_file(host, toolkit.nvcc.value(), key);
  // Of a distribution the tools are in the folder of the nvcc behind the wrapper.
  for (const std::string& folder : {root + "/bin", toolkit.driver_dir.value()})
    for (const char* tool : {"nvcc", "nvcc.profile", "ptxas", "cudafe++", "fatbinary", "cicc"})
      add_file(host, path_join(folder, tool), key);
  for (const char* part : {"nvvm/bin/cicc", "nvvm/libdevice", "lib64", "lib"})
    add_file(host, path_join(root, part), key);
  add_file(host, toolkit.library_dir.value(), key);
  for (const char* header : {"", "cuda.h", "cuda_runtime.h", "crt/host_config.h"})
    add_file(host, path_join(include, header), key);
  add_file(host, "/usr/include/features.h", key);
  const std::string path = telling_path(host, host.env_or("PATH", ""));
  key += cat("PATH=", path, "\n");
  for (const char* program : kPrograms) add_file(host, find_program(host, program, path), key);
  // Which setting named the compiler is part of the answer.
  const HostCompilerChoice choice = host_compiler_choice(host, in);
  key += choice.origin + "\n";
  add_file(host,
           contains(choice.named, "/") ? choice.named
                                       : find_program(host, choice.named, host.env_or("PATH", "")),
           key);
  for (const auto& variable : host.environment()) {
    for (const char* prefix :
         {"NVCC_", "CUDA", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GCC_",
          "COMPILER_PATH", "LD_", "CCACHE_", "INCLUDES", "SYSTEM_INCLUDES", "LIBRARIES", "TOP",
          "CICC_", "NVVM", "PTXAS_", "CUDAFE_"}) {  // the last of nvcc.profile's
      if (starts_with(variable.first, prefix) && !starts_with(variable.first, "CUDA_VISIBLE"))
        key += cat(variable.first, "=", variable.second, "\n");
    }
  }
  return key;
}

bool recall_answers(const Host& host, const Inputs& in, const std::string& key, Toolkit& toolkit,
                    HostCompiler& compiler) {
  Result<Facts> facts = recall_facts(host, in, slot(key), key);
  if (!facts || facts->toolkits.list.size() != 1) return false;
  // How this toolkit was found is of this time.
  const Text origin = toolkit.origin, nvcc = toolkit.nvcc;
  const std::string reason = toolkit.reason;
  toolkit = facts->toolkits.list[0];
  toolkit.origin = origin;
  toolkit.nvcc = nvcc;
  toolkit.reason = reason;
  compiler = facts->host_compiler;
  return true;
}

void keep_answers(Host& host, const Inputs& in, const std::string& key, const Toolkit& toolkit,
                  const HostCompiler& compiler) {
  // With a reason something was not learnt: it is asked again.
  if (!toolkit.works.is(true)) return;
  if (!toolkit.reason.empty() || !compiler.reason.empty()) return;
  Facts facts;
  facts.toolkits.list_known = true;
  facts.toolkits.list.push_back(toolkit);
  facts.toolkits.list[0].builds.clear();  // of one plan; images have a cache of their own
  facts.host_compiler = compiler;
  keep_facts(host, in, slot(key), key, facts);
}

}  // namespace tcs
