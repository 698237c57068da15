// SPDX-License-Identifier: Apache-2.0
// Targets: what has to be served, and the images that serve it.
#include <algorithm>

#include "base/text.h"
#include "facts/devices.h"
#include "plan/planner.h"
#include "tables/tables.h"

namespace tcs {

namespace {

using Issue = PlanIssue::Kind;

std::string device_label(const Device& device, int index) {
  std::string label = cat("device ", index);
  return device.name.known() ? cat(label, " (", device.name.value(), ")") : label;
}

std::string torch_label(const TorchFacts& torch) {
  return torch.version.known() ? cat("PyTorch ", torch.version.value()) : "the installed PyTorch";
}

}  // namespace

List<const Device*> Planner::visible_devices() const {
  List<const Device*> out;
  if (facts_.devices.state.is("none")) return out;
  for (const Device& device : facts_.devices.list) {
    if (is_in_use(device)) out.push_back(&device);
  }
  return out;
}

// Each of them, with its capability; without a driver none can be used.
bool Planner::devices_known() const {
  const Text& driver = facts_.driver.state;
  if (facts_.devices.state.is("none")) return true;
  if (facts_.devices.list.empty() && driver.known() && !driver.is("ok")) return true;
  for (const Device& device : facts_.devices.list)
    if (may_be_in_use(device) || (is_in_use(device) && !device.cc.known())) return false;
  return facts_.devices.list_known;
}

void Planner::record_targets() {
  emit_ = false;
  bool have_native = !plan_.targets.empty() || facts_.devices.state.is("declared");
  if (request_.targets_known && !request_.targets.empty()) {
    follow_targets();
  } else if (!have_native && !visible_devices().empty()) {
    by_user_ = false;
    native("native");
  }
}

void Planner::follow_targets() {
  std::string list_from = plan_.list_from;
  if (!request_.targets_known || request_.targets.empty()) {
    by_user_ = false;
    where_ = "default targets";
    defaults("");
  } else {
    by_user_ = true;
    where_ = request_.targets_from.empty() ? "the targets" : request_.targets_from;
    plan_.list_from = cat("targets ", quotable(join(request_.targets, ";")));
    for (const std::string& text : request_.targets) one_target(text);
  }
  if (!emit_) plan_.list_from = list_from;
}

void Planner::one_target(const std::string& text) {
  std::string word(trim(text));
  if (word.empty()) return;
  if (word == "torch") return torch(word);
  const ArchTokens parsed = parse_arch_list(word, "torch");
  bool arch = parsed.issues.empty(), unknown = false;
  for (const ArchToken& token : parsed.tokens)  // 4090 could be written for 409.0
    arch = arch && (token.kind != ArchToken::Kind::Arch || Buildable::could_exist(token.real));
  const List<const GpuRow*> gpus = arch ? List<const GpuRow*>() : gpus_named(word);
  if (gpus.size() == 1) {
    const std::string label = cat(gpus[0]->name, " (", where_, ", by name)");
    return target(gpus[0]->sm, label, cat("the table of GPU names, ", kTablesDate));
  }
  for (const PlanIssue& issue : parsed.issues)
    unknown = unknown || (issue.kind == Issue::UnknownName && issue.corrected.empty());
  const bool fleet = starts_with(word, "fleet:");
  const bool blanks = !parsed.issues.empty() && contains(word, " ") && !contains(word, ",");
  if (fleet || unknown || blanks || !gpus.empty()) return unknown_target(word, gpus);
  for (PlanIssue issue : parsed.issues) {
    issue.where = where_;
    plan_.issues.push_back(issue);
  }
  for (const ArchToken& token : parsed.tokens) target_token(token);
}

// A word for which there is no capability, or more than one.
void Planner::unknown_target(const std::string& word, const List<const GpuRow*>& gpus) {
  PlanIssue& issue = say(Issue::UnknownName, quotable(word));
  bool one = false;
  const List<const GpuRow*> near = gpus.empty() ? nearest_gpus(word, one) : gpus;
  if (starts_with(word, "fleet:"))
    issue.detail = "this version reads no fleet files";
  else if (!near.empty())
    issue.detail =
        cat(gpus.empty() ? "the nearest that are known: " : "it may be ", gpu_texts(near));
  if (one) issue.corrected = near[0]->name;
}

// A number that no GPU of the tables has, and this machine's CUDA.
bool Planner::is_release_here(const Sm& sm) const {
  const std::string text = sm.dotted();
  return find_arch(sm) == nullptr && (text == release_text(build_.release()) ||
                                      facts_.torch.cuda.is(text) || facts_.driver.cuda.is(text));
}

// Any capability that a coming GPU could have; 12.4 not where that is this machine's CUDA.
bool Planner::may_be_target(const Sm& sm) const {
  const bool release = sm.major <= newest_arch().major && is_release_here(sm);
  return (build_.known() && build_.real(sm)) || (Buildable::could_exist(sm) && !release);
}

void Planner::target_token(const ArchToken& token) {
  if (token.kind == ArchToken::Kind::Native) return native(token.text);
  auto label = [this](const Sm& sm) {
    return cat(sm.dotted(), " (", where_, is_release_here(sm) ? "; also the CUDA here" : "", ")");
  };
  if (token.kind == ArchToken::Kind::Arch) {
    const Sm sm = token.real.base();
    if (!may_be_target(sm)) {
      PlanIssue issue = build_.refuse(sm);
      if (token.bare) guess_number(token, issue);
      return refuse(issue, token);
    }
    plan_.targets.push_back(Target{sm, -1, label(sm), where_});
    if (token.virt == sm && token.real == sm && !token.ptx)
      return serve(Target(plan_.targets.back()));
  } else {
    Planner alone(facts_, request_);
    alone.follow(token);
    for (const Sm& sm : alone.archs()) {
      plan_.targets.push_back(Target{sm.base(), -1, label(sm.base()), where_});
    }
  }
  if (emit_) follow(token);
}

void Planner::target(const Sm& sm, std::string label, std::string from, int device) {
  plan_.targets.push_back(Target{sm, device, std::move(label), std::move(from)});
  serve(Target(plan_.targets.back()));
}

void Planner::native(const std::string& token) {
  List<const Device*> devices = visible_devices();
  plan_.complete = plan_.complete && devices_known();
  if (devices.empty()) say(Issue::NoVisibleDevice, token, facts_.devices.reason);
  for (size_t i = 0; i < devices.size(); ++i) {
    const Device& device = *devices[i];
    int index = device.index.or_else(static_cast<int>(i));
    std::string label = device_label(device, index);
    Sm sm;
    if (device.cc.known() && parse_sm_dotted(device.cc.value(), sm)) {
      target(sm.base(), label, device.cc.from, index);
    } else {
      plan_.complete = false;
      say(Issue::UnknownDevice, label, device.reason);
    }
  }
}

void Planner::torch(const std::string& token) {
  List<Image> own = own_images(facts_.torch);
  if (own.empty()) {
    if (facts_.torch.state.is("absent")) return;  // it has none, which is known
    plan_.complete = false;
    say(Issue::UnknownTorch, token, facts_.torch.reason);
    return;
  }
  std::string from = torch_label(facts_.torch);
  List<std::string> cut;
  for (const Image& image : own) {
    Gencode g{image.sm, image.sm, image.ptx, {}};
    if (!build_.can(g)) {
      cut.push_back(image.sm.dotted());
      continue;
    }
    if (emit_) add(image.sm, image.sm, image.ptx, cat(from, " has ", image.str()));
    if (!image.ptx) {
      std::string label = cat(image.sm.dotted(), " (", from, ")");
      plan_.targets.push_back(Target{image.sm.base(), -1, label, "images of " + from, true});
    }
  }
  if (cut.empty()) return;
  std::string detail = cat(build_.nvcc(), " does not build ", join(cut, " "), " of ", from);
  say(cut.size() == own.size() ? Issue::NoMember : Issue::NameCut, token, detail);
}

// Where nothing was asked for: the visible devices, else what PyTorch was built for.
void Planner::defaults(const std::string& token) {
  List<const Device*> devices = visible_devices();
  auto known = [](const Device* device) { return device->cc.known(); };
  bool any = std::any_of(devices.begin(), devices.end(), known);
  if (!facts_.devices.state.is("declared") && any) {
    if (token.empty()) plan_.list_from = "targets native (default: a GPU is visible)";
    native("native");
    return;
  }
  if (token.empty())
    plan_.list_from = "targets torch (default: no GPU of known capability is visible)";
  // They are those of this machine, as soon as its GPUs are known.
  plan_.complete = plan_.complete && devices_known();
  // One that is to be built is for whom it is meant, whatever is installed beside it.
  if (request_.purpose == "pytorch-source") {
    if (token.empty())
      plan_.list_from = "the GPUs here (default: none of known capability is visible)";
    return;
  }
  say(Issue::DefaultTargets, token,
      cat("those of ", torch_label(facts_.torch), ", cut to what ", build_.nvcc(), " builds"));
  const size_t before = plan_.issues.size();
  torch("torch");
  if (devices_known()) return;
  // That nvcc builds none of PyTorch's says nothing of the devices that are meant.
  List<PlanIssue> kept;
  for (size_t i = 0; i < plan_.issues.size(); ++i)
    if (i < before || plan_.issues[i].kind != Issue::NoMember) kept.push_back(plan_.issues[i]);
  plan_.issues = kept;
}

void Planner::serve(const Target& t) {
  if (!emit_) return;
  std::string reason =
      t.device >= 0 ? cat(t.label, " is ", t.sm.dotted()) : cat("target ", t.label);
  if (!add(t.sm, t.sm, false, reason)) nearest(t);
}

// Its own architecture is unknown to nvcc: the nearest older one of its major, whose code runs
// there; else PTX of the newest plain one that the driver can translate for it.
void Planner::nearest(const Target& t) {
  Sm best;
  for (const Sm& sm : build_.reals()) {
    if (sm.plain() && fits(Image{sm, false}, t.sm) == Fit::Native) best = sm;
  }
  std::string why =
      cat(t.label, " is ", t.sm.dotted(), ", which ", build_.nvcc(), " does not build");
  PlanIssue issue = build_.refuse(t.sm);
  issue.where = where_;
  issue.by_user = by_user_ && t.device < 0;
  issue.kind = Issue::NearestArch;
  issue.corrected.clear();
  if (best.major != 0) {
    add(best, best, false, why);
    issue.detail = cat(best.real(), " code runs on it");
  } else {
    for (const Sm& sm : build_.virts()) {
      if (sm.plain() && fits(Image{sm, true}, t.sm) == Fit::Jit) best = sm;
    }
    if (best.major != 0) add(best, best, true, why);
    issue.detail = cat(best.virt(), " PTX, which the driver translates when it is loaded");
  }
  if (best.major == 0) {
    issue.kind = Issue::NoArch;
    issue.detail = cat(t.label, " is ", t.sm.dotted());
  }
  plan_.issues.push_back(std::move(issue));
}

}  // namespace tcs
