// SPDX-License-Identifier: Apache-2.0
// Known projects and what they read: projects.def.
#pragma once
#include <string>

#include "base/list.h"
#include "drive/drive.h"

namespace tcs {

enum class Where { Environment, Cache };

struct ProjectSetting {
  TCS_COPIED(ProjectSetting);
  Where where = Where::Environment;
  BuildSetting setting;        // value "": the project has no word for any of the plan
  List<std::string> projects;  // that read it; setting.project is the first
};
// One a variable.
List<ProjectSetting> project_settings(const Plan& plan, int jobs);

// The variables that hold a project's list of architectures.
struct ProjectList {
  TCS_COPIED(ProjectList);
  Where where = Where::Environment;
  const char* variable = "";
};
List<ProjectList> project_lists();

// Whether a word of a command is about the project: "flash_attn==2.8", ".../NVlabs/tiny-cuda-nn".
bool names_project(const List<std::string>& words, const char* project);

// Of the projects that are named: the most memory that a compile of one needs, MiB, where the plan
// has `archs` images, and what is to be known of them.
int project_need(const List<std::string>& words, int archs, int least);
List<std::string> project_notes(const Plan& plan, const List<std::string>& words);

// The plan in the words of a project's list, "" = it has no such variable. For tests.
Dialect project_list(const Plan& plan, const char* variable);

}  // namespace tcs
