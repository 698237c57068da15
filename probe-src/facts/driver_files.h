// SPDX-License-Identifier: Apache-2.0
// What files say of NVIDIA's driver, without asking it.
#pragma once
#include <string>

#include "facts/facts.h"
#include "host/host.h"

namespace tcs {

// What only a running kernel part shows, on desktop and server boards, WSL, Tegra.
bool kernel_part_present(const Host& host);
void learn_kernel_module(const Host& host, DriverFacts& driver);
// Device nodes, and the Multi-Process Service.
void learn_nodes(const Host& host, DriverFacts& driver);

// libcuda_search.cpp
LibCuda describe_libcuda(const Host& host, const HostFacts& machine, const std::string& path);
// Appends every libcuda.so.1 on the machine that is none of `out` already, by real path.
void find_other_libcuda(const Host& host, const HostFacts& machine, List<LibCuda>& out);

}  // namespace tcs
