// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

#include <algorithm>

#include "facts/devices.h"
#include "findings/texts.h"
#include "plan/buildable.h"

namespace tcs {

Finding& report(List<Finding>& out, int id, std::initializer_list<Piece> args) {
  List<std::string> words;
  for (const Piece& arg : args) words.push_back(std::string(arg.view()));
  return report_words(out, id, words);
}

Finding& report_words(List<Finding>& out, int id, const List<std::string>& args) {
  Finding& f = out.push_back(make_finding(id, ""));
  f.words = args;
  word(f);
  return f;
}

void missing(List<Finding>& out, int id, const char* fact, const char* what,
             const std::string& reason) {
  out.push_back(make_finding(id, ""));
  Finding& f = out.back();
  f.missing.push_back(fact);
  f.notes.push_back(cat("without ", fact, " it was not judged ", what));
  if (!reason.empty()) f.notes.push_back(cat(fact, ": ", reason));
}

void missing(List<Finding>& out, int id, const char* fact, const char* what) {
  missing(out, id, fact, what, "");
}

void word_missing(Finding& f) {
  f.words = {join(f.missing, ", ")};
  word(f);
}

void add(Finding& f, const char* layer, const Piece& has, const Piece& needs, const Piece& from) {
  f.evidence.push_back({layer, cat(has), cat(needs), cat(from)});
}

namespace {

bool says_native(const List<std::string>& words) {
  for (const auto& word : words)
    if (lower(word) == "native") return true;
  return false;
}

bool list_says_native(const Request& request) {
  return says_native(split(request.arch_list.value(), "; \t"));
}

}  // namespace

bool native_asked(const RuleInput& in) {
  return in.request.purpose == "run" || says_native(in.request.targets) ||
         list_says_native(in.request);
}

bool list_is_default(const Request& request) {
  const List<std::string> words = split(request.arch_list.value(), "; \t");
  for (const auto& word : words)
    if (lower(word) != "auto" && lower(word) != "common") return false;
  return !words.empty();
}

bool other_machines(const RuleInput& in) {
  const bool list = in.request.arch_list.known() && !list_is_default(in.request);
  const bool targets = in.request.targets_known && !in.request.targets.empty();
  return !native_asked(in) && (targets || list);
}

bool builds(const RuleInput& in) {
  return in.request.purpose != "run";
}

Severity here_or_elsewhere(const RuleInput& in) {
  return other_machines(in) ? Severity::Warning : Severity::Error;
}

std::string example_targets(const RuleInput& in) {
  const Buildable build(in.facts);
  List<Image> own;
  if (in.request.purpose != "pytorch-source") {
    own = own_images(in.facts.torch);
    if (own.empty() && in.facts.torch.images.known()) return "";
  }
  // What was named already stays, and a list counts before the targets.
  const bool listed = in.plan.by_user && !list_says_native(in.request);
  List<Sm> all;
  for (const Target& target : in.plan.targets)
    if (target.device < 0 && !target.cut && in.request.targets_known) add_once(all, target.sm);
  const bool named = !all.empty();
  for (const Image& image : named ? List<Image>() : listed ? plan_images(in.plan) : own)
    add_once(all, image.sm.base());
  if (all.empty()) all = build.known() ? build.reals() : List<Sm>{{8, 6, 0}, {9, 0, 0}};
  std::string out;
  int count = 0;
  for (size_t i = all.size(); i-- > 0 && count < 3;) {
    if (!all[i].plain() || !build.real(all[i])) continue;
    if (!named && !own.empty() && best_fit(own, all[i]) > Fit::Jit) continue;
    out = cat(all[i].dotted(), count++ == 0 ? "" : ";", out);
  }
  return out;
}

std::string name_targets(const RuleInput& in) {
  std::string list = example_targets(in);
  if (list.empty()) return "";
  if (!list_says_native(in.request)) return cat("-DTorchCudaStack_TARGETS=\"", list, '"');
  if (in.request.arch_dialect == "cmake")
    list = cat(replace_all(replace_all(list, ".", ""), ";", "-real;"), "-real");
  const std::string& from = in.request.arch_list.from;
  return cat("write \"", list, "\" for native in ", from.empty() ? "the list" : from,
             says_native(in.request.targets) ? " and in TorchCudaStack_TARGETS" : "");
}

List<const Device*> visible_devices(const Facts& facts) {
  List<const Device*> out;
  if (facts.devices.state.is("none")) return out;
  for (const auto& device : facts.devices.list)
    if (is_in_use(device)) out.push_back(&device);
  return out;
}

bool capability(const Device& device, Sm& out) {
  return device.cc.known() && parse_sm_dotted(device.cc.value(), out);
}

std::string device_label(const Device& device) {
  return cat(device.name.or_else("a device without a name"), ", compute ", or_unknown(device.cc));
}

void add_devices(Finding& f, const List<const Device*>& devices) {
  List<std::string> labels, done;
  for (const Device* device : devices) labels.push_back(device_label(*device));
  for (const std::string& label : labels) {
    if (contains(done, label)) continue;
    done.push_back(label);
    int count = 0;
    for (const std::string& other : labels) count += other == label ? 1 : 0;
    add(f, "device", count == 1 ? label : cat(count, " x ", label), "", devices[0]->cc.from);
  }
}

List<Image> images_in(const List<std::string>& names) {
  List<Image> out;
  Image image;
  for (const auto& name : names)
    if (parse_image(name, image)) out.push_back(image);
  return out;
}

std::string image_words(List<Image> images) {
  sort_few(images);
  List<std::string> words;
  for (const auto& image : images) words.push_back(image.str());
  return words.empty() ? "none" : join(words, " ");
}

List<Image> plan_images(const Plan& plan) {
  List<Image> out;
  for (const auto& gencode : plan.gencodes) out.push_back(gencode.image());
  return out;
}

// Of several answers to one image "runs" counts: it was seen to run.
const ImageProbe* answer_to(const Device& device, const Image& image) {
  const ImageProbe* no = nullptr;
  Image tried;
  for (const auto& probe : device.image_probe) {
    if (!parse_image(probe.image.value(), tried) || !(tried == image)) continue;
    if (probe.result.is("runs")) return &probe;
    if (probe.result.known() && (!no || probe.error.or_else(0) > no->error.or_else(0))) no = &probe;
  }
  return no;
}

Fit serves(const List<Image>& images, const Sm& sm, const Device* device) {
  Fit best = Fit::None;
  for (const Image& image : images) {
    Fit fit = fits(image, sm);
    const ImageProbe* answer = device ? answer_to(*device, image) : nullptr;
    if (answer) fit = !answer->result.is("runs") ? Fit::None : image.ptx ? Fit::Jit : Fit::Native;
    best = std::min(best, fit);
  }
  return best;
}

bool should_run(const List<Image>& images, const Sm& sm) {
  const Fit fit = best_fit(images, sm);
  return fit == Fit::Native || fit == Fit::Jit;
}

bool answered(const List<Image>& images, const Sm& sm, const Device& device, int code) {
  if (serves(images, sm, &device) != Fit::None) return false;
  for (const Image& image : images) {
    const ImageProbe* answer = answer_to(device, image);
    if (answer && answer->error.is(code) && fits(image, sm) != Fit::None) return true;
  }
  return false;
}

std::string error_words(const ImageProbe& answer) {
  const DriverErrorRow* row = driver_error(answer.error.or_else(0));
  return !answer.error.known() || answer.error.is(0)
             ? ""
             : cat(answer.error.value(), row ? cat(" ", row->name) : "");
}

std::string refused_words(const List<Image>& images, const Sm& sm, const Device& device) {
  for (const Image& image : images) {
    const ImageProbe* answer = answer_to(device, image);
    if (!answer || answer->result.is("runs") || fits(image, sm) == Fit::None) continue;
    const std::string error = error_words(*answer);
    return cat(image.str(), " was tried on the device, which ",
               answer->result.is("wrong")   ? "computed a wrong value"
               : answer->result.is("crash") ? "crashed on it"
               : answer->result.is("hang")  ? "did not come back from it"
                                            : "refused it",
               error.empty() ? "" : ": " + error);
  }
  return "";
}

std::string in_words(const List<std::string>& parts, const char* last) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 < parts.size() ? ", " : cat(" ", last, " "), parts[i]);
  return out;
}

