// SPDX-License-Identifier: Apache-2.0
// Every help line works: on each recorded machine where it is printed, what it says is done, and
// the finding is gone with nothing worse in its place.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "emit/emit.h"
#include "facts/facts_io.h"
#include "remedy.h"
#include "tables/tables.h"
#include "tool/settings.h"

namespace tcs::remedies {
namespace {

// Files of findings/table whose rows need no effect yet. Empty when the work is done.
const std::set<std::string> kOpen = {};

// Findings that stop a build or warn, and of which nothing can be said but how to see more.
struct OnlyLooks {
  int id;
  const char* why;
};
const std::vector<OnlyLooks> kOnlyLooks = {
    {922, "some numbers of the driver ask for something at the board"},
    {920, "the driver's child ended in a way that nothing is known of"},
    {219, "the driver shows no GPU, and nothing that is known says why"},
};

struct Row {
  int id;
  const char* text;
  const char* file;
  const Effect* effect = nullptr;
  std::regex form = {};
  std::vector<int> places = {};  // which placeholder each group of `form` is
  size_t letters = 0;            // of the row's own
  bool proved = false;
};

// The row's text as a pattern, see the head of findings/table.def.
void make_form(Row& row) {
  std::string form;
  const std::string date = cat("tables of ", kTablesDate);
  const std::string text = replace_all(row.text, "{@}", date);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] == '{' && i + 2 < text.size() && isdigit(text[i + 1]);
    const char mode = digit ? text[i + 2] : '\0';
    if (mode != '}' && mode != '*' && mode != '?') {
      if (std::string_view("\\^$.|?*+()[]{}").find(text[i]) != std::string_view::npos) form += '\\';
      form += text[i];
      ++row.letters;
      continue;
    }
    const int place = text[i + 1] - '0';
    const auto seen = std::find(row.places.begin(), row.places.end(), place);
    if (mode != '?' && seen != row.places.end()) {
      form += cat("\\", seen - row.places.begin() + 1);
    } else if (mode != '?') {
      // Up to what follows; where that is another placeholder, all that both may hold.
      const size_t next = i + (mode == '}' ? 3 : 4);
      const bool bound = next < text.size() && text[next] != '{';
      form += cat(mode == '*' ? "(.*" : "(.+", bound ? "?)" : ")");
      row.places.push_back(place);
    }
    i += mode == '}' ? 2 : 3;
  }
  row.form = std::regex(form, std::regex::ECMAScript);
}

const std::vector<Effect>& effects() {
  static const std::vector<Effect> all = [] {
    std::vector<Effect> out;
    for (const auto& of_layer : {device_effects(), driver_effects(), toolkit_effects(),
                                 host_compiler_effects(), runtime_effects(), torch_effects(),
                                 python_effects(), environment_effects(), arch_effects()})
      out.insert(out.end(), of_layer.begin(), of_layer.end());
    return out;
  }();
  return all;
}

bool is_of(const Effect& effect, const Row& row) {
  return effect.id == row.id && starts_with(row.text, effect.row);
}

std::vector<Row> rows_with_effects() {
  std::vector<Row> rows = {
#define TCS_HELP(id, text) {id, text, __FILE__},
#include "findings/table.def"
  };
  for (Row& row : rows) {
    make_form(row);
    for (const Effect& effect : effects())
      if (is_of(effect, row)) row.effect = &effect;
  }
  return rows;
}

bool is_open(const Row& row) {
  return kOpen.count(std::filesystem::path(row.file).filename().string()) == 1;
}

std::string name_of(const Row& row) {
  return cat("TCS", row.id, " \"", row.text, "\"");
}

// --- machines

