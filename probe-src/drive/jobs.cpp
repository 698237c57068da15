// SPDX-License-Identifier: Apache-2.0
#include "drive/jobs.h"

#include "base/text.h"

namespace tcs {

Jobs jobs_for(const HostFacts& host, int job_mib) {
  Jobs out;
  if (host.cores.value() < 1) return out;  // 0 where it is unknown
  out.count = host.cores.value();
  out.why = cat(out.count, out.count == 1 ? " core" : " cores");
  out.guess = !host.memory_mib.known();
  if (out.guess) return out;
  const int fit = host.memory_mib.value() / job_mib;
  if (fit >= out.count) return out;
  out.count = fit > 1 ? fit : 1;
  out.why = cat(host.memory_mib.value(), " MiB of memory, ", job_mib, " MiB for each compile");
  return out;
}

}  // namespace tcs
