"""Losses of forks, as sums; the step divides by the whole step's counts (training specification, section 4)."""

from __future__ import annotations

from collections import defaultdict

import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.model.heads import SpanLogits
from deg_core.model.network import Network
from deg_core.pools.example import Fork

TERMS = ("decide", "extract", "count", "lm")
TERM_OF_KIND = {
    "choice": "decide",
    "score": "decide",
    "noul": "decide",
    "extract": "extract",
    "count": "count",
    "generate": "lm",
}


def term_items(fork: Fork) -> tuple[str, int]:
    """The loss term of a fork and how many items it adds to that term's mean (tokens for lm)."""
    return TERM_OF_KIND[fork.kind], len(fork.ids) - fork.lm_start if fork.kind == "generate" else 1


def fork_loss(network: Network, fork: Fork, output: torch.Tensor | SpanLogits) -> torch.Tensor:
    """The loss of one fork, float32 scalar, summed over its items."""
    if isinstance(output, SpanLogits):
        return span_loss(output, fork)
    if fork.kind == "generate":
        targets = torch.from_numpy(fork.ids[fork.lm_start :]).long().to(output.device)
        logits = network.lm_logits(output[fork.lm_start - 1 : -1]).float()
        return F.cross_entropy(logits, targets, reduction="sum")
    target = torch.from_numpy(fork.target).to(output.device)
    if fork.kind == "count":
        low, high = fork.bounds
        return -(target[low : high + 1] * output[low : high + 1].log_softmax(-1)).sum()
    # KL to the target: cross-entropy less the target's own entropy
    return -(target * output.log_softmax(-1)).sum() + torch.special.xlogy(target, target).sum()


def span_loss(logits: SpanLogits, fork: Fork) -> torch.Tensor:
    """Mean of start and end cross-entropy: marginal over alternatives, or against a soft target."""
    start, end = logits.start.log_softmax(-1), logits.end.log_softmax(-1)
    if not len(fork.spans):
        return -(start[-1] + end[-1]) / 2
    spans = torch.from_numpy(fork.spans).long().to(start.device)
    if len(fork.span_weights):
        weights = torch.from_numpy(fork.span_weights).to(start.device)
        weights = weights / weights.sum()
        return -(weights * (start[spans[:, 0]] + end[spans[:, 1] - 1])).sum() / 2
    firsts, lasts = spans[:, 0].unique(), (spans[:, 1] - 1).unique()
    return -(start[firsts].logsumexp(0) + end[lasts].logsumexp(0)) / 2


def count_items(forks: list[Fork]) -> dict[str, int]:
    """Items of each term over a list of forks."""
    counts: dict[str, int] = defaultdict(int)
    for fork in forks:
        term, items = term_items(fork)
        counts[term] += items
    return {term: counts[term] for term in TERMS}


__all__ = ["TERMS", "count_items", "fork_loss", "span_loss", "term_items"]
