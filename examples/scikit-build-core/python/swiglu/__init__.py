# SPDX-License-Identifier: Apache-2.0
"""silu(gate) * up in one pass over memory, on CUDA and CPU."""
import torch

from . import _C  # noqa: F401  (loading it registers torch.ops.swiglu)


def swiglu(gate, up):
    return torch.ops.swiglu.swiglu(gate, up)
