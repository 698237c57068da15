// SPDX-License-Identifier: Apache-2.0
// Variables that name folders: the toolkit's, the loader's, libraries that are loaded first. The
// disk is not asked: what is there was gathered.
#include "findings/rules/driver.h"
#include "findings/rules/environment.h"

namespace tcs {
namespace {

constexpr const char* kHomes[] = {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT",
                                  "CUDA_TOOLKIT_ROOT_DIR"};

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

// By its form: it may be that nothing is known of the system.
bool is_windows(const std::string& value) {
  return contains(value, "\\") || (value.size() > 1 && value[1] == ':');
}

// What is wrong with the form, and the value that was meant.
struct Slip {
  const char* what = nullptr;
  std::string meant;
};
Slip slip_in(const std::string& name, const std::string& value) {
  const std::string path = without_slash(std::string(trim(value)));
  if (path.empty()) return {};
  if (path[0] == '"' || path[0] == '\'')
    return {"holds quotes", std::string(trim(replace_all(replace_all(path, "\"", ""), "'", "")))};
  // CMake takes a list there.
  if (name != "CUDAToolkit_ROOT" && contains(path, ":")) {
    const List<std::string> folders = split(path, ":");
    std::string first = folders.empty() ? "" : without_slash(folders[0]);
    return {"is a list of folders", ends_with(first, "/bin") ? parent(first) : first};
  }
  if (ends_with(path, "/bin/nvcc")) return {"names nvcc itself", parent(parent(path))};
  if (ends_with(path, "/bin")) return {"names the bin folder", parent(path)};
  if (path.size() != without_slash(value).size()) return {"has blanks at its ends", path};
  return {};
}

bool slipped(const RuleInput& in, const char* name, const std::string& value, List<Finding>& out) {
  if (is_windows(value)) return false;
  Slip slip = slip_in(name, value);
  if (!slip.what) return false;
  const ToolkitFacts& toolkits = in.facts.toolkits;
  // Of several folders the one that this build uses.
  if (const Toolkit* t = in.facts.toolkit(); t && t->root.known())
    for (const std::string& folder : split(value, ":"))
      if (without_slash(folder) == without_slash(t->root.value())) slip.meant = t->root.value();
  Finding& f = report(out, 809, {name, slip.what, tail(slip.meant, 100)});
  if (!in.facts.toolkit() && toolkits.list_known && toolkits.list.empty())
    f.severity = Severity::Error;
  add_variable(f, in, name, slip.meant);
  if (const Toolkit* t = in.facts.toolkit())
    add(f, "toolkit", nvcc_and_root(*t), "", t->origin.value());
  return true;
}

// Does `value`, of the variable `name`, lead to this toolkit?
bool named_by(const Toolkit& t, const char* name, const std::string& value) {
  for (const std::string& origin : split(t.origin.value(), ","))
    if (trim(origin) == name) return true;
  if (t.root.known() && without_slash(t.root.value()) == value) return true;
  return t.nvcc.known() && starts_with(t.nvcc.value(), value + "/bin/");
}

// "/usr/local/cuda-12.4" -> 12.4
Version release_in_name(const std::string& path) {
  const std::string last = path.substr(path.rfind('/') + 1);
  for (const char* prefix : {"cuda-", "cuda_", "cuda"})
    if (starts_with(last, prefix)) {
      const Version v = Version::parse(last.substr(std::string_view(prefix).size()));
      return v.numbers.size() > 1 ? v : Version();
    }
  return {};
}

// What each toolkit lacks that would tell which of them a folder belongs to.
void say_missing(const ToolkitFacts& toolkits, List<Finding>& out) {
  const char* const what = "whether CUDA_HOME names the toolkit that this build uses";
  if (toolkits.list.size() < 2) return;
  for (const Toolkit& t : toolkits.list) {
    if (!t.root.known()) missing(out, 890, "toolkits.list[].root", what);
    if (!t.nvcc.known()) missing(out, 890, "toolkits.list[].nvcc", what);
    if (!t.origin.known()) missing(out, 890, "toolkits.list[].origin", what);
  }
}

// PyTorch's Python and other build scripts obey CUDA_HOME, then CUDA_PATH.
void other_toolkit(const RuleInput& in, const char* name, const std::string& text,
                   List<Finding>& out) {
  const Toolkit* own = in.facts.toolkit();
  const std::string value = without_slash(text);
  if (!own || value.empty() || named_by(*own, name, value)) return;
  const Toolkit* other = nullptr;
  for (const Toolkit& t : in.facts.toolkits.list)
    if (!other && &t != own && named_by(t, name, value)) other = &t;
  const Version used = Version::parse(own->version.value());
  Version named = other ? Version::parse(other->version.value()) : release_in_name(value);
  if (other && !named.known() && !other->works.is(false))
    missing(out, 890, "toolkits.list[].version", "whether CUDA_HOME names another release");
  if (!other && !named.known()) say_missing(in.facts.toolkits, out);
  if (!named.known() || !used.known() || same_release(named, used)) return;
  const Version torch = Version::parse(in.facts.torch.cuda.value());
  const bool fits = !torch.known() || torch.major() == named.major();
  Finding& f =
      report(out, 810,
             {name, named.major_minor(), nvcc_and_root(*own),
              own->root.or_else("the toolkit that this build uses"),
              fits && !(other && other->works.is(false)) ? tail(value, 100) : std::string()});
  add_variable(f, in, name, own->root.value());
  add(f, "toolkit", nvcc_and_root(*own), "", own->origin.value());
}

void homes(const RuleInput& in, List<Finding>& out) {
  bool obeyed = false;  // CUDA_HOME before CUDA_PATH
  for (const char* name : kHomes) {
    const std::string* value = variable(in, name);
    if (!value || trim(*value).empty()) continue;
    const bool wrong = slipped(in, name, *value, out);
    const bool python = starts_with(name, "CUDA_HOME") || starts_with(name, "CUDA_PATH");
    if (!wrong && python && !obeyed) other_toolkit(in, name, *value, out);
    obeyed = obeyed || python;
  }
}

// --- what the loader is told
void loader_path(const RuleInput& in, List<Finding>& out) {
  const std::string* path = variable(in, "LD_LIBRARY_PATH");
  if (!path) return;
  const Version torch = Version::parse(in.facts.torch.cuda.value());
  const DriverSays says = driver_says(in.facts);
  const bool compat_serves = says.compat && !says.refused && in.facts.driver.state.is("ok");
  for (const std::string& folder : split(*path, ":")) {
    const std::string clean = without_slash(folder);
    const bool stubs = ends_with(clean, "/stubs"), compat = ends_with(clean, "/compat");
    std::string root = clean;
    for (const char* end : {"/lib64", "/lib", "/targets/x86_64-linux", "/targets/sbsa-linux"})
      if (ends_with(root, end)) root = root.substr(0, root.size() - std::string_view(end).size());
    const Version release = release_in_name(root);
    const bool other = release.known() && torch.known() && release.major() == torch.major() &&
                       !same_release(release, torch) && root != clean;
    if (!stubs && !compat && !other) continue;
    if (compat && compat_serves) continue;
    Finding& f = report(
        out, 811,
        {tail(clean, 80),
         stubs    ? "link stubs of the driver, which answer error 34 when they load"
         : compat ? "a libcuda of a cuda-compat package, which comes before the driver's"
                  : cat("libraries of CUDA ", release.major_minor(),
                        ", which come before those of PyTorch's CUDA ", torch.major_minor())});
    add(f, "environment", tail(clean, 100), "", "LD_LIBRARY_PATH");
  }
}

void preload(const RuleInput& in, List<Finding>& out) {
  const std::string* list = variable(in, "LD_PRELOAD");
  if (!list) return;
  for (const std::string& entry : split(*list, ": \t")) {
    const std::string file = entry.substr(entry.rfind('/') + 1);
    for (const char* name : {"libcuda.so", "libcudart.so", "libnvrtc.so", "libcublas.so",
                             "libcublasLt.so", "libcudnn.so"})
      if (starts_with(file, name)) {
        Finding& f = report(out, 812, {tail(entry, 100)});
        add(f, "environment", tail(entry, 100), "", "LD_PRELOAD");
      }
  }
}

}  // namespace

void rule_environment_paths(const RuleInput& in, List<Finding>& out) {
  if (builds(in)) homes(in, out);
  loader_path(in, out);
  preload(in, out);
}

}  // namespace tcs
