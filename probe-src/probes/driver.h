// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks libcuda.so.1 what it is and which devices it shows; one JSON object on stdout. Meant to be
// the only thing its process does: a driver may crash or hang it. Always returns 0 when it could
// print its answer.
int driver_probe_main();
