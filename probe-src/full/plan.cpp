// SPDX-License-Identifier: Apache-2.0
// `tcstack plan` with the forms that carry all that a build is told.
#include "base/text.h"
#include "drive/forms.h"
#include "full/build_input.h"
#include "full/verbs.h"
#include "tool/asked.h"
#include "tool/judge_build.h"

namespace tcs {

namespace {

// Of a recorded machine its own paths: the settings are for that machine. Here a toolkit that has
// to be completed for a build is, below the user's cache.
std::string root_of(Host& host, const PlanAnswer& answer) {
  const Toolkit* toolkit = answer.facts.toolkit();
  if (toolkit == nullptr) return {};
  const std::string root = toolkit->root.value();
  const Result<std::string> cache = cache_folder(host, answer.asked.inputs);
  if (answer.facts.origin == "replayed" || !cache || cache->empty()) return root;
  const std::string farm = path_join(*cache, cat("toolkits/", fnv1a(root)));
  return toolkit_root(host, answer.facts, farm, *cache);
}

StringMap environment_of(const Host& host, const PlanAnswer& answer) {
  if (answer.facts.origin == "replayed") return answer.facts.environment;
  StringMap out;
  for (const auto& variable : host.environment()) out[variable.first] = variable.second;
  return out;
}

std::string build_settings(Host& host, const PlanAnswer& answer, std::string& note) {
  StringMap users = environment_of(host, answer);
  forget_replaced(answer.request, answer.asked.inputs, users);
  const bool here = answer.facts.origin != "replayed";
  const Drive drive = make_drive(DriveInput{
      answer.facts, answer.request, answer.plan, users, root_of(host, answer),
      host_compiler_of(answer.facts, answer.asked.inputs), here ? gate_path(host) : std::string()});
  List<std::string> notes = drive.notes;
  const std::string text = build_form(drive, answer.form, notes);
  note = join(notes, "\n");
  return text;
}

}  // namespace

int verb_full_plan(Host& host, const List<std::string>& args) {
  return answer_plan(host, args, build_settings);
}

}  // namespace tcs
