"""RMS norm (arXiv:1910.07467), for every family; on CUDA by a kernel where no gradient is asked for."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.kernels.select import takes
from deg_core.model.activation import silu


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, eps: float, offset: float = 0.0) -> torch.Tensor:
    """Over the last dimension, in the dtype of x, weighed with offset + weight.

    With an offset everything is computed in float32.
    """
    if _by_kernel(x):
        from deg_core.kernels.norm import rms_norm as kernel

        return kernel(x, weight, eps, offset)
    if offset and weight is not None:
        return F.rms_norm(x.float(), (x.shape[-1],), offset + weight.float(), eps).to(x.dtype)
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def gated_rms_norm(x: torch.Tensor, weight: torch.Tensor, gate: torch.Tensor, eps: float, exact: bool) -> torch.Tensor:
    """The norm of x [N, H, V] times silu(gate [N, H * V]), to [N, H * V] in the dtype of x; exact as in activation.py."""
    if _by_kernel(x):
        from deg_core.kernels.norm import rms_norm as kernel

        return kernel(x, weight, eps, gate=gate).flatten(1)
    normed = F.rms_norm(x, (x.shape[-1],), weight, eps).flatten(1)
    return (normed * silu(gate, exact)).to(x.dtype)


def _by_kernel(x: torch.Tensor) -> bool:
    return takes(x) and not torch.is_grad_enabled()
