// SPDX-License-Identifier: Apache-2.0
// To be preloaded: uname(2) tells the kernel's release that TCS_FAKE_KERNEL holds. It is how WSL
// is told.
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

extern "C" int uname(struct utsname* out) noexcept {
  const long answer = syscall(SYS_uname, out);
  const char* release = getenv("TCS_FAKE_KERNEL");
  if (answer == 0 && release != nullptr) snprintf(out->release, sizeof out->release, "%s", release);
  return static_cast<int>(answer);
}
