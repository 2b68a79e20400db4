"""Losses of forks, as sums; the step divides by the whole step's counts (training specification, section 4)."""

from __future__ import annotations

from collections import defaultdict

import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.model.heads import MAX_SPAN_TOKENS, CountLogits, SpanLogits
from deg_core.model.network import Network, Output
from deg_core.pools.example import Fork

TERMS = ("decide", "extract", "count", "anchor", "lm")
TERM_OF_KIND = {
    "choice": "decide",
    "score": "decide",
    "noul": "decide",
    "extract": "extract",
    "count": "count",
    "generate": "lm",
}


def term_items(fork: Fork) -> dict[str, int]:
    """The loss terms of a fork and how many items it adds to each term's mean (tokens for lm)."""
    if fork.kind == "count":
        known = {"count": length_known(fork), "anchor": anchors_known(fork)}
        return {term: 1 for term, is_known in known.items() if is_known}
    items = len(fork.ids) - fork.lm_start if fork.kind == "generate" else 1
    return {TERM_OF_KIND[fork.kind]: items}


def length_known(fork: Fork) -> bool:
    """Whether a count fork has a length: a part of a document has none."""
    return bool(fork.target.any())


def anchors_known(fork: Fork) -> bool:
    """Whether a count fork's spans say where every item starts (none for an empty array)."""
    return fork.by_place or int(fork.target.argmax()) == len(fork.spans)


def fork_losses(network: Network, fork: Fork, output: Output) -> dict[str, torch.Tensor]:
    """The losses of one fork, float32 scalars, each summed over its items."""
    if isinstance(output, CountLogits):
        losses = {"count": count_loss, "anchor": anchor_loss}
        return {term: losses[term](output, fork) for term in term_items(fork)}
    return {TERM_OF_KIND[fork.kind]: _fork_loss(network, fork, output)}


def count_loss(logits: CountLogits, fork: Fork) -> torch.Tensor:
    """Cross-entropy of the length over the admissible ones."""
    low, high = fork.bounds
    target = torch.from_numpy(fork.target[low : high + 1]).to(logits.lengths.device)
    return -(target * logits.lengths[low : high + 1].log_softmax(-1)).sum()


def anchor_loss(logits: CountLogits, fork: Fork) -> torch.Tensor:
    """Binary cross-entropy of every token of the region against the items' starts, over 1 + their number."""
    target = torch.zeros_like(logits.anchors)
    target[torch.from_numpy(fork.spans[:, 0]).long().to(target.device)] = 1.0
    region = logits.anchors.isfinite()
    loss = F.binary_cross_entropy_with_logits(logits.anchors[region], target[region], reduction="sum")
    return loss / (1 + len(fork.spans))


def _fork_loss(network: Network, fork: Fork, output: torch.Tensor | SpanLogits) -> torch.Tensor:
    if isinstance(output, SpanLogits):
        return span_loss(output, fork)
    if fork.kind == "generate":
        targets = torch.from_numpy(fork.ids[fork.lm_start :]).long().to(output.device)
        logits = network.lm_logits(output[fork.lm_start - 1 : -1]).float()
        return F.cross_entropy(logits, targets, reduction="sum")
    target = torch.from_numpy(fork.target).to(output.device)
    # KL to the target: cross-entropy less the target's own entropy
    return -(target * output.log_softmax(-1)).sum() + torch.special.xlogy(target, target).sum()


def span_loss(logits: SpanLogits, fork: Fork) -> torch.Tensor:
    """Half the cross-entropy of the gold spans among all spans and null: a boundary's share.

    Marginal over alternatives, or against a soft target. Spans longer than the model can answer teach nothing.
    """
    total = logits.log_total()
    if not len(fork.spans):
        return (total - logits.null) / 2
    first, last = logits.bounds()
    spans = torch.from_numpy(fork.spans).long().to(first.device)
    scores = first[spans[:, 0]] + last[spans[:, 1] - 1] - total
    reachable = spans[:, 1] - spans[:, 0] <= MAX_SPAN_TOKENS
    if not reachable.any():
        return total * 0.0  # still of the graph, so that a step of nothing else has a gradient
    if len(fork.span_weights):
        weights = torch.from_numpy(fork.span_weights).to(first.device) * reachable
        return -(weights / weights.sum() * scores).sum() / 2
    return -scores[reachable].logsumexp(0) / 2


def count_items(forks: list[Fork]) -> dict[str, int]:
    """Items of each term over a list of forks."""
    counts: dict[str, int] = defaultdict(int)
    for fork in forks:
        for term, items in term_items(fork).items():
            counts[term] += items
    return {term: counts[term] for term in TERMS}


__all__ = ["TERMS", "count_items", "fork_losses", "span_loss", "term_items"]
