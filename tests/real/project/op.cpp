// SPDX-License-Identifier: Apache-2.0
#include <Python.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

int launch_scale(float* x, long n, float by, cudaStream_t stream);

static at::Tensor scale_cuda(at::Tensor x, double by) {
  const int error = launch_scale(x.data_ptr<float>(), static_cast<long>(x.numel()),
                                 static_cast<float>(by), c10::cuda::getCurrentCUDAStream());
  TORCH_CHECK(error == 0, "scale_: CUDA error ", error);
  return x;
}

TORCH_LIBRARY(tcs_matrix, m) { m.def("scale_(Tensor(a!) x, float by) -> Tensor(a!)"); }
TORCH_LIBRARY_IMPL(tcs_matrix, CUDA, m) { m.impl("scale_", scale_cuda); }

#define TCS_JOIN_(a, b) a##b
#define TCS_JOIN(a, b) TCS_JOIN_(a, b)
#define TCS_TEXT_(a) #a
#define TCS_TEXT(a) TCS_TEXT_(a)

PyMODINIT_FUNC TCS_JOIN(PyInit_, TORCH_EXTENSION_NAME)() {
  static PyModuleDef module = {PyModuleDef_HEAD_INIT, TCS_TEXT(TORCH_EXTENSION_NAME)};
  return PyModule_Create(&module);
}
