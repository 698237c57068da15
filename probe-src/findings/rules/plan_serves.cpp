// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/plan_issues.h"
#include "plan/buildable.h"

namespace tcs {

namespace {

constexpr const char* kWhat = "whether the list serves the GPUs here";

struct Served {
  Sm sm;
  const Device* device;
  std::string label;
  bool asked;
};
using ServedList = List<Served>;

// "NVIDIA H100, compute 9.0"; of several "7.5 (Tesla T4) and 9.0 (NVIDIA H100)".
std::string words_for(const ServedList& group) {
  if (group.size() == 1) return group[0].label;
  List<std::string> words;
  for (const Served& s : group)
    add_once(words, s.device && s.device->name.known()
                        ? cat(s.sm.dotted(), " (", s.device->name.value(), ")")
                        : s.sm.dotted());
  return in_words(words);
}

std::string capabilities(const ServedList& group, const char* separator) {
  List<std::string> words;
  for (const Served& s : group) add_once(words, s.sm.dotted());
  return separator[0] == 0 ? in_words(words) : join(words, separator);
}

List<Sm> archs_of(const ServedList& group) {
  List<Sm> archs;
  for (const Served& s : group) archs.push_back(s.sm);
  return archs;
}

// The driver here is older than the PTX that this nvcc writes.
bool ptx_unread(const RuleInput& in) {
  const Toolkit* t = in.facts.toolkit();
  const Version reads = Version::parse(in.facts.driver.cuda.value());
  return t && reads.known() && reads < ptx_release(Version::parse(t->version.value()));
}

// PTX has to be of an older plain entry.
bool older_entry(const RuleInput& in, const ServedList& group) {
  for (const Served& s : group) {
    bool older = false;
    if (s.device && ptx_unread(in)) return false;
    for (const auto& gencode : in.plan.gencodes)
      older = older || fits(Image{gencode.virt, true}, s.sm) == Fit::Jit;
    if (!older) return false;
  }
  return !group.empty();
}

void add_served(const RuleInput& in, const ServedList& group, const List<Image>& images,
                Finding& f) {
  List<std::string> needs;
  for (const Served& s : group) {
    if (s.device)
      add_devices(f, {s.device});
    else
      add(f, "target", s.label, "", in.request.targets_from);
    add_once(needs, s.sm.real());
  }
  add(f, "arch", image_words(images), join(needs, " "), in.plan.list_from);
}

// Only across the desktop/Tegra border, and the device itself said no. What should run by all rules
// and does not is a finding of its own.
bool is_refused(const List<Image>& images, const Served& s) {
  return s.device && serves(images, s.sm, s.device) == Fit::None &&
         best_fit(images, s.sm) != Fit::None;
}

// What is offered must be buildable here.
void misses(const RuleInput& in, const ServedList& group, const List<Image>& images,
            List<Finding>& out) {
  if (group.empty()) return;
  const Buildable build(in.facts);
  ServedList builds, lacks;
  for (const Served& s : group) (build.real(s.sm) ? builds : lacks).push_back(s);
  NearestToolkit nearest;
  if (!lacks.empty()) nearest = nearest_toolkit(in, archs_of(lacks));
  Finding& f = report_toolkit(
      out, 909,
      {words_for(group), capabilities(builds, ";"), group[0].asked ? "" : "y",
       older_entry(in, group) ? "y" : "",
       lacks.empty() ? "" : cat(build.nvcc(), " does not build ", capabilities(lacks, "")),
       in.plan.by_user ? "the list" : "the plan", capabilities(lacks, ";")},
      nearest);
  if (group[0].asked) f.severity = Severity::Error;
  for (const Served& s : group)
    if (is_refused(images, s)) add_once(f.notes, refused_words(images, s.sm, *s.device));
  add_served(in, group, images, f);
}

void crosses(const RuleInput& in, const ServedList& group, const List<Image>& images,
             List<Finding>& out) {
  if (group.empty()) return;
  const Buildable build(in.facts);
  ServedList builds;
  for (const Served& s : group)
    if (build.real(s.sm)) builds.push_back(s);
  Finding& f = report(out, 911,
                      {capabilities(group, ""), "the list", older_entry(in, group) ? "y" : "",
                       capabilities(builds, ";")});
  add_served(in, group, images, f);
}

bool planner_says(const Plan& plan, const Sm& sm) {
  for (const auto& issue : plan.issues)
    if (issue.kind == PlanIssue::Kind::NearestArch && issue.token == sm.dotted()) return true;
  return false;
}

// PTX serves a device that nvcc does not know: right, and worth a word.
void only_ptx(const RuleInput& in, const ServedList& group, List<Finding>& out) {
  if (group.empty()) return;
  Finding& f = report_toolkit(
      out, 912,
      {words_for(group), "the driver translates it when it is loaded", "", "", "", "",
       group.size() == 1 ? "only PTX serves it" : "only PTX serves them", chosen_nvcc(in)},
      nearest_toolkit(in, archs_of(group)));
  add_served(in, group, plan_images(in.plan), f);
  add_chosen_toolkit(in, "", f);
}

// A plan made for the GPUs here serves them, unless they said no.
void planned(const RuleInput& in, const List<Image>& images, List<Finding>& out) {
  ServedList refused;
  for (const Device* device : visible_devices(in.facts)) {
    Served s{Sm(), device, device_label(*device), true};
    if (!capability(*device, s.sm) || !is_refused(images, s) || should_run(images, s.sm)) continue;
    for (const auto& target : in.plan.targets)
      if (target.device >= 0 && target.sm == s.sm) {
        refused.push_back(s);
        break;
      }
  }
  misses(in, refused, images, out);
}

// Without the place that it was named in, which the evidence says.
std::string target_label(const Target& target) {
  const std::string name = target.label.substr(0, target.label.rfind(" ("));
  return name == target.sm.dotted() ? name : cat(name, ", compute ", target.sm.dotted());
}

}  // namespace

// A list says what is built; the devices here and the targets say what it should serve.
void rule_plan_serves(const RuleInput& in, List<Finding>& out) {
  const Plan& plan = in.plan;
  // What nvcc refuses of the list has a finding of its own, of which the rest is a consequence.
  List<Image> images = plan_images(plan);
  for (const Image& image : plan.written) add_once(images, image);
  if (!builds(in) || images.empty()) return;
  if (!plan.by_user || list_is_default(in.request)) return planned(in, images, out);
  // A driver that does not answer is a finding of its own.
  const DeviceFacts& devices = in.facts.devices;
  const bool asleep = in.facts.driver.state.known() && !in.facts.driver.state.is("ok");
  if (!devices.list_known && !devices.state.is("none") && !asleep)
    missing(out, 190, "devices.list", kWhat, devices.reason);
  for (const Device& device : devices.list)
    if (!device.visible.known() && !devices.state.is("none"))
      missing(out, 190, "devices.list[].visible", kWhat, device.reason);
  List<Served> all;
  Sm sm;
  const bool native = native_asked(in);
  for (const Device* device : visible_devices(in.facts))
    if (capability(*device, sm)) all.push_back({sm, device, device_label(*device), native});
  const ToolkitFacts& toolkits = in.facts.toolkits;
  const bool no_nvcc = toolkits.list_known && toolkits.list.empty();
  const bool uncut = !Buildable(in.facts).known() && !no_nvcc;
  for (const auto& target : plan.targets) {
    if (target.device >= 0) continue;
    if (target.cut && uncut && best_fit(images, target.sm) == Fit::None)
      missing(out, 390, "toolkits.list[].archs", "whether the list serves what PyTorch does");
    else
      all.push_back({target.sm, nullptr, target_label(target), true});
  }

  List<Sm> done;
  ServedList ptx, cross, asked, here;
  for (Served served : all) {
    const bool refused = is_refused(images, served);
    if (refused && should_run(images, served.sm)) continue;
    Fit fit = serves(images, served.sm, served.device);
    if (fit == Fit::Native || (!refused && contains(done, served.sm))) continue;
    if (!refused) done.push_back(served.sm);
    if (fit == Fit::Jit) {
      if (!Buildable(in.facts).real(served.sm) && !planner_says(plan, served.sm))
        ptx.push_back(served);
      continue;
    }
    if (plan.open) {  // it may be served by what is unknown
      missing(out, 190, "devices.list", kWhat, devices.reason);
      continue;
    }
    for (const Served& other : all)
      served.asked = served.asked || (other.asked && other.sm == served.sm);
    (fit == Fit::CrossTegra ? cross : served.asked ? asked : here).push_back(served);
  }
  only_ptx(in, ptx, out);
  crosses(in, cross, images, out);
  misses(in, asked, images, out);
  misses(in, here, images, out);
}

}  // namespace tcs
