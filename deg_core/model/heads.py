"""The heads (contract section 12.3), one fork at a time so that no fork sees another.

They compute in float32; exactly, a context's keys are made in the compute type, as its states are.

E = hidden width, X = VIEWS * E: a context token's states after the last layer and at VIEW_DEPTHS, W = pointer width,
O = options of a fork, T = context tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from deg_core.model.activation import sigmoid, softplus
from deg_core.model.fork import MAX_COUNT
from deg_core.model.projection import Projector

POINTER_WIDTH = 256
CUT_WIDTH = 64
MAX_SPAN_TOKENS = 128
VIEW_DEPTHS = (1 / 3, 1 / 2, 2 / 3)
"""Where in the stack, as shares of its layers, pointers look at a context beside its end. What a token is (the start of
an item, the end of a name) stands in the middle layers; the last ones turn to the token that comes next."""
VIEWS = len(VIEW_DEPTHS) + 1

READOUT_START = 0.5
ANCHOR_BIAS_START = -6.0
CUT_BIAS_START = -4.0
KEY_TOKENS = 8192
LIKELY_ANCHORS = 96
COUNT_FLOOR = 1e-6
QUICK = 16.0
"""Small tables are kept divided by this: they learn as many times faster than wide weights at one learning rate."""
SLOW = 16.0
"""What corrects another estimate is divided by this: it learns as many times slower."""
BUCKET_EDGES = (-256, -64, -16, -4, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
CALIBRATED_KINDS = ("choice", "score", "noul", "extract")


@dataclass(frozen=True)
class SpanLogits:
    """Logits of one extract fork, float32: start, end and cut [T], null [].

    A span of tokens i..j (i <= j < i + MAX_SPAN_TOKENS) has the logit start[i] + end[j] - sum(cut[i+1..j]); the
    outcome is one of all these spans or null. cut[t] >= 0 is the price of going on from token t - 1 to t.
    """

    start: torch.Tensor
    end: torch.Tensor
    cut: torch.Tensor
    null: torch.Tensor

    def bounds(self) -> tuple[torch.Tensor, torch.Tensor]:
        """First and last [T] with the cuts worked in: a span's logit is first[i] + last[j]."""
        crossed = self.cut.cumsum(0)
        return self.start + crossed, self.end - crossed

    def log_total(self) -> torch.Tensor:
        """The log of the sum of exp(logit) over every outcome, []."""
        first, last = self.bounds()
        if not len(first):
            return self.null
        return torch.cat((first + span_ends(last).logsumexp(1), self.null[None])).logsumexp(0)


def span_ends(last: torch.Tensor) -> torch.Tensor:
    """For each start the values of the ends that its spans may have, [T, MAX_SPAN_TOKENS], -inf past the text."""
    return F.pad(last, (0, MAX_SPAN_TOKENS - 1), value=float("-inf")).unfold(0, MAX_SPAN_TOKENS, 1)


@dataclass(frozen=True)
class CountLogits:
    """What a count fork says, float32: lengths [MAX_COUNT + 1], and anchors [T], the logit that an item of
    the array starts at each token (-inf outside the region of the enclosing item)."""

    lengths: torch.Tensor
    anchors: torch.Tensor


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
        # q . (K o) as (q K) . o: a product over a few options was seen to change its last bit with the threads
        asked_E = self.query(answer_E) @ self.key.weight
        pointer = (options_OE * asked_E).sum(-1) * POINTER_WIDTH**-0.5
        return pointer + self.bias(options_OE).squeeze(-1) + self.readout_scale * readout_O


