// SPDX-License-Identifier: Apache-2.0
// One toolkit's own parts: those that are not there, and those of another release.
#include "findings/nearest_toolkit.h"
#include "findings/rules/toolkit_candidates.h"

namespace tcs {

std::string pip_packages(const Version& release) {
  if (release.major() < 13) return {};  // before 13 PyPI has no nvcc
  const std::string pin = cat("==", release.major_minor(), ".*'");
  std::string out;
  for (const char* name :
       {"nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime"})
    out += cat(out.empty() ? "'" : " '", name, pin);
  return out;
}

namespace {

// What a part is to a build against PyTorch. Link: a name that points to a file which is there, so
// the module makes it; PipLink: that too in a pip toolkit, whose files lie beside it (measured with
// 13.2 and 13.5), needed elsewhere; Aside: no build needs it.
enum class Use { Link, PipLink, Nvtx, Needed, Aside, Unheard };
struct PartRow {
  const char* part;  // a piece of the word, in small letters; the first row that fits counts
  Use use;
};
constexpr PartRow kParts[] = {
    {"nvtoolsext", Use::Nvtx},
    {"lib64", Use::Link},
    {"nvrtc", Use::PipLink},
    {"cudart-dev", Use::PipLink},
    {"libcudart.so", Use::Link},
    {"cuobjdump", Use::Aside},
    {"nvdisasm", Use::Aside},
    {"nvprune", Use::Aside},
    {"cuda-gdb", Use::Aside},
    {"cuda_gdb", Use::Aside},
    {"nvprof", Use::Aside},
    {"nvvp", Use::Aside},
    {"nsight", Use::Aside},
    {"sanitizer", Use::Aside},
    {"memcheck", Use::Aside},
    {"cupti", Use::Aside},
    {"profiler", Use::Aside},
    {"cuxxfilt", Use::Aside},
    {"sample", Use::Aside},
    {"demo", Use::Aside},
    {"doc", Use::Aside},
    {"nvcc", Use::Needed},
    {"ptxas", Use::Needed},
    {"cicc", Use::Needed},
    {"nvvm", Use::Needed},
    {"libdevice", Use::Needed},
    {"cudafe", Use::Needed},
    {"fatbinary", Use::Needed},
    {"nvlink", Use::Needed},
    {"nvjitlink", Use::Needed},
    {"crt", Use::Needed},
    {"cudart", Use::Needed},
    {"cudadevrt", Use::Needed},
    {"header", Use::Needed},
    {"include", Use::Needed},
    {"cccl", Use::Needed},
    {"cudacxx", Use::Needed},
    {"libcu++", Use::Needed},
    {"thrust", Use::Needed},
    // Headers of PyTorch include those of the mathematical libraries (ATen/cuda/CUDAContext.h).
    {"cublas", Use::Needed},
    {"cusparse", Use::Needed},
    {"cusolver", Use::Needed},
    {"cufft", Use::Needed},
    {"curand", Use::Needed},
    {"cub", Use::Needed},
};

Use use_of(const std::string& word) {
  const std::string small = lower(word);
  for (const PartRow& row : kParts)
    if (contains(small, row.part)) return row.use;
  if (ends_with(small, ".h") || ends_with(small, ".hpp") || ends_with(small, "-dev"))
    return Use::Needed;
  return ends_with(small, ".so") ? Use::Link : Use::Unheard;
}

std::string how_to_complete(const Toolkit& t) {
  if (t.layout.is("conda"))
    return cat("install the rest: conda install cuda-toolkit=",
               Version::parse(t.version.value()).major_minor(),
               " (cuda-nvcc is the compiler only)");
  return t.layout.is("pip") ? "install the rest with pip: nvidia-cuda-runtime, nvidia-cuda-nvrtc, "
                              "nvidia-cuda-cccl, nvidia-nvvm of the same release"
                            : "install the toolkit's development packages of the same release";
}

// PyTorch's CMake code of these releases links CUDA::nvToolsExt: seen in 1.13 to 2.7, and no longer
// in 2.11 (measured); between them it was not looked at.
enum class Asks { Yes, No, Perhaps };
Asks torch_asks_nvtx(const Facts& facts) {
  const Version v = Version::parse(facts.torch.version.value());
  const int release = release_of(v);
  return release == 0     ? Asks::Perhaps
         : release <= 207 ? Asks::Yes
         : release >= 211 ? Asks::No
                          : Asks::Perhaps;
}

void no_nvtx(const RuleInput& in, const Toolkit& t, bool listed, List<Finding>& out) {
  const Asks asks = torch_asks_nvtx(in.facts);
  const bool windows = in.facts.host.os.is("windows");
  Finding& f = report(out, 312,
                      {nvcc_label(t), torch_label(in.facts), asks == Asks::Yes ? "y" : "",
                       windows ? "" : "y", windows ? "y" : ""});
  add(f, "toolkit", nvcc_and_root(t), "", listed ? t.missing.from : t.version.from);
  // The module is not for Windows: nothing stands in there.
  if (listed && windows && builds(in) && asks != Asks::No) f.severity = Severity::Error;
  if (listed && !in.facts.host.os.known() && builds(in) && asks != Asks::No)
    missing(out, 392, "host.os", "whether nvToolsExt can be replaced");
}

// libnvToolsExt is gone from 12.9, on Windows and in conda from 12.0: file lists of its packages.
void nvtx_gone(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const int release = release_of(Version::parse(t.version.value()));
  const bool early = in.facts.host.os.is("windows") || t.layout.is("conda");
  if (in.request.purpose == "extension" && release >= (early ? 1200 : 1209) &&
      in.facts.torch.flavour.is("cuda") && torch_asks_nvtx(in.facts) == Asks::Yes)
    no_nvtx(in, t, false, out);
}

struct Sorted {
  List<std::string> gone, completed, aside, unheard;
  bool nvtx = false, pip = false;  // pip: a part is completed only because the layout is pip's
};

Sorted sort_parts(const Toolkit& t) {
  Sorted s;
  for (const auto& word : t.missing.value()) {
    const Use use = use_of(word);
    const bool pip = use == Use::PipLink && t.layout.is("pip");
    s.pip = s.pip || pip;
    s.nvtx = s.nvtx || use == Use::Nvtx;
    if (use == Use::Link || pip)
      s.completed.push_back(word);
    else if (use == Use::Aside)
      s.aside.push_back(word);
    else if (use == Use::Unheard)
      s.unheard.push_back(word);
    else if (use != Use::Nvtx)
      s.gone.push_back(word);
  }
  // A link needs the file that it names.
  if (contains(s.gone, "cudart")) remove_from(s.completed, "libcudart.so");
  return s;
}

}  // namespace

bool lacks_parts(const Toolkit& toolkit) {
  return !sort_parts(toolkit).gone.empty();
}

namespace {

void missing_parts(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const Sorted parts = sort_parts(t);
  const std::string root = t.root.or_else("toolkit");
  if (parts.nvtx && torch_asks_nvtx(in.facts) != Asks::No)
    no_nvtx(in, t, true, out);
  else
    nvtx_gone(in, t, out);
  if (!parts.completed.empty()) {
    Finding& f = report(out, 307, {join(parts.completed, ", no ")});
    add(f, "toolkit", cat(root, " (", t.layout.or_else("layout unknown"), ")"), "", t.missing.from);
    if (parts.pip) f.consequences.push_back("TCS308");
  }
  if (!parts.aside.empty())
    add(report(out, 313, {nvcc_label(t), join(parts.aside, ", ")}), "toolkit", root, "",
        t.missing.from);
  if (parts.gone.empty() && parts.unheard.empty()) return;
  const bool needed = !parts.gone.empty();
  const std::string names = join(needed ? parts.gone : parts.unheard, ", ");
  List<std::string> all = parts.gone;
  all.append(parts.unheard);
  NearestToolkit nearest = nearest_toolkit(in);
  nearest.release = 0;  // the rest of this one is less
  Finding& f =
      report_toolkit(out, 308,
                     {nvcc_label(t), names, needed ? ", which building against PyTorch needs" : "",
                      join(parts.unheard, ", "), how_to_complete(t)},
                     nearest);
  if (!needed) f.severity = Severity::Warning;
  if (!builds(in)) f.severity = Severity::Note;
  add(f, "toolkit", cat(root, " without ", join(all, ", ")), needed ? names : "", t.missing.from);
}

// cicc writes PTX that ptxas reads: of a newer ISA it is refused. A ptxas that was not asked is
// taken for nvcc's, whose package it shares.
bool cicc_too_new(const Toolkit& t, const Version& own) {
  const Version cicc = Version::parse(t.cicc.value());
  const Version ptxas = t.ptxas.known() ? Version::parse(t.ptxas.value()) : own;
  if (!cicc.known() || !ptxas.known() || same_release(cicc, ptxas) || ptxas >= cicc) return false;
  const int writes = ptx_isa_written_by(release_of(cicc)),
            reads = ptx_isa_written_by(release_of(ptxas));
  return writes == 0 || reads == 0 || writes > reads;
}

struct PartRelease {
  const char *name, *path;
  const Text& release;
};

// Of another release than nvcc. What fails is told from what may: the parts were seen to fail, or
// they are known to.
void parts_differ(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const Version own = Version::parse(t.version.value());
  List<std::string> words;
  List<Evidence> rows;
  bool headers = false;
  for (const auto& part : {PartRelease{"headers", "", t.headers}, PartRelease{"ptxas", "", t.ptxas},
                           PartRelease{"cicc", "", t.cicc}, PartRelease{"cudart", "", t.cudart}}) {
    const Version v = Version::parse(part.release.value());
    if (!v.known() || !own.known() || same_release(v, own)) continue;
    words.push_back(cat(part.name, " ", v.major_minor()));
    rows.push_back(Evidence{"toolkit", cat(part.name, " ", part.release.value()), own.major_minor(),
                            part.release.from});
    // PyTorch's cuda.cmake compares FindCUDA's release, which is nvcc's, with that of cuda.h.
    headers = headers || part.name == std::string_view("headers");
  }
  if (words.empty()) return;
  const bool fails = cicc_too_new(t, own);
  const Version torch = Version::parse(in.facts.torch.cuda.value());
  const std::string packages = pip_packages(torch.major() == own.major() ? torch : own);
  const std::string pins = packages.empty()
                               ? "install every part from one release"
                               : "pin the parts to one release: pip install " + packages;
  const std::string other =
      "install every part from one release, or name another toolkit: "
      "-DTorchCudaStack_TOOLKIT=/path/to/cuda";
  Finding& f =
      report(out, 309,
             {nvcc_label(t), join(words, ", "), fails ? "y" : "", t.works.is(true) ? "y" : "",
              t.layout.is("pip") ? pins : other, headers ? "y" : ""});
  const bool seen =
      t.works.is(false) && failed_as(t, {"ptxas", "cicc", "headers", "link", "output", "arch"});
  if (headers || seen || (fails && !t.works.is(true))) f.severity = Severity::Error;
  add(f, "toolkit", nvcc_and_root(t), "", t.version.from);
  f.evidence.append(rows);
}

// The parts that nothing is known of.
void unknown_parts(const Toolkit& t, List<Finding>& out) {
  if (never_started(t)) return;
  if (!t.layout.known()) {
    missing(out, 392, "toolkits.list[].layout", "whether clang stands in nvcc's place", t.reason);
    if (!t.origin.known())
      missing(out, 392, "toolkits.list[].origin", "whether clang stands in nvcc's place", t.reason);
  }
  if (!t.missing.known())
    missing(out, 392, "toolkits.list[].missing", "whether the toolkit is complete", t.reason);
  for (const auto& part : {PartRelease{"header", "toolkits.list[].headers", t.headers},
                           PartRelease{"ptxas", "toolkits.list[].ptxas", t.ptxas},
                           PartRelease{"cicc", "toolkits.list[].cicc", t.cicc},
                           PartRelease{"cudart", "toolkits.list[].cudart", t.cudart}}) {
    bool gone = false;
    for (const auto& word : t.missing.value())
      gone = gone || contains(lower(word), part.name) ||
             (part.name == std::string_view("header") && ends_with(word, ".h"));
    if (!part.release.known() && !gone)
      missing(out, 392, part.path, "whether all parts of the toolkit are of one release", t.reason);
  }
}

void parts(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  missing_parts(in, t, out);
  if (!builds(in)) return;
  parts_differ(in, t, out);
  if (!is_clang(t)) unknown_parts(t, out);
}

}  // namespace

void rule_toolkit_parts(const RuleInput& in, List<Finding>& out) {
  judge_toolkit(in, parts, out);
}

}  // namespace tcs
