// SPDX-License-Identifier: Apache-2.0
// Variables that add flags to every compile: architectures and a host compiler of their own.
// Measured with nvcc 12.4.131 and 13.0.88: -gencode and -arch of the variables and of the command
// line add up, an architecture that nvcc does not build stops each compile, and of two -ccbin the
// last one is used, with a warning; 13.0 obeys NVCC_CCBIN where no -ccbin is given.
#include "findings/rules/environment.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

struct FlagsRow {
  const char* name;
  bool last;             // after the flags of the command line
  bool pytorch = false;  // read by PyTorch's own build alone (its CMakeLists.txt)
};
constexpr FlagsRow kFlags[] = {{"NVCC_PREPEND_FLAGS", false},
                               {"NVCC_APPEND_FLAGS", true},
                               {"CUDAFLAGS", false},
                               {"CMAKE_CUDA_FLAGS", false},
                               {"TORCH_NVCC_FLAGS", true, true}};

constexpr const char* kArchOptions[] = {"-gencode",           "--generate-code", "-arch",
                                        "--gpu-architecture", "-code",           "--gpu-code"};
constexpr const char* kHostOptions[] = {"-ccbin", "--compiler-bindir"};
constexpr const char* kArchWords[] = {"native", "all", "all-major"};

struct Flags {
  List<Image> images;       // named with an architecture option, in their order
  List<std::string> wrong;  // values of such options that name none
  std::string host;
};

// "-x=v" or "-x" before "v"; false: another option.
template <size_t N>
bool option(const char* const (&names)[N], const List<std::string>& words, size_t& at,
            std::string& value) {
  for (const char* name : names) {
    if (words[at] == name && at + 1 < words.size()) {
      value = words[++at];
      return true;
    }
    if (starts_with(words[at], cat(name, '='))) {
      value = words[at].substr(std::string_view(name).size() + 1);
      return true;
    }
  }
  return false;
}

void read_archs(const std::string& value, Flags& flags) {
  bool any = false;
  for (const std::string& word : split(value, ",=[]\"'\\")) {
    Image image;
    for (const char* known : kArchWords) any = any || word == known;
    any = any || starts_with(word, "lto_");
    if (!parse_image(word, image)) continue;
    any = true;
    add_once(flags.images, image);
  }
  if (!any) flags.wrong.push_back(value);
}

Flags read_flags(const std::string& text) {
  Flags flags;
  const List<std::string> words = split(text, " \t\n;");
  for (size_t i = 0; i < words.size(); ++i) {
    std::string value;
    if (option(kArchOptions, words, i, value))
      read_archs(value, flags);
    else if (option(kHostOptions, words, i, value))
      flags.host = value;
  }
  return flags;
}

std::string range_of(const PlanIssue& why) {
  if (why.kind == PlanIssue::Kind::Removed)
    return "the last release that builds it is " + why.range_end;
  if (why.kind == PlanIssue::Kind::NotYetKnown && !why.range_begin.empty())
    return "the first release that builds it is " + why.range_begin;
  if (!why.corrected.empty()) return "in this release it is " + why.corrected;
  return why.detail;
}

bool not_built(const RuleInput& in, const char* name, const Flags& flags, const Buildable& build,
               List<Finding>& out) {
  List<std::string> bad = flags.wrong;
  std::string range;
  for (const Image& image : flags.images) {
    if (!build.known() || (image.ptx ? build.virt(image.sm) : build.real(image.sm))) continue;
    const Image code = {image.sm, false};  // one of both, where it is asked for as PTX too
    if (!image.ptx || !contains(flags.images, code)) bad.push_back(image.str());
    if (range.empty()) range = range_of(build.refuse(image.sm));
  }
  if (bad.empty()) return false;
  Finding& f = report(out, 805, {name, join(bad, " "), build.nvcc(), range});
  add_variable(f, in, name);
  if (const Toolkit* t = in.facts.toolkit())
    add(f, "toolkit", nvcc_label(*t), "", t->archs.known() ? t->archs.from : t->version.from);
  return true;
}