std::vector<Machine> load_all() {
  std::vector<Machine> machines;
  for (const char* folder :
       {"machines", "beliefs/machines", "beliefs/troubles", "remedies/machines"})
    for (const auto& file :
         std::filesystem::directory_iterator(cat(TCS_SOURCE_DIR, "/tests/", folder))) {
      if (file.path().extension() != ".json") continue;
      std::ifstream stream(file.path());
      std::stringstream text;
      text << stream.rdbuf();
      INFO(file.path().string());
      Result<Json> document = parse_json(text.str());
      REQUIRE(document);
      CHECK_FALSE(document->find("source")->text.empty());
      List<std::string> unknown;
      Result<Facts> facts = read_facts(write_json(*document->find("facts")), unknown);
      Result<Request> request = read_request(write_json(*document->find("request")), unknown);
      REQUIRE(facts);
      REQUIRE(request);
      CHECK(unknown.empty());
      Machine machine;
      machine.name = cat(folder, "/", file.path().stem().string());
      machine.facts = *facts;
      machine.request = *request;
      machines.push_back(machine);
    }
  std::sort(machines.begin(), machines.end(),
            [](const Machine& a, const Machine& b) { return a.name < b.name; });
  return machines;
}

// The same machines in other places and with other wishes: what a line says must hold there, too.
struct Place {
  const char* name;
  void (*change)(Machine& m);
};
const std::vector<Place> kPlaces = {
    {"native", [](Machine& m) { for_targets(m, "native"); }},
    {"native in the list",
     [](Machine& m) {
       if (m.request.targets_known) return;
       m.request.arch_list = Text("native", "TORCH_CUDA_ARCH_LIST");
       m.request.arch_dialect = "torch";
     }},
    {"to run", [](Machine& m) { m.request.purpose = "run"; }},
    {"docker", [](Machine& m) { m.facts.host.container = "docker"; }},
    {"no container", [](Machine& m) { m.facts.host.container = "none"; }},
    {"WSL", [](Machine& m) { m.facts.host.wsl = true; }},
    {"secure boot", [](Machine& m) { m.facts.host.secure_boot = true; }},
    {"first GPU", [](Machine& m) { m.facts.environment["CUDA_VISIBLE_DEVICES"] = "0"; }},
    {"GPU on the bus",
     [](Machine& m) { m.facts.host.nvidia_pci = List<std::string>{"0000:01:00.0 10de:2204"}; }},
    {"no driver",
     [](Machine& m) {
       m.facts.driver = DriverFacts();
       m.facts.driver.state = "absent";
     }},
};

Report judged(const Machine& m) {
  const Plan plan = make_plan(m.facts, m.request);
  return judge(RuleInput{m.facts, m.request, plan}, m.policy);
}

std::vector<Machine> in_all_places(std::vector<Machine> machines) {
  const std::vector<Machine> plain = machines;
  for (const Place& place : kPlaces)
    for (Machine machine : plain) {
      for (const Finding& f : judged(machine).findings) machine.others.insert(f.id);
      machine.name += cat(", ", place.name);
      place.change(machine);
      machines.push_back(machine);
    }
  return machines;
}

// --- one line on one machine

// The row with most letters of its own that can have printed `line`: rows of words alone, "{4}",
// take what no other row says. Of two such, that whose effect knows the words, else the next one.
Row* row_of(std::vector<Row>& rows, int id, const std::string& line, const Row* after,
            Words& words) {
  Row* best = nullptr;
  std::smatch match, best_match;
  for (Row& row : rows) {
    if (row.id != id || (after && &row <= after) || !std::regex_match(line, match, row.form))
      continue;
    const bool told = row.effect && row.effect->says[0];
    if (told && !std::regex_search(line, std::regex(cat("^(", row.effect->says, ")")))) continue;
    if (best && best->letters + (best->effect && best->effect->says[0]) >= row.letters + told)
      continue;
    best = &row;
    best_match = match;
  }
  words.assign(10, "");
  if (best)
    for (size_t i = 0; i < best->places.size(); ++i)
      words[static_cast<size_t>(best->places[i])] = best_match[i + 1].str();
  return best;
}

