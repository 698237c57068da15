// SPDX-License-Identifier: Apache-2.0
#include "probes/driver.h"

#define TCS_NO_PROBE_MAIN
#include "probes/driver.cpp"  // NOLINT: the same file also compiles alone, by hand
