"""RMS norm (arXiv:1910.07467), for every family; exactly by a kernel."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.kernels import rowwise
from deg_core.kernels.select import by_rows, takes
from deg_core.model.activation import silu


def rms_norm(
    x: torch.Tensor, weight: torch.Tensor | None, eps: float, offset: float = 0.0, exact: bool = False
) -> torch.Tensor:
    """Over the last dimension, in the dtype of x, weighed with offset + weight; exact has no gradient.

    With an offset everything is computed in float32.
    """
    kernel = _kernel(x) if exact else None
    if kernel:
        return kernel(x, weight, eps, offset)
    if offset and weight is not None:
        return F.rms_norm(x.float(), (x.shape[-1],), offset + weight.float(), eps).to(x.dtype)
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def gated_rms_norm(x: torch.Tensor, weight: torch.Tensor, gate: torch.Tensor, eps: float, exact: bool) -> torch.Tensor:
    """The norm of x [N, H, V] times silu(gate [N, H * V]), to [N, H * V] in the dtype of x; exact as in activation.py."""
    kernel = _kernel(x) if exact else None
    if kernel:
        return kernel(x, weight, eps, gate=gate).flatten(1)
    normed = F.rms_norm(x, (x.shape[-1],), weight, eps).flatten(1)
    return (normed * silu(gate, exact)).to(x.dtype)


def _kernel(x: torch.Tensor) -> Callable[..., torch.Tensor] | None:
    """What computes norms of x on its device, gates and all."""
    if by_rows(x):
        return rowwise.rms_norm
    if takes(x):
        from deg_core.kernels import norm

        return norm.rms_norm
    return None
