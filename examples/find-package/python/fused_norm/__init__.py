# SPDX-License-Identifier: Apache-2.0
"""A residual connection and its RMS norm in one pass over memory, on CUDA and CPU, with gradients."""
import torch

from . import _C  # noqa: F401  (loading it registers torch.ops.fused_norm)

__all__ = ["AddRMSNorm", "add_rms_norm"]


def add_rms_norm(x, residual, weight, eps=1e-6):
    """Return (y, sum) with sum = x + residual and y = sum * rsqrt(mean(sum**2, -1) + eps) * weight."""
    return torch.ops.fused_norm.add_rms_norm(x, residual, weight, eps)


class AddRMSNorm(torch.nn.Module):
    """The same as a layer: normed, residual = norm(x, residual)."""

    def __init__(self, size, eps=1e-6, device=None, dtype=None):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(size, device=device, dtype=dtype))

    def forward(self, x, residual):
        return add_rms_norm(x, residual, self.weight, self.eps)
