// SPDX-License-Identifier: Apache-2.0
// What was measured of single images: nvcc was asked to build them, devices to run them.
#include <algorithm>

#include "findings/nearest_toolkit.h"
#include "findings/rules/driver.h"
#include "findings/rules/torch.h"
#include "plan/buildable.h"

namespace tcs {
namespace {

// --- 341: nvcc says that it builds them

// The same for all architectures but for their names.
std::string cause_words(const ImageBuild& build, const Image& image) {
  std::string key = cat(build.result.value(), " ", telling(build.text.value(), 300));
  for (const std::string& name : {image.sm.real(), image.sm.virt()})
    key = replace_all(key, name, "*");
  return key;
}

// Default targets that stand for GPUs of which something is not known: those may need none of it.
bool is_guess(const RuleInput& in) {
  const DeviceFacts& devices = in.facts.devices;
  bool known = devices.list_known || devices.state.is("none");
  for (const Device& device : devices.list)
    known = known && (devices.state.is("none") || device.visible.is(false) ||
                      (device.visible.known() && device.cc.known()));
  for (const PlanIssue& issue : in.plan.issues)
    if (issue.kind == PlanIssue::Kind::DefaultTargets) return !known;
  return false;
}

struct NotBuilt {
  std::string cause;
  const ImageBuild* first = nullptr;
  List<Image> images;
};

void not_built(const RuleInput& in, const Toolkit& t, List<Finding>& out) {
  const List<Image> planned = plan_images(in.plan);
  if (is_guess(in)) return;
  List<NotBuilt> groups;
  for (const ImageBuild& build : t.builds) {
    Image image;
    if (!parse_image(build.image.value(), image) || !contains(planned, image)) continue;
    if (!build.result.known())
      missing(out, 392, "toolkits.list[].builds", "whether nvcc builds the images", t.reason);
    if (!build.result.is("refused") && !build.result.is("wrong")) continue;
    const std::string cause = cause_words(build, image);
    NotBuilt* group = nullptr;
    for (NotBuilt& other : groups)
      if (other.cause == cause) group = &other;
    if (!group) group = &groups.push_back({cause, &build, {}});
    group->images.push_back(image);
  }
  for (const NotBuilt& group : groups) {
    const bool wrong = group.first->result.is("wrong"), all = group.images.size() == planned.size();
    const std::string said = telling(group.first->text.value(), 300);
    Finding& f =
        report_toolkit(out, 341,
                       {nvcc_label(t), image_words(group.images),
                        wrong                      ? "the file that it wrote does not hold it"
                        : group.images.size() == 1 ? "a small kernel for it does not compile"
                                                   : "a small kernel for them does not compile",
                        said.empty() ? ""
                        : wrong      ? said
                                     : "it said: " + said,
                        all || native_asked(in) ? "" : "y"},
                       nearest_toolkit(in));
    add(f, "toolkit", nvcc_and_root(t), image_words(group.images), t.origin.value());
    for (const auto& part : {std::make_pair("ptxas ", &t.ptxas), std::make_pair("cicc ", &t.cicc)})
      if (part.second->known())
        add(f, "toolkit", part.first + part.second->value(), "", part.second->from);
    add_nvcc_variables(in, f);
  }
}

// --- 922: devices were asked to run them

struct Holder {
  const char* layer;
  std::string label, from;
  List<Image> images;
  bool by_user = false;  // a list that more can be added to
  bool of_torch = false;
};

// What the driver takes first: machine code before PTX, the nearest to the device first.
bool taken_before(const Image& a, const Image& b) {
  return a.ptx != b.ptx ? b.ptx : b.sm < a.sm;
}

struct Fails {
  const Holder* holder = nullptr;
  const Device* device = nullptr;
  Image image;
  const ImageProbe* answer = nullptr;
  Image instead;      // what serves the device then ...
  bool hard = true;   // ... which nothing does
  bool tried = true;  // ... as the device said
};

// The first image that should run there and does not. What fits but was passed over because a
// better one runs does not matter.
bool fails(const Holder& holder, const Device& device, Fails& out) {
  Sm sm;
  if (!capability(device, sm)) return false;
  List<Image> images = holder.images;
  sort_few(images, taken_before);
  for (const Image& image : images) {
    const ImageProbe* answer = answer_to(device, image);
    const Fit fit = fits(image, sm);
    const bool runs = answer && answer->result.is("runs");
    if (runs || (!answer && fit != Fit::None)) {
      out.instead = image;
      out.hard = false;
      out.tried = runs;
      break;
    }
    if (out.answer || fit == Fit::None || fit == Fit::CrossTegra) continue;
    out.holder = &holder;
    out.device = &device;
    out.image = image;
    out.answer = answer;
    // The driver does take it: it falls back only from what it refuses.
    if (!answer->result.is("refused")) break;
  }
  // Whether it is needed or not, no image that fits may take the process with it.
  for (const Image& image : images) {
    const ImageProbe* answer = answer_to(device, image);
    if (out.answer || !answer || !should_run({image}, sm)) continue;
    if (!answer->result.is("hang") && !answer->result.is("crash")) continue;
    out.holder = &holder;
    out.device = &device;
    out.image = image;
    out.answer = answer;
  }
  return out.answer != nullptr;
}

// An image that fits and was to be tried there, where none that fits was answered.
const ImageProbe* unanswered(const Holder& holder, const Device& device) {
  Sm sm;
  const ImageProbe* open = nullptr;
  if (!capability(device, sm)) return nullptr;
  for (const ImageProbe& probe : device.image_probe) {
    Image image;
    if (!parse_image(probe.image.value(), image) || !contains(holder.images, image)) continue;
    if (fits(image, sm) == Fit::None) continue;
    if (probe.result.known()) return nullptr;
    open = &probe;
  }
  return open;
}

bool is_one_cause(const ImageProbe& a, const ImageProbe& b) {
  return a.result.value() == b.result.value() && a.error.value() == b.error.value() &&
         a.step.value() == b.step.value();
}

struct AnswerWords {
  const char *result, *one, *many, *note, *help;
};
constexpr AnswerWords kAnswerWords[] = {
    {"wrong", "computes a wrong value on", "compute a wrong value on",
     "a small kernel was launched, and what came back is not what its code writes", ""},
    {"crash", "crashes on", "crash on", "the process that tried a small kernel ended by itself",
     ""},
    {"hang", "hangs on", "hang on", "a small kernel did not come back within its time",
     "give a slow machine more time: -DTorchCudaStack_TIMEOUT=120"},
    {"refused", "is refused by", "are refused by", "", ""},
};
const AnswerWords& words_of(const ImageProbe& answer) {
  const AnswerWords* row = kAnswerWords;
  for (const AnswerWords& other : kAnswerWords)
    if (answer.result.is(other.result)) row = &other;
  return *row;
}

// What the number says, and what to do about it; 209 and 200 have a help on how things are built.
std::string meaning(const ImageProbe& answer, std::string& help) {
  const AnswerWords& row = words_of(answer);
  const DriverErrorRow* error = driver_error(answer.error.or_else(0));
  const bool built = answer.error.is(209) || answer.error.is(200);
  help = error && !built ? error->help : "";
  const std::string step = answer.step.known() ? cat(" (", answer.step.value(), ")") : "";
  return cat(row.note[0] ? row.note : error ? error->meaning : "the driver says no more", step);
}

// "device 3 (NVIDIA H100, compute 9.0)" where others here do better.
std::string failing(const RuleInput& in, const List<const Device*>& devices) {
  List<std::string> names;
  const bool some = devices.size() < visible_devices(in.facts).size() && devices.size() < 5;
  for (const Device* device : devices) {
    const std::string label = device_label(*device);
    add_once(names, some && device->index.known()
                        ? cat("device ", device->index.value(), " (", label, ")")
                        : label);
  }
  return in_words(names);
}

// What is wrong with all of the boards themselves, as NVML says: 105, 106.
int state_of(const List<const Device*>& devices) {
  int id = 0;
  for (const Device* device : devices) {
    const int own = device->state.known() && !device->state.is("ok") ? 105
                    : device->compute_mode.is("prohibited")          ? 106
                                                                     : 0;
    if (own == 0 || (id != 0 && id != own)) return 0;
    id = own;
  }
  return id;
}

Severity weight_of(const RuleInput& in, const Fails& one) {
  Sm sm;
  capability(*one.device, sm);
  if (!one.hard || state_of({one.device}) != 0) return Severity::Warning;
  return one.holder->of_torch ? torch_weight(in, sm, one.device) : here_or_elsewhere(in);
}

void does_not_run(const RuleInput& in, const List<Fails>& group, List<Finding>& out) {
  const ImageProbe& answer = *group[0].answer;
  List<Image> images;
  List<const Device*> devices;
  List<const Holder*> holders;
  List<std::string> lacks;
  const Fails *soft = nullptr, *hard = nullptr;
  Severity severity = Severity::Warning;
  for (const Fails& one : group) {
    add_once(images, one.image);
    add_once(devices, one.device);
    add_once(holders, one.holder);
    (one.hard ? hard : soft) = &one;
    severity = std::max(severity, weight_of(in, one));
    Sm sm;
    if (one.holder->by_user && capability(*one.device, sm) && one.image.sm.base() != sm)
      add_once(lacks, sm.dotted());
  }
  std::string help, error = error_words(answer);
  const std::string note = meaning(answer, help);
  const AnswerWords& words = words_of(answer);
  Finding& f =
      report(out, kImageDoesNotRun,
             {image_words(images), images.size() == 1 ? words.one : words.many,
              failing(in, devices), error.empty() ? "" : ": " + error, note,
              hard          ? ""
              : soft->tried ? cat(soft->instead.str(), " runs there in its place")
                            : cat(soft->instead.str(), " should run in its place, untried"),
              join(lacks, ";"), help.empty() ? words.help : help, help.empty() ? "y" : "",
              severity == Severity::Error && builds(in) && !other_machines(in) ? example_targets(in)
                                                                               : ""});
  f.severity = severity;
  // These have findings of their own.
  f.caused_by = answer.error.is(222) ? 205 : answer.error.is(223) ? 804 : state_of(devices);
  add_devices(f, devices);
  for (const Holder* holder : holders)
    add(f, holder->layer, cat(holder->label, ": ", image_words(holder->images)), "", holder->from);
  if (!hard && !soft->tried)
    missing(out, 190, "devices.list[].image_probe",
            "whether another image runs where the first was refused");
}

List<Holder> all_holders(const RuleInput& in) {
  List<Holder> holders;
  if (builds(in)) {
    List<Image> images = plan_images(in.plan);
    for (const Image& image : in.plan.written) add_once(images, image);
    holders.push_back({"arch", in.plan.by_user ? "the list" : "the plan", in.plan.list_from, images,
                       in.plan.by_user});
  }
  // Its specialised kernels (9.0a) run beside others that do not.
  const TorchFacts& torch = in.facts.torch;
  if (uses_torch(in) && torch.flavour.is("cuda"))
    holders.push_back(
        {"torch", torch_label(in.facts), torch.images.from, own_images(torch), false, true});
  return holders;
}

}  // namespace

void rule_images(const RuleInput& in, List<Finding>& out) {
  const Toolkit* toolkit = in.facts.toolkit();
  if (toolkit && builds(in)) not_built(in, *toolkit, out);
  const List<Holder> holders = all_holders(in);
  List<List<Fails>> groups;
  for (const Holder& holder : holders)
    for (const Device* device : visible_devices(in.facts)) {
      Fails one;
      if (const ImageProbe* open = unanswered(holder, *device))
        if (in.facts.driver.state.is("ok") && state_of({device}) == 0)
          missing(out, 190, "devices.list[].image_probe", "whether the images run",
                  open->error.known() ? cat(open->step.value(), " answers ", error_words(*open))
                                      : device->reason);
      if (!fails(holder, *device, one)) continue;
      List<Fails>* group = nullptr;
      for (List<Fails>& other : groups)
        if (is_one_cause(*other[0].answer, *one.answer)) group = &other;
      if (!group) group = &groups.add();
      group->push_back(one);
    }
  for (const List<Fails>& group : groups) does_not_run(in, group, out);
}

}  // namespace tcs
