# SPDX-License-Identifier: Apache-2.0
from setuptools import setup

from torch_cuda_stack.setuptools import cuda_extension
from torch.utils.cpp_extension import BuildExtension

setup(
    # Checks the machine, ends with the findings where the build could not work, and compiles for the plan. All
    # arguments of CUDAExtension may be given, except flags that name architectures.
    ext_modules=[cuda_extension("squared_relu._C", ["csrc/squared_relu.cu", "csrc/operator.cpp"],
                                extra_compile_args={"cxx": ["-O2", "-g0"], "nvcc": ["-O2"]})],
    cmdclass={"build_ext": BuildExtension},
)
