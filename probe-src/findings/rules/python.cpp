// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_torch.h"
#include "host/host.h"

namespace tcs {
namespace {

// What to name of another environment, which may be recorded by its folder.
std::string interpreter_of(const std::string& environment) {
  return starts_with(lower(path_name(environment)), "python") ? environment
                                                              : environment + "/bin/python3";
}

// "/opt/py/bin/python" of "Python_EXECUTABLE: /opt/py/bin/python is not there".
std::string path_in(const std::string& reason, const std::string& who) {
  const std::string lead = who + ": ";
  if (!starts_with(reason, lead + "/")) return "";
  const std::string rest = reason.substr(lead.size());
  return rest.substr(0, rest.find(' '));
}

// A Python that a setting names and that does not answer; perhaps another was taken in its place.
void python_in_vain(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const bool instead = python.state.is("found");
  if (python.reason.empty() || !python.state.known()) return;
  const std::string who =
      instead ? python.reason.substr(0, python.reason.find_first_of(" :")) : python.state.from;
  if (who.empty() || who == "PATH") return;
  const std::string path = path_in(python.reason, who);
  Finding& f = report(
      out, 702,
      {who, instead ? ": " + python.executable.value() + " is used" : "", tail(python.reason, 400),
       python.elsewhere.empty() || instead ? "" : interpreter_of(python.elsewhere[0]),
       path.empty() ? "" : cat(", ", path, ",")});
  const bool environment = who == "VIRTUAL_ENV" || who == "CONDA_PREFIX";
  const bool harmless = in.facts.torch.state.is("found") || in.request.purpose == "pytorch-source";
  if (harmless && (instead || environment)) f.severity = Severity::Warning;
  add(f, "python", instead ? "another one" : "none", "a Python that answers", who);
  if (instead) add(f, "python", python.executable.value(), "", python.executable.from);
}

// Where PyTorch is instead, or what hides it; its own finding (602) is there as well.
void why_absent(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  if (contains(lower(python.kind.value()), "isolat")) {
    Finding& f = report(out, 705, {});
    add(f, "python", python_label(python), "torch", python.kind.from);
  } else if (!python.kind.known() && python.state.is("found")) {
    missing(out, 790, "python.kind", "whether an isolated build hides PyTorch", python.reason);
  }
  if (python.elsewhere.empty()) {
    if (!python.elsewhere_known && !contains(lower(python.kind.value()), "isolat"))
      missing(out, 790, "python.elsewhere", "whether another environment has PyTorch");
    return;
  }
  Finding& f = report(
      out, 701,
      {python.executable.or_else("the Python of this build"), interpreter_of(python.elsewhere[0])});
  add(f, "python", python_label(python), "torch", python.executable.from);
  for (const auto& other : python.elsewhere) add(f, "python", other, "", "holds a torch");
}

// "cp312", "cp313t": for which Python an extension module was built. abi3 fits every later one.
struct Tag {
  int major = 0, minor = 0;
  bool free_threaded = false;
};
bool parse_tag(const std::string& text, Tag& out) {
  std::string digits = text.substr(0, text.find('-'));
  if (!starts_with(digits, "cp") || contains(text, "abi3") || digits.size() < 4) return false;
  digits = digits.substr(2);
  out.free_threaded = ends_with(digits, "t");
  if (out.free_threaded) digits.pop_back();
  uint64_t number = 0;
  if (!parse_number(digits.substr(1), 999, number)) return false;
  out.major = digits[0] - '0';
  out.minor = static_cast<int>(number);
  return out.major > 1 && out.major < 10;
}

constexpr int kFirstFreeThreaded = 13;  // 3.13, PEP 703

std::string words_of(const Tag& tag) {
  return cat(tag.free_threaded ? "free-threaded " : "", "Python ", tag.major, ".", tag.minor);
}

// A module of another Python is not even seen: "No module named torch._C".
void other_tag(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const TorchFacts& torch = in.facts.torch;
  const Version version = Version::parse(python.version.value());
  Tag built, here;
  if (!torch.python_tag.known())
    return missing(out, 690, "torch.python_tag", "whether it is built for this Python",
                   torch.reason);
  if (!parse_tag(torch.python_tag.value(), built)) return;
  if (version.numbers.size() < 2)
    return missing(out, 790, "python.version", "whether PyTorch is built for it", python.reason);
  here.major = version.major();
  here.minor = version.minor();
  here.free_threaded =
      here.minor >= kFirstFreeThreaded && python.free_threaded.or_else(version.rest == "t");
  const bool same = here.major == built.major && here.minor == built.minor;
  const bool told =
      python.free_threaded.known() || version.rest == "t" || here.minor < kFirstFreeThreaded;
  if (same && !told)
    return missing(out, 790, "python.free_threaded", "whether PyTorch is built for it");
  if (same && here.free_threaded == built.free_threaded) return;
  Finding& f = report(out, 703,
                      {torch_label(in.facts), words_of(built),
                       python.executable.or_else("the Python of this build"), words_of(here),
                       torch_way(in, to_serve(in), 0)});
  const std::string& named = torch.root.from;
  // A folder that was named on purpose may be meant for its C++ part alone.
  if (starts_with(named, "Torch_") || starts_with(named, "TORCH_") ||
      starts_with(named, "CMAKE_PREFIX_PATH"))
    f.severity = Severity::Warning;
  add(f, "torch", with_path(torch.python_tag.value(), torch.root), "", torch.python_tag.from);
  add(f, "python", python_label(python), words_of(built), python.version.from);
}

void mixed(const RuleInput& in, const std::string& what, const char* folder, List<Finding>& out) {
  Finding& f = report(out, 704, {what, folder});
  add(f, "python", python_label(in.facts.python), "", in.facts.python.executable.from);
  if (in.facts.torch.root.known())
    add(f, "torch", in.facts.torch.root.value(), "", in.facts.torch.root.from);
}

const std::string* active_conda(const RuleInput& in) {
  const std::string* prefix = in.facts.environment.find("CONDA_PREFIX");
  return prefix && !prefix->empty() ? prefix : nullptr;
}

// An active conda environment beside the system's Python, or with a PyTorch from the user's own
// folder: it works until a library of one side meets one of the other.
void mixed_environments(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const Text& root = in.facts.torch.root;
  const std::string* conda = active_conda(in);
  if (!conda) return;
  if (!python.kind.known())
    return missing(out, 790, "python.kind", "whether environments are mixed", python.reason);
  if (python.kind.is("system"))
    return mixed(
        in, cat("the system's Python is used while the conda environment ", *conda, " is active"),
        "", out);
  if (!starts_with(python.kind.value(), "conda")) return;
  if (!root.known())
    return missing(out, 690, "torch.root", "whether it lies in the conda environment");
  if (contains(root.value(), "/.local/lib/python"))
    mixed(in, "PyTorch comes from the user's own folder, not from the conda environment", "y", out);
}

// Is there something that only a known Python can tell?
bool python_matters(const RuleInput& in) {
  Tag tag;
  const TorchFacts& torch = in.facts.torch;
  const bool found = torch.state.is("found") && torch.flavour.is("cuda");
  return torch.state.is("absent") || !in.facts.python.reason.empty() || active_conda(in) ||
         (found && parse_tag(torch.python_tag.value(), tag));
}

}  // namespace

void rule_python(const RuleInput& in, List<Finding>& out) {
  const PythonFacts& python = in.facts.python;
  const TorchFacts& torch = in.facts.torch;
  python_in_vain(in, out);
  if (in.request.purpose == "pytorch-source") return;
  if (!python.state.known() && python_matters(in))
    missing(out, 790, "python.state", "whether it fits this PyTorch", python.reason);
  if (torch.state.is("absent") && python.state.known()) why_absent(in, out);
  if (!torch.state.is("found") || !torch.flavour.is("cuda") || python.state.is("absent")) return;
  if (python.state.known() || !torch.python_tag.known()) other_tag(in, out);
  if (python.state.known()) mixed_environments(in, out);
}

}  // namespace tcs
