"""Grouped-query attention over packed rows and prefixes by reference.

H = query heads, G = key/value heads, R = H / G, D = head width, N = flat tokens, L = queries and K = keys
of a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.kernels import rowwise
from deg_core.kernels.select import by_rows, takes
from deg_core.model.rows import Block, Rows
from deg_core.model.state import LayerState

KEY_BLOCK = 4096
"""More keys than this are taken in blocks: oneDNN keeps a kernel and its scratch memory for every size it has met, and a
long context has as many sizes as blocks of queries, so that memory would grow with the square of the length."""
CACHED_KEYS = 2048
"""Exact attention on a CPU takes no more keys at a time, so that their scores are used while they are in cache."""


def attend(
    q_NHD: torch.Tensor, k_NGD: torch.Tensor, v_NGD: torch.Tensor, rows: Rows, layer: int, grouped: bool
) -> tuple[torch.Tensor, list[LayerState]]:
    """Causal attention of every row over its prefix and itself; on CUDA by a kernel, unless rows are grouped.

    Returns the output [N', H * D] in the dtype of q (rows beyond the table are zero) and each row's own
    (k_GLD, v_GLD). Scores are scaled by D ** -0.5; the softmax is computed in float32.
    """
    k_GND, v_GND = k_NGD.transpose(0, 1), v_NGD.transpose(0, 1)
    own: list[LayerState] = [
        (k_GND[:, start : start + length], v_GND[:, start : start + length])
        for start, length in zip(rows.starts, rows.lengths, strict=True)
    ]
    k_NGD, v_NGD = rows.own_keys(layer, k_NGD, v_NGD)
    if takes(q_NHD) and not grouped:
        from deg_core.kernels.fork_attention import fork_attention

        return fork_attention(q_NHD, k_NGD, v_NGD, rows.table(q_NHD.device), layer), own
    k_GND, v_GND = k_NGD.transpose(0, 1), v_NGD.transpose(0, 1)
    outputs = []
    for same in _runs(rows.blocks(grouped, q_NHD.dtype, q_NHD.device)):
        first, end = same[0].keys_start, same[-1].keys_end
        k_GKD, v_GKD, before = k_GND[:, first:end], v_GND[:, first:end], 0
        if same[0].prefix >= 0:
            prefix_k, prefix_v = rows.states[same[0].prefix].layers[layer]
            k_GKD, v_GKD, before = torch.cat((prefix_k, k_GKD), 1), torch.cat((prefix_v, v_GKD), 1), prefix_k.shape[1]
        for block in same:
            seen = before + block.keys_end - first
            queries, keys, values = q_NHD[block.start : block.end], k_GKD[:, :seen], v_GKD[:, :seen]
            outputs.append(_attend_block(queries, keys, values, block.bias, grouped))
    padding = q_NHD.shape[0] - rows.tokens
    if padding:
        outputs.append(outputs[0].new_zeros(padding, outputs[0].shape[1]))
    return torch.cat(outputs), own


def _runs(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Blocks of one row, so that its prefix and its own keys are put together once."""
    return (list(run) for _, run in groupby(blocks, key=lambda block: block.keys_start))


def _attend_block(
    q_LHD: torch.Tensor, k_GKD: torch.Tensor, v_GKD: torch.Tensor, bias: torch.Tensor | None, grouped: bool
) -> torch.Tensor:
    """Attention of a block's queries to the keys that they may see; bias [L, L]: of the last keys, their own."""
    length, heads, width = q_LHD.shape
    groups, keys = k_GKD.shape[:2]
    repeat = heads // groups
    q_GMD = q_LHD.view(length, groups, repeat, width).transpose(0, 1).reshape(groups, length * repeat, width)
    if by_rows(q_LHD) and not grouped:
        out = _exactly(q_GMD, k_GKD, v_GKD, repeat)
    else:
        if bias is not None:
            # added in the product: in place the backward would copy the scores' gradient, a third of its time
            bias = F.pad(bias, (keys - length, 0)).repeat_interleave(repeat, 0)
        out = _weighed(torch.softmax(_scores(q_GMD, k_GKD, bias), -1), v_GKD)
    return out.view(groups, length, repeat, width).transpose(0, 1).reshape(length, heads * width)


def _exactly(q_GMD: torch.Tensor, k_GKD: torch.Tensor, v_GKD: torch.Tensor, repeat: int) -> torch.Tensor:
    """Attention of the last tokens, each with `repeat` queries, to the keys up to their own, [G, M, D] in the dtype of q.

    More keys than CACHED_KEYS are taken block by block.
    """
    keys = k_GKD.shape[1]
    if keys <= CACHED_KEYS:
        return torch.bmm(rowwise.causal_softmax(_scores(q_GMD, k_GKD), repeat), v_GKD)
    tops, sums = q_GMD.new_full(q_GMD.shape[:2], float("-inf"), dtype=torch.float32), torch.zeros(q_GMD.shape[:2])
    mixed = torch.zeros(q_GMD.shape)
    after = keys
    for k, v in zip(k_GKD.split(CACHED_KEYS, 1), v_GKD.split(CACHED_KEYS, 1), strict=True):
        after -= k.shape[1]
        mixed += torch.bmm(rowwise.fold_softmax(_scores(q_GMD, k), tops, sums, mixed, repeat, after), v)
    return rowwise.scale_rows(mixed.flatten(0, 1), sums.flatten().reciprocal_(), q_GMD.dtype).view(q_GMD.shape)


def _scores(q_GMD: torch.Tensor, k_GKD: torch.Tensor, bias_MK: torch.Tensor | None = None) -> torch.Tensor:
    """q . k / sqrt(D) + bias, [G, M, K]."""
    scale = q_GMD.shape[-1] ** -0.5
    keys = k_GKD.split(KEY_BLOCK, 1)
    biases = [q_GMD.new_empty(())] * len(keys) if bias_MK is None else bias_MK.split(KEY_BLOCK, 1)
    beta = 0 if bias_MK is None else 1
    parts = [
        torch.baddbmm(bias, q_GMD, k.transpose(1, 2), beta=beta, alpha=scale)
        for bias, k in zip(biases, keys, strict=True)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts, -1)


def _weighed(p_GMK: torch.Tensor, v_GKD: torch.Tensor) -> torch.Tensor:
    """p v, [G, M, D] in the dtype of v; sums of several blocks of keys in float32."""
    parts = [torch.bmm(p, v) for p, v in zip(p_GMK.split(KEY_BLOCK, 2), v_GKD.split(KEY_BLOCK, 1), strict=True)]
    return parts[0] if len(parts) == 1 else torch.stack([part.float() for part in parts]).sum(0).to(v_GKD.dtype)


def extend(prefix: LayerState | None, own: LayerState) -> LayerState:
    """The layer state after a row: its prefix's keys and values followed by its own."""
    if prefix is None:
        return tuple(tensor.contiguous() for tensor in own)
    return tuple(torch.cat((before, after), 1) for before, after in zip(prefix, own, strict=True))
