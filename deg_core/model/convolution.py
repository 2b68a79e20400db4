"""Short causal convolution over packed rows, one filter a channel.

N = flat tokens, N' = N and the padding of the last tile, C = channels, J = taps of a filter.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from deg_core.kernels import rowwise
from deg_core.kernels.select import by_rows
from deg_core.model.activation import silu
from deg_core.model.rows import Rows


def convolve(
    x_NC: torch.Tensor,
    weight_CJ: torch.Tensor,
    rows: Rows,
    tails: Sequence[torch.Tensor | None],
    activated: bool = False,
    exact: bool = False,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Each row after its prefix: y[t] = sum over j of weight[:, j] * x[t - J + 1 + j], or with activated its silu.

    x_NC: [N', C]. tails: for each row its prefix's last J - 1 inputs [J - 1, C], None for zeros. Returns y float32
    [N', C] (rows beyond the table are zero) and each row's new tail in the dtype of x. Every element is a fixed sequence
    of multiplications and additions, so it depends on its row alone; exact has no gradient.
    """
    before = weight_CJ.shape[1] - 1
    blank = x_NC.new_zeros(before, x_NC.shape[1])
    known = [blank if tail is None else tail for tail in tails]
    weights = weight_CJ.float().t()
    kernel = exact and by_rows(x_NC)
    if rows.tokens == len(rows) and not kernel:  # a step of decoding: all rows at once
        inputs = torch.cat((torch.stack(known, 1), x_NC[None, : rows.tokens]))
        y, ends = _filtered(inputs.float(), weights), list(inputs[1:].unbind(1))
    else:
        spans = zip(rows.starts, rows.lengths, known, strict=True)
        inputs = torch.cat([part for start, length, tail in spans for part in (tail, x_NC[start : start + length])])
        begins = [start + row * before for row, start in enumerate(rows.starts)]
        edges = [(begin, begin + length) for begin, length in zip(begins, rows.lengths, strict=True)]
        ends = [inputs[end : end + before] for _, end in edges]
        if kernel:
            places = torch.cat([torch.arange(begin, end) for begin, end in edges])
            out = weights.new_empty(x_NC.shape)
            out[rows.tokens :] = 0
            rowwise.convolve(inputs, weights, places, out[: rows.tokens], activated)
            return out, ends
        wide = inputs.float()
        y = _filtered([wide[tap : len(wide) - before + tap] for tap in range(before + 1)], weights)
        y = torch.cat([y[begin:end] for begin, end in edges])
    if activated:
        y = silu(y, exact)
    padding = x_NC.shape[0] - rows.tokens
    return (torch.nn.functional.pad(y, (0, 0, 0, padding)) if padding else y), ends


def _filtered(taps: Sequence[torch.Tensor] | torch.Tensor, weights_JC: torch.Tensor) -> torch.Tensor:
    """The sum over j of taps[j] * weights[j], the first first."""
    y = taps[0] * weights_JC[0]
    for tap in range(1, len(weights_JC)):
        y = y + taps[tap] * weights_JC[tap]
    return y
