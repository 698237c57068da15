// SPDX-License-Identifier: Apache-2.0
#include "drive/drive.h"

#include "base/text.h"
#include "drive/jobs.h"
#include "drive/projects.h"
#include "drive/pytorch_source.h"
#include "host/host.h"
#include "tables/tables.h"

namespace tcs {

namespace {

BuildSetting setting(const char* name, const std::string& value, const std::string& why) {
  BuildSetting one;
  one.name = name;
  one.value = value;
  one.why = why;
  return one;
}

class Settings {
 public:
  explicit Settings(const DriveInput& in) : in_(in) {}

  const std::string* users(const char* name) const {
    const std::string* value = in_.users.find(name);
    return value != nullptr && !value->empty() ? value : nullptr;
  }

  // The user's own value stays; what is unknown is not said.
  void variable(BuildSetting one) {
    if (const std::string* value = users(one.name.c_str())) {
      one.users = true;
      one.value = *value;
    }
    if (!one.value.empty()) out.environment.push_back(one);
  }
  void variable(const char* name, const std::string& value, const std::string& why) {
    variable(setting(name, value, why));
  }

  // A list that the user's own words are part of: the words are kept, and ours are added.
  void joined(const char* name, const std::string& value, const std::string& why) {
    out.environment.push_back(setting(name, value, why));
  }

  // In a cache a value comes before what CMake would take from the environment, so that a variable
  // which the user set there is repeated.
  void entry(const char* name, const char* same_in_environment, const std::string& value,
             const std::string& why) {
    BuildSetting one = setting(name, value, why);
    if (const std::string* set = users(same_in_environment)) {
      one.users = true;
      one.value = *set;
    }
    if (one.value.find('\n') != std::string::npos)
      return note(cat("CMake's cache cannot hold ", one.name, ", whose value has several lines"));
    if (!one.value.empty()) out.cache.push_back(one);
  }

  void note(const std::string& text) { out.notes.push_back(text); }

  Drive out;

