// SPDX-License-Identifier: Apache-2.0
// Damaged machines are judged or refused with a place: exit 0, 1 or 2, never a crash or a hang.
//   mutate_facts [--tool TCSTACK] COUNT SEED FILE...    FILE: a machine in the form of
//   tests/machines mutate_facts --write FOLDER COUNT SEED FILE...      leaves them as files
// In this process through the verb, or with --tool each in a process of its own.
#include <signal.h>
#include <stdlib.h>

#include <chrono>

#include "check_machine.h"
#include "mutate_facts.h"

using namespace tcs;

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

char at_seed[32] = "";  // for a crash, which leaves no time to make text

void name_seed() {
  write_all(2, "mutate_facts: it ended here: 1 ");
  write_all(2, at_seed);
  write_all(2, "\n");
}
void on_signal(int signal_number) {
  name_seed();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

struct Task {
  std::string tool, write_to;
  unsigned count = 0, seed = 0;
  std::vector<std::string> machines;
};

bool learn(Host& host, int argc, char** argv, Task& task) {
  int i = 1;
  if (argc > 2 && std::string_view(argv[1]) == "--tool") task.tool = argv[2];
  if (argc > 2 && std::string_view(argv[1]) == "--write") task.write_to = argv[2];
  if (!task.tool.empty() || !task.write_to.empty()) i = 3;
  uint64_t count = 0, seed = 0;
  if (argc < i + 3 || !parse_number(argv[i], 1u << 30, count) ||
      !parse_number(argv[i + 1], 1u << 30, seed))
    return false;
  task.count = static_cast<unsigned>(count);
  task.seed = static_cast<unsigned>(seed);
  for (i += 2; i < argc; ++i)
    if (Result<std::string> text = host.read(argv[i])) task.machines.push_back(*text);
  return true;
}

fuzz::Answer ask_tool(Host& host, const std::string& tool, const std::string& folder,
                      const fuzz::MachineFiles& files, const char* format) {
  const std::string facts = folder + "/facts.json", request = folder + "/request.json";
  fuzz::require(host.write_atomic(facts, files.facts) && host.write_atomic(request, files.request),
                "files can be written", folder);
  Command command;
  command.argv = {tool, "check", "--facts", facts, "--request", request, "--format", format};
  const Outcome ended = host.run(command);
  if (ended.state != Outcome::State::Exited) return {-1, ended.out, ended.describe()};
  return {ended.code, ended.out, ended.err};
}

int write_all_of(Host& host, const Task& task, const fuzz::Mutator& mutator) {
  for (unsigned i = 0; i < task.count; ++i) {
    const fuzz::MachineFiles files = mutator.damaged(task.seed + i);
    const std::string name = cat(task.write_to, "/", task.seed + i);
    if (!host.write_atomic(name + ".facts.json", files.facts) ||
        !host.write_atomic(name + ".request.json", files.request))
      return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<Host> host = make_real_host();
  Task task;
  if (!learn(*host, argc, argv, task)) {
    std::fprintf(stderr,
                 "usage: mutate_facts [--tool TCSTACK | --write FOLDER] COUNT SEED FILE...\n");
    return 2;
  }
  const fuzz::Mutator mutator(task.machines);
  fuzz::require(mutator.size() > 100, "machines to damage were given");
  if (!task.write_to.empty()) return write_all_of(*host, task, mutator);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(name_seed);
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) signal(number, on_signal);
  char folder[] = "/tmp/mutate_facts_XXXXXX";
  if (!task.tool.empty()) fuzz::require(mkdtemp(folder) != nullptr, "a folder", folder);

  const auto begin = std::chrono::steady_clock::now();
  unsigned ended[3] = {}, wrong = 0;
  for (unsigned i = 0; i < task.count; ++i) {
    std::snprintf(at_seed, sizeof at_seed, "%u", task.seed + i);
    const fuzz::MachineFiles files = mutator.damaged(task.seed + i);
    const char* format = i % 2 ? "json" : "text";
    const fuzz::Answer answer = task.tool.empty()
                                    ? fuzz::check_machine(files.facts, files.request, format)
                                    : ask_tool(*host, task.tool, folder, files, format);
    std::string why = fuzz::wrong_answer(answer.status, answer.out, answer.err);
    if (why.empty() && answer.status != 2 && i % 2 && !parse_json(answer.out))
      why = "an answer that is no JSON";
    if (why.empty()) {
      ++ended[answer.status];
    } else if (++wrong <= 20) {
      std::fprintf(stderr, "mutate_facts 1 %s: %s\n", at_seed, tail(why, 600).c_str());
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!task.tool.empty()) (void)host->remove_tree(folder);
  std::printf(
      "%u damaged machines in %.1f s: %u exit 0, %u exit 1, %u refused with a place, %u wrong\n",
      task.count, seconds, ended[0], ended[1], ended[2], wrong);
  // Damage that nobody can read, or that nobody notices, would test little.
  const bool telling =
      task.count < 1000 || (ended[0] + ended[1] > task.count / 5 && ended[2] > task.count / 5);
  if (!telling) std::fprintf(stderr, "mutate_facts: too few of one kind\n");
  return wrong == 0 && telling ? 0 : 1;
}
