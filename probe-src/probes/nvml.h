// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks libnvidia-ml.so.1 for the boards of this machine; one JSON object on stdout. As
// driver_probe_main(), it is meant to be all that its process does.
int nvml_probe_main();
