# SPDX-License-Identifier: Apache-2.0
"""The chain GPU - driver - CUDA toolkit - PyTorch - Python, checked before a CUDA extension is compiled.

    import torch_cuda_stack
    report = torch_cuda_stack.check(targets="8.6;9.0")      # what fits, what does not
    plan = torch_cuda_stack.plan(targets="8.6;9.0")         # or StackError, with the findings as its text
    for file in torch_cuda_stack.images("my_ops/_C.so"): print(file.path, file.images)

Nothing is decided here: the tool does that, and these are its answers (``tcstack check --format json``). The Python that
asks is the one whose PyTorch is looked at, unless ``settings={"Python_EXECUTABLE": ...}`` names another. For setuptools
there is :mod:`torch_cuda_stack.setuptools`; CMake projects need nothing of this module.
"""
from ._answers import Arch, BinaryFile, Coverage, Dialect, Evidence, Finding, Image, Plan, PlannedImage, Report, Target
from ._tool import (StackError, ToolError, ToolNotFoundError, build_environment, check, cmake_dir, images, plan, prefix,
                    tool, version)

__all__ = [
    "Arch", "BinaryFile", "Coverage", "Dialect", "Evidence", "Finding", "Image", "Plan", "PlannedImage", "Report",
    "StackError", "Target", "ToolError", "ToolNotFoundError", "build_environment", "check", "cmake_dir", "images", "plan",
    "prefix", "tool", "version",
]
