// SPDX-License-Identifier: Apache-2.0
// Our own answers, thousands a second: one question a line on stdin, one line of JSON each on
// stdout. Nothing of this machine is asked.
//
// What is planned (each member but one of the first two may be left out):
//   {"nvcc": "13.0",             release of the toolkit; absent: unknown
//    "archs": ["sm_80", ...],    what that nvcc answered it builds; absent: by the table of
//    releases "list": "8.0;9.0+PTX",      the user's list; absent: none was set "dialect": "torch",
//    or "cmake": what a bare 90 means "targets": ["native"], "devices": ["9.0"],         of visible
//    GPUs; []: there is none; absent: unknown "torch": "2.15.0",          installed PyTorch;
//    absent: unknown "images": ["sm_90", ...],   its images "purpose": "extension"}     or
//    "pytorch-source", "run"
// gives
//   {"pairs": [["compute_90", "sm_90"], ["compute_90", "compute_90"]],     (virtual, real), sorted
//    "issues": [{"kind": "Malformed", "token": "8.0,8.6", "corrected": "8.0;8.6", "begin": "",
//    "end":
//    ""}],                       kinds as in plan/plan.h
//    "readers": [{"torch_list": {"text": "9.0+PTX", "left_out": [pairs]},  for find_package(Torch)
//                 "torch_python_list": {...}}],                 for torch.utils.cpp_extension
//    "cmake_architectures": {...}}
// and with "files": ["9.0a;12.0f", ...], the architectures of one source file each, also what of
// them this plan needs: "files": [{"images": ["sm_90a"], "unserved": ["12.1"]}]
//
// What runs where:
//   {"images": ["sm_90", "compute_90a"], "device": "9.0"}
// gives, best of all and one by one: native | jit | across (the desktop/Tegra border) | none
//   {"fit": "native", "each": ["native", "jit"]}
//
// A line that is none of these: {"error": "..."} and exit status 2 at the end.
#include <iostream>

#include "base/json.h"
#include "base/text.h"
#include "plan/intersect.h"
#include "plan/plan.h"

using namespace tcs;

