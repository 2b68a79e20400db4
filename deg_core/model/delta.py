"""Gated delta rule over packed rows (Gated DeltaNet, arXiv:2412.06464), in chunks (arXiv:2406.06484).

A row's state S [K, V] is read and rewritten by each token: S = exp(g) S; S += k (beta (v - k S)); o = q S.
Within a chunk these rewrites are one triangular system; the state moves from chunk to chunk. Kernels go from token to token.

N = flat tokens, H = value heads, K = key width, V = value width, C = chunks, W = tokens of a chunk, M = rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from deg_core.kernels import rowwise, trunk_delta
from deg_core.kernels.select import by_rows
from deg_core.model.rows import Rows, Scan

FORK_TOKENS = 256
"""On CUDA a row of at most so many tokens is read token by token, beside the others; a longer one in chunks, alone."""


@dataclass(frozen=True)
class DeltaInputs:
    """What each token brings, float32.

    q, k: [N, H, K], normalised, q scaled. v: [N, H, V]. decay: [N, H], the logarithm g (at most 0) of what
    the state keeps. beta: [N, H], the share (0 to 1) of the new value that is written.
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    decay: torch.Tensor
    beta: torch.Tensor

    def of(self, span: slice) -> DeltaInputs:
        """Those of a span of tokens."""
        return DeltaInputs(self.q[span], self.k[span], self.v[span], self.decay[span], self.beta[span])


def delta_rule(
    inputs: DeltaInputs, rows: Rows, initial: Sequence[torch.Tensor | None], grouped: bool
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Run every row on from its prefix's state.

    initial: for each row float32 [H, K, V], None for zeros; never written. Returns o [N, H, V] and each
    row's state after its last token. grouped=False computes row by row, so a row's bits are its own; without a gradient
    on a CPU it does so token by token, in one kernel.
    """
    width = inputs.k.shape[1:] + inputs.v.shape[2:]
    if by_rows(inputs.k) and not grouped:
        out = torch.empty_like(inputs.v[: rows.tokens])
        own = [inputs.k.new_zeros(width) if state is None else state.clone() for state in initial]
        for state, start, length in zip(own, rows.starts, rows.lengths, strict=True):
            here = inputs.of(slice(start, start + length))
            rowwise.delta_rule(state, here.q, here.k, here.v, here.decay, here.beta, out[start : start + length])
        return out, own
    states = [inputs.k.new_zeros(width) if state is None else state for state in initial]
    outputs = []
    for scan in rows.scans(grouped, inputs.k.device):
        out, after = _scan(inputs, scan, torch.stack([states[row] for row in scan.rows]))
        outputs.append(out)
        for row, state in zip(scan.rows, after, strict=True):
            states[row] = state
    return torch.cat(outputs), states


def kernel_delta_rule(
    inputs: DeltaInputs, rows: Rows, initial: Sequence[torch.Tensor | None], layer: int, dtype: torch.dtype
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """As delta_rule with grouped=False, on CUDA. layer: whose states `initial` are. dtype: the model's."""
    from deg_core.kernels.fork_delta import fork_delta

    table = rows.table(inputs.k.device)
    out = inputs.v.new_empty(rows.tokens, *inputs.v.shape[1:])
    states: dict[int, torch.Tensor] = {}
    short = [row for row, length in enumerate(rows.lengths) if length <= FORK_TOKENS]
    if short:
        spans = table.rows if len(short) == len(rows) else table.rows[short]
        parts = (inputs.q, inputs.k, inputs.v, inputs.decay, inputs.beta)
        states |= zip(short, fork_delta(*parts, spans, table.prefix(layer), out), strict=True)
    for row in set(range(len(rows))) - set(short):
        span = slice(rows.starts[row], rows.starts[row] + rows.lengths[row])
        out[span], states[row] = _alone(inputs.of(span), initial[row], dtype)
    return out, [states[row] for row in range(len(rows))]


def _alone(inputs: DeltaInputs, initial: torch.Tensor | None, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """o and the last state of one row; by flash-linear-attention where it is installed and the model is in bfloat16."""
    if inputs.k.is_cuda and dtype == torch.bfloat16 and trunk_delta.installed():
        return trunk_delta.trunk_delta(inputs.q, inputs.k, inputs.v, inputs.decay, inputs.beta, initial)
    out, (state,) = delta_rule(inputs, Rows([len(inputs.q)]), [initial], grouped=False)
    return out, state


def _scan(inputs: DeltaInputs, scan: Scan, state_MHKV: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One scan: o of its tokens in flat order, and the states [M, H, K, V] in the order of scan.rows."""

    def chunks(x: torch.Tensor) -> torch.Tensor:
        return x.index_select(0, scan.take).unflatten(0, (-1, scan.width)).transpose(1, 2).contiguous()

    q, k, v = chunks(inputs.q), chunks(inputs.k), chunks(inputs.v)
    beta = chunks(inputs.beta[..., None]) * scan.real
    total = (chunks(inputs.decay[..., None]) * scan.real).cumsum(2)
    between = (total - total.transpose(2, 3)).masked_fill(scan.later, float("-inf")).exp()
    into = total.exp()
    system = beta * (k @ k.transpose(2, 3)) * between
    unit = torch.eye(scan.width, device=k.device).expand_as(system)
    # the inverse and a product take a third of the time of solving for every column of v and k
    share = torch.linalg.solve_triangular(system, unit, upper=False, unitriangular=True) * beta.transpose(2, 3)
    written, seen = share @ v, (share * into.transpose(2, 3)) @ k
    scores = (q @ k.transpose(2, 3)) * between
    q, left = q * into, into[:, :, -1:]
    k = (k * (total[:, :, -1:] - total).exp()).transpose(2, 3)

    outputs, finished, low = [], [], 0
    state = state_MHKV
    for active in scan.active:
        finished.append(state[active:])
        state, here = state[:active], slice(low, low + active)
        value = _add(written[here], seen[here], state, -1)
        outputs.append(_add(q[here] @ state, scores[here], value))
        state = _add(left[here] * state, k[here], value)
        low += active
    out = torch.cat(outputs).transpose(1, 2).flatten(0, 1).index_select(0, scan.back)
    return out, torch.cat((state, *reversed(finished)))


def _add(to: torch.Tensor, a: torch.Tensor, b: torch.Tensor, sign: int = 1) -> torch.Tensor:
    """to + sign a @ b over the last two dimensions, in one pass."""
    return torch.baddbmm(to.flatten(0, -3), a.flatten(0, -3), b.flatten(0, -3), alpha=sign).view(to.shape)
