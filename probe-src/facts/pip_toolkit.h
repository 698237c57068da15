// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkits that PyPI has (13.0 and newer): which fits, and how one is brought. Only who
// was asked to brings one.
#pragma once
#include <string>

#include "facts/facts.h"
#include "host/host.h"

namespace tcs {

// The update of CUDA `release` (1302) that PyPI has for this machine: "13.2.2"; "" = none.
std::string pip_update(const HostFacts& host, int release);

// What the user named, that a toolkit is used: "CUDA_HOME"; "" where it was come across.
std::string user_named(const Toolkit& toolkit);

// The first Python that has pip: the one of the environment, else of PATH.
Result<std::string> python_with_pip(Host& host, const Facts& facts);

// Where its nvcc lies is the root of an unfinished toolkit: see lay_link_farm().
inline std::string pip_root(const std::string& dir) {
  return dir + "/nvidia/cu13";
}

// True: `dir` holds all of that update. False: it may be laid there. An error: neither.
Result<bool> has_pip_toolkit(const Host& host, const std::string& update, const std::string& dir);

// Has pip fetch the wheels of `update`, of the digests in the tables, into `dir`, which is there as
// a whole afterwards or as it was before. Any number of processes may do so at once.
Result<Done> bring_pip_toolkit(Host& host, const Facts& facts, const std::string& update,
                               const std::string& python, const std::string& dir);

}  // namespace tcs
