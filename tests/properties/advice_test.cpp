// SPDX-License-Identifier: Apache-2.0
// What a help line names fits all that is known of the machine, whichever of its facts is missing:
// read from the printed words, against the tables alone.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <regex>

#include "base/text.h"
#include "generate.h"
#include "plan/buildable.h"
#include "tables/tables.h"

using namespace tcs;
using namespace props;

namespace {

// Spares the time of the patterns.
bool none_named(const std::string& text) {
  return !contains(text, "PyTorch") && !contains(text, "CUDA") && !contains(text, "TOOLKIT");
}

std::vector<std::vector<std::string>> all_of(const std::string& text, const char* form) {
  static std::map<std::string, std::regex> patterns;
  const auto pattern = patterns.try_emplace(form, form).first;
  std::vector<std::vector<std::string>> out;
  if (none_named(text)) return out;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern->second), end; it != end; ++it)
    out.emplace_back((*it).begin(), (*it).end());
  return out;
}

int release_in(const std::string& text) {
  return release_of(Version::parse(text));
}

const TorchRow* row_of(const std::string& version, int cuda) {
  for (const TorchRow& row : torch_rows())
    if (version == row.version && cuda == row.cuda) return &row;
  return nullptr;
}

bool serves_all(const char* images, const std::string& capabilities) {
  List<Image> all;
  for (const std::string& name : split(images, " ")) {
    Image image;
    if (parse_image(name, image)) all.push_back(image);
  }
  for (const std::string& word : split(capabilities, ", and")) {
    Sm sm;
    if (!parse_sm_dotted(word, sm) || best_fit(all, sm) != Fit::Native) return false;
  }
  return !all.empty();
}

// "PyTorch 2.7.1 for CUDA 12.8, which serves 12.0: pip install torch==2.7.1 --index-url ..."
std::string wrong_torch(const Facts& facts, const std::string& line) {
  const auto named = all_of(line, "PyTorch ([0-9.]+) for CUDA ([0-9.]+[0-9])");
  const auto installs = all_of(line, "torch==([0-9.]+)( --index-url [^ ]*/whl/([a-z0-9]+))?");
  const auto serves = all_of(line, "which serves ([0-9., and]+):");
  const auto pythons = all_of(line, "in Python ([0-9.]+) to ([0-9.]+[0-9])");
  const int python = release_in(facts.python.version.value());
  for (size_t i = 0; i < named.size(); ++i) {
    const TorchRow* row = row_of(named[i][1], release_in(named[i][2]));
    if (!row) return "a PyTorch that is in no table";
    const HostFacts& host = facts.host;
    if (host.os.known() && !host.os.is("linux")) return "a build for Linux elsewhere";
    if (!host.arch.is("aarch64") && !*row->x86_64) return "a build that x86_64 has not";
    if (!host.arch.is("x86_64") && !*row->aarch64) return "a build that aarch64 has not";
    if (named.size() > 1) continue;
    // What a device answered to an image counts more than the rule.
    const bool asked = std::any_of(facts.devices.list.begin(), facts.devices.list.end(),
                                   [](const Device& d) { return !d.image_probe.empty(); });
    if (!asked && !serves.empty() &&
        ((!host.arch.is("aarch64") && !serves_all(row->x86_64, serves[0][1])) ||
         (!host.arch.is("x86_64") && !serves_all(row->aarch64, serves[0][1]))))
      return "a PyTorch that does not serve what it says";
    const bool fits = python >= row->python_first && python <= row->python_last;
    const bool locked = facts.python.free_threaded.is(true) && release_in(row->version) < 206;
    if (!pythons.empty() && (release_in(pythons[0][1]) != row->python_first ||
                             release_in(pythons[0][2]) != row->python_last))
      return "a PyTorch for other Pythons than it says";
    if (pythons.empty() && python != 0 && !fits) return "a PyTorch that this Python has not";
    if (pythons.empty() && locked) return "a PyTorch that a Python without the lock has not";
    if (pythons.empty() && python == 0 && !installs.empty())
      return "a PyTorch for a Python that is not known";
    const int driver = release_in(facts.driver.cuda.value());
    if (driver != 0 && driver / 100 < row->cuda / 100 && !contains(line, "a driver that speaks") &&
        !contains(line, "update the"))
      return "a PyTorch that this driver does not run";
    for (const auto& install : installs)
      if (install[1] != row->version ||
          (install[3].empty() ? !row->on_pypi || !host.os.is("linux") || !host.arch.is("x86_64")
                              : install[3] != row->index))
        return "a pip command for another build than it says";
  }
  return "";
}