int count(const Report& report, int id) {
  int n = 0;
  for (const Finding& f : report.findings) n += f.id == id ? 1 : 0;
  return n;
}

const Finding* find(const Report& report, const Finding& like) {
  for (const Finding& f : report.findings)
    if (f.id == like.id && f.message == like.message) return &f;
  return nullptr;
}

// The heaviest of this number, -1 where there is none.
int weight(const Report& report, int id) {
  int most = -1;
  for (const Finding& f : report.findings)
    if (f.id == id) most = std::max(most, static_cast<int>(f.severity));
  return most;
}

std::string words_of(const Finding& f) {
  return cat(tcs::name_of(f.severity), " ", f.code(), ": ", f.message);
}

// What a root cause kept quiet by the table may be said once it is gone. Where no toolkit goes with
// all that is here, that of PyTorch's headers stands for nvcc's own limits.
bool was_silenced(const Report& before, const Report& after, int id) {
  struct Silence {
    int by, id;
  };
  for (const Silence& row : {
#define TCS_SILENCES(by, id) Silence{by, id},
#include "findings/table.def"
           Silence{410, 401}, Silence{301, 204}, Silence{301, 323}})
    if (row.id == id && count(before, row.by) > count(after, row.by)) return true;
  return false;
}

// A fact that was unknown may tell of a trouble; what a finding stands for, it named.
bool was_said(const Report& before, const Report& after, const Finding& removed,
              const Finding& now) {
  // A finding is allowed by its number: others of that number, and what they stand for, with it.
  for (const Finding& f : before.findings)
    if (f.id == removed.id && contains(f.consequences, now.code())) return true;
  // The sources refuse the toolkit, or that which comes in its place: what goes with it is moot.
  const bool moot = (now.id == 411 && count(before, 323) > 0) || removed.id == 306;
  return moot || removed.severity == Severity::Unknown || was_silenced(before, after, now.id);
}

// Whatever changes what is built leaves a build folder of PyTorch's behind; where nothing could be
// built, that was not yet to be seen.
bool is_left_behind(int id) {
  return id == 924;
}

// nvcc does not build what is asked for.
bool is_unbuildable(int id) {
  return (id >= 901 && id <= 903) || id == 909 || id == 916;
}

// "" where following the line did what it promises. `own`: what was there before, unseen.
std::string wrong(const Report& before, const Report& own, const Finding& removed,
                  const Machine& copy, Way way) {
  const Report after = judged(copy);
  std::string out;
  const Finding* same = find(after, removed);
  const bool gone = !same && count(after, removed.id) < count(before, removed.id);
  const bool eased =
      gone || (way == Way::Eases &&
               (same ? same->severity < removed.severity || removed.severity == Severity::Note
                     : weight(after, removed.id) < weight(before, removed.id)));
  // Of a GPU that the build is not for, less is asked than of its targets.
  const bool left =
      copy.by_chance && weight(after, removed.id) < static_cast<int>(removed.severity);
  if (!eased && !left) {
    out += "    it is still there:\n";
    for (const Finding& f : after.findings)
      if (f.id == removed.id) out += cat("      ", words_of(f), "\n");
  }
  for (const Finding& f : after.findings) {
    const bool more = count(after, f.id) > count(before, f.id) ||
                      static_cast<int>(f.severity) > weight(before, f.id);
    if (!more) continue;
    const bool heavy = f.severity == Severity::Error || f.severity > removed.severity;
    const bool unknown = f.severity == Severity::Unknown && !copy.forgot;
    if (copy.others.count(f.id) == 1 || find(own, f) ||
        (copy.by_chance && was_said(before, after, removed, f)) ||
        (copy.torn && is_unbuildable(f.id)) ||
        (copy.by_chance && is_left_behind(f.id) && removed.id != f.id))
      continue;
    if (heavy || unknown) out += cat("    new: ", words_of(f), "\n");
  }
  return out;
}

