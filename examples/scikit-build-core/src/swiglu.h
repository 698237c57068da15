// SPDX-License-Identifier: Apache-2.0
// What the kernel and the operator agree on. No PyTorch header in here: nvcc would need a minute
// for each architecture to read it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

// out = gate / (1 + exp(-gate)) * up, over count floats.
cudaError_t swiglu_cuda(const float* gate, const float* up, float* out, int64_t count,
                        cudaStream_t stream);
