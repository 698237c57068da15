// SPDX-License-Identifier: Apache-2.0
#include "plan/intersect.h"

#include "base/text.h"
#include "plan/grammar.h"
#include "tables/tables.h"

namespace tcs {

namespace {

struct Chooser {
  const PlanNeeds& needs;
  const Buildable& build;
  List<Gencode> entries;
  Intersection out;

  bool read(std::string_view archs);
  bool take_entry(const std::string& text, const Sm& virt, const Sm& real, bool cubin, bool ptx);
  Sm name_here(const Sm& sm) const;
  void serve(const Sm& device);
  void serve_ptx(const Sm& ptx);
  void choose(const Gencode& g, const std::string& what, const std::string& note);
  Gencode with_plans_suffix(const Gencode& entry, const Sm& device) const;
  std::string why_not(const Sm& device) const;
  std::string why_no_ptx(const Sm& ptx) const;
};

// 0 = does not run there; the higher the better.
int rank_on(const Gencode& g, const Sm& device) {
  const Image image = g.image();
  const Fit fit = fits(image, device);
  if (fit == Fit::None || fit == Fit::CrossTegra) return 0;
  const int rank = image.sm.suffix == 'a' ? 3 : image.sm.suffix == 'f' ? 2 : 1;
  return fit == Fit::Native ? rank + 3 : rank;
}

bool goes_before(const Gencode& a, const Gencode& b) {
  return a.image() == b.image() ? a.virt < b.virt : a.image() < b.image();
}

// The family that an 'f' image serves, the capability itself of any other.
void add_served(List<Sm>& out, const Sm& sm) {
  add_once(out, sm.base());
  const ArchRow* row = sm.suffix == 'f' ? find_arch(sm) : nullptr;
  if (row == nullptr) return;
  for (const std::string& minor : split(row->members, " "))
    add_once(out, Sm{sm.major, minor[0] - '0', 0});
}

List<Sm> capabilities_of(const PlanNeeds& needs) {
  List<Sm> out;
  for (const Sm& sm : needs.targets)
    if (best_fit(needs.images, sm) != Fit::None) out.push_back(sm);
  const bool by_images = needs.by_user || needs.targets.empty();
  for (const Image& image : needs.images) {
    if (image.ptx ? image.sm.plain() : !by_images && image.sm.suffix != 'f') continue;
    add_served(out, image.sm);
  }
  sort_unique(out);
  return out;
}

// 10.1 may be 11.0 for this nvcc. Where it has no 'f', the 'a' has all of the family, but runs on
// that capability alone.
Sm Chooser::name_here(const Sm& sm) const {
  if (!build.known() || build.real(sm)) return sm;
  const PlanIssue issue = build.refuse(sm);
  Sm other = sm;
  if (issue.kind == PlanIssue::Kind::Renamed)
    parse_sm_dotted(issue.corrected, other);
  else if (sm.suffix == 'f')
    other = name_here(Sm{sm.major, sm.minor, 'a'});
  return build.real(other) ? other : sm;
}

bool Chooser::take_entry(const std::string& text, const Sm& virt, const Sm& real, bool cubin,
                         bool ptx) {
  for (const Sm& sm : {virt, real}) {
    if (Buildable::could_exist(sm)) continue;
    out.error = cat("'", text, "' is no architecture");
    const std::string corrected = build.refuse(sm).corrected;
    if (!corrected.empty()) out.error += cat("; did you mean ", corrected, "?");
    return false;
  }
  const Sm v = name_here(virt), r = name_here(real);
  const std::string note =
      r == real ? "" : cat(real.dotted(), " is ", r.dotted(), " for ", build.nvcc());
  if (cubin) entries.push_back(Gencode{v, r, false, note});
  if (ptx) entries.push_back(Gencode{v, v, true, note});
  return true;
}

bool Chooser::read(std::string_view archs) {
  const ArchTokens parsed = parse_arch_list(archs, "torch");
  if (!parsed.issues.empty()) {
    const PlanIssue& issue = parsed.issues[0];
    out.error = cat("'", issue.token, "' is no architecture such as 9.0a or 8.0+PTX");
    if (!issue.corrected.empty()) out.error += cat("; did you mean ", issue.corrected, "?");
    return false;
  }
  for (const ArchToken& token : parsed.tokens) {
    if (token.kind == ArchToken::Kind::Arch) {
      if (!take_entry(token.text, token.virt, token.real, token.cubin, token.ptx)) return false;
      continue;
    }
    const TorchNameRow* row = token.kind == ArchToken::Kind::Name
                                  ? find_torch_name(token.name, build.release())
                                  : nullptr;
    if (row == nullptr) {
      out.error = cat("'", token.text, "' names no architecture of its own");
      return false;
    }
    const List<std::string> members = split(row->members, " ");
    for (const std::string& member : members) {
      Sm sm;
      const bool last = member == members.back();
      parse_sm_dotted(member, sm);
      take_entry(token.text, sm, sm, true, last && (token.ptx || row->ptx_on_last));
    }
  }
  if (entries.empty()) out.error = "names no architecture";
  return !entries.empty();
}

void Chooser::choose(const Gencode& g, const std::string& what, const std::string& note) {
  if (!note.empty()) add_once(out.notes, note);
  for (Gencode& old : out.plan.gencodes) {
    if (old.flag() != g.flag()) continue;
    old.reason += " " + what;
    return;
  }
  out.plan.gencodes.push_back(Gencode{g.virt, g.real, g.ptx, what});
}

Gencode Chooser::with_plans_suffix(const Gencode& entry, const Sm& device) const {
  if (entry.ptx || !entry.real.plain() || entry.virt != entry.real ||
      contains(needs.images, entry.image()))
    return entry;
  for (const char suffix : {'a', 'f'}) {
    const Sm sm{entry.real.major, entry.real.minor, suffix};
    const Image image{sm, false};
    if (contains(needs.images, image) && fits(image, device) == Fit::Native)
      return Gencode{sm, sm, false, {}};
  }
  return entry;
}

void Chooser::serve(const Sm& device) {
  const Gencode* best = nullptr;
  int rank = 0;
  for (const Gencode& entry : entries) {
    const int other = build.can(entry) ? rank_on(entry, device) : 0;
    if (other > rank || (other != 0 && other == rank && goes_before(*best, entry))) {
      best = &entry;
      rank = other;
    }
  }
  if (best != nullptr)
    return choose(with_plans_suffix(*best, device), device.dotted(), best->reason);
  for (const Gencode& g : out.plan.gencodes)
    if (rank_on(g, device) != 0) return choose(Gencode(g), device.dotted(), {});
  out.unserved.push_back({device.dotted(), why_not(device)});
}

void Chooser::serve_ptx(const Sm& ptx) {
  const Gencode* best = nullptr;
  for (const Gencode& entry : entries) {
    const Sm& sm = entry.virt;
    if (sm.plain() && !(ptx < sm) && (best == nullptr || !(sm < best->virt)) && build.virt(sm))
      best = &entry;
  }
  if (best != nullptr)
    return choose(Gencode{best->virt, best->virt, true, {}}, ptx.virt(), best->reason);
  out.unserved.push_back({ptx.virt(), why_no_ptx(ptx)});
}

std::string Chooser::why_not(const Sm& device) const {
  for (const Gencode& entry : entries)
    if (!build.can(entry) && rank_on(entry, device) != 0)
      return cat(build.nvcc(), " does not build ", entry.image().sm.dotted());
  std::string why = "none of the file's architectures runs there";
  for (const Gencode& entry : entries) {
    const Image image = entry.image();
    const bool by_ptx = fits(Image{entry.virt, true}, device) == Fit::Jit;
    const std::string instead = by_ptx ? cat("; ", entry.virt.dotted(), "+PTX would") : "";
    if (fits(image, device) == Fit::CrossTegra)
      return cat(image.str(), " is not sure to run across the border to Tegra", instead);
    if (by_ptx)
      why = cat(image.str(), " does not run there", instead);
    else if (image.sm.suffix == 'a' && image.sm.major == device.major)
      why = cat(image.str(), " runs on ", image.sm.base().dotted(), " alone",
                entry.reason.empty() ? "" : cat("; ", entry.reason));
  }
  return why;
}

std::string Chooser::why_no_ptx(const Sm& ptx) const {
  std::string why = "PTX of 'a' and 'f' architectures serves no GPU to come";
  for (const Gencode& entry : entries) {
    const Sm& sm = entry.virt;
    if (!sm.plain()) continue;
    if (!(ptx < sm)) return cat(build.nvcc(), " does not build ", sm.dotted());
    why = cat(sm.dotted(), " is newer");
  }
  return why;
}

}  // namespace

List<std::string> Intersection::images() const {
  List<std::string> out;
  for (const Gencode& g : plan.gencodes) out.push_back(g.image().str());
  return out;
}

std::string Intersection::list() const {
  const List<std::string> names = images();
  List<std::string> out;
  for (const Gencode& g : plan.gencodes) {
    const bool own = g.virt == g.real;
    if (!g.ptx)
      out.push_back(!own ? cat(g.real.dotted(), "(", g.virt.dotted(), ")")
                         : cat(g.real.dotted(), contains(names, g.virt.virt()) ? "+PTX" : ""));
    else if (!contains(out, g.virt.dotted() + "+PTX"))
      out.push_back(g.virt.digits() + "-virtual");
  }
  return join(out, ";");
}

Intersection intersect(const PlanNeeds& needs, const Buildable& build, std::string_view archs) {
  Chooser c{needs, build, {}, {}};
  if (needs.images.empty()) c.out.error = "the plan has no image";
  if (!c.out.error.empty() || !c.read(archs)) return c.out;
  List<Sm> ptx;
  for (const Image& image : needs.images)
    if (image.ptx && image.sm.plain()) add_once(ptx, image.sm);
  sort_few(ptx);
  for (const Sm& sm : ptx) c.serve_ptx(sm);
  for (const Sm& sm : capabilities_of(needs)) c.serve(sm);
  sort_few(c.out.plan.gencodes, goes_before);
  return c.out;
}

}  // namespace tcs
