// SPDX-License-Identifier: Apache-2.0
#include "findings/nearest_toolkit.h"

#include <cstdlib>

#include "facts/pip_toolkit.h"
#include "findings/nearest_torch.h"
#include "findings/rules/host_compilers.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

using IssueKind = PlanIssue::Kind;

struct ToBuild {
  List<Sm> archs;
  List<std::string> names;  // PyTorch's, that this nvcc cuts
  int torch = 0;            // the CUDA of PyTorch; 0: none to keep to
  int near = 0;             // that, else the toolkit's here
  int driver = 0;           // what it speaks; 0: not known, or other machines are meant
  bool ptx = false;         // a GPU here is served by PTX alone
  int oldest = 0;           // that has the C++ level of PyTorch's headers
  bool sound = false;
};

// Words that stand for whatever nvcc builds, or for what is here.
bool has_moving_word(const Request& request) {
  for (const std::string& word : split(lower(request.arch_list.value()), "; \t"))
    if (starts_with(word, "all") || word == "auto" || word == "common") return true;
  return false;
}

ToBuild to_build(const RuleInput& in, const List<Sm>& more) {
  ToBuild wanted;
  wanted.archs = more;
  List<Image> images = in.plan.written;
  if (in.plan.by_user && !has_moving_word(in.request)) images.append(plan_images(in.plan));
  for (const Image& image : images) add_once(wanted.archs, image.sm);
  for (const Target& target : in.plan.targets)
    if (!target.cut && (!in.plan.by_user || best_fit(images, target.sm) == Fit::None))
      add_once(wanted.archs, target.sm);
  for (const PlanIssue& issue : in.plan.issues)
    if ((issue.kind == IssueKind::NoMember || issue.kind == IssueKind::NameCut) &&
        lower(issue.token) != "torch")
      wanted.names.push_back(replace_all(issue.token, "+PTX", ""));
  if (in.request.purpose == "extension" && !in.facts.torch.state.is("absent"))
    wanted.near = wanted.torch = release_of(Version::parse(in.facts.torch.cuda.value()));
  wanted.oldest = nvcc_of_headers(in);
  if (in.request.purpose == "pytorch-source")
    wanted.oldest = release_of(Version::parse(in.facts.tree.cuda_min.value()));
  const Toolkit* own = in.facts.toolkit();
  if (!wanted.near && own) wanted.near = release_of(Version::parse(own->version.value()));
  // A PyTorch without CUDA is to be replaced: the toolkit has to fit the one that is advised for
  // it.
  const bool no_cuda = in.facts.torch.flavour.known() && !in.facts.torch.flavour.is("cuda");
  if (!wanted.near && no_cuda && in.request.purpose == "extension") {
    const TorchRow* other = torch_advised(in, to_serve(in));
    if (other) wanted.near = other->cuda;
  }
  if (!other_machines(in)) wanted.driver = release_of(Version::parse(in.facts.driver.cuda.value()));
  Sm sm;
  for (const Device* device : visible_devices(in.facts))
    wanted.ptx = wanted.ptx ||
                 (in.plan.by_user && capability(*device, sm) && best_fit(images, sm) == Fit::Jit);
  return wanted;
}

bool builds_all(const ToBuild& wanted, const Toolkit& t) {
  const Buildable build(&t);
  if (!build.known()) return false;
  List<Sm> all = wanted.archs;
  Sm sm;
  for (const std::string& name : wanted.names) {
    const TorchNameRow* row = find_torch_name(name, build.release());
    if (!row) return false;
    for (const std::string& member : split(row->members, " "))
      if (parse_sm_dotted(member, sm)) all.push_back(sm);
  }
  for (const Sm& each : all)
    if (!build.real(each)) return false;
  return true;
}

bool is_built_by_any(const ToBuild& wanted) {
  Toolkit t;
  for (const CudaRow& row : cuda_rows()) {
    t.version = Text(release_text(row.release));
    if (builds_all(wanted, t)) return true;
  }
  return false;
}

constexpr int kOtherTorch = 4000, kNone = 9999;

const TorchRow* torch_of_major(const RuleInput& in, int major) {
  return nearest_torch(in, {to_serve(in), major, 1});
}

