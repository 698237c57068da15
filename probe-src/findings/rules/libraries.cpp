// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"
#include "findings/rules/torch_extensions.h"
#include "host/host.h"

namespace tcs {
namespace {

constexpr size_t kShown = 12;

// libcuda.so.1 is the driver's: the driver rules speak of it. ptxas is a program. Without a name it
// is anyone's.
bool not_judged(const Library& lib) {
  return !lib.soname.known() || starts_with(lib.soname.value(), "libcuda.so") ||
         starts_with(lib.soname.value(), "ptxas");
}

bool by_path(const Library& lib) {
  return contains(lib.via.value(), "LD_LIBRARY_PATH");
}

// What PyTorch's own files need, and not a stranger's library or an extension.
bool of_torch(const Library& lib) {
  for (const char* own : {"libtorch", "libc10", "libcaffe2"})
    if (starts_with(lib.needed_by.value(), own)) return true;
  return false;
}

// "11" of libcudart.so.11.0; 0 for every other library.
int cudart_major(const Library& lib) {
  const std::string sign = "libcudart.so.";
  if (!starts_with(lib.soname.value(), sign)) return 0;
  return Version::parse(lib.soname.value().substr(sign.size())).major();
}

// As far as both say: a file's 9.1.0 is no older than a package's 9.1.0.70.
bool older(const Version& a, const Version& b) {
  for (size_t i = 0; i < a.numbers.size() && i < b.numbers.size(); ++i)
    if (a.number(i) != b.number(i)) return a.number(i) < b.number(i);
  return false;
}

enum class Judged { Fits, Older, OldRuntime, Wrong, Shadows };

// LD_LIBRARY_PATH comes before what the library's own package would bring.
Judged shadows(const Library& lib, const char*& lacks) {
  if (lib.via.known() && !by_path(lib)) return Judged::Fits;
  if (!lib.via.known()) {
    if (!lib.shadows.is("none")) lacks = "libraries[].via";
    return Judged::Fits;
  }
  if (!lib.shadows.known()) lacks = "libraries[].shadows";
  return lib.shadows.known() && !lib.shadows.is("none") ? Judged::Shadows : Judged::Fits;
}

// One library that is there. `lacks`: the fact without which it cannot be said.
Judged judge(const Facts& facts, const Library& lib, const char*& lacks) {
  const Version has = Version::parse(lib.version.value()),
                built = Version::parse(lib.built_against.value()),
                cuda = Version::parse(facts.torch.cuda.value());
  const int runtime = cudart_major(lib);
  const bool other_cuda = runtime != 0 && cuda.known() && runtime != cuda.major();
  if (lib.state.is("wrong") || (other_cuda && of_torch(lib))) return Judged::Wrong;
  if (other_cuda && !lib.needed_by.known()) {
    lacks = "libraries[].needed_by";
    return Judged::Fits;
  }
  if (!lib.built_against.known()) lacks = "libraries[].built_against";
  if (!built.known()) return lib.built_against.known() ? shadows(lib, lacks) : Judged::Fits;
  if (!has.known()) lacks = "libraries[].version";
  if (!has.known()) return Judged::Fits;
  if (older(has, built))
    return starts_with(lib.soname.value(), "libstdc++.so") ? Judged::OldRuntime : Judged::Older;
  if (same_release(has, built)) return Judged::Fits;
  if (!lib.via.known()) lacks = "libraries[].via";
  return by_path(lib) ? Judged::Shadows : Judged::Fits;
}

std::string name_of(const Library& lib) {
  return lib.soname.or_else("a library");
}

// "a, b and c", from the `first` on.
std::string names_of(const List<const Library*>& libs, size_t first) {
  List<std::string> names;
  for (size_t i = first; i < libs.size(); ++i) add_once(names, name_of(*libs[i]));
  return join(names, ", ");
}

void add_row(Finding& f, const Library& lib) {
  const Version built = Version::parse(lib.built_against.value());
  add(f, "runtime", with_path(cat(name_of(lib), " ", or_unknown(lib.version)), lib.path),
      built.known() ? ">= " + built.dotted() : "", lib.via.or_else(lib.version.from));
}

// "a.so", "a.so and b.so", "a.so and 4 others": the rows name them all.
std::string short_names(const List<const Library*>& libs) {
  List<std::string> names;
  for (const Library* lib : libs) add_once(names, name_of(*lib));
  if (names.size() == 1) return names[0];
  return names.size() == 2 ? cat(names[0], " and ", names[1])
                           : cat(names[0], " and ", names.size() - 1, " others");
}

// Whose libraries they are, where that is one.
std::string needer_of(const List<const Library*>& libs) {
  std::string who;
  for (const Library* lib : libs) {
    const bool torch = !lib->needed_by.known() || of_torch(*lib);
    const std::string own =
        torch && libs.size() > 1 ? "PyTorch" : lib->needed_by.or_else("PyTorch");
    if (!who.empty() && who != own) return "";
    who = own;
  }
  return who;
}

// Which a PyTorch brings itself: where a stranger misses one, it is another PyTorch's.
bool is_pytorchs(const Library& lib) {
  return starts_with(name_of(lib), "libtorch") || starts_with(name_of(lib), "libc10");
}

// Of CUDA or of a PyTorch, by its name.
bool of_stack(const Library& lib) {
  for (const char* start : {"libcu", "libnv", "libnccl", "libtorch", "libc10", "libcaffe2"})
    if (starts_with(name_of(lib), start)) return true;
  return false;
}
// Whose it is: of PyTorch and what is built with it, of some other package's module, or of either.
enum class Of { Torch, Stranger, Unknown };
Of whose(const Library& lib) {
  const std::string& by = lib.needed_by.value();
  if (of_stack(lib) || starts_with(name_of(lib), "libstdc++.so")) return Of::Torch;
  if (!lib.needed_by.known()) return Of::Unknown;
  return starts_with(by, "lib") || starts_with(by, "_C.") || starts_with(by, "torch/")
             ? Of::Torch
             : Of::Stranger;
}

// A library that only another package's module needs is no trouble of PyTorch.
void missing_strangers(const RuleInput& in, List<Finding>& out) {
  for (const auto& lib : in.facts.libraries) {
    if (!lib.state.is("missing") || not_judged(lib) || whose(lib) != Of::Stranger) continue;
    const std::string needer = lib.needed_by.value();
    Finding& f =
        report(out, 501,
               {cat(name_of(lib), ", which ", needer, " needs, is not found by the loader"), "", "",
                "", "", "", "", needer, name_of(lib)});
    f.severity = Severity::Warning;
    add(f, "runtime", name_of(lib) + " missing", "by " + needer, lib.state.from);
  }
}

// `others`: those of another CUDA or another PyTorch, which what needs them was built for.
void missing_libraries(const RuleInput& in, bool others, List<Finding>& out) {
  List<const Library*> gone;
  std::string cuda_of, needer;
  bool other_torch = false;
  const int cuda = Version::parse(in.facts.torch.cuda.value()).major();
  for (const auto& lib : in.facts.libraries) {
    if (!lib.state.is("missing") || not_judged(lib) || asked_by_extension(in.facts, lib)) continue;
    if (whose(lib) == Of::Stranger) continue;
    const int major = cudart_major(lib);
    const bool other = major != 0 && cuda != 0 && major != cuda;
    const bool torchs = is_pytorchs(lib) && lib.needed_by.known() && !of_torch(lib);
    if ((other || torchs) != others) continue;
    gone.push_back(&lib);
    if (!others) continue;
    needer = lib.needed_by.or_else("what needs it");
    if (other)
      cuda_of = cat(major);
    else
      other_torch = true;
  }
  if (gone.empty()) return;
  const std::string who = needer_of(gone), them = gone.size() == 1 ? "it" : "them";
  const std::string of = who.empty() ? "" : cat(", which ", who, " needs,");
  Finding& f = report(out, 501,
                      {gone.size() == 1 ? cat(short_names(gone), of, " is not found by the loader")
                                        : cat("the loader does not find ", short_names(gone),
                                              who.empty() ? "" : cat(", which ", who, " needs")),
                       names_of(gone, kShown), cuda_of, needer, needer.empty() ? "y" : "",
                       other_torch && cuda_of.empty() ? "y" : "", them});
  for (size_t i = 0; i < gone.size() && i < kShown; ++i)
    add(f, "runtime", name_of(*gone[i]) + " missing", "by " + gone[i]->needed_by.or_else("PyTorch"),
        gone[i]->state.from);
}

// What is wrong with the first, in words that stand after its name.
std::string fault(const Facts& facts, const Library& lib, Judged how) {
  const Version built = Version::parse(lib.built_against.value());
  if (how == Judged::Older)
    return cat(Version::parse(lib.version.value()).dotted(), ", older than the ", built.dotted(),
               " that ", of_torch(lib) ? "PyTorch" : lib.needed_by.or_else("PyTorch"),
               " was built with");
  if (cudart_major(lib) != 0 && !lib.state.is("wrong"))
    return cat("not of CUDA ", Version::parse(facts.torch.cuda.value()).major(),
               ", the one that PyTorch was built with");
  return cat("not the one that ", lib.needed_by.or_else("PyTorch"), " needs");
}

struct StemRow {
  const char *stem, *package;
};
constexpr StemRow kStems[] = {
#define CUDA_LIBRARY(stem, package) {stem, package},
#include "tables/cuda_libraries.def"
#undef CUDA_LIBRARY
};

// What to install, as pip is told it; packages of CUDA 13 are named in two ways, so not those.
std::string newer_of(const Facts& facts, const Library& lib, const Version& built) {
  const int cuda = Version::parse(facts.torch.cuda.value()).major();
  for (const StemRow& row : kStems)
    if (starts_with(name_of(lib), cat("lib", row.stem, ".so")) && *row.package != 0 &&
        (cuda == 11 || cuda == 12)) {
      const std::string package = cat("nvidia-", row.package, "-cu", cuda);
      return cat(name_of(lib), " ", built.dotted(), " or newer: pip install \"", package,
                 ">=", built.dotted(), "\"");
    }
  return cat(name_of(lib), " ", built.dotted(), " or newer");
}

void wrong_libraries(const Facts& facts, const List<const Library*>& wrong, Judged how,
                     List<Finding>& out) {
  const Library& first = *wrong[0];
  const Version built = Version::parse(first.built_against.value());
  bool linker = false;
  List<std::string> folders, newer;
  for (const Library* lib : wrong) {
    if (by_path(*lib) && lib->path.known()) add_once(folders, path_parent(lib->path.value()));
    const Version own = Version::parse(lib->built_against.value());
    add_once(newer, own.known() ? newer_of(facts, *lib, own)
                                : "the release of " + name_of(*lib) + " that PyTorch names");
    linker = linker || starts_with(name_of(*lib), "libnvJitLink.so");
  }
  const bool path = by_path(first);
  const std::string what =
      wrong.size() == 1
          ? cat("the ", name_of(first), " that loads is ", fault(facts, first, how))
          : cat(wrong.size(), " libraries that load do not fit PyTorch: ", names_of(wrong, 0));
  Finding& f = report(out, 502,
                      {what, how == Judged::Older ? "" : first.state.from,
                       path ? (folders.empty() ? "its folder" : join(folders, " and ")) : "",
                       path ? "" : in_words(newer),
                       linker && built.known() ? replace_all(built.major_minor(), ".", "_") : ""});
  for (const Library* lib : wrong) add_row(f, *lib);
}

void shadowed_libraries(const List<const Library*>& over, List<Finding>& out) {
  const bool one = over.size() == 1;
  Finding& f = report(
      out, 503,
      {one ? name_of(*over[0]) + " is" : cat(over.size(), " libraries are"), names_of(over, 1)});
  for (const Library* lib : over) {
    const Version built = Version::parse(lib->built_against.value());
    const std::string beside = lib->shadows.known() && !lib->shadows.is("none")
                                   ? ", hides " + lib->shadows.value()
                               : built.known() ? cat(", PyTorch was built with ", built.dotted())
                                               : "";
    add(f, "runtime",
        with_path(cat(name_of(*lib), " ", or_unknown(lib->version)), lib->path) + beside, "",
        lib->via.value());
  }
}

void old_runtimes(const List<const Library*>& old, List<Finding>& out) {
  for (const Library* lib : old) {
    Finding& f = report(out, 505,
                        {or_unknown(lib->version), lib->built_against.value(),
                         lib->needed_by.or_else("what this host compiler builds")});
    add_row(f, *lib);
  }
}

void judge_libraries(const RuleInput& in, List<Finding>& out) {
  // By LD_LIBRARY_PATH or not: the way out is another one.
  List<const Library*> wrong[2], over, old;
  Judged how[2] = {Judged::Wrong, Judged::Wrong};
  for (const auto& lib : in.facts.libraries) {
    const char* lacks = nullptr;
    if (!lib.soname.known())
      lacks = "libraries[].soname";
    else if (not_judged(lib) || lib.state.is("missing"))
      continue;
    else if (!lib.state.known())
      lacks = "libraries[].state";
    const Judged judged = lacks ? Judged::Fits : judge(in.facts, lib, lacks);
    if (lacks)
      missing(out, 590, lacks, "whether the libraries that load are those that PyTorch needs");
    if (judged == Judged::Older || judged == Judged::Wrong) {
      if (wrong[by_path(lib)].empty()) how[by_path(lib)] = judged;
      wrong[by_path(lib)].push_back(&lib);
    }
    // What is wrong hides another one as well: that is the consequence, or all that is left to say.
    if (judged == Judged::Shadows || (judged == Judged::Wrong && by_path(lib)))
      over.push_back(&lib);
    if (judged == Judged::OldRuntime) old.push_back(&lib);
  }
  for (const int path : {0, 1})
    if (!wrong[path].empty()) wrong_libraries(in.facts, wrong[path], how[path], out);
  if (!over.empty()) shadowed_libraries(over, out);
  old_runtimes(old, out);
}

// Of a PyTorch that nobody looked at: what could still tell of a library that is not found.
void miss_libraries(const RuleInput& in, List<Finding>& out) {
  const char* const what = "whether the loader finds what PyTorch needs";
  if (!in.facts.libraries_known && in.facts.libraries.empty()) missing(out, 690, "libraries", what);
  for (const auto& lib : in.facts.libraries) {
    if (!lib.soname.known()) missing(out, 690, "libraries[].soname", what);
    if (!lib.state.known()) missing(out, 690, "libraries[].state", what);
  }
}

}  // namespace

void rule_libraries(const RuleInput& in, List<Finding>& out) {
  const TorchFacts& torch = in.facts.torch;
  if (in.request.purpose == "pytorch-source") return;
  // One that is not found is trouble whatever is known of PyTorch; without one it is a consequence.
  missing_libraries(in, false, out);
  missing_libraries(in, true, out);
  missing_strangers(in, out);
  if (!torch.state.known()) return miss_libraries(in, out);
  if (!torch.state.is("found") || !torch.flavour.is("cuda")) return;
  if (!in.facts.libraries_known && in.facts.libraries.empty())
    return missing(out, 590, "libraries", "whether the loader finds what PyTorch needs");
  judge_libraries(in, out);
}

}  // namespace tcs