std::string unquoted(const std::string& text) {
  return text.size() > 1 && text[0] == '"' ? text.substr(1, text.size() - 2) : text;
}

bool is_to_fill_in(const std::string& value) {
  return value.empty() || value[0] == '<' || starts_with(value, "/path/") || contains(value, "...");
}

// Does the machine have now what -DNAME=VALUE says?
bool has_option(const Machine& m, const Finding& f, const std::string& name,
                const std::string& value) {
  if (name == "ALLOW") return value == f.code();
  if (is_to_fill_in(value)) return true;
  if (name == "TARGETS") return join(m.request.targets, ";") == value;
  const Toolkit* toolkit = m.facts.toolkit();
  const std::string root = toolkit ? toolkit->root.value() : "";
  if (name == "TOOLKIT") return toolkit && (root == value || toolkit->nvcc.is(value + "/bin/nvcc"));
  if (name == "CMAKE_CUDA_COMPILER")
    return toolkit && (toolkit->nvcc.is(value) || root + "/bin/nvcc" == value);
  if (name == "CMAKE_CUDA_HOST_COMPILER") return m.facts.host_compiler.path.is(value);
  return true;
}

// "" where each -DNAME=VALUE of a line is an input of ours, and `after`, where the line was
// followed, has it; the same of `unset NAME` and `export NAME=VALUE`.
std::string wrong_words(const std::string& line, const Finding& f, const Machine& after) {
  static const std::regex option("-D([A-Za-z_]+)=(\"[^\"]*\"|[^ ,;)]*)"),
      variable("^(?:.*: )?(unset|export) ([A-Z_]+)(=([^ ,;]+))?");
  for (std::sregex_iterator at(line.begin(), line.end(), option), end; at != end; ++at) {
    std::string name = (*at)[1].str();
    const std::string own = "TorchCudaStack_";
    const bool ours = starts_with(name, own);
    if (ours) name = name.substr(own.size());
    const bool of_cmake = name == "CMAKE_CXX_COMPILER" || name == "CMAKE_CUDA_COMPILER_LAUNCHER";
    if (!of_cmake && !contains(input_names(), name))
      return cat("    there is no input ", (*at)[1].str(), "\n");
    if (!has_option(after, f, name, unquoted((*at)[2].str())))
      return cat("    following it did something else than ", at->str(), "\n");
  }
  std::smatch set;
  if (!std::regex_search(line, set, variable)) return "";
  const auto& environment = after.facts.environment;
  const std::string* found = environment.find(set[2].str());
  const bool as_said = set[1] == "unset" ? !found : found && *found == set[4].str();
  return as_said ? "" : cat("    following it did something else than ", set.str(), "\n");
}

// A list or a target that cannot be built hides what the machine has without one.
Report without_wish(Machine machine) {
  if (!machine.by_chance) return Report();
  machine.request.arch_list = Text();
  machine.request.targets.clear();
  machine.request.targets_known = false;
  return judged(machine);
}

struct Replay {
  std::vector<Row> rows;
  std::vector<std::string> failures;
  std::set<std::string> only_looks;  // "machine: finding" with no other line
  int lines = 0, looks = 0;
};

void follow(const Machine& machine, const Report& before, const Report& own, const Finding& f,
            const std::string& line, Row& row, const Words& words, bool& acts, Replay& out) {
  ++out.lines;
  if (!row.effect) {
    acts = true;
    if (!is_open(row)) out.failures.push_back(cat("no effect for ", name_of(row)));
    return;
  }
  Machine copy = machine;
  if (row.effect->way != Way::Looks) row.effect->apply(copy, words);
  if (row.effect->way == Way::Looks || copy.looked) {
    row.proved = true;
    ++out.looks;
    return;
  }
  acts = true;
  const std::string bad =
      cat(wrong_words(line, f, copy), wrong(before, own, f, copy, row.effect->way));
  if (bad.empty()) row.proved = true;
  if (!bad.empty())
    out.failures.push_back(cat(machine.name, "\n  ", words_of(f), "\n  help: ", line, "\n", bad));
}

