// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

void fill(float* x, float value);

PyMODINIT_FUNC PyInit_gated() {
  static PyModuleDef module = {PyModuleDef_HEAD_INIT, "gated"};
  PyObject* made = PyModule_Create(&module);
  if (made == nullptr) fill(nullptr, 0);  // so that the kernel is linked
  return made;
}