// How far a toolkit is from what would do; the host compiler weighs more than a minor release.
int distance(const RuleInput& in, const ToBuild& wanted, const Toolkit& t) {
  const int release = release_of(Version::parse(t.version.value())), major = release / 100;
  if (release < wanted.oldest || !builds_all(wanted, t)) return kNone;
  if (wanted.ptx && wanted.driver && cuda_that_reads(ptx_isa_written_by(release)) > wanted.driver)
    return kNone;
  const int trouble = host_trouble(in, t);
  if (wanted.sound && trouble % 2 == kKnownBad) return kNone;
  if (trouble >= kRefused && !takes_headers(in, t)) return kNone;
  int far = 1000 * trouble;
  if (!wanted.torch && wanted.driver && major > wanted.driver / 100) return kNone;
  int near = wanted.near;
  if (wanted.torch && major != wanted.torch / 100) {
    const TorchRow* other = torch_of_major(in, major);
    if (!other) return kNone;
    far += kOtherTorch + 10 * std::abs(major - wanted.torch / 100);
    near = other->cuda;
  }
  if (near == 0) return far + newest_cuda() - release;
  return far + (release < near ? 500 + near - release : release - near);
}

bool is_spare(const RuleInput& in, const Toolkit& t) {
  return &t != in.facts.toolkit() && t.root.known() && t.version.known() && !t.works.is(false) &&
         !is_clang(t) && !lacks_parts(t);
}

// PROVISION brings PyTorch's own release, and nothing in the place of what the user named.
std::string ways_to_bring(const RuleInput& in, int release, int torch) {
  const std::string name = release_text(release);
  const std::string packages = pip_packages(Version::parse(name));
  if (packages.empty()) return "";
  if (pip_update(in.facts.host, release).empty()) return "pip install " + packages;
  const Toolkit* own = in.facts.toolkit();
  const bool by_itself = release == torch && (!own || user_named(*own).empty());
  return cat(by_itself ? "-DTorchCudaStack_PROVISION=ON, or " : "", "tcstack toolkit add ", name,
             " --into DIR");
}

NearestToolkit nearest_for(const RuleInput& in, const ToBuild& wanted) {
  NearestToolkit nearest;
  int best = 1000;
  for (const Toolkit& t : in.facts.toolkits.list) {
    const int far = is_spare(in, t) ? distance(in, wanted, t) : kNone;
    if (far >= best) continue;
    best = far;
    nearest.here = &t;
  }
  best = kNone;
  Toolkit choice;
  for (const CudaRow& row : cuda_rows()) {
    Toolkit t;
    t.version = Text(release_text(row.release));
    const int far = distance(in, wanted, t);
    if (far >= best) continue;
    best = far;
    nearest.release = row.release;
    choice = t;
  }
  if (best == kNone) return nearest;
  nearest.from_pypi = ways_to_bring(in, nearest.release, wanted.torch);
  nearest.refused = host_trouble(in, choice) >= kRefused;
  if (nearest.refused) nearest.compiler = host_compiler_for(in, choice);
  if (best < kOtherTorch) return nearest;
  const TorchRow& torch = *torch_of_major(in, nearest.release / 100);
  nearest.torch = torch_named(torch) + torch_needs(in, torch);
  return nearest;
}

std::string words_to_install(const NearestToolkit& n) {
  if (n.release == 0) return "";
  return cat(release_text(n.release),
             n.from_pypi.empty() ? "" : cat(" (from PyPI: ", n.from_pypi, ")"),
             n.compiler.empty() ? "" : cat(", with ", n.compiler, " as its host compiler"),
             n.torch.empty() ? "" : ", and " + n.torch);
}

}  // namespace

NearestToolkit nearest_toolkit(const RuleInput& in, const List<Sm>& more, bool sound) {
  ToBuild wanted = to_build(in, more);
  wanted.sound = sound;
  const NearestToolkit nearest = nearest_for(in, wanted);
  // What the toolkit here builds is not given up.
  const Toolkit* own = in.facts.toolkit();
  if (nearest.release || !more.empty() || (own && builds_all(wanted, *own))) return nearest;
  wanted.names.clear();
  wanted.archs.clear();  // what no release builds has a finding of its own
  for (const Image& image : in.plan.written) add_once(wanted.archs, image.sm);
  if (!is_built_by_any(wanted)) wanted.archs.clear();
  return nearest_for(in, wanted);
}

Finding& report_toolkit(List<Finding>& out, int id, List<std::string> words,
                        const NearestToolkit& nearest) {
  while (words.size() < 8) words.push_back("");
  words.push_back(nearest.here ? nearest.here->root.value() : "");
  words.push_back(nearest.here ? "" : words_to_install(nearest));
  return report_words(out, id, words);
}

}  // namespace tcs