class SpanPointer(nn.Module):
    """Start, end and cut of spans over context tokens, with a null outcome.

    A boundary lies between two tokens; its key is made from the hidden states on both of its sides. A
    causal model's state at a span's last token cannot know that the span ends there; the state of the
    token after it can. The cuts keep a start and an end of two different places from being taken for one span.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.query = nn.Linear(hidden, 2 * POINTER_WIDTH, bias=False)
        self.cut_query = nn.Linear(hidden, CUT_WIDTH)
        self.left = nn.Linear(VIEWS * hidden, 2 * POINTER_WIDTH + CUT_WIDTH, bias=False)
        self.right = nn.Linear(VIEWS * hidden, 2 * POINTER_WIDTH + CUT_WIDTH, bias=False)
        self.cut_bias = nn.Parameter(torch.tensor(CUT_BIAS_START))
        self.null = nn.Linear(hidden, 1)
        self.item_bias = nn.Parameter(torch.zeros(2, 2, len(BUCKET_EDGES) + 1))
        nn.init.zeros_(self.cut_query.weight)
        nn.init.zeros_(self.cut_query.bias)

    def keys(self, around_BX: torch.Tensor) -> torch.Tensor:
        """Keys of the T + 1 boundaries, float32 [T + 1, 2 W + C]; see boundary_keys."""
        return boundary_keys(self.left, self.right, around_BX)

    def forward(
        self, answer_E: torch.Tensor, keys_BK: torch.Tensor, anchor: int = -1, region_end: int = -1
    ) -> SpanLogits:
        """anchor, region_end: of the item that the query is about; -1 = none, no bias."""
        start_q, end_q = (self.query(answer_E) * POINTER_WIDTH**-0.5).chunk(2)
        start_BW, end_BW, cut_BC = keys_BK.split((POINTER_WIDTH, POINTER_WIDTH, CUT_WIDTH), dim=1)
        start = (start_BW[:-1] * start_q).sum(-1)
        end = (end_BW[1:] * end_q).sum(-1)
        going_on = (cut_BC[:-1] * (self.cut_query(answer_E) * CUT_WIDTH**-0.5)).sum(-1) + self.cut_bias
        if anchor >= 0:
            bias = self.place_bias(len(start), anchor, region_end)
            start, end = start + bias[0], end + bias[1]
        return SpanLogits(start, end, softplus(going_on, exact=not torch.is_grad_enabled()), self.null(answer_E)[0])

    def place_bias(self, tokens: int, anchor: int, region_end: int) -> torch.Tensor:
        """Learned bias [2, T] of start and end by a token's distance from the item's anchor (contract section 12.3)."""
        places = torch.arange(tokens, device=self.item_bias.device)
        inside = ((places >= anchor) & (places < region_end)).long()
        bucket = torch.bucketize(places - anchor, torch.tensor(BUCKET_EDGES, device=places.device), right=True)
        return QUICK * self.item_bias[:, inside, bucket]


class ItemCounter(nn.Module):
    """How many items an array has, and where each starts.

    Every token gets an anchor logit from the boundary before it. Were the tokens independent, the number of anchors
    would follow the Poisson binomial distribution; its logarithm is the evidence for each length, and a linear
    reading of the query's own state corrects it. So a length is learned from where the items stand and not from one
    number a document.
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.linear = nn.Linear(hidden, MAX_COUNT + 1)
        self.query = nn.Linear(hidden, POINTER_WIDTH, bias=False)
        self.left = nn.Linear(VIEWS * hidden, POINTER_WIDTH, bias=False)
        self.right = nn.Linear(VIEWS * hidden, POINTER_WIDTH, bias=False)
        self.bias = nn.Parameter(torch.tensor(ANCHOR_BIAS_START))
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def keys(self, around_BX: torch.Tensor) -> torch.Tensor:
        """Keys of the T + 1 boundaries, float32 [T + 1, W]; see boundary_keys."""
        return boundary_keys(self.left, self.right, around_BX)

    def forward(
        self, answer_E: torch.Tensor, keys_BW: torch.Tensor, anchor: int = -1, region_end: int = -1
    ) -> CountLogits:
        """anchor, region_end: of the enclosing item, whose region holds the array; -1 = the whole context."""
        logits = (keys_BW[:-1] * (self.query(answer_E) * POINTER_WIDTH**-0.5)).sum(-1) + self.bias
        if anchor >= 0:
            places = torch.arange(len(logits), device=logits.device)
            logits = logits.masked_fill((places < anchor) | (places >= region_end), float("-inf"))
        counted = log_count(sigmoid(logits, exact=not torch.is_grad_enabled()))
        own = (self.linear.weight * answer_E).sum(-1) + self.linear.bias
        return CountLogits(counted + own / SLOW, logits)


