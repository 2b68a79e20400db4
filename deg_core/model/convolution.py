"""Short causal convolution over packed rows, one filter a channel.

N = flat tokens, N' = N and the padding of the last tile, C = channels, J = taps of a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from deg_core.model.rows import Rows

CACHED_TOKENS = 16


def convolve(
    x_NC: torch.Tensor,
    weight_CJ: torch.Tensor,
    rows: Rows,
    tails: Sequence[torch.Tensor | None],
    activate: Callable[[torch.Tensor], torch.Tensor] = lambda y: y,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Each row after its prefix: y[t] = activate(sum over j of weight[:, j] * x[t - J + 1 + j]).

    x_NC: [N', C]. tails: for each row its prefix's last J - 1 inputs [J - 1, C], None for zeros. activate: elementwise,
    float32. Returns y float32 [N', C] (rows beyond the table are zero) and each row's new tail in the dtype of x.
    Every element is a fixed sequence of multiplications and additions, so it depends on its row alone. Without a
    gradient a few tokens are taken at a time, so that they stay in cache; rows of one token each are taken together.
    """
    before = weight_CJ.shape[1] - 1
    blank = x_NC.new_zeros(before, x_NC.shape[1])
    weights = weight_CJ.float().t()
    known = [blank if tail is None else tail for tail in tails]
    outputs: list[torch.Tensor] = []
    ends: list[torch.Tensor] = []
    if rows.tokens == len(rows):
        inputs = torch.cat((torch.stack(known, 1), x_NC[None, : rows.tokens]))
        outputs.append(activate(_filtered(inputs.float(), weights)))
        ends += inputs[1:].unbind(1)
    else:
        for start, length, tail in zip(rows.starts, rows.lengths, known, strict=True):
            inputs = torch.cat((tail, x_NC[start : start + length]))
            step = length if torch.is_grad_enabled() or x_NC.is_cuda else CACHED_TOKENS
            for low in range(0, length, step):
                wide = inputs[low : low + step + before].float()
                count = len(wide) - before
                taps = [wide[tap : tap + count] for tap in range(before + 1)]
                outputs.append(activate(_filtered(taps, weights)))
            ends.append(inputs[length:])
    padding = x_NC.shape[0] - rows.tokens
    if padding:
        outputs.append(outputs[0].new_zeros(padding, x_NC.shape[1]))
    return torch.cat(outputs), ends


def _filtered(taps: Sequence[torch.Tensor] | torch.Tensor, weights_JC: torch.Tensor) -> torch.Tensor:
    """The sum over j of taps[j] * weights[j], the first first."""
    y = taps[0] * weights_JC[0]
    for tap in range(1, len(weights_JC)):
        y = y + taps[tap] * weights_JC[tap]
    return y
