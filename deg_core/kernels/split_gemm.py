"""x W^T for few rows (decode steps, the LM head): the inputs are cut into as many parts as the weight's shape says.

Each part is summed on its own, then the parts in order: no atomics.

N = rows, K = inputs, O = outputs, S = parts.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from deg_core.kernels.dot import WIDEN, dot
from deg_core.kernels.gemm import check_operands

BLOCK_N = 16
BLOCK_O = 64
BLOCK_K = 64
PROGRAMS = 256
"""Programs that a launch of few rows aims at: one or two on each multiprocessor of the larger GPUs."""


def part_inputs(outputs: int, inputs: int) -> int:
    """Inputs of a part, a multiple of BLOCK_K; follows from the weight's shape alone."""
    blocks = triton.cdiv(inputs, BLOCK_K)
    parts = min(max(1, PROGRAMS // triton.cdiv(outputs, BLOCK_O)), blocks)
    return triton.cdiv(blocks, parts) * BLOCK_K


def small_linear(x_NK: torch.Tensor, weight_OK: torch.Tensor) -> torch.Tensor:
    """x [N, K] times weight [O, K] transposed: [N, O], with dtypes and layouts as in gemm.linear."""
    check_operands(x_NK, weight_OK)
    rows, inputs = x_NK.shape
    outputs = weight_OK.shape[0]
    part = part_inputs(outputs, inputs)
    parts = triton.cdiv(inputs, part)
    sums = x_NK.new_empty(parts, rows, outputs, dtype=torch.float32)
    out = x_NK.new_empty(rows, outputs)
    if rows:
        grid = (triton.cdiv(outputs, BLOCK_O), parts, triton.cdiv(rows, BLOCK_N))
        part_kernel[grid](
            *(x_NK, weight_OK, sums, rows, inputs, outputs, part, x_NK.stride(0), weight_OK.stride(0)),
            BLOCK_N=BLOCK_N,
            BLOCK_O=BLOCK_O,
            BLOCK_K=BLOCK_K,
            WIDEN=WIDEN,
            num_warps=4,
            num_stages=3,
        )
        sum_kernel[(triton.cdiv(outputs, BLOCK_O), triton.cdiv(rows, BLOCK_N))](
            sums, out, rows, outputs, PARTS=parts, BLOCK_N=BLOCK_N, BLOCK_O=BLOCK_O, num_warps=4
        )
    return out


def plain_small_linear(x_NK: torch.Tensor, weight_OK: torch.Tensor) -> torch.Tensor:
    """The same in torch, cut into the same parts."""
    part = part_inputs(*weight_OK.shape)
    pairs = zip(x_NK.float().split(part, 1), weight_OK.float().split(part, 1), strict=True)
    return sum(x @ weight.t() for x, weight in pairs).to(x_NK.dtype)


@triton.jit(do_not_specialize=["rows"])
def part_kernel(
    x_ptr,
    weight_ptr,
    sums_ptr,
    rows,
    inputs,
    outputs,
    part,
    x_stride,
    weight_stride,
    BLOCK_N: tl.constexpr,
    BLOCK_O: tl.constexpr,
    BLOCK_K: tl.constexpr,
    WIDEN: tl.constexpr,
):
    """One part's sum of a tile; grid (tiles of outputs, parts, tiles of rows)."""
    o = tl.program_id(0).to(tl.int64) * BLOCK_O + tl.arange(0, BLOCK_O)
    which = tl.program_id(1).to(tl.int64)
    n = tl.program_id(2).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_NK = x_ptr + n[:, None] * x_stride + k[None, :]
    weight_KO = weight_ptr + o[None, :] * weight_stride + k[:, None]
    total = tl.zeros((BLOCK_N, BLOCK_O), tl.float32)
    for low in range(which * part, tl.minimum(which * part + part, inputs), BLOCK_K):
        inside = k < inputs - low
        x = tl.load(x_NK + low, mask=(n < rows)[:, None] & inside[None, :], other=0.0)
        weight = tl.load(weight_KO + low, mask=(o < outputs)[None, :] & inside[:, None], other=0.0)
        total = dot(x, weight, total, WIDEN)
    place = (which * rows + n)[:, None] * outputs + o[None, :]
    tl.store(sums_ptr + place, total, mask=(n < rows)[:, None] & (o < outputs)[None, :])


@triton.jit(do_not_specialize=["rows"])
def sum_kernel(
    sums_ptr,
    out_ptr,
    rows,
    outputs,
    PARTS: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_O: tl.constexpr,
):
    """The sum of a tile's parts, first to last; grid (tiles of outputs, tiles of rows)."""
    o = tl.program_id(0).to(tl.int64) * BLOCK_O + tl.arange(0, BLOCK_O)
    n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (n < rows)[:, None] & (o < outputs)[None, :]
    total = tl.zeros((BLOCK_N, BLOCK_O), tl.float32)
    for part in range(PARTS):
        place = (part * rows.to(tl.int64) + n)[:, None] * outputs + o[None, :]
        total += tl.load(sums_ptr + place, mask=inside, other=0.0)
    tl.store(out_ptr + n[:, None] * outputs + o[None, :], total.to(out_ptr.dtype.element_ty), mask=inside)
