# SPDX-License-Identifier: Apache-2.0
"""cap * tanh(x / cap) in one pass over memory, on CUDA and CPU."""
import torch

from . import _C  # noqa: F401  (loading it registers torch.ops.softcap)


def softcap(x, cap):
    return torch.ops.softcap.softcap(x, cap)
