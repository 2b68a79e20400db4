"""Short causal convolution over packed rows, one filter a channel.

N = flat tokens, N' = N and the padding of the last tile, C = channels, J = taps of a filter.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from deg_core.model.rows import Rows


def convolve(
    x_NC: torch.Tensor, weight_CJ: torch.Tensor, rows: Rows, tails: Sequence[torch.Tensor | None]
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Each row after its prefix: y[t] = sum over j of weight[:, j] * x[t - J + 1 + j].

    x_NC: [N', C]. tails: for each row its prefix's last J - 1 inputs [J - 1, C], None for zeros.
    Returns y float32 [N', C] (rows beyond the table are zero) and each row's new tail in the dtype of x.
    Every element is a fixed sequence of multiplications and additions, so it depends on its row alone.
    """
    before = weight_CJ.shape[1] - 1
    blank = x_NC.new_zeros(before, x_NC.shape[1])
    pieces = []
    for start, length, tail in zip(rows.starts, rows.lengths, tails, strict=True):
        pieces += [blank if tail is None else tail, x_NC[start : start + length]]
    inputs = torch.cat(pieces)
    weights = weight_CJ.float().t()
    count = inputs.shape[0] - before
    wide = inputs.float()
    y = wide[:count] * weights[0]
    for tap in range(1, before + 1):
        y = y + wide[tap : tap + count] * weights[tap]
    places = torch.cat(
        [
            torch.arange(start, start + length) + row * before
            for row, (start, length) in enumerate(zip(rows.starts, rows.lengths, strict=True))
        ]
    )
    y = torch.nn.functional.pad(y[places.to(y.device)], (0, 0, 0, x_NC.shape[0] - rows.tokens))
    ends = [
        start + length + row * before for row, (start, length) in enumerate(zip(rows.starts, rows.lengths, strict=True))
    ]
    return y, [inputs[end : end + before] for end in ends]
