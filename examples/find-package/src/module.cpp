// SPDX-License-Identifier: Apache-2.0
// Makes the library a Python module, `import fused_norm._C`. Loading it registers the operator; it
// needs nothing else, so it takes neither pybind11 nor torch/extension.h.
#include <Python.h>

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  return PyModule_Create(&definition);
}
