# SPDX-License-Identifier: Apache-2.0
"""For setup.py: a CUDAExtension that is compiled for the plan.

    from torch_cuda_stack.setuptools import cuda_extension
    from torch.utils.cpp_extension import BuildExtension

    setup(ext_modules=[cuda_extension("my_ops._C", ["my_ops.cpp", "my_kernels.cu"])],
          cmdclass={"build_ext": BuildExtension})

PyTorch's reader of TORCH_CUDA_ARCH_LIST refuses names that nvcc takes (12.0f, 8.8), and without a GPU and a list it ends
with an IndexError. It steps aside where a flag of nvcc's holds the word "arch" (`_get_cuda_arch_flags` in
torch/utils/cpp_extension.py), so the plan is handed over as -gencode flags.
"""
import os
import re
import sys
from typing import Any, Dict, List, Optional

from . import _tool
from ._answers import Plan

# Of all that a build is told (docs/driving.md), what concerns this one and is not in the flags.
_WANTED = ("CUDA_HOME", "CUDACXX", "CUDAHOSTCXX", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "MAX_JOBS", "LIBRARY_PATH",
           "CPLUS_INCLUDE_PATH")


# nvcc's options for architectures, long and short ("Options for Steering GPU Code Generation" of its manual).
_ARCHITECTURES = re.compile(r"--?(gencode|generate-code|arch|gpu-architecture|code|gpu-code)(=|$)")


def use_plan(**question: Any) -> Plan:
    """Checks (as :func:`torch_cuda_stack.plan`, whose arguments it takes), and sets the toolkit, the host compiler and the
    number of jobs in the environment where you did not. The plan that is returned has ``gencode_flags`` for nvcc.

    :raises torch_cuda_stack.StackError: a build could not work; its text is the report.
    """
    _forget()
    found = _tool.plan(**question)
    for name, value in _tool.build_environment(**question).items():
        if name in _WANTED:
            _before[name] = os.environ.get(name)
            os.environ[name] = value
    _tell_torch()
    return found


# What the environment had before an earlier call, whose answers would else be taken for the user's own settings.
_before: Dict[str, Optional[str]] = {}


def _forget() -> None:
    for name, value in _before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    _before.clear()


def _tell_torch() -> None:
    # PyTorch looks for CUDA_HOME once, when torch.utils.cpp_extension is imported, and setup.py imports BuildExtension from
    # there before it asks for a plan. Its functions read the module's variable at each call.
    torch_side: Any = sys.modules.get("torch.utils.cpp_extension")
    if torch_side is not None and os.environ.get("CUDA_HOME"):
        torch_side.CUDA_HOME = os.environ["CUDA_HOME"]


def extension_arguments(plan: Plan, extra_compile_args: Any = None) -> Dict[str, List[str]]:
    """`extra_compile_args` for CUDAExtension: yours, with the plan's flags for nvcc. A list of yours is for both compilers,
    as PyTorch reads it. Flags of yours that name architectures are refused: two answers to one question."""
    yours = extra_compile_args if extra_compile_args is not None else {}
    if not isinstance(yours, dict):
        yours = {"cxx": list(yours), "nvcc": list(yours)}
    out = {name: list(flags) for name, flags in yours.items()}
    nvcc = out.setdefault("nvcc", [])
    out.setdefault("cxx", [])
    named = next((flag for flag in nvcc if _ARCHITECTURES.match(flag)), None)
    if named is not None:
        raise ValueError(f"extra_compile_args: nvcc has {named} already; leave it out, or say it as "
                         "cuda_extension(..., arch_list=...)")
    nvcc += plan.gencode_flags
    return out


def cuda_extension(name: str, sources: List[str], *, targets: Any = None, arch_list: Any = None,
                   settings: Any = None, allow: Any = (), fail_on: Optional[str] = None, extra_compile_args: Any = None,
                   **more: Any) -> Any:
    """torch.utils.cpp_extension.CUDAExtension for the plan; `more` is CUDAExtension's own. See :func:`use_plan`."""
    plan = use_plan(targets=targets, arch_list=arch_list, settings=settings, allow=allow, fail_on=fail_on)
    from torch.utils.cpp_extension import CUDAExtension
    return CUDAExtension(name, sources, extra_compile_args=extension_arguments(plan, extra_compile_args), **more)