// Is what the plan was made from known, so that a difference to it is one?
bool plan_is_sure(const RuleInput& in) {
  const DeviceFacts& devices = in.facts.devices;
  const bool here = devices.list_known || devices.state.is("none");
  return in.plan.complete && !in.plan.gencodes.empty() && !in.plan.archs_from.empty() &&
         (in.plan.by_user || in.request.targets_known || here);
}

void adds_archs(const RuleInput& in, const char* name, const Flags& flags, List<Finding>& out) {
  if (!plan_is_sure(in)) return;
  List<Sm> more;
  for (const Image& image : flags.images) {
    bool planned = false;
    for (const Gencode& g : in.plan.gencodes)
      planned = planned || g.real == image.sm || g.virt == image.sm;
    if (!planned) more.push_back(image.sm);
  }
  sort_unique(more);
  if (more.empty()) return;
  List<std::string> words;
  for (const Sm& sm : more) words.push_back(sm.dotted());
  Finding& f = report(out, 806, {name, join(words, " ")});
  // Where nobody asked for anything the plan is what PyTorch has, and more of it does no harm.
  if (starts_with(in.plan.list_from, "targets torch")) f.severity = Severity::Note;
  add_variable(f, in, name);
  add(f, "arch", image_words(plan_images(in.plan)), "", in.plan.list_from);
}

void other_host(const RuleInput& in, const FlagsRow& row, const std::string& host,
                List<Finding>& out) {
  if (host.empty()) return;
  const std::string* named = variable(in, "CUDAHOSTCXX");
  const bool differs = named && !named->empty() && *named != host;
  Finding& f = report(
      out, 807,
      {row.name, tail(host, 100),
       row.last ? "it wins over the one that CMake names" : "one that CMake names wins over it"});
  if (!differs) f.severity = Severity::Note;
  add_variable(f, in, row.name);
  if (differs) add_variable(f, in, "CUDAHOSTCXX");
}

bool names_all(const Flags& flags, const Plan& plan) {
  for (const Image& image : plan_images(plan))
    if (!contains(flags.images, image)) return false;
  return true;
}

// torch.utils.cpp_extension (_get_cuda_arch_flags, 2.15): any flag that holds the letters 'arch'
// and it adds no architecture of its own. NVCC_FLAGS is what setup.py files hand to it.
void drops_the_list(const RuleInput& in, List<Finding>& out) {
  const char* const name = "NVCC_FLAGS";
  const std::string* value = variable(in, name);
  if (!value || in.request.purpose != "extension") return;
  std::string flag;
  for (const std::string& word : split(*value, " \t\n;"))
    if (flag.empty() && contains(word, "arch")) flag = word;
  if (flag.empty() || (!in.plan.gencodes.empty() && names_all(read_flags(*value), in.plan))) return;
  Finding& f = report(out, 808, {name, tail(flag, 60)});
  add_variable(f, in, name);
  if (in.request.arch_list.known())
    add(f, "arch", tail(in.request.arch_list.value(), 100), "", in.request.arch_list.from);
}

}  // namespace

void rule_environment_flags(const RuleInput& in, List<Finding>& out) {
  if (!builds(in)) return;
  const Toolkit* toolkit = in.facts.toolkit();
  if (toolkit && is_clang(*toolkit)) return;  // has flags of its own
  const Buildable build(in.facts);
  for (const FlagsRow& row : kFlags) {
    const std::string* value = variable(in, row.name);
    if (!value || (row.pytorch && in.request.purpose != "pytorch-source")) continue;
    const Flags flags = read_flags(*value);
    if (!not_built(in, row.name, flags, build, out)) adds_archs(in, row.name, flags, out);
    other_host(in, row, flags.host, out);
  }
  if (const std::string* host = variable(in, "NVCC_CCBIN"))
    other_host(in, {"NVCC_CCBIN", false, false}, *host, out);
  drops_the_list(in, out);
}

}  // namespace tcs
