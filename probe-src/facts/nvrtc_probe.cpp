// SPDX-License-Identifier: Apache-2.0
#include "probes/nvrtc.h"

#ifndef TCS_NO_PROBE_MAIN
#define TCS_NO_PROBE_MAIN
#endif
#include "probes/nvrtc.cpp"  // NOLINT: the same file also compiles alone, by hand
