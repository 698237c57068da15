// SPDX-License-Identifier: Apache-2.0
#include "tool/provision.h"

#include "base/text.h"
#include "facts/facts_io.h"
#include "facts/pip_toolkit.h"
#include "tables/tables.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {
namespace {

void say(const std::string& text) {
  print_err(cat("tcstack: ", text, "\n"));
}

// Why none is brought, though the toolkit is another than PyTorch's; "" = one is.
std::string why_not(const Inputs& in, const Facts& facts, int torch, std::string& update) {
  if (facts.tree.state.is("found")) return "what is built is PyTorch itself";
  if (in.cross_compiling) return "this is a cross build";
  if (torch == 0) return "there is no PyTorch made for CUDA here whose toolkit it could be";
  const Toolkit* own = facts.toolkit();
  const std::string named = own == nullptr ? "" : user_named(*own);
  if (named == "TREE_CUDA_COMPILER")
    return "this build tree has its compiler already (another takes cmake --fresh)";
  if (!named.empty()) return cat(named, " names a toolkit, and that is used");
  update = pip_update(facts.host, torch);
  return update.empty() ? cat("PyPI has no nvcc of CUDA ", release_text(torch), " for this machine")
                        : "";
}

Result<Done> bring(Host& host, const Facts& facts, const std::string& update,
                   const std::string& dir) {
  Result<bool> there = has_pip_toolkit(host, update, dir);
  if (!there) return there.error();
  if (*there) return Done{};
  const Result<std::string> python = python_with_pip(host, facts);
  if (!python) return python.error();
  say(cat("PROVISION: ", *python, " -m pip fetches nvcc of CUDA ", update, " into ", dir));
  Result<Done> made = host.make_directories(path_parent(dir));
  if (!made) return made;
  Result<Done> brought = bring_pip_toolkit(host, facts, update, *python, dir);
  if (brought) say(cat("PROVISION: nvcc of CUDA ", update, " came from PyPI, and is used: ", dir));
  return brought;
}

}  // namespace

bool provision_toolkit(Host& host, const Inputs& in, const std::string& folder, Facts& facts) {
  const Setting asked = own_input(host, in, "PROVISION");
  if (is_off(asked.value) || facts.origin == "replayed") return true;
  const bool found = facts.torch.state.is("found");
  const int torch = found ? release_of(Version::parse(facts.torch.cuda.value())) : 0;
  const Toolkit* own = facts.toolkit();
  if (torch != 0 && own && release_of(Version::parse(own->version.value())) == torch) return true;
  std::string update;
  const std::string reason = why_not(in, facts, torch, update);
  if (!reason.empty()) return say(cat("PROVISION: nothing is fetched: ", reason)), true;
  const std::string dir =
      path_join(folder, cat("toolkits-pypi/", update, "-", facts.host.arch.value()));
  Result<Done> brought = bring(host, facts, update, dir);
  if (!brought) {
    say(cat("PROVISION: the nvcc of CUDA ", update,
            " could not be fetched: ", brought.error().str()));
    return false;
  }
  Inputs with = in;
  with.set["PROVISIONED"] = pip_root(dir);
  facts.toolkits = ToolkitFacts();
  facts.host_compiler = HostCompiler();
  gather_toolkits(host, with, facts);
  order_facts(facts);
  return true;
}

}  // namespace tcs