 private:
  const DriveInput& in_;
};

// CMake refuses an empty list, and takes its own default where there is none.
std::string cmake_text(const Plan& plan) {
  const std::string text = cmake_architectures(plan).text;
  return text.empty() ? "OFF" : text;
}

// What a list cannot say goes to nvcc itself, which takes a flag given twice as given once.
std::string appended_flags(const Plan& plan, const List<Dialect>& dialects) {
  List<std::string> flags;
  for (const std::string& flag : gencode_flags(plan))
    for (const Dialect& dialect : dialects)
      if (contains(dialect.left_out, flag)) add_once(flags, flag);
  return join(flags, " ");
}

void say_gap(Settings& s, const char* list, const Dialect& dialect) {
  if (dialect.complete) return;
  s.note(cat(list, " cannot say ", join(dialect.left_out, " "),
             "; NVCC_APPEND_FLAGS does, for every call of nvcc in the build"));
}

void set_flags(Settings& s, const Plan& plan, const List<Dialect>& dialects) {
  const std::string flags = appended_flags(plan, dialects);
  if (flags.empty()) return;
  const std::string* own = s.users("NVCC_APPEND_FLAGS");
  const bool there = own != nullptr && contains(cat(" ", *own, " "), cat(" ", flags, " "));
  s.joined("NVCC_APPEND_FLAGS",
           own == nullptr ? flags
           : there        ? *own
                          : cat(*own, " ", flags),
           "what the lists cannot say");
}

// `entry` alone, where nvcc builds it and PyTorch's parser has a word for it; "" where not.
std::string list_of(const Plan& plan, const Sm& entry) {
  Gencode one;
  one.virt = one.real = entry;
  Plan alone = plan;
  alone.gencodes = {one};
  if (!plan.nvcc_archs.empty() && !contains(plan.nvcc_archs, entry.real())) return {};
  return torch_python_list(alone).text;
}

// An entry that can stand beside an image of the plan which no list can name: of the same virtual
// architecture, so that what compiles for the one does for the other (nvcc takes 12.0a, and not
// 12.0, beside 12.0f); else the newest older one, 8.7 for 8.8. "" = there is none.
std::string beside(const Plan& plan) {
  for (const Gencode& g : plan.gencodes) {
    Sm same = g.virt;
    if (same.suffix == 'f') same.suffix = 'a';
    const std::string list = list_of(plan, same);
    if (!list.empty()) return list;
  }
  std::string older;
  for (const ArchRow& row : arch_rows()) {
    if (plan.gencodes.empty() || !row.sm.plain() || !(row.sm < plan.gencodes[0].virt)) continue;
    const std::string list = list_of(plan, row.sm);
    if (!list.empty()) older = list;
  }
  return older;
}

// Without a list torch.utils.cpp_extension takes the visible GPUs, and stops where there is none.
void set_torch_list(Settings& s, const Plan& plan, const std::string& text) {
  const char* const name = "TORCH_CUDA_ARCH_LIST";
  const std::string more = text.empty() ? beside(plan) : std::string();
  s.variable(name, text.empty() ? more : text, text.empty() ? "beside the plan" : "the plan");
  if (!text.empty() || s.users(name) != nullptr) return;
  s.note(more.empty()
             ? cat(name, " can say nothing of the plan: torch.utils.cpp_extension takes a list ",
                   "of its own")
             : cat(name, " can say nothing of the plan: ", more, " is built beside it, so that ",
                   "torch.utils.cpp_extension takes no list of its own"));
}

void set_lists(Settings& s, const Plan& plan) {
  const Dialect python = torch_python_list(plan), torch = torch_list(plan),
                cmake = cmake_architectures(plan);
  set_torch_list(s, plan, python.text);
  s.variable("CUDAARCHS", cmake_text(plan), "the plan, in CMake's words");
  set_flags(s, plan, {torch, python, cmake});
  s.entry("CMAKE_CUDA_ARCHITECTURES", "CUDAARCHS", cmake_text(plan), "the plan, in CMake's words");
  s.entry("TORCH_CUDA_ARCH_LIST", "TORCH_CUDA_ARCH_LIST", torch.text,
          "the plan, for find_package(Torch)");
  say_gap(s, "TORCH_CUDA_ARCH_LIST of the environment", python);
  say_gap(s, "TORCH_CUDA_ARCH_LIST of CMake", torch);
  say_gap(s, "CMAKE_CUDA_ARCHITECTURES", cmake);
}

// The user's variable names a toolkit, and the build will use that. Where it is the very one that
// `root` completes, the linker alone misses something: libcudart.so, by its plain name.
void say_other_toolkit(Settings& s, const DriveInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  bool completed = false;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"}) {
    const std::string* own = s.users(name);
    if (own == nullptr || *own == in.root) continue;
    const bool same = toolkit != nullptr && toolkit->root.is(*own);
    completed = completed || same;
    if (!same) s.note(cat(name, " stays ", *own, ", which you set; what was checked is ", in.root));
  }
  if (!completed) return;
  const std::string lib = in.root + "/lib64";
  const std::string* own = s.users("LIBRARY_PATH");
  s.joined("LIBRARY_PATH", own == nullptr ? lib : cat(*own, ":", lib),
           "libcudart.so, which your toolkit lacks by that name");
}

// A toolkit from pip has no headers of cuBLAS, cuSPARSE and cuSOLVER, which ATen's own include;
// those packages of PyTorch's bring them. This path is searched after all that a command line
// names.
void set_library_headers(Settings& s, const DriveInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  const std::string& torch = in.facts.torch.root.value();
  const Version cuda = Version::parse(in.facts.torch.cuda.value());
  if (toolkit == nullptr || !contains(toolkit->missing.value(), "nvrtc")) return;
  if (torch.empty() || !cuda.known()) return;
  const std::string headers = cat(path_parent(torch), "/nvidia/cu", cuda.major(), "/include");
  const std::string* own = s.users("CPLUS_INCLUDE_PATH");
  s.joined("CPLUS_INCLUDE_PATH", own == nullptr ? headers : cat(*own, ":", headers),
           "headers of CUDA's libraries, which the toolkit lacks and PyTorch's packages have");
}

// A folder that holds more than a toolkit would put its python before the user's.
void set_path(Settings& s, const DriveInput& in, const std::string& bin) {
  const Toolkit* toolkit = in.facts.toolkit();
  const bool conda = toolkit != nullptr && toolkit->layout.is("conda") && bin == in.root + "/bin";
  if (conda || contains(List<std::string>{"/usr/bin", "/bin", "/usr/local/bin"}, bin)) return;
  const std::string* path = s.users("PATH");
  s.out.path_first = bin;
  s.joined("PATH", path == nullptr ? bin : cat(bin, ":", *path), "the toolkit's programs first");
}

void set_toolkit(Settings& s, const DriveInput& in) {
  if (in.root.empty()) return;
  const std::string nvcc = nvcc_of(in);
  // torch.utils.cpp_extension reads CUDA_HOME first, and then CUDA_PATH.
  const std::string* path_variable = s.users("CUDA_PATH");
  if (path_variable != nullptr)
    s.variable("CUDA_HOME", *path_variable, "as your CUDA_PATH");
  else
    s.variable("CUDA_HOME", in.root, "the toolkit, for PyTorch's build");
  s.variable("CUDACXX", nvcc, "its nvcc, for CMake");
  s.variable("CUDAToolkit_ROOT", in.root, "the toolkit, for CMake");
  set_path(s, in, path_parent(nvcc));
  s.entry("CMAKE_CUDA_COMPILER", "CUDACXX", nvcc, "the toolkit's nvcc");
  s.entry("CUDAToolkit_ROOT", "CUDAToolkit_ROOT", in.root, "the toolkit");
  s.entry("CUDA_TOOLKIT_ROOT_DIR", "CUDAToolkit_ROOT", in.root, "the toolkit, for FindCUDA");
  set_library_headers(s, in);
  say_other_toolkit(s, in);
}

// nvcc 11.8 and 12.4 do not read NVCC_CCBIN, 13.0 does. What is prepended gives way to a -ccbin
// that comes after it: the user's own in the same variable, or the build's.
void set_prepended(Settings& s, const DriveInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  const int release = toolkit != nullptr ? release_of(Version::parse(toolkit->version.value())) : 0;
  if (release >= 1300) return;
  if (contains(in.host_compiler, " "))
    return s.note(cat("NVCC_PREPEND_FLAGS cannot name ", in.host_compiler, ", which has a blank"));
  const std::string flag = "-ccbin " + in.host_compiler;
  const std::string* own = s.users("NVCC_PREPEND_FLAGS");
  const bool there = own != nullptr && contains(*own, flag);
  s.joined("NVCC_PREPEND_FLAGS",
           own == nullptr ? flag
           : there        ? *own
                          : cat(flag, " ", *own),
           "the same, for an nvcc that does not read NVCC_CCBIN");
}

// torch.utils.cpp_extension hands nvcc `-ccbin $CC` where CC is set, which beats both variables.
void set_host_compiler(Settings& s, const DriveInput& in) {
  const std::string& compiler = in.host_compiler;
  const std::string* cc = s.users("CC");
  if (cc != nullptr && contains(trim(*cc), " "))
    s.note(cat("CC=", *cc, " is yours and stays: torch.utils.cpp_extension hands it to nvcc as ",
               "-ccbin, which takes the name of one program"));
  if (compiler.empty()) return;
  const char* const why = "a host compiler that this nvcc takes";
  s.variable("CUDAHOSTCXX", compiler, why);
  s.variable("NVCC_CCBIN", compiler, why);
  if (s.users("NVCC_CCBIN") == nullptr) set_prepended(s, in);
  s.entry("CMAKE_CUDA_HOST_COMPILER", "CUDAHOSTCXX", compiler, why);
  s.entry("CUDA_HOST_COMPILER", "CUDAHOSTCXX", compiler, why);
  if (cc != nullptr)
    s.note(cat("CC=", *cc, " is yours and stays: torch.utils.cpp_extension hands it to nvcc as ",
               "-ccbin, which beats the other ways; nvcc needs ", compiler));
}

// Each thread of nvcc compiles for one architecture.
int compile_mib(const Settings& s, const DriveInput& in) {
  const std::string* own = s.users("NVCC_THREADS");
  uint64_t threads = 1;
  if (own == nullptr || !parse_number(*own, 64, threads) || threads == 0) threads = 1;
  const uint64_t most = in.plan.gencodes.size();
  return kJobMib * static_cast<int>(threads < most ? threads : most > 0 ? most : 1);
}

void set_jobs(Settings& s, const DriveInput& in) {
  const int need =
      project_need(in.named, static_cast<int>(in.plan.gencodes.size()), compile_mib(s, in));
  const Jobs jobs = jobs_for(in.facts.host, need);
  const std::string* own = s.users("MAX_JOBS");
  if (own == nullptr) own = s.users("CMAKE_BUILD_PARALLEL_LEVEL");
  uint64_t number = 0;
  const bool users = own != nullptr && parse_number(*own, 100000, number) && number > 0;
  s.out.jobs = users ? static_cast<int>(number) : jobs.count;
  if (s.out.jobs < 1) return;
  const std::string why = users ? std::string("your number of jobs") : jobs.why;
  s.variable("MAX_JOBS", cat(s.out.jobs), why);
  s.variable("CMAKE_BUILD_PARALLEL_LEVEL", cat(s.out.jobs), why);
  if (!users && jobs.guess)
    s.note(cat("how much memory there is is unknown: ", s.out.jobs,
               " compiles at a time, by cores alone"));
  const Fact<int>& memory = in.facts.host.memory_mib;
  if (memory.known() && memory.value() < need)
    s.note(cat(memory.value(), " MiB of memory are less than one compile may take, ", need,
               " MiB: one that ends with 'Killed' or signal 9 has met that"));
}

// A cmake that the user calls would warn of each entry that its project does not use; those that
// call one out of sight are told all. The entries for these alone.
List<BuildSetting> set_projects(Settings& s, const DriveInput& in) {
  List<BuildSetting> others;
  for (ProjectSetting& row : project_settings(in.plan, s.out.jobs)) {
    if (row.setting.value.empty()) continue;
    bool named = false;
    for (const std::string& project : row.projects) {
      if (named || !names_project(in.named, project.c_str())) continue;
      named = true;
      row.setting.project = project;
    }
    if (row.where == Where::Environment)
      s.variable(row.setting);
    else if (named)
      s.out.cache.push_back(row.setting);
    else
      others.push_back(row.setting);
  }
  for (const std::string& note : project_notes(in.plan, in.named)) s.note(note);
  return others;
}

// scikit-build-core and the setup.py of others cut it at blanks, some as a shell would, some at all
// that Python takes for a blank: U+0085, U+00A0, U+1680, U+2000 and those near it, U+205F, U+3000.
bool is_one_word(const std::string& value) {
  for (char c : value)
    if (static_cast<unsigned char>(c) <= ' ' || c == '\'' || c == '"' || c == '\\') return false;
  for (const char* blank :
       {"\xC2\x85", "\xC2\xA0", "\xE1\x9A\x80", "\xE2\x80", "\xE2\x81\x9F", "\xE3\x80\x80"})
    if (contains(value, blank)) return false;
  return true;
}

// The user's own words come last, so that they win; among them may be ours, of a `run` around this
// one or of lines of `plan` that were read before.
void set_cmake_args(Settings& s, const List<BuildSetting>& others) {
  List<std::string> words;
  List<BuildSetting> all = s.out.cache;
  all.append(others);
  const std::string* own = s.users("CMAKE_ARGS");
  const List<std::string> there = own != nullptr ? split(*own, " ") : List<std::string>();
  for (const BuildSetting& one : all) {
    const std::string word = cat("-D", one.name, "=", one.value);
    if (contains(there, word)) continue;  // a run in a run
    for (const std::string& theirs : there)
      if (starts_with(theirs, cat("-D", one.name, "=")) ||
          starts_with(theirs, cat("-D", one.name, ":")))
        s.note(cat(one.name, " stays as your CMAKE_ARGS has it: ", theirs));
    if (is_one_word(one.value))
      words.push_back(word);
    else
      s.note(cat("CMAKE_ARGS cannot hold ", one.name, ", whose value has a blank or a quote"));
  }
  if (own != nullptr) words.push_back(*own);
  s.joined("CMAKE_ARGS", join(words, " "), "for builds that run cmake");
}

}  // namespace

