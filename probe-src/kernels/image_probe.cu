R"CUDA(// SPDX-License-Identifier: Apache-2.0
// The kernel that shows that an image was built, loads and runs. tcstack carries this text: the
// first and the last line make it a string (facts/image_build.cpp). By hand:
//   sed '1s/^R"CUDA(//; $d' image_probe.cu > probe.cu && nvcc -c -gencode=arch=compute_90,code=sm_90 probe.cu
// An image holds its own architecture as a number: __CUDA_ARCH__ * 16, + 2 for `a`, + 1 for `f`.
#if !defined(__CUDA_ARCH__)
#define TCS_CODE 0
#elif defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM101_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM120_ALL)  // before CUDA 12.9 each had a macro of its own
#define TCS_CODE (__CUDA_ARCH__ * 16 + 2)
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#define TCS_CODE (__CUDA_ARCH__ * 16 + 1)
#else
#define TCS_CODE (__CUDA_ARCH__ * 16)
#endif
// nvcc includes cuda_runtime.h before all else, which takes most of the time of each architecture.
// tcstack keeps it out (-D__CUDA_RUNTIME_H__) but for the host's pass and that of TCS_WHOLE.
#if defined(TCS_WHOLE) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ == TCS_WHOLE)
#undef __CUDA_RUNTIME_H__
#include <cuda_runtime.h>
#endif
#ifndef __global__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#endif
extern "C" __device__ unsigned tcs_image_code = TCS_CODE;
extern "C" __global__ void tcs_image_probe(unsigned* out, unsigned nonce) {
  *out = nonce ^ tcs_image_code;
}
)CUDA"