Replay replay(const std::vector<Machine>& machines) {
  Replay out;
  out.rows = rows_with_effects();
  for (const Machine& machine : machines) {
    const Report before = judged(machine);
    const Report own = without_wish(machine);
    for (const Finding& f : before.findings) {
      bool acts = false;
      if (!f.help.empty() && starts_with(f.help[0], "or "))
        out.failures.push_back(cat(machine.name, ": the first line says 'or': ", f.help[0]));
      const Row* last = nullptr;
      for (const std::string& line : f.help) {
        Words words;
        Row* row = row_of(out.rows, f.id, line, last, words);
        if (!row) {
          out.failures.push_back(cat(machine.name, ": no row prints: ", line));
          continue;
        }
        last = row;
        words.push_back(line);
        follow(machine, before, own, f, line, *row, words, acts, out);
      }
      if (!acts && f.severity >= Severity::Warning)
        out.only_looks.insert(cat(f.id, " on ", machine.name));
    }
  }
  return out;
}

const Replay& as_recorded() {
  static const Replay done = replay(load_all());
  return done;
}

}  // namespace

TEST_CASE("each effect is of one row of the table, and no row has two") {
  const std::vector<Row> rows = rows_with_effects();
  for (const Effect& effect : effects()) {
    INFO("TCS" << effect.id << " " << effect.row);
    CHECK(std::count_if(rows.begin(), rows.end(),
                        [&](const Row& row) { return is_of(effect, row); }) == 1);
    CHECK((effect.apply == nullptr) == (effect.way == Way::Looks));
  }
  for (const Row& row : rows) {
    INFO(name_of(row));
    CHECK(std::count_if(effects().begin(), effects().end(),
                        [&](const Effect& effect) { return is_of(effect, row); }) <= 1);
  }
}

TEST_CASE("every row of help has its effect") {
  for (const Row& row : rows_with_effects()) {
    if (is_open(row)) continue;
    INFO(name_of(row));
    CHECK(row.effect != nullptr);
  }
}

TEST_CASE("what a help line says mends the machine that it is printed on, and nothing gets worse") {
  const Replay done = replay(in_all_places(load_all()));
  for (const std::string& failure : done.failures) FAIL_CHECK(failure);
  WARN(done.lines << " lines were followed, " << done.looks << " of them only show more");
  CHECK(done.lines > 0);
}

TEST_CASE("what a help line says mends machines that are put together by chance") {
  const char* const seed = std::getenv("TCS_SEED");
  const char* const size = std::getenv("TCS_SIZE");
  const Replay done = replay(machines_by_chance(
      static_cast<unsigned>(seed ? std::stoi(seed) : 20261130), size ? std::stoi(size) : 400));
  for (const std::string& failure : done.failures) FAIL_CHECK(failure);
  WARN(done.lines << " lines were followed, " << done.looks << " of them only show more");
  CHECK(done.lines > 0);
}

TEST_CASE("every row of help is proved on a machine") {
  for (const Row& row : as_recorded().rows) {
    if (!row.effect) continue;
    INFO(name_of(row));
    CHECK(row.proved);
  }
}

TEST_CASE("no finding that stops or warns has only lines that show more, but those with a reason") {
  std::set<int> met;
  for (const std::string& found : as_recorded().only_looks) {
    const int id = std::stoi(found);
    met.insert(id);
    INFO("TCS" << found);
    CHECK(std::any_of(kOnlyLooks.begin(), kOnlyLooks.end(),
                      [&](const OnlyLooks& row) { return row.id == id; }));
  }
  for (const OnlyLooks& row : kOnlyLooks) {
    INFO("TCS" << row.id << ": " << row.why);
    CHECK(met.count(row.id) == 1);
  }
}

}  // namespace tcs::remedies
