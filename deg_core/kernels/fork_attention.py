"""Causal attention of packed rows over a prefix by reference and over themselves (FlashAttention, arXiv:2205.14135).

A program takes a block of queries of one row and one key/value head, with all query heads that share it. It reads the
keys in blocks in one order: the prefix's from its first, then the row's own from their first; these are of its tokens
or, in decoding, in a buffer. A block of which a query may see nothing leaves that query's numbers as they are, to the
bit.

H = query heads, G = key/value heads, D = head width, N = flat tokens, P = tokens of a prefix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl

from deg_core.kernels.dot import WIDEN, dot
from deg_core.kernels.table import RowTable

PAIRS = {torch.bfloat16: 64, torch.float32: 16}
"""(Query, head) pairs of a block."""
KEYS = {torch.bfloat16: (16, 8192, 64), torch.float32: (16, 2048, 32)}
"""Of a block of keys: how many at least, elements to aim at, how many at most."""
NARROW = 128


def fork_attention(
    q_NHD: torch.Tensor, k_NGD: torch.Tensor, v_NGD: torch.Tensor, table: RowTable, layer: int
) -> torch.Tensor:
    """The output [N', H * D] in the dtype of q, with zeros beyond the table's rows.

    q, k, v: one dtype, bfloat16 or float32, last dimension contiguous; k and v are the flat keys and values in which
    table.own finds those of a row. The state of a prefix in this layer is k and v [G, P, D] in that dtype. Scores are
    scaled by D ** -0.5; scores, softmax and sums in float32.
    """
    tokens, heads, width = q_NHD.shape
    groups = k_NGD.shape[1]
    repeat = heads // groups
    if q_NHD.dtype not in PAIRS or heads % groups or not q_NHD.dtype == k_NGD.dtype == v_NGD.dtype:
        raise ValueError(f"{heads} query heads over {groups} of {q_NHD.dtype}, {k_NGD.dtype} and {v_NGD.dtype}")
    if not q_NHD.stride(2) == k_NGD.stride(2) == v_NGD.stride(2) == 1:
        raise ValueError("the last dimension of q, k and v must be contiguous")
    pairs = PAIRS[q_NHD.dtype]
    if repeat > pairs:
        raise ValueError(f"{repeat} query heads for one key/value head are more than {pairs}")
    padded = max(16, triton.next_power_of_2(width))
    least, elements, most = KEYS[q_NHD.dtype]
    out = q_NHD.new_zeros(tokens, heads * width)
    blocks = table.blocks(pairs // repeat)
    attention_kernel[(blocks.shape[0], groups)](
        *(q_NHD, k_NGD, v_NGD, out, blocks, table.rows, table.own, table.prefix(layer)),
        *(*q_NHD.stride()[:2], *k_NGD.stride()[:2], *v_NGD.stride()[:2], width**-0.5 * math.log2(math.e)),
        WIDTH=width,
        REPEAT=repeat,
        BLOCK_M=pairs,
        BLOCK_K=min(max(least, elements // padded), most),
        BLOCK_D=padded,
        WIDEN=WIDEN,
        num_warps=4 if padded <= NARROW else 8,
        num_stages=2,
    )
    return out


def plain_fork_attention(
    q_NHD: torch.Tensor,
    k_NGD: torch.Tensor,
    v_NGD: torch.Tensor,
    rows: Sequence[tuple[int, int]],
    prefixes: Sequence[tuple[torch.Tensor, torch.Tensor] | None],
) -> torch.Tensor:
    """The same in torch, in float32. rows: first token and the one after the last; prefixes: each row's k and v."""
    heads, width = q_NHD.shape[1:]
    out = q_NHD.new_zeros(q_NHD.shape[0], heads * width)
    for (start, end), prefix in zip(rows, prefixes, strict=True):
        k, v = (x[start:end].transpose(0, 1).float() for x in (k_NGD, v_NGD))
        if prefix is not None:
            k, v = torch.cat((prefix[0].float(), k), 1), torch.cat((prefix[1].float(), v), 1)
        k, v = (x.repeat_interleave(heads // x.shape[0], 0) for x in (k, v))
        scores = q_NHD[start:end].transpose(0, 1).float() @ k.transpose(1, 2) * width**-0.5
        hidden = torch.ones(scores.shape[1:], dtype=torch.bool).triu(k.shape[1] - (end - start) + 1)
        weights = scores.masked_fill(hidden.to(scores.device), float("-inf")).softmax(-1)
        out[start:end] = (weights @ v).transpose(0, 1).flatten(1).to(out.dtype)
    return out


@triton.jit
def attend_keys(
    q_MD, k_ptr, v_ptr, stride_k, stride_v, seen_K, seen_MK, best_M, total_M, sum_MD, scale,
    WIDTH: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    """Go on with one block of keys: k_ptr, v_ptr at its first, seen_K whether a key exists, seen_MK for which query."""
    n = tl.arange(0, BLOCK_K)
    d = tl.arange(0, BLOCK_D)
    k_DK = tl.load(k_ptr + d[:, None] + n[None, :] * stride_k, mask=(d < WIDTH)[:, None] & seen_K[None, :], other=0.0)
    v_KD = tl.load(v_ptr + n[:, None] * stride_v + d[None, :], mask=seen_K[:, None] & (d < WIDTH)[None, :], other=0.0)
    scores = dot(q_MD, k_DK, tl.zeros((q_MD.shape[0], BLOCK_K), tl.float32), WIDEN) * scale
    scores = tl.where(seen_MK, scores, float("-inf"))
    higher = tl.maximum(best_M, tl.max(scores, 1))
    weights = tl.exp2(scores - higher[:, None])
    left = tl.exp2(best_M - higher)
    weights_MK = weights if WIDEN else weights.to(v_KD.dtype)
    sum_MD = dot(weights_MK, v_KD, sum_MD * left[:, None], WIDEN)
    return higher, total_M * left + tl.sum(weights, 1), sum_MD


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, blocks_ptr, rows_ptr, own_ptr, prefixes_ptr,
    q_token, q_head, k_token, k_head, v_token, v_head, scale,
    WIDTH: tl.constexpr, REPEAT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDEN: tl.constexpr,
):  # fmt: skip
    """One block of queries of one key/value head; grid (blocks, key/value heads)."""
    block = tl.program_id(0).to(tl.int64) * 2
    group = tl.program_id(1).to(tl.int64)
    number = tl.load(blocks_ptr + block)
    row = rows_ptr + number * 3
    first = tl.load(blocks_ptr + block + 1)
    start = tl.load(row)
    end = tl.load(row + 1)
    which = tl.load(row + 2)
    own = tl.load(own_ptr + number * 2)
    shift = own + tl.load(own_ptr + number * 2 + 1) - start
    QUERIES: tl.constexpr = BLOCK_M // REPEAT
    m = tl.arange(0, BLOCK_M)
    token = first + m // REPEAT
    head = group * REPEAT + m % REPEAT
    d = tl.arange(0, BLOCK_D)
    n = tl.arange(0, BLOCK_K)
    inside = ((m < QUERIES * REPEAT) & (token < end))[:, None] & (d < WIDTH)[None, :]
    place = token[:, None] * q_token + head[:, None] * q_head + d[None, :]
    q_MD = tl.load(q_ptr + place, mask=inside, other=0.0)
    best_M = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total_M = tl.zeros((BLOCK_M,), tl.float32)
    sum_MD = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)

    prefix = prefixes_ptr + which * 3
    length = tl.load(prefix + 2, mask=which >= 0, other=0)
    pointer: tl.constexpr = tl.pointer_type(k_ptr.dtype.element_ty)
    keys = tl.multiple_of(tl.load(prefix, mask=which >= 0, other=0).to(pointer), 16) + group * length * WIDTH
    values = tl.multiple_of(tl.load(prefix + 1, mask=which >= 0, other=0).to(pointer), 16) + group * length * WIDTH
    for low in range(0, length, BLOCK_K):
        there = low + n < length
        best_M, total_M, sum_MD = attend_keys(
            q_MD, keys + low * WIDTH, values + low * WIDTH, WIDTH, WIDTH, there,
            there[None, :] & (m >= 0)[:, None], best_M, total_M, sum_MD, scale, WIDTH, BLOCK_K, BLOCK_D, WIDEN,
        )  # fmt: skip
    own_k = k_ptr + group * k_head
    own_v = v_ptr + group * v_head
    last = tl.minimum(end, first + QUERIES) + shift
    for low in range(own, last, BLOCK_K):
        best_M, total_M, sum_MD = attend_keys(
            q_MD, own_k + low * k_token, own_v + low * v_token, k_token, v_token, low + n < last,
            (low + n)[None, :] <= token[:, None] + shift, best_M, total_M, sum_MD, scale, WIDTH, BLOCK_K, BLOCK_D, WIDEN,
        )  # fmt: skip
    place = token[:, None] * (REPEAT * WIDTH * tl.num_programs(1)) + head[:, None] * WIDTH + d[None, :]
    tl.store(out_ptr + place, (sum_MD / total_M[:, None]).to(out_ptr.dtype.element_ty), mask=inside)
