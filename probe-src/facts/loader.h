// SPDX-License-Identifier: Apache-2.0
// Which files the dynamic loader would take, worked out from the files (ld.so(8)); nothing is
// loaded.
#pragma once
#include <string>

#include "base/list.h"
#include "host/host.h"

namespace tcs {

// How one name was resolved. `path` "" = not found.
struct Loaded {
  TCS_COPIED(Loaded);
  std::string soname;
  std::string needed_by;  // file name of the first that needs it; "" for a root
  std::string path;       // as the loader would open it
  std::string via;        // "RPATH of libtorch_cuda.so", "LD_LIBRARY_PATH", "ld.so.cache" ...
  std::string elsewhere;  // via LD_LIBRARY_PATH only: what would load without it
};

struct LoaderSetting {
  std::string library_path;                         // LD_LIBRARY_PATH
  List<std::string> program_rpath;                  // DT_RPATH of the program, $ORIGIN expanded
  List<std::pair<std::string, std::string>> cache;  // ld.so.cache: name -> path, in its order
  List<std::string> default_folders;
};

// From the environment, /etc/ld.so.cache and `program` (may be "").
LoaderSetting read_loader_setting(const Host& host, const std::string& program);

// `ld.so.cache` as glibc writes it; entries that point outside the text are left out.
List<std::pair<std::string, std::string>> parse_loader_cache(const std::string& bytes);

// The closure of `roots` (paths, in load order), breadth first, one entry a name, roots included.
List<Loaded> load_closure(const Host& host, const List<std::string>& roots,
                          const LoaderSetting& setting);

}  // namespace tcs
