# SPDX-License-Identifier: Apache-2.0
"""The largest magnitude of each row, as a quantisation wants it, on CUDA and CPU. NaN is passed over."""
import torch

from . import _C  # noqa: F401  (loading it registers torch.ops.row_absmax)


def row_absmax(x):
    return torch.ops.row_absmax.row_absmax(x)
