"""Losses of forks, as sums; the step divides by the whole step's counts (training specification, section 4)."""

from __future__ import annotations

from collections import defaultdict

import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from deg_core.model.heads import MAX_SPAN_TOKENS, CountLogits, SpanLogits
from deg_core.model.network import Network, Output
from deg_core.pools.example import Fork

MONITORED = ("choice", "score", "noul")
"""The kinds of decide, counted and logged apart, never trained apart."""
TERMS = ("decide", "extract", "count", "anchor", "anchor_count", "lm", *MONITORED)
LM_KL_BASE = "lm_kl_base"
KL_ROWS = 512
TERM_OF_KIND = {
    "choice": "decide",
    "score": "decide",
    "noul": "decide",
    "extract": "extract",
    "generate": "lm",
}


def term_items(fork: Fork) -> dict[str, int]:
    """The loss terms of a fork and how many items it adds to each term's mean (tokens for lm)."""
    if fork.kind == "count":
        known = {count_term(fork): length_known(fork), "anchor": anchors_known(fork)}
        return {term: 1 for term, is_known in known.items() if is_known}
    items = len(fork.ids) - fork.lm_start if fork.kind == "generate" else 1
    return {TERM_OF_KIND[fork.kind]: items} | ({fork.kind: 1} if fork.kind in MONITORED else {})


def count_term(fork: Fork) -> str:
    """The term of a count fork's length: an array whose items are named by their text has one of its own."""
    return "anchor_count" if fork.by_place else "count"


def length_known(fork: Fork) -> bool:
    """Whether a count fork has a length: a part of a document has none."""
    return bool(fork.target.any())


def anchors_known(fork: Fork) -> bool:
    """Whether a count fork's spans say where every item starts (none for an empty array)."""
    return fork.by_place or int(fork.target.argmax()) == len(fork.spans)


def fork_losses(network: Network, fork: Fork, output: Output) -> dict[str, torch.Tensor]:
    """The losses of one fork, float32 scalars, each summed over its items; those of MONITORED have no gradient."""
    if isinstance(output, CountLogits):
        losses = {count_term(fork): count_loss, "anchor": anchor_loss}
        return {term: losses[term](output, fork) for term in term_items(fork)}
    loss = _fork_loss(network, fork, output)
    return {TERM_OF_KIND[fork.kind]: loss} | ({fork.kind: loss.detach()} if fork.kind in MONITORED else {})


def count_loss(logits: CountLogits, fork: Fork) -> torch.Tensor:
    """Cross-entropy of the length over the admissible ones; the last of all, MAX_COUNT, means that many or more."""
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


def base_kl(network: Network, hidden: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """KL(base || model) of the next token, summed over rows [], float32.

    hidden, base: last hidden states [n, E] of the model and of the frozen base, under one LM head. KL_ROWS rows at a
    time, computed again in the backward, so that the logits of more than those are never held.
    """

    def block(own: torch.Tensor, frozen: torch.Tensor) -> torch.Tensor:
        log_model = network.lm_logits(own).float().log_softmax(-1)
        log_base = network.lm_logits(frozen).float().log_softmax(-1)
        return F.kl_div(log_model, log_base, reduction="sum", log_target=True)

    pairs = zip(hidden.split(KL_ROWS), base.split(KL_ROWS), strict=True)
    return torch.stack([checkpoint(block, *pair, use_reentrant=False) for pair in pairs]).sum()


def count_items(forks: list[Fork]) -> dict[str, int]:
    """Items of each term over a list of forks."""
    counts: dict[str, int] = defaultdict(int)
    for fork in forks:
        for term, items in term_items(fork).items():
            counts[term] += items
    return {term: counts[term] for term in TERMS}
