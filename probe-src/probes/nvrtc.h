// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the NVRTC at `path` says that it compiles for, as one JSON object on stdout; the exit status
// of a process that does nothing else.
int nvrtc_probe_main(const char* path);
