// SPDX-License-Identifier: Apache-2.0
// What is given to the double: a code that only one image holds, and a kernel that tells it.
#ifndef __CUDA_ARCH__
#define CODE 0
#elif defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CODE (__CUDA_ARCH__ * 16 + 2)
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#define CODE (__CUDA_ARCH__ * 16 + 1)
#else
#define CODE (__CUDA_ARCH__ * 16)
#endif

extern "C" __device__ unsigned tcs_image_code = CODE;

extern "C" __global__ void tcs_image_probe(unsigned* out, unsigned nonce) {
  *out = nonce ^ tcs_image_code;
}
