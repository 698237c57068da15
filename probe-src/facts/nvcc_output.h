// SPDX-License-Identifier: Apache-2.0
// What nvcc, its dry run and its headers print, as data. Pure functions of text.
#pragma once
#include <string>
#include <string_view>

#include "base/list.h"
#include "base/sm.h"
#include "facts/facts.h"
#include "host/host.h"

namespace tcs {

// "Cuda compilation tools, release 13.2, V13.2.78" -> "13.2.78"; "" when there is no such line.
std::string parse_release(std::string_view printed);

// compute_* or sm_* names, one a line, as of --list-gpu-arch and --list-gpu-code.
List<Sm> parse_gpu_list(std::string_view printed);

// Of `nvcc --dryrun`: where it looks and what it would call. Empty = not printed.
struct DryRun {
  std::string here;      // folder it takes for its own (it does not follow a link to itself)
  std::string top;       // root by its nvcc.profile; a distribution's profile has none
  std::string path;      // PATH of the tools it calls
  std::string cicc_dir;  // of nvcc.profile; else cicc is looked up in `path`
  std::string libdevice_dir;
  std::string host_compiler;  // "gcc", "/usr/bin/g++-11"
  List<std::string> include_dirs, library_dirs;
};
DryRun parse_dry_run(std::string_view printed);

// "nvcc fatal : Unsupported gpu architecture 'compute_90f'": true and that arch.
bool parse_refused_arch(std::string_view printed, Sm& out);

// Newest host compiler majors that crt/host_config.h takes.
void parse_host_limits(std::string_view host_config, Fact<int>& gcc_max, Fact<int>& clang_max);

// "#define CUDA_VERSION 13020" -> "13.2"; "" when there is none.
std::string parse_cuda_version(std::string_view header);

// Why a run of nvcc did not do its work: a kind of ToolkitFailure ("" when it did), and the lines
// of its output that tell.
std::string failure_kind(const Outcome& outcome);
std::string telling_lines(const Outcome& outcome);

}  // namespace tcs
