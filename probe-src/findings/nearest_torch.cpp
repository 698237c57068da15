// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_torch.h"

#include <algorithm>

#include "findings/rules/driver.h"
#include "findings/rules/host_compilers.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

// The rows hold no PTX. What a device answered to one of the images counts more than the rule.
bool serve(const RuleInput& in, const char* names, const List<Sm>& sms) {
  const List<Image> images = images_in(split(names, " "));
  for (const Sm& sm : sms) {
    Fit fit = Fit::None;
    bool here = false;
    Sm own;
    for (const Device* device : visible_devices(in.facts)) {
      if (!capability(*device, own) || own != sm) continue;
      const Fit answer = serves(images, sm, device);
      fit = here ? std::max(fit, answer) : answer;
      here = true;
    }
    if ((here ? fit : best_fit(images, sm)) != Fit::Native) return false;
  }
  return !images.empty();
}

// Of a machine of unknown kind both must be true.
bool has_images(const RuleInput& in, const TorchRow& row, const List<Sm>& sms) {
  const HostFacts& host = in.facts.host;
  if (host.os.known() && !host.os.is("linux")) return false;
  if (host.arch.known() && !host.arch.is("x86_64") && !host.arch.is("aarch64")) return false;
  return (host.arch.is("aarch64") || serve(in, row.x86_64, sms)) &&
         (host.arch.is("x86_64") || serve(in, row.aarch64, sms));
}

bool takes_python(const TorchRow& row, const PythonFacts& python) {
  const int release = release_of(Version::parse(python.version.value()));
  // Of CPython without the lock there are builds from 2.6 on.
  if (python.free_threaded.is(true) && Version::parse(row.version) < Version::parse("2.6"))
    return false;
  return release == 0 || (release >= row.python_first && release <= row.python_last);
}

// Where Python is another one, or is not known.
std::string python_for(const TorchRow& row, const PythonFacts& python) {
  if (Version::parse(python.version.value()).known() && takes_python(row, python)) return "";
  return cat(", in Python ", release_text(row.python_first), " to ", release_text(row.python_last));
}

bool driver_too_old(const DriverSays& says, const TorchRow& row) {
  return too_old(says, {Version::parse(release_text(row.cuda)), !driver_floor(row.cuda / 100)});
}

// One of PyTorch's own, which says so: it was judged by its own images, not by the table's.
bool is_here(const TorchFacts& torch, const TorchRow& row) {
  return same_release(Version::parse(torch.version.value()), Version::parse(row.version)) &&
         ends_with(torch.version.value(), cat("+", row.index));
}

const Toolkit* own_toolkit(const RuleInput& in) {
  return builds(in) ? in.facts.toolkit() : nullptr;
}

int major_of(const Toolkit* toolkit) {
  return toolkit ? Version::parse(toolkit->version.value()).major() : 0;
}

struct Way {
  const TorchRow* row = nullptr;
  NearestToolkit toolkit;  // where the one that is used is not of its CUDA major
};

// The toolkit to build with, once that PyTorch is here.
Way with_toolkit(const RuleInput& in, const List<Sm>& sms, const TorchRow* row) {
  if (!row) return {};
  Facts facts = in.facts;
  facts.torch.state = Text("found");
  facts.torch.version = Text(row->version);
  facts.torch.cuda = Text(release_text(row->cuda));
  Way way{row, nearest_toolkit({facts, in.request, in.plan}, sms)};
  if (way.toolkit.here)
    way.toolkit.here =
        in.facts.toolkits.list.begin() + (way.toolkit.here - facts.toolkits.list.begin());
  if (way.toolkit.release / 100 != row->cuda / 100) {
    way.toolkit.release = row->cuda;
    Toolkit own;
    own.version = facts.torch.cuda;
    for (const Image& image : in.plan.written)
      if (!Buildable(&own).real(image.sm)) return {};
    way.toolkit.compiler = host_trouble(in, own) == 2 ? host_compiler_for(in, own) : "";
  }
  return way;
}

