"""Activations whose bits depend on neither the number of threads nor the place of an element in its tensor.

torch.exp, log1p, cos and softmax run one vector code for every element. silu, sigmoid and softplus finish what
does not fill a vector in scalar code, and each thread's share of a large tensor has its own such end: at 5
threads single elements of a silu in float32 were seen to differ in the last bit. So with exact=True they are
made of torch.exp and IEEE operations.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - the name that torch's own documentation uses

from deg_core.kernels import rowwise
from deg_core.kernels.select import by_rows


def sigmoid(x: torch.Tensor, exact: bool) -> torch.Tensor:
    """The logistic function, in float32 or better; exact has no gradient."""
    return x.float().neg().exp_().add_(1).reciprocal_() if exact else x.float().sigmoid()


def silu(x: torch.Tensor, exact: bool) -> torch.Tensor:
    """x * sigmoid(x) in float32; exact has no gradient."""
    x = x.float()
    return x / x.neg().exp_().add_(1) if exact else F.silu(x)


def softplus(x: torch.Tensor, exact: bool) -> torch.Tensor:
    """log(1 + exp(x)) in float32; exact has no gradient."""
    x = x.float()
    return x.abs().neg_().exp_().log1p_().add_(x.clamp_min(0)) if exact else F.softplus(x)


def gated_silu(gate_up: torch.Tensor, exact: bool) -> torch.Tensor:
    """silu(gate) * up of a fused [N, 2 I], to [N, I] in its dtype (SwiGLU, arXiv:2002.05202); exact in float32."""
    if exact and by_rows(gate_up):
        return rowwise.gated_silu(gate_up)
    gate, up = gate_up.chunk(2, -1)
    return (silu(gate, exact) * up).to(gate_up.dtype) if exact else F.silu(gate) * up