namespace {

const char* const kKinds[] = {"Malformed",    "Nonsense",       "NoSuchSuffix",  "Removed",
                              "NotYetKnown",  "Renamed",        "UnknownName",   "NoVisibleDevice",
                              "NoMember",     "NameCut",        "BareNumber",    "NotWhatNvccHas",
                              "NearestArch",  "NoArch",         "SuffixPtx",     "TorchPythonToken",
                              "ListsDiffer",  "DefaultTargets", "UnknownDevice", "Empty",
                              "UnknownTorch", "UnknownToolkit", "FamilyTwice"};
static_assert(sizeof kKinds / sizeof *kKinds ==
                  static_cast<size_t>(PlanIssue::Kind::FamilyTwice) + 1,
              "one word for each kind");

const char* const kFits[] = {"native", "jit", "across", "none"};

std::string text_at(const Json& question, const char* name) {
  const Json* value = question.find(name);
  return value == nullptr ? "" : value->text;
}

List<std::string> texts_at(const Json& question, const char* name) {
  List<std::string> out;
  if (const Json* value = question.find(name))
    for (const Json& item : value->items) out.push_back(item.text);
  return out;
}

Json array_of(std::initializer_list<std::string> texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push(text);
  return out;
}

void set_toolkit(const Json& question, Facts& facts) {
  if (question.find("nvcc") == nullptr) return;
  Toolkit toolkit;
  toolkit.root = "/cuda";
  toolkit.nvcc = "/cuda/bin/nvcc";
  toolkit.version = text_at(question, "nvcc");
  if (question.find("archs") != nullptr) toolkit.archs = texts_at(question, "archs");
  facts.toolkits.list_known = true;
  facts.toolkits.list.push_back(toolkit);
  facts.toolkits.selected = 0;
}

void set_devices(const Json& question, Facts& facts) {
  if (question.find("devices") == nullptr) return;
  facts.devices.list_known = true;
  for (const std::string& cc : texts_at(question, "devices")) {
    Device device;
    device.index = static_cast<int>(facts.devices.list.size());
    device.cc = cc;
    facts.devices.list.push_back(device);
  }
  facts.devices.state = facts.devices.list.empty() ? "none" : "measured";
  facts.driver.state = facts.devices.list.empty() ? "absent" : "ok";
}

void set_torch(const Json& question, Facts& facts) {
  if (question.find("torch") == nullptr && question.find("images") == nullptr) return;
  facts.torch.state = "found";
  facts.torch.flavour = "cuda";
  if (question.find("torch") != nullptr) facts.torch.version = text_at(question, "torch");
  if (question.find("images") != nullptr) facts.torch.images = texts_at(question, "images");
}

Request request_of(const Json& question) {
  Request request;
  if (question.find("list") != nullptr)
    request.arch_list = Text(text_at(question, "list"), "--arch-list");
  if (question.find("dialect") != nullptr) request.arch_dialect = text_at(question, "dialect");
  if (question.find("purpose") != nullptr) request.purpose = text_at(question, "purpose");
  request.targets_known = question.find("targets") != nullptr;
  request.targets = texts_at(question, "targets");
  return request;
}

Json pair_of(const Gencode& g) {
  return array_of({g.virt.virt(), g.ptx ? g.virt.virt() : g.real.real()});
}

Json dialect(const Plan& plan, const Dialect& said) {
  Json out = Json::object(), left_out = Json::array();
  for (const Gencode& g : plan.gencodes)
    for (const std::string& flag : said.left_out)
      if (flag == g.flag()) left_out.push(pair_of(g));
  out.add("text", said.text).add("left_out", left_out);
  return out;
}

Json for_readers(Plan plan, List<std::string> readers) {
  if (readers.empty()) readers.push_back(plan.torch_version);
  Json out = Json::array();
  for (const std::string& reader : readers) {
    plan.torch_version = reader;
    Json said = Json::object();
    said.add("torch_list", dialect(plan, torch_list(plan)));
    said.add("torch_python_list", dialect(plan, torch_python_list(plan)));
    out.push(said);
  }
  return out;
}

Json for_files(const Plan& plan, const Facts& facts, const List<std::string>& files) {
  PlanNeeds needs;
  needs.by_user = plan.by_user;
  for (const Gencode& g : plan.gencodes) needs.images.push_back(g.image());
  for (const Target& target : plan.targets) needs.targets.push_back(target.sm);
  const Buildable build(facts);
  Json out = Json::array();
  for (const std::string& file : files) {
    const Intersection found = intersect(needs, build, file);
    Json images = Json::array(), unserved = Json::array(), row = Json::object();
    for (const std::string& image : found.images()) images.push(image);
    for (const auto& need : found.unserved) unserved.push(need.first);
    row.add("images", images).add("unserved", unserved).add("error", found.error);
    out.push(row);
  }
  return out;
}

Json planned(const Json& question) {
  Facts facts;
  set_toolkit(question, facts);
  set_devices(question, facts);
  set_torch(question, facts);
  const Plan plan = make_plan(facts, request_of(question));
  Json pairs = Json::array(), issues = Json::array(), out = Json::object();
  for (const Gencode& g : plan.gencodes) pairs.push(pair_of(g));
  for (const PlanIssue& issue : plan.issues) {
    Json row = Json::object();
    row.add("kind", kKinds[static_cast<size_t>(issue.kind)])
        .add("token", issue.token)
        .add("corrected", issue.corrected)
        .add("begin", issue.range_begin)
        .add("end", issue.range_end);
    issues.push(row);
  }
  out.add("pairs", pairs).add("issues", issues);
  out.add("readers", for_readers(plan, texts_at(question, "readers")));
  out.add("cmake_architectures", dialect(plan, cmake_architectures(plan)));
  if (question.find("files") != nullptr)
    out.add("files", for_files(plan, facts, texts_at(question, "files")));
  return out;
}

Json failed(const std::string& why) {
  Json out = Json::object();
  out.add("error", why);
  return out;
}

Json fitting(const Json& question) {
  List<Image> images;
  Json each = Json::array(), out = Json::object();
  Sm device;
  if (!parse_sm_dotted(text_at(question, "device"), device)) return failed("no such device");
  for (const std::string& name : texts_at(question, "images")) {
    Image image;
    if (!parse_image(name, image)) return failed(cat("no such image: ", name));
    images.push_back(image);
    each.push(kFits[static_cast<size_t>(fits(image, device))]);
  }
  out.add("fit", kFits[static_cast<size_t>(best_fit(images, device))]).add("each", each);
  return out;
}

Json answer(const std::string& line) {
  Result<Json> question = parse_json(line);
  if (!question) return failed("not JSON");
  if (question->find("device") != nullptr) return fitting(*question);
  if (question->find("nvcc") != nullptr || question->find("list") != nullptr)
    return planned(*question);
  return failed("neither nvcc nor list nor device");
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  int status = 0;
  while (std::getline(std::cin, line)) {
    const Json said = answer(line);
    if (said.find("error") != nullptr) status = 2;
    std::cout << write_json(said, 0) << '\n';
  }
  return status;
}