// First with the toolkit that is used, then with one that is here, then with any.
Way find_way(const RuleInput& in, const List<Sm>& sms, int loose) {
  const int own = major_of(own_toolkit(in));
  for (int now = 0; now <= loose; ++now) {
    if (const TorchRow* row = nearest_torch(in, {sms, own, now})) return {row, {}};
    if (own == 0) continue;
    const bool others = in.facts.toolkits.list.size() > 1;
    for (int major = others ? newest_cuda() / 100 : 0; major > 9; --major) {
      const Way way = with_toolkit(in, sms, nearest_torch(in, {sms, major, now}));
      if (way.toolkit.here) return way;
    }
    const Way way = with_toolkit(in, sms, nearest_torch(in, {sms, 0, now}));
    if (way.row) return way;
  }
  return {};
}

// ", and build with ...": what has to change beside PyTorch.
std::string changes(const RuleInput& in, const Way& way) {
  const TorchRow& row = *way.row;
  const std::string toolkit = toolkit_words(way.toolkit);
  std::string out = toolkit.empty() ? "" : ", and build with " + toolkit;
  const std::string compiler = compiler_for(in, Version::parse(row.version));
  if (!compiler.empty()) out += ", with " + compiler;
  if (driver_too_old(driver_says(in.facts), row))
    out += ", with a driver that speaks CUDA " + release_text(row.cuda);
  return out;
}

std::string dotted(const List<Sm>& sms) {
  List<std::string> words;
  for (const Sm& sm : sms) words.push_back(sm.dotted());
  return in_words(words);
}

// The toolkits that build all of them; none where the tables lack one of them.
struct Range {
  int first = 0, last = 0;  // last 0 = still
  bool known() const { return first != 0 && (last == 0 || first <= last); }
  bool has(int major) const { return major * 100 + 99 >= first && (!last || major * 100 <= last); }
  std::string words() const {
    return cat("CUDA ", release_text(first), last ? " to " + release_text(last) : " or newer");
  }
};
Range builders(const List<Sm>& sms) {
  Range out;
  for (const Sm& sm : sms) {
    const ArchRow* arch = find_arch(sm);
    if (!arch) return {};
    out.first = std::max(out.first, arch->first);
    if (arch->last) out.last = out.last ? std::min(out.last, arch->last) : arch->last;
  }
  return out;
}

}  // namespace

const TorchRow* nearest_torch(const RuleInput& in, const TorchWanted& wanted) {
  const DriverSays says = driver_says(in.facts);
  const Version own = Version::parse(in.facts.torch.version.value());
  const Toolkit* toolkit = own_toolkit(in);
  const int nvcc = toolkit ? release_of(Version::parse(toolkit->version.value())) : 0;
  const TorchRow* best = nullptr;
  int most = 0;
  for (const TorchRow& row : torch_rows()) {
    const Version version = Version::parse(row.version);
    const bool fits = (wanted.cuda_major == 0 || wanted.cuda_major == row.cuda / 100) &&
                      (wanted.loose > 0 ||
                       (takes_python(row, in.facts.python) && compiler_for(in, version).empty())) &&
                      (wanted.loose > 1 || !driver_too_old(says, row)) &&
                      !is_here(in.facts.torch, row) && has_images(in, row, wanted.sms);
    const int rank = (own.known() && same_release(own, version) ? 1 << 20 : 0) +
                     release_of(version) * 4 + (row.cuda == nvcc ? 2 : 0) + row.on_pypi;
    if (!fits || rank < most) continue;
    best = &row;
    most = rank;
  }
  return best;
}

List<Sm> to_serve(const RuleInput& in) {
  List<Sm> out;
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) add_once(out, sm);
  for (const Target& target : in.plan.targets)
    if (target.device < 0 && !target.cut && in.request.targets_known) add_once(out, target.sm);
  sort_few(out);
  return out;
}