std::string nvcc_of(const DriveInput& in) {
  const Toolkit* toolkit = in.facts.toolkit();
  if (in.root.empty()) return {};
  const bool own = toolkit != nullptr && toolkit->nvcc.known() && toolkit->root.is(in.root);
  return own ? toolkit->nvcc.value() : in.root + "/bin/nvcc";
}

Drive make_drive(const DriveInput& in) {
  Settings s(in);
  const bool source = in.request.purpose == "pytorch-source";
  if (!source) set_lists(s, in.plan);
  set_toolkit(s, in);
  set_host_compiler(s, in);
  set_jobs(s, in);
  s.entry("CMAKE_PROJECT_TOP_LEVEL_INCLUDES", "", in.gate, "the checks, inside the configure");
  if (source) {
    for (const BuildSetting& one : pytorch_environment(in)) s.variable(one);
    for (const BuildSetting& one : pytorch_cache(in))
      s.entry(one.name.c_str(), one.name.c_str(), one.value, one.why);
    set_flags(s, in.plan, {tree_list(in)});
    say_gap(s, "TORCH_CUDA_ARCH_LIST", tree_list(in));
    if (pytorch_reads_cmake_args(in)) set_cmake_args(s, {});
    return s.out;
  }
  set_cmake_args(s, set_projects(s, in));
  return s.out;
}

}  // namespace tcs
