// SPDX-License-Identifier: Apache-2.0
// What a build is told, as files and lines that others read: `tcstack plan --emit FORM` of
// kBuildForms (emit/forms.h).
#pragma once
#include <string>

#include "drive/drive.h"

namespace tcs {

// `notes`: what the form leaves to be done by hand. "" = no such form.
std::string build_form(const Drive& drive, const std::string& form, List<std::string>& notes);

// One POSIX shell word that means exactly `text`.
std::string shell_quote(const std::string& text);

}  // namespace tcs
