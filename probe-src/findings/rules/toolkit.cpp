// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_toolkit.h"
#include "findings/rules/toolkit_candidates.h"
#include "host/host.h"

namespace tcs {
namespace {

// What named it: a variable or a setting. Where it was only come across, the path says it.
std::string setting_of(const Toolkit& t) {
  List<std::string> names;
  for (const std::string& name : split(t.origin.value(), ","))
    if (!starts_with(trim(name), "/") && trim(name) != "PATH")
      names.push_back(std::string(trim(name)));
  return join(names, ", ");
}

// Build scripts of others obey these variables, whatever is used here in their place.
void named_in_vain(const Toolkit& own, const Toolkit& other, List<Finding>& out) {
  if (!other.works.is(false)) return;
  if (!other.origin.known())
    return missing(out, 392, "toolkits.list[].origin",
                   "whether a variable names a toolkit that cannot be used", other.reason);
  List<std::string> names;
  for (const char* variable : {"CUDACXX", "CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"})
    if (comes_from(other, variable)) names.push_back(variable);
  if (names.empty()) return;
  const std::string said = tail(other.failure.text.value(), 400);
  Finding& f =
      report(out, 310,
             {join(names, ", "), nvcc_and_root(own), own.root.or_else("the one that works"),
              said.empty()                     ? ""
              : contains(said, "No such file") ? "its nvcc is not there"
                                               : "it said: " + said});
  add(f, "toolkit", other.nvcc.or_else("none") + ", of no use", "a working nvcc",
      join(names, ", "));
  add(f, "toolkit", nvcc_and_root(own), "", own.origin.value());
}

void clang_for_nvcc(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const HostCompiler& clang = in.facts.host_compiler;
  const NearestToolkit nearest = nearest_toolkit(in);
  Finding& f = report_toolkit(
      out, 404,
      {nearest.refused && !nearest.here ? std::string() : clang.path.or_else("clang++"),
       nearest.here ? "" : "y"},
      nearest);
  add(f, "host-compiler", with_path(cat("clang ", clang.version.value()), clang.path), "nvcc",
      setting_of(t));
  if (t.root.known()) add(f, "toolkit", t.root.value(), "", t.root.from);
}

// "ccache nvcc", "/usr/bin/sccache": the launcher, and whether an nvcc follows it.
std::string launcher_in(const Toolkit& t, bool& alone) {
  const List<std::string> words = split(t.nvcc.value(), " ;\t");
  alone = words.size() < 2;
  for (const char* name : {"ccache", "sccache", "buildcache", "distcc", "icecc", "fastbuild"})
    if (!words.empty() && path_name(words[0]) == name) return name;
  return {};
}

void launcher(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  bool alone = false;
  const std::string name = launcher_in(t, alone);
  if (!t.nvcc.known() && t.works.is(false) && builds(in))
    missing(out, 392, "toolkits.list[].nvcc", "whether a compiler launcher stands for nvcc");
  if (name.empty()) return;
  Finding& f = report(
      out, 311,
      {t.nvcc.value(), alone ? "a compiler launcher, not nvcc" : "nvcc behind a compiler launcher",
       name, t.works.is(false) ? "y" : ""});
  if (t.works.is(false) && builds(in)) f.severity = Severity::Error;
  add(f, "toolkit", t.nvcc.value(), "nvcc", setting_of(t));
}

const char* how_it_failed(const Toolkit& t) {
  struct Row {
    const char *kind, *words;
  };
  for (const Row& row : {Row{"hang", "did not answer in time"}, Row{"crash", "crashed"},
                         Row{"start", "cannot be started"}})
    if (t.failure.kind.is(row.kind))
      return contains(t.failure.text.value(), "No such file") && t.failure.kind.is("start")
                 ? "is not there"
                 : row.words;
  if (t.failure.kind.is("output") && !t.version.known()) return "printed what no nvcc prints";
  return "cannot compile a small kernel";
}

// What the host compiler is to blame for is said by its own rule, which names 305 for it.
void broken_toolkit(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  if (!t.works.is(false) || starts_with(t.failure.kind.value(), "host-compiler")) return;
  const std::string said = tail(t.failure.text.value(), 400), setting = setting_of(t);
  const bool start = t.failure.kind.is("start");
  Finding& f =
      report_toolkit(out, 305,
                     {t.nvcc.or_else(nvcc_label(t)) + (setting.empty() ? "" : " (" + setting + ")"),
                      how_it_failed(t), start || said.empty() ? said : "it said: " + said,
                      start ? "" : t.nvcc.or_else("nvcc")},
                     nearest_toolkit(in));
  if (!builds(in)) f.severity = Severity::Note;
  add(f, "toolkit", start ? "none" : nvcc_label(t), start ? "nvcc" : "",
      setting.empty() ? t.nvcc.or_else(t.version.from) : setting);
  add_nvcc_variables(in, f);
  if (builds(in) && !t.failure.kind.known())
    missing(out, 392,
            t.failure.text.known() ? "toolkits.list[].failure.kind" : "toolkits.list[].failure",
            "which part of the toolkit or the host compiler is to blame", t.reason);
}

void unknown_release(const RuleInput&, const Toolkit& t, List<Finding>& out) {
  if (!t.version.known())
    missing(out, 390, "toolkits.list[].version", "what this build compiles with", t.reason);
}

void no_toolkit(const RuleInput& in, List<Finding>& out) {
  const Text& cuda = in.facts.torch.cuda;
  const std::string release = cuda.known() ? " " + cuda.value() : "";
  const NearestToolkit nearest = nearest_toolkit(in);
  Finding& f = report_toolkit(
      out, 301, {nearest.release ? "" : "y", "", in.facts.driver.cuda.value()}, nearest);
  add(f, "toolkit", "none", "nvcc" + release, "CUDA_HOME, PATH, usual folders");
  if (cuda.known()) add(f, "torch", cat(torch_label(in.facts), ", CUDA", release), "", cuda.from);
}

}  // namespace

void rule_toolkit(const RuleInput& in, List<Finding>& out) {
  const ToolkitFacts& toolkits = in.facts.toolkits;
  const Toolkit* toolkit = in.facts.toolkit();
  judge_toolkit(in, broken_toolkit, out);
  judge_toolkit(in, launcher, out);
  if (!builds(in)) return;
  if (toolkit && is_clang(*toolkit)) clang_for_nvcc(in, *toolkit, out);
  for (const auto& other : toolkits.list)
    if (toolkit && &other != toolkit) named_in_vain(*toolkit, other, out);
  if (!toolkit && toolkits.list_known && toolkits.list.empty()) return no_toolkit(in, out);
  if (!toolkit)
    missing(out, 390, toolkits.list_known ? "toolkits.selected" : "toolkits.list",
            "what this build compiles with", toolkits.reason);
  judge_toolkit(in, unknown_release, out);
}

}  // namespace tcs
