// SPDX-License-Identifier: Apache-2.0
// `tcstack plan` with the forms that carry all that a build is told.
#include "base/text.h"
#include "base/utf8.h"
#include "drive/forms.h"
#include "full/build_input.h"
#include "full/verbs.h"
#include "tool/asked.h"
#include "tool/judge_build.h"

namespace tcs {

namespace {

std::string own_cache(const Host& host, const PlanAnswer& answer) {
  const Result<std::string> cache = cache_folder(host, answer.asked.inputs);
  return cache && !cache->empty() && !host.stat(*cache).foreign ? *cache : std::string();
}

// Which host compiler nvcc takes is known once it has compiled something, as it does for `run`.
Facts tried(Host& host, const PlanAnswer& answer, List<std::string>& notes) {
  if (answer.facts.origin == "replayed") return answer.facts;
  Inputs in = answer.asked.inputs;
  in.cache_dir = own_cache(host, answer);
  in.work_dir = own_folder(host, in.cache_dir);
  if (in.work_dir.empty()) {
    notes.push_back("there is no cache folder: which host compiler nvcc takes was not tried");
    return answer.facts;
  }
  DriverChild child;
  Facts facts = gather_all(host, in, child);
  probe_plan(host, in, answer.request, child, facts);
  (void)host.remove_tree(in.work_dir);
  return facts;
}

// Of a recorded machine its own paths: the settings are for that machine. Here a toolkit that has
// to be completed for a build is, below the user's cache.
std::string root_of(Host& host, const PlanAnswer& answer, const Facts& facts) {
  const Toolkit* toolkit = facts.toolkit();
  if (toolkit == nullptr) return {};
  const std::string root = toolkit->root.value(), cache = own_cache(host, answer);
  if (facts.origin == "replayed" || cache.empty()) return root;
  return toolkit_root(host, facts, farm_folder(cache, facts), cache);
}

StringMap environment_of(const Host& host, const PlanAnswer& answer) {
  if (answer.facts.origin == "replayed") return answer.facts.environment;
  StringMap out;
  for (const auto& variable : host.environment()) out[variable.first] = variable.second;
  return out;
}

// A note may quote a path or a variable; a terminal obeys what is in them.
std::string shown(const std::string& note) {
  for (char c : note)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') return ascii(note);
  return note;
}

std::string build_settings(Host& host, const PlanAnswer& answer, std::string& note) {
  List<std::string> notes;
  const Facts facts = tried(host, answer, notes);
  StringMap users = environment_of(host, answer);
  forget_replaced(answer.request, answer.asked.inputs, users);
  const bool here = facts.origin != "replayed";
  const Drive drive = make_drive(DriveInput{
      facts, answer.request, answer.plan, users, root_of(host, answer, facts),
      host_compiler_of(facts, answer.asked.inputs), here ? gate_path(host) : std::string()});
  if (const std::string fault = gate_fault(host); here && !fault.empty()) notes.push_back(fault);
  notes.append(drive.notes);
  const std::string text = build_form(drive, answer.form, notes);
  for (std::string& one : notes) one = shown(one);
  note = join(notes, "\n");
  return text;
}

}  // namespace

int verb_full_plan(Host& host, const List<std::string>& args) {
  return answer_plan(host, args, build_settings);
}

}  // namespace tcs
