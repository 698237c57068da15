// SPDX-License-Identifier: Apache-2.0
#include "probes/driver.h"
#include "probes/image.h"
#include "probes/nvml.h"

#define TCS_NO_PROBE_MAIN
#include "probes/driver.cpp"  // NOLINT: the same files also compile alone, by hand
#include "probes/image.cpp"   // NOLINT
#include "probes/nvml.cpp"    // NOLINT
