// SPDX-License-Identifier: Apache-2.0
// A release that says none ("cu118", "12" of a part whose minor decides) is not known: what hangs
// on it would be judged as if it were fine.
#include "base/text.h"
#include "facts/facts_io.h"

namespace tcs {
namespace {

void forget(Text& release, size_t numbers, const char* name, std::string& reason) {
  if (!release.known() || Version::parse(release.value()).numbers.size() >= numbers) return;
  const std::string why = cat(name, " '", tail(release.value(), 40), "' names no release");
  reason += reason.empty() ? why : cat("; ", why);
  release = Text();
}

}  // namespace

void forget_unreadable(Facts& facts) {
  std::string ignored;
  forget(facts.host.glibc, 2, "glibc", ignored);
  forget(facts.driver.cuda, 2, "cuda", facts.driver.reason);
  forget(facts.torch.cuda, 1, "cuda", facts.torch.reason);
  forget(facts.host_compiler.version, 1, "version", facts.host_compiler.reason);
  forget(facts.tree.cuda_min, 1, "cuda_min", facts.tree.reason);
  for (Toolkit& toolkit : facts.toolkits.list) {
    forget(toolkit.version, 1, "version", toolkit.reason);
    forget(toolkit.headers, 2, "headers", toolkit.reason);
    forget(toolkit.ptxas, 2, "ptxas", toolkit.reason);
    forget(toolkit.cicc, 2, "cicc", toolkit.reason);
    forget(toolkit.cudart, 2, "cudart", toolkit.reason);
  }
}

}  // namespace tcs
