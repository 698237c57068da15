// SPDX-License-Identifier: Apache-2.0
#include "drive/projects.h"

#include "base/text.h"
#include "drive/jobs.h"

namespace tcs {

namespace {

enum class Words { Digits, Commas, Dotted, FlashInfer, TorchWords, NvccWords };
enum class Count { Jobs, Threads };

struct ArchsRow {
  const char* project;
  Where where;
  const char* variable;
  Words words;
  const char* known;
};
struct SwitchRow {
  const char* project;
  Where where;
  const char *variable, *value, *why;
};
struct CountRow {
  const char *project, *variable;
  Count what;
};
struct NeedRow {
  const char* project;
  int mib;
};
struct ThreadsRow {
  const char* project;
  int threads, archs;
};
struct SaysRow {
  const char *project, *note;
};

constexpr ArchsRow kArchs[] = {
#define TCS_ARCHS(project, where, variable, words, known, source, file) \
  {project, Where::where, variable, Words::words, known},
#include "drive/projects.def"
#undef TCS_ARCHS
};
constexpr SwitchRow kSwitches[] = {
#define TCS_SWITCH(project, where, variable, value, why, source, file) \
  {project, Where::where, variable, value, why},
#include "drive/projects.def"
#undef TCS_SWITCH
};
constexpr CountRow kCounts[] = {
#define TCS_COUNT(project, variable, what, source, file) {project, variable, Count::what},
#include "drive/projects.def"
#undef TCS_COUNT
};
constexpr NeedRow kNeeds[] = {
#define TCS_NEED(project, mib, source, file) {project, mib},
#include "drive/projects.def"
#undef TCS_NEED
};
constexpr ThreadsRow kThreads[] = {
#define TCS_THREADS(project, threads, archs, source, file) {project, threads, archs},
#include "drive/projects.def"
#undef TCS_THREADS
};
constexpr SaysRow kSays[] = {
#define TCS_SAYS(project, note, source, file) {project, note},
#include "drive/projects.def"
#undef TCS_SAYS
};

// PEP 503, with all that is no letter or digit as one '-'.
std::string normalized(const std::string& text) {
  std::string out;
  for (char c : lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  return out;
}

// The newest of the architectures that the project builds for whose code runs on `sm`; with a list
// of any, `sm` itself.
bool nearest_known(const ArchsRow& row, const Sm& sm, Sm& out) {
  out = sm.base();
  if (row.known[0] == '\0') return true;
  bool found = false;
  for (const std::string& digits : split(row.known, " ")) {
    Sm known;
    if (!parse_sm_digits(digits, known)) continue;
    if (fits(Image{known, false}, sm.base()) != Fit::Native || (found && known < out)) continue;
    out = known;
    found = true;
  }
  return found;
}

bool has_ptx(const Plan& plan, const Sm& sm) {
  for (const Gencode& g : plan.gencodes)
    if (g.ptx && g.virt == sm) return true;
  return false;
}

// FlashInfer takes a device of 9.0 and newer for its 'a', since its kernels use what only that has.
std::string word_of(const ArchsRow& row, const Plan& plan, const Gencode& g, const Sm& known) {
  if (row.words == Words::Digits || row.words == Words::Commas) return known.digits();
  if (row.words == Words::Dotted) return known.dotted();
  if (row.words == Words::FlashInfer)
    return g.real.plain() && g.real.major >= 9 ? g.real.dotted() + "a" : g.real.dotted();
  return known.dotted() + (has_ptx(plan, known) ? "+PTX" : "");
}

const char* separator_of(Words words) {
  return words == Words::Commas ? "," : words == Words::FlashInfer ? " " : ";";
}

Dialect list_of(const ArchsRow& row, const Plan& plan) {
  Dialect out;
  List<std::string> said;
  for (const Gencode& g : plan.gencodes) {
    if (row.words == Words::NvccWords) {
      said.push_back(replace_all(g.flag(), "-gencode=", ""));
      continue;
    }
    Sm known;
    const bool carried = g.ptx && row.words == Words::TorchWords &&
                         nearest_known(row, g.real, known) && known == g.real;
    if (g.ptx || !nearest_known(row, g.real, known)) {
      if (!carried) out.left_out.push_back(g.flag());
      continue;
    }
    add_once(said, word_of(row, plan, g, known));
  }
  out.text = join(said, separator_of(row.words));
  out.complete = out.left_out.empty();
  return out;
}

BuildSetting setting(const char* project, const char* name, const std::string& value,
                     const std::string& why) {
  BuildSetting out;
  out.project = project;
  out.name = name;
  out.value = value;
  out.why = why;
  return out;
}

void add_row(List<ProjectSetting>& rows, Where where, const BuildSetting& one) {
  ProjectSetting* found = nullptr;
  for (ProjectSetting& row : rows)
    if (row.where == where && row.setting.name == one.name) found = &row;
  if (found == nullptr) {
    found = &rows.add();
    found->where = where;
    found->setting = one;
  }
  found->projects.push_back(one.project);
}

}  // namespace

Dialect project_list(const Plan& plan, const char* variable) {
  for (const ArchsRow& row : kArchs)
    if (std::string_view(row.variable) == variable) return list_of(row, plan);
  return {};
}

List<ProjectList> project_lists() {
  List<ProjectList> out;
  for (const ArchsRow& row : kArchs) {
    ProjectList& one = out.add();
    one.where = row.where;
    one.variable = row.variable;
  }
  return out;
}

List<ProjectSetting> project_settings(const Plan& plan, int jobs) {
  List<ProjectSetting> rows;
  for (const ArchsRow& row : kArchs) {
    add_row(rows, row.where,
            setting(row.project, row.variable, list_of(row, plan).text,
                    cat("the plan, in ", row.project, "'s words")));
  }
  for (const SwitchRow& row : kSwitches)
    add_row(rows, row.where, setting(row.project, row.variable, row.value, row.why));
  for (const CountRow& row : kCounts) {
    if (row.what == Count::Threads)
      add_row(rows, Where::Environment,
              setting(row.project, row.variable, "1",
                      "one architecture at a time, as the number of jobs assumes"));
    else if (jobs > 0)
      add_row(rows, Where::Environment,
              setting(row.project, row.variable, cat(jobs), "as MAX_JOBS"));
  }
  return rows;
}

bool names_project(const List<std::string>& words, const char* project) {
  for (const std::string& word : words)
    if (contains(cat("-", normalized(word), "-"), cat("-", project, "-"))) return true;
  return false;
}

int project_need(const List<std::string>& words, int archs, int least) {
  int need = least;
  const auto raise = [&](const char* project, int mib) {
    if (mib > need && names_project(words, project)) need = mib;
  };
  for (const NeedRow& row : kNeeds) raise(row.project, row.mib);
  for (const ThreadsRow& row : kThreads) {
    const int most = row.archs > 0 ? row.archs : archs;
    raise(row.project, kJobMib * (row.threads < most ? row.threads : most));
  }
  return need;
}

List<std::string> project_notes(const Plan& plan, const List<std::string>& words) {
  List<std::string> notes;
  for (const ArchsRow& row : kArchs) {
    if (!names_project(words, row.project)) continue;
    const Dialect said = list_of(row, plan);
    if (said.text.empty())
      notes.push_back(cat(row.project, " builds for none of the plan (it knows ", row.known,
                          "): it will take a list of its own"));
    else if (!said.complete)
      notes.push_back(cat(row.project, " is told ", row.variable, "=", said.text,
                          cat(", which cannot say ", join(said.left_out, " "))));
  }
  for (const SaysRow& row : kSays)
    if (names_project(words, row.project)) notes.push_back(cat(row.project, " ", row.note));
  return notes;
}

}  // namespace tcs
