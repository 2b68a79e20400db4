"""RMS norm (arXiv:1910.07467), plain and gated, a few rows a program.

N = rows, E = width.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

PROGRAM_ELEMENTS = 2048
"""Elements that a program norms: as many rows as fit, at least one; follows from the width alone."""


def rms_norm(
    x: torch.Tensor,
    weight_E: torch.Tensor | None,
    eps: float,
    offset: float = 0.0,
    gate: torch.Tensor | None = None,
) -> torch.Tensor:
    """x / sqrt(mean(x^2) + eps) * (offset + weight) * silu(gate) over the last dimension, in the dtype of x.

    x: [..., E]; gate: as many elements in the same order. Without weight or gate that factor is left out. Computed in float32, rounded once.
    """
    width = x.shape[-1]
    rows = _flat(x, width)
    gates = rows if gate is None else _flat(gate, width)
    if gates.shape != rows.shape or (weight_E is not None and weight_E.shape != (width,)):
        raise ValueError(f"weight or gate {tuple(gates.shape)} does not fit rows {tuple(rows.shape)}")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(width)
    together = max(1, PROGRAM_ELEMENTS // block)
    if rows.shape[0]:
        norm_kernel[(triton.cdiv(rows.shape[0], together),)](
            *(rows, rows if weight_E is None else weight_E, gates, out, rows.shape[0], width),
            *(rows.stride(0), gates.stride(0), eps, offset),
            WEIGHED=weight_E is not None,
            GATED=gate is not None,
            ROWS=together,
            BLOCK=block,
            num_warps=4,
        )
    return out


def _flat(x: torch.Tensor, width: int) -> torch.Tensor:
    rows = x.reshape(-1, width)
    return rows if rows.stride(1) == 1 else rows.contiguous()


def plain_rms_norm(
    x: torch.Tensor,
    weight_E: torch.Tensor | None,
    eps: float,
    offset: float = 0.0,
    gate: torch.Tensor | None = None,
) -> torch.Tensor:
    """The same in torch."""
    wide = x.float()
    y = wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt()
    if weight_E is not None:
        y = y * (offset + weight_E.float())
    if gate is not None:
        y = y * torch.nn.functional.silu(gate.float()).reshape(x.shape)
    return y.to(x.dtype)


@triton.jit(do_not_specialize=["rows"])
def norm_kernel(
    x_ptr,
    weight_ptr,
    gate_ptr,
    out_ptr,
    rows,
    width,
    x_stride,
    gate_stride,
    eps,
    offset,
    WEIGHED: tl.constexpr,
    GATED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """ROWS rows; grid (blocks of rows,)."""
    n = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    e = tl.arange(0, BLOCK)
    inside = (n < rows)[:, None] & (e < width)[None, :]
    x = tl.load(x_ptr + n[:, None] * x_stride + e[None, :], mask=inside, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, 1) / width + eps)[:, None]
    if WEIGHED:
        weight = tl.load(weight_ptr + e, mask=e < width, other=0.0).to(tl.float32)
        y = y * (offset + weight)[None, :]
    if GATED:
        gate = tl.load(gate_ptr + n[:, None] * gate_stride + e[None, :], mask=inside, other=0.0).to(tl.float32)
        y = y * (gate / (1.0 + tl.exp(-gate)))
    tl.store(out_ptr + n[:, None] * width + e[None, :], y.to(out_ptr.dtype.element_ty), mask=inside)
