"""x W^T in tiles of one size, the sum over the inputs in one order and never split.

N = rows, K = inputs, O = outputs.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from deg_core.kernels.dot import WIDEN, dot

CONFIGS = {
    torch.bfloat16: {"BLOCK_N": 64, "BLOCK_O": 128, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3},
    torch.float32: {"BLOCK_N": 64, "BLOCK_O": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 2},
}


def linear(x_NK: torch.Tensor, weight_OK: torch.Tensor) -> torch.Tensor:
    """x [N, K] times weight [O, K] transposed: [N, O].

    Both in bfloat16 or both in float32, last dimension contiguous; sums in float32, rounded once to the dtype of x.
    """
    check_operands(x_NK, weight_OK)
    rows, inputs = x_NK.shape
    outputs = weight_OK.shape[0]
    config = CONFIGS[x_NK.dtype]
    out = x_NK.new_empty(rows, outputs)
    grid = (triton.cdiv(rows, config["BLOCK_N"]), triton.cdiv(outputs, config["BLOCK_O"]))
    if rows:
        gemm_kernel[grid](
            x_NK, weight_OK, out, rows, inputs, outputs, x_NK.stride(0), weight_OK.stride(0), WIDEN=WIDEN, **config
        )
    return out


def plain_linear(x_NK: torch.Tensor, weight_OK: torch.Tensor) -> torch.Tensor:
    """The same in torch."""
    return (x_NK.float() @ weight_OK.float().t()).to(x_NK.dtype)


def check_operands(x_NK: torch.Tensor, weight_OK: torch.Tensor) -> None:
    """Raises ValueError for operands that do not fit each other or have no configuration."""
    if x_NK.dtype != weight_OK.dtype or x_NK.dtype not in CONFIGS or x_NK.shape[1] != weight_OK.shape[1]:
        raise ValueError(
            f"{x_NK.dtype} {tuple(x_NK.shape)} by {weight_OK.dtype} {tuple(weight_OK.shape)}: "
            f"inputs must be as many, both in one of {', '.join(map(str, CONFIGS))}"
        )
    if x_NK.stride(1) != 1 or weight_OK.stride(1) != 1:
        raise ValueError("the last dimension of both operands must be contiguous")


@triton.jit(do_not_specialize=["rows"])
def gemm_kernel(
    x_ptr,
    weight_ptr,
    out_ptr,
    rows,
    inputs,
    outputs,
    x_stride,
    weight_stride,
    BLOCK_N: tl.constexpr,
    BLOCK_O: tl.constexpr,
    BLOCK_K: tl.constexpr,
    WIDEN: tl.constexpr,
):
    """One tile [BLOCK_N, BLOCK_O] of the output; grid (tiles of rows, tiles of outputs)."""
    n = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    o = tl.program_id(1).to(tl.int64) * BLOCK_O + tl.arange(0, BLOCK_O)
    k = tl.arange(0, BLOCK_K)
    x_NK = x_ptr + n[:, None] * x_stride + k[None, :]
    weight_KO = weight_ptr + o[None, :] * weight_stride + k[:, None]
    total = tl.zeros((BLOCK_N, BLOCK_O), tl.float32)
    for low in range(0, inputs, BLOCK_K):
        inside = k < inputs - low
        x = tl.load(x_NK + low, mask=(n < rows)[:, None] & inside[None, :], other=0.0)
        weight = tl.load(weight_KO + low, mask=(o < outputs)[None, :] & inside[:, None], other=0.0)
        total = dot(x, weight, total, WIDEN)
    place = n[:, None] * outputs + o[None, :]
    tl.store(out_ptr + place, total.to(out_ptr.dtype.element_ty), mask=(n < rows)[:, None] & (o < outputs)[None, :])