std::string telling(const std::string& text, size_t limit) {
  std::string first;
  for (const std::string& line : lines_of(text)) {
    const bool tells = contains(line, "fatal") || contains(line, "error");
    if (tells || first.empty()) first = trim(line);
    if (tells) break;
  }
  return first.size() > limit ? first.substr(0, limit) + "..." : first;
}

std::string torch_label(const Facts& facts) {
  return facts.torch.version.known() ? cat("PyTorch ", facts.torch.version.value())
                                     : "the installed PyTorch";
}

std::string python_label(const PythonFacts& python) {
  return cat(python.executable.or_else("Python"), " ", or_unknown(python.version),
             python.kind.known() ? cat(" (", python.kind.value(), ")") : "");
}

std::string nvcc_label(const Toolkit& toolkit) {
  return toolkit.version.known() ? cat("nvcc ", toolkit.version.value())
                                 : "nvcc of unknown release";
}

std::string or_unknown(const Text& text) {
  return text.or_else("unknown");
}

std::string with_path(std::string what, const Text& path) {
  return path.known() ? what + " " + path.value() : what;
}

std::string nvcc_and_root(const Toolkit& toolkit) {
  return toolkit.root.known() ? nvcc_label(toolkit) + " in " + toolkit.root.value()
                              : nvcc_label(toolkit);
}

bool is_clang(const Toolkit& toolkit) {
  return toolkit.layout.is("clang") || contains(toolkit.origin.value(), "(clang as CUDA compiler)");
}

void add_nvcc_variables(const RuleInput& in, Finding& f) {
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    const std::string* set = in.facts.environment.find(name);
    if (set && !set->empty()) add(f, "environment", cat(name, "='", tail(*set, 100), "'"), "", "");
  }
}

bool same_release(const Version& a, const Version& b) {
  if (a.major() != b.major()) return false;
  return a.numbers.size() < 2 || b.numbers.size() < 2 || a.minor() == b.minor();
}

Version ptx_release(const Version& toolkit) {
  int reads = cuda_that_reads(ptx_isa_written_by(release_of(toolkit)));
  return reads ? Version::parse(release_text(reads)) : toolkit;
}

std::string driver_branch_for(const Version& cuda) {
#define TCS_DRIVER_BRANCH(branch, release) \
  if (release_of(cuda) <= (release)) return cat(branch);
#include "tables/cuda_releases.def"
  return "";
}

}  // namespace tcs
