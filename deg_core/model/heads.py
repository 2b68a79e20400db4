"""The heads (contract section 12.3), in float32, one fork at a time so that no fork sees another.

E = hidden width, W = pointer width, O = options of a fork, T = context tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from deg_core.model.fork import MAX_COUNT
from deg_core.model.projection import TILE, tiled_linear

POINTER_WIDTH = 256

READOUT_START = 0.5
CALIBRATED_KINDS = ("choice", "score", "noul", "extract")


@dataclass(frozen=True)
class SpanLogits:
    """Pointer logits of one extract fork, float32 [T + 1] each; index T is the null outcome.

    start[i]: the span begins with token i. end[j]: the span's last token is j.
    """

    start: torch.Tensor
    end: torch.Tensor


class OptionPointer(nn.Module):
    """Scores option lines: q(a) . k(o) / sqrt(W) + u . o + s * readout.

    readout is the base model's own next-token logit of the option's first token after the query, so the
    head knows something before any training.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.query = nn.Linear(hidden, POINTER_WIDTH, bias=False)
        self.key = nn.Linear(hidden, POINTER_WIDTH, bias=False)
        self.bias = nn.Linear(hidden, 1, bias=False)
        self.readout_scale = nn.Parameter(torch.tensor(READOUT_START))
        nn.init.zeros_(self.bias.weight)

    def forward(self, answer_E: torch.Tensor, options_OE: torch.Tensor, readout_O: torch.Tensor) -> torch.Tensor:
        """float32 [O]."""
        pointer = (self.key(options_OE) * self.query(answer_E)).sum(-1) * POINTER_WIDTH**-0.5
        return pointer + self.bias(options_OE).squeeze(-1) + self.readout_scale * readout_O


class SpanPointer(nn.Module):
    """Start and end pointers over context tokens, with a null outcome.

    A boundary lies between two tokens; its key is made from the hidden states on both of its sides. A
    causal model's state at a span's last token cannot know that the span ends there; the state of the
    token after it can.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.query = nn.Linear(hidden, 2 * POINTER_WIDTH, bias=False)
        self.left = nn.Linear(hidden, 2 * POINTER_WIDTH, bias=False)
        self.right = nn.Linear(hidden, 2 * POINTER_WIDTH, bias=False)
        self.null = nn.Linear(hidden, 2)

    def keys(self, around_BE: torch.Tensor, exact: bool) -> torch.Tensor:
        """Keys of the T + 1 boundaries, float32 [T + 1, 2 W].

        around_BE: hidden states [T + 2, E] from the token before the context to the one after it.
        exact: computed in fixed tiles, bit for bit the same at any thread count (no gradient).
        """
        if not exact:
            return self.left(around_BE[:-1]) + self.right(around_BE[1:])
        padded = F.pad(around_BE, (0, 0, 0, -around_BE.shape[0] % TILE))
        left, right = (tiled_linear(padded, part.weight, TILE) for part in (self.left, self.right))
        return left[: around_BE.shape[0] - 1] + right[1 : around_BE.shape[0]]

    def forward(self, answer_E: torch.Tensor, keys_BK: torch.Tensor) -> SpanLogits:
        start_q, end_q = (self.query(answer_E) * POINTER_WIDTH**-0.5).chunk(2)
        null_start, null_end = self.null(answer_E).chunk(2)
        start = torch.cat(((keys_BK[:-1, :POINTER_WIDTH] * start_q).sum(-1), null_start))
        end = torch.cat(((keys_BK[1:, POINTER_WIDTH:] * end_q).sum(-1), null_end))
        return SpanLogits(start, end)


class Heads(nn.Module):
    """All heads of a checkpoint and their temperatures.

    temperatures: float32, one for each of CALIBRATED_KINDS; logits are divided by them in inference.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.choice = OptionPointer(hidden)
        self.score = OptionPointer(hidden)
        self.noul = nn.Linear(hidden, 1)
        self.extract = SpanPointer(hidden)
        self.count = nn.Linear(hidden, MAX_COUNT + 1)
        self.register_buffer("temperatures", torch.ones(len(CALIBRATED_KINDS)))

    @classmethod
    def fresh(cls, embed_VE: torch.Tensor, yes_no: tuple[int, int], seed: int) -> Heads:
        """New heads; the yes/no head starts as the base model's own preference between two tokens."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            heads = cls(embed_VE.shape[1])
        with torch.no_grad():
            yes, no = (embed_VE[i].float() for i in yes_no)
            heads.noul.weight.copy_((yes - no)[None])
            heads.noul.bias.zero_()
            heads.count.weight.mul_(0.1)
            heads.count.bias.zero_()
        return heads

    def temperature(self, kind: str) -> float:
        """The temperature of a head kind; 1 for kinds that have none."""
        return float(self.temperatures[CALIBRATED_KINDS.index(kind)]) if kind in CALIBRATED_KINDS else 1.0