// The CUDA that an extension has to keep to: that of PyTorch, where the line names no other one.
int cuda_to_keep(const Judged& all, const std::string& line) {
  const auto named = all_of(line, "PyTorch ([0-9.]+) for CUDA ([0-9.]+[0-9])");
  if (!named.empty()) return release_in(named[0][2]);
  if (all.request.purpose != "extension" || !all.facts.torch.state.is("found")) return 0;
  return release_in(all.facts.torch.cuda.value());
}

// TCS810 names what a variable names.
bool in_environment(const Facts& facts, const std::string& root) {
  for (const auto& [name, value] : facts.environment)
    if (contains(value, root)) return true;
  return false;
}

// "-DTorchCudaStack_TOOLKIT=/opt/cuda", "CUDA toolkit 11.8, with g++-11 as its host compiler"
std::string wrong_toolkit(const Judged& all, const std::string& line) {
  const int keep = cuda_to_keep(all, line);
  for (const auto& named : all_of(line, "TorchCudaStack_TOOLKIT=(/[^ ,()]*)")) {
    if (named[1] == "/path/to/cuda") continue;
    const Toolkit* here = nullptr;
    for (const Toolkit& t : all.facts.toolkits.list)
      if (t.root.is(named[1])) here = &t;
    if (!here && !in_environment(all.facts, named[1])) return "a toolkit that is not here";
    if (!here) continue;
    const int release = release_in(here->version.value());
    if (here->works.is(false)) return "a toolkit that does not work";
    if (keep != 0 && release != 0 && keep / 100 != release / 100)
      return "a toolkit of another CUDA than PyTorch's";
  }
  for (const auto& named : all_of(line, "(?:CUDA toolkit|toolkit of CUDA) ([0-9]+\\.[0-9]+)")) {
    const int release = release_in(named[1]);
    const auto& rows = cuda_rows();
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const CudaRow& row) { return row.release == release; }))
      return "a toolkit that is in no table";
    if (keep != 0 && keep / 100 != release / 100)
      return "a toolkit to install of another CUDA than PyTorch's";
  }
  return "";
}

std::string wrong_advice(const Machine& machine) {
  const Judged all = judged(machine);
  if (!all.refused.empty()) return "";
  for (const Finding& f : all.report.findings)
    for (const std::string& line : f.help)
      for (const std::string& wrong : {wrong_torch(all.facts, line), wrong_toolkit(all, line)})
        if (!wrong.empty()) return cat(f.code(), " names ", wrong, "\n  ", line);
  return "";
}

std::string kind_of(const std::string& wrong) {
  return wrong.substr(0, wrong.find('\n'));
}

void check_advice(const Machine& machine, Failures& failures, const std::string& name) {
  const std::string wrong = wrong_advice(machine);
  if (wrong.empty()) return;
  const std::string kind = kind_of(wrong);
  failures.add(
      kind, machine, [&](const Machine& less) { return kind_of(wrong_advice(less)) == kind; },
      cat(name, ": ", wrong));
}

}  // namespace

TEST_CASE("what a help line names fits what is known of a made machine, and of less of it") {
  Failures failures;
  const unsigned seed = first_seed(), count = machines_wanted(600);
  for (unsigned i = 0; i < count; ++i) {
    Dice dice(seed + i);
    const Machine machine = odd_machine(dice);
    check_advice(machine, failures, cat("TCS_SEED=", seed + i));
    std::vector<Spot> spots = facts_in(machine.facts);
    dice.shuffle(spots);
    if (spots.size() > 4) spots.resize(4);
    for (const Spot& spot : spots)
      check_advice({without(machine.facts, spot), machine.request}, failures,
                   cat("TCS_SEED=", seed + i, " without ", spot.name));
  }
  CHECK(failures.none());
}

TEST_CASE("what a help line names fits a recorded machine, whichever of its facts is missing") {
  Failures failures;
  for (const auto& [name, machine] : recorded_machines()) {
    check_advice(machine, failures, name);
    for (const Spot& spot : facts_in(machine.facts))
      check_advice({without(machine.facts, spot), machine.request}, failures,
                   cat(name, " without ", spot.name));
  }
  CHECK(failures.none());
}
