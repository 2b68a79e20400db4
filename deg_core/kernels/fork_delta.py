"""Gated delta rule, token by token, from a prefix's state by reference (Gated DeltaNet, arXiv:2412.06464).

A program takes one row, one head and a block of the value's dimensions, of which none needs the others:
S = exp(g) S; S += k (beta (v - k S)); o = q S.

N = flat tokens, M = rows, S = prefixes, H = value heads, K = key width, V = value width.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl

BLOCK_V = 8


def fork_delta(
    q_NHK: torch.Tensor,
    k_NHK: torch.Tensor,
    v_NHV: torch.Tensor,
    decay_NH: torch.Tensor,
    beta_NH: torch.Tensor,
    rows_M3: torch.Tensor,
    prefixes_S3: torch.Tensor,
    out_NHV: torch.Tensor,
) -> torch.Tensor:
    """Write o of the rows' tokens into out and return the state [M, H, K, V] after each row; all float32.

    q, k normalised, q scaled; decay is g. Last dimensions contiguous. rows: int64 [M, 3], each row's first token, the
    one after its last, its prefix (-1: zeros). prefixes: int64 [S, 3] of RowTable, of which the first column is read:
    the address of the prefix's state [H, K, V].
    """
    heads, keys = q_NHK.shape[1:]
    values = v_NHV.shape[2]
    tensors = (q_NHK, k_NHK, v_NHV, decay_NH, beta_NH, out_NHV)
    if any(tensor.dtype != torch.float32 or tensor.stride(-1) != 1 for tensor in tensors):
        raise ValueError("the delta rule takes float32 with the last dimension contiguous")
    states = q_NHK.new_empty(rows_M3.shape[0], heads, keys, values)
    delta_kernel[(triton.cdiv(values, BLOCK_V), heads, rows_M3.shape[0])](
        *(*tensors, states, rows_M3, prefixes_S3),
        *(
            stride
            for tensor in tensors
            for stride in (tensor.stride()[:2] if tensor.dim() == 3 else tensor.stride()[:1])
        ),
        KEYS=keys,
        VALUES=values,
        BLOCK_K=triton.next_power_of_2(keys),
        BLOCK_V=BLOCK_V,
        num_warps=1,
    )
    return states


def plain_fork_delta(
    q_NHK: torch.Tensor,
    k_NHK: torch.Tensor,
    v_NHV: torch.Tensor,
    decay_NH: torch.Tensor,
    beta_NH: torch.Tensor,
    rows: Sequence[tuple[int, int]],
    initial: Sequence[torch.Tensor | None],
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in torch, as the rule is defined: o [N, H, V], zero beyond the rows, and the states [M, H, K, V]."""
    out = torch.zeros_like(v_NHV)
    states = []
    for (start, end), before in zip(rows, initial, strict=True):
        state = q_NHK.new_zeros(*q_NHK.shape[1:], v_NHV.shape[2]) if before is None else before
        for t in range(start, end):
            state = state * decay_NH[t].exp()[:, None, None]
            change = (v_NHV[t] - (k_NHK[t, :, :, None] * state).sum(1)) * beta_NH[t, :, None]
            state = state + k_NHK[t, :, :, None] * change[:, None, :]
            out[t] = (q_NHK[t, :, :, None] * state).sum(1)
        states.append(state)
    return out, torch.stack(states)


@triton.jit
def delta_kernel(
    q_ptr, k_ptr, v_ptr, decay_ptr, beta_ptr, out_ptr, states_ptr, rows_ptr, prefixes_ptr,
    q_token, q_head, k_token, k_head, v_token, v_head, decay_token, beta_token, out_token, out_head,
    KEYS: tl.constexpr, VALUES: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_V: tl.constexpr,
):  # fmt: skip
    """One row's walk; grid (blocks of values, heads, rows)."""
    head = tl.program_id(1).to(tl.int64)
    row = tl.program_id(2).to(tl.int64)
    start = tl.load(rows_ptr + row * 3)
    end = tl.load(rows_ptr + row * 3 + 1)
    which = tl.load(rows_ptr + row * 3 + 2)
    k = tl.arange(0, BLOCK_K)
    v = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    inside_K = k < KEYS
    inside_V = v < VALUES
    inside = inside_K[:, None] & inside_V[None, :]
    place = head * KEYS * VALUES + k[:, None] * VALUES + v[None, :]
    address = tl.load(prefixes_ptr + which * 3, mask=which >= 0, other=0)
    before = tl.multiple_of(address.to(tl.pointer_type(tl.float32)), 16)
    state_KV = tl.load(before + place, mask=inside & (which >= 0), other=0.0)
    for t in range(start, end):
        key_K = tl.load(k_ptr + t * k_token + head * k_head + k, mask=inside_K, other=0.0)
        query_K = tl.load(q_ptr + t * q_token + head * q_head + k, mask=inside_K, other=0.0)
        value_V = tl.load(v_ptr + t * v_token + head * v_head + v, mask=inside_V, other=0.0)
        beta = tl.load(beta_ptr + t * beta_token + head)
        state_KV *= tl.exp(tl.load(decay_ptr + t * decay_token + head))
        change_V = (value_V - tl.sum(key_K[:, None] * state_KV, 0)) * beta
        state_KV += key_K[:, None] * change_V[None, :]
        out_V = tl.sum(query_K[:, None] * state_KV, 0)
        tl.store(out_ptr + t * out_token + head * out_head + v, out_V, mask=inside_V)
    tl.store(states_ptr + row * KEYS * tl.num_programs(1) * VALUES + place, state_KV, mask=inside)