def log_count(chances: torch.Tensor) -> torch.Tensor:
    """Log-probability that n of independent events happen, float32 [MAX_COUNT + 1]; the last: that many or more.

    chances: of the events, [T]; only the LIKELY_ANCHORS highest count. A number that is all but impossible gets
    log(COUNT_FLOOR). One event after the other, so in one order whatever the number of threads.
    """
    likely = chances.topk(min(LIKELY_ANCHORS, len(chances))).values
    none, most = (F.one_hot(torch.tensor(n), MAX_COUNT + 1).to(chances) for n in (0, MAX_COUNT))
    spread = none
    for chance in likely:
        spread = spread * (1 - chance) + (F.pad(spread, (1, -1)) + most * spread) * chance
    return (spread + COUNT_FLOOR).log()


def boundary_keys(left: nn.Linear, right: nn.Linear, around_BX: torch.Tensor) -> torch.Tensor:
    """Projections of the states on both sides of each boundary, added: float32 [T + 1, out].

    around_BX: views [T + 2, X] from the token before the context to the one after it.
    """
    return left(around_BX[:-1].float()) + right(around_BX[1:].float())


def exact_boundary_keys(project: Projector, head: str, around_BX: torch.Tensor) -> torch.Tensor:
    """The keys of a head by exact projections (Heads.key_weights), KEY_TOKENS at a time; float32 [T + 1, out]."""
    sides: dict[str, list[torch.Tensor]] = {"left": [], "right": []}
    for part in around_BX.split(KEY_TOKENS):
        padded = F.pad(part, (0, 0, 0, -part.shape[0] % project.tile))
        for side, found in sides.items():
            found.append(project(f"{head}.{side}", padded)[: part.shape[0]])
    left, right = (torch.cat(found) for found in sides.values())
    return left[:-1].float() + right[1:]


class Heads(nn.Module):
    """All heads of a checkpoint and their temperatures.

    temperatures: float32, one for each of CALIBRATED_KINDS; logits are divided by them in inference.
    """

    temperatures: torch.Tensor

    def __init__(self, hidden: int):
        super().__init__()
        self.choice = OptionPointer(hidden)
        self.score = OptionPointer(hidden)
        self.noul = nn.Linear(hidden, 1)
        self.extract = SpanPointer(hidden)
        self.count = ItemCounter(hidden)
        self.register_buffer("temperatures", torch.ones(len(CALIBRATED_KINDS)))

    def key_weights(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """What boundary keys are made with, [out, X] in a dtype: head.side -> weight."""
        heads = {"extract": self.extract, "count": self.count}
        sides = ((f"{name}.{side}", getattr(head, side)) for name, head in heads.items() for side in ("left", "right"))
        return {name: linear.weight.detach().to(dtype) for name, linear in sides}

    @classmethod
    def random(cls, hidden: int, seed: int) -> Heads:
        """New heads that start from nothing of the base: no readout, and a random yes/no head."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            heads = cls(hidden)
        with torch.no_grad():
            for pointer in (heads.choice, heads.score):
                pointer.readout_scale.zero_()
        return heads

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
        return heads

    def temperature(self, kind: str) -> float:
        """The temperature of a head kind; 1 for kinds that have none."""
        return float(self.temperatures[CALIBRATED_KINDS.index(kind)]) if kind in CALIBRATED_KINDS else 1.0
