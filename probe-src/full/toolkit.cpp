// SPDX-License-Identifier: Apache-2.0
// `tcstack toolkit add RELEASE --into DIR`, `tcstack toolkit list`: nvcc from PyPI, for who asks.
#include "base/text.h"
#include "drive/forms.h"
#include "emit/emit.h"
#include "facts/pip_toolkit.h"
#include "full/verbs.h"
#include "tables/tables.h"
#include "tool/judge_build.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

constexpr const char* kSynopsis = "tcstack toolkit add RELEASE|match --into DIR | list";

int fail(int status, const std::string& text) {
  print_err(cat("tcstack toolkit: ", text, "\n"));
  return status;
}

List<int> releases_on_pypi() {
  List<int> out;
  for (const WheelRow& row : wheel_rows()) add_once(out, release_of(Version::parse(row.update)));
  return out;
}

std::string release_texts() {
  List<std::string> out;
  for (int release : releases_on_pypi()) out.push_back(release_text(release));
  return join(out, ", ");
}

// 0 where there is no PyTorch that was made for CUDA.
int torch_release(const Facts& facts) {
  return facts.torch.state.is("found") ? release_of(Version::parse(facts.torch.cuda.value())) : 0;
}

// The update that is asked for.
Result<std::string> chosen_update(const Facts& facts, const std::string& word) {
  const bool match = word == "match";
  const Version asked = match ? Version::parse(facts.torch.cuda.value()) : Version::parse(word);
  const int release = match ? torch_release(facts) : release_of(asked);
  if (match && release == 0)
    return Error{"there is no PyTorch made for CUDA here that a toolkit could match", word};
  if (release == 0 || asked.numbers.size() < 2 || (!match && !asked.rest.empty()))
    return Error{cat("is no release: one of ", release_texts(), ", or match"), tail(word, 40)};
  const std::string update = pip_update(facts.host, release), name = release_text(release);
  if (!update.empty() && (match || asked.numbers.size() < 3 || asked.dotted() == update))
    return update;
  if (!update.empty()) return Error{cat("of CUDA ", name, " there is ", update), word};
  if (release < 1300)
    return Error{cat("PyPI has no nvcc before CUDA 13.0; there are ", release_texts(),
                     "\n  help: conda install -c nvidia cuda-toolkit=", name,
                     ", NVIDIA's installer, or your distribution's package"),
                 cat("CUDA ", name)};
  if (contains(releases_on_pypi(), release))
    return Error{
        cat("PyPI's nvcc is for Linux on x86_64 or aarch64 with glibc 2.17 or newer; here: ",
            facts.host.arch.or_else("?"), ", glibc ", facts.host.glibc.or_else("not known")),
        cat("CUDA ", name)};
  return Error{cat("the tables (", kTablesDate, ") do not have it; there are ", release_texts()),
               cat("CUDA ", name)};
}

Facts facts_of(Host& host, const Inputs& in) {
  Facts facts;
  gather_host(host, facts);
  gather_python(host, in, facts);
  gather_torch(host, in, facts);
  return facts;
}

// `dir` with what pip leaves out, as far as that is to be had here; where it cannot be laid, the
// unfinished one.
std::string completed(Host& host, Inputs in, Facts& facts, const std::string& dir) {
  in.set["PROVISIONED"] = pip_root(dir);
  for (const char* name : {"TREE_CUDA_COMPILER", "CMAKE_CUDA_COMPILER", "TOOLKIT"})
    in.set[name].clear();
  gather_toolkits(host, in, facts);
  return toolkit_root(host, facts, dir, "");
}

int add_toolkit(Host& host, const Inputs& in, const std::string& word, std::string dir) {
  Facts facts = facts_of(host, in);
  const Result<std::string> chosen = chosen_update(facts, word);
  if (!chosen) return fail(2, chosen.error().str());
  const std::string& update = *chosen;
  dir = path_join(host.cwd(), dir);
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  if (!host.real_path(dir).empty()) dir = host.real_path(dir);
  Result<bool> there = has_pip_toolkit(host, update, dir);
  if (!there) return fail(2, there.error().str());
  if (!*there) {
    const Result<std::string> python = python_with_pip(host, facts);
    if (!python) return fail(1, python.error().str());
    print_err(cat("tcstack toolkit: ", *python, " -m pip fetches nvcc of CUDA ", update, " into ",
                  dir, "\n"));
    Result<Done> brought = bring_pip_toolkit(host, facts, update, *python, dir);
    if (!brought) return fail(1, brought.error().str());
  }
  const std::string root = completed(host, in, facts, dir);
  return print_out(cat("CUDA ", update, *there ? " is there already: " : " is in ", dir,
                       "\nfor CMake:     -DTorchCudaStack_TOOLKIT=", shell_quote(root),
                       "\n               or -DCUDAToolkit_ROOT=", shell_quote(root),
                       " -DCMAKE_CUDA_COMPILER=", shell_quote(root + "/bin/nvcc"),
                       "\nfor others:    export CUDA_HOME=", shell_quote(root),
                       " PATH=", shell_quote(root + "/bin"), ":\"$PATH\"\n"))
             ? 0
             : 3;
}

int list_toolkits(Host& host, const Inputs& in) {
  const Facts facts = facts_of(host, in);
  List<List<std::string>> rows = {{"release", "update", "nvcc", ""}};
  for (const WheelRow& row : wheel_rows()) {
    if (std::string_view(row.package) != "nvidia-cuda-nvcc") continue;
    const int release = release_of(Version::parse(row.update));
    rows.push_back({release_text(release), row.update, row.version,
                    release == torch_release(facts) ? "that of the PyTorch here" : ""});
  }
  if (pip_update(facts.host, releases_on_pypi().back()).empty())
    print_err("tcstack toolkit: none of them is for this machine\n");
  return print_out(cat(columns_text(rows), "\nas of ", kTablesDate, "\n")) ? 0 : 3;
}

}  // namespace

int verb_toolkit(Host& host, const List<std::string>& args) {
  static const List<OptionSpec> specs = {
      {"--into", "DIR", "the folder that becomes the toolkit", false},
      {"--set", "NAME=VALUE", "an input by its CMake name: Python_EXECUTABLE ...", true},
  };
  Options options;
  int status = 0;
  if (!parse_options(args, specs, kSynopsis, options, status)) return status;
  Inputs in;
  Result<Done> sets = take_sets(options.all("--set"), &input_names(), in);
  if (!sets) return fail(2, sets.error().str());
  const List<std::string>& words = options.words;
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "list" && words.size() == 1 && !options.has("--into")) return list_toolkits(host, in);
  if (verb == "add" && words.size() == 2 && options.has("--into"))
    return add_toolkit(host, in, words[1], options.get("--into"));
  return fail(2, cat("usage: ", kSynopsis));
}

}  // namespace tcs