std::string toolkit_words(const NearestToolkit& nearest) {
  if (nearest.here) return "-DTorchCudaStack_TOOLKIT=" + nearest.here->root.value();
  if (nearest.release == 0) return "";
  return cat(
      "a toolkit of CUDA ", release_text(nearest.release),
      nearest.compiler.empty() ? "" : cat(" and ", nearest.compiler, " as its host compiler"));
}

std::string torch_needs(const RuleInput& in, const TorchRow& row) {
  std::string out;
  if (!takes_python(row, in.facts.python))
    out =
        cat(", in Python ", release_text(row.python_first), " to ", release_text(row.python_last));
  const std::string compiler = compiler_for(in, Version::parse(row.version));
  return compiler.empty() ? out : cat(out, ", with ", compiler);
}

std::string torch_named(const TorchRow& row) {
  return cat("PyTorch ", row.version, " for CUDA ", release_text(row.cuda));
}

// pip takes an installed 2.7.1+cu126 for 2.7.1. What PyPI holds for aarch64 differs by release.
std::string install_line(const TorchRow& row, const Facts& facts) {
  const bool pypi = row.on_pypi && facts.host.os.is("linux") && facts.host.arch.is("x86_64");
  return cat("pip install ",
             starts_with(facts.torch.version.value(), row.version) ? "--force-reinstall " : "",
             "torch==", row.version,
             pypi ? "" : cat(" --index-url https://download.pytorch.org/whl/", row.index),
             python_for(row, facts.python));
}

std::string torch_way(const RuleInput& in, const List<Sm>& sms, int loose) {
  const Way way = find_way(in, sms, loose);
  if (!way.row) return "";
  return cat(torch_named(*way.row), sms.empty() ? "" : ", which serves " + dotted(sms), ": ",
             install_line(*way.row, in.facts), changes(in, way));
}

const TorchRow* torch_advised(const RuleInput& in, const List<Sm>& sms) {
  return find_way(in, sms, 2).row;
}

std::string torch_elsewhere(const RuleInput& in, const List<Sm>& sms) {
  const HostFacts& host = in.facts.host;
  const std::string serves = sms.empty() ? "" : " that serves " + dotted(sms);
  List<Sm> built = sms;  // by its toolkit, and what the list has
  if (builds(in))
    for (const Image& image : in.plan.written) add_once(built, image.sm);
  const Range cuda = builders(built);
  const int major = major_of(own_toolkit(in));
  bool board = driver_says(in.facts).jetson;
  for (const Sm& sm : sms) board = board || (is_tegra(sm) && sm.major < 10);
  if (board)
    return "NVIDIA's PyTorch for Jetson, the build of your JetPack: none of PyTorch's own fits";
  if (!host.os.is("linux") || !host.arch.known())
    return cat("a PyTorch ",
               major && cuda.has(major) ? cat("of CUDA ", major)
               : cuda.known()           ? "of " + cuda.words()
                                        : "with CUDA",
               serves, ": https://pytorch.org/get-started/locally");
  return cat("a PyTorch", serves, ", built from source",
             cuda.known() ? " with " + cuda.words() : "", ": none of PyTorch's own does");
}

std::string torch_for_each(const RuleInput& in, const List<Sm>& sms) {
  List<std::string> words;
  const List<Image> own = images_in(in.facts.torch.images.value());
  for (const Sm& sm : sms) {
    if (should_run(own, sm)) {
      const std::string toolkit = !builds(in) || Buildable(in.facts).real(sm)
                                      ? ""
                                      : toolkit_words(nearest_toolkit(in, {sm}));
      words.push_back(cat(sm.dotted(), " with ", torch_label(in.facts),
                          toolkit.empty() ? "" : ", and build with ", toolkit));
      continue;
    }
    const Way way = find_way(in, {sm}, 2);
    if (!way.row) return "";
    words.push_back(cat(sm.dotted(), " with ", torch_named(*way.row),
                        python_for(*way.row, in.facts.python), changes(in, way)));
  }
  return in_words(words, "or");
}

}  // namespace tcs
