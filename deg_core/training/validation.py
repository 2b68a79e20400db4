"""The loss on validation records while a run goes on, and what follows from its course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.pools.store import Pool
from deg_core.training.losses import count_items, fork_losses

EVENT = "val"


def validation_examples(pools: Sequence[Pool], most: int, max_context_tokens: int) -> list[Example]:
    """Of each pool the first val examples, at most `most`, that have a fork and fit the context limit."""
    found = []
    for pool in pools:
        fits = (pool.context_lengths <= max_context_tokens) & (pool.fork_counts > 0)
        places = [index for index, split in enumerate(pool.splits) if split == "val" and fits[index]]
        found += [pool.example(index) for index in places[:most]]
    return found


@torch.no_grad()
def validation_sums(network: Network, examples: Sequence[Example]) -> tuple[dict[str, float], dict[str, int]]:
    """Sums of each loss term over the examples, and how many items they are of."""
    sums: Counter[str] = Counter()
    for example in examples:
        reading = network.read([example.context], exact=False)
        outputs = network.answer(reading, [(0, fork) for fork in example.forks], exact=False)
        for fork, output in zip(example.forks, outputs, strict=True):
            sums.update({term: float(loss) for term, loss in fork_losses(network, fork, output).items()})
    return dict(sums), count_items([fork for example in examples for fork in example.forks])


@dataclass
class Course:
    """Validation losses of a run so far, by step. patience: saves without a lower one after which it ends; 0 = never."""

    patience: int
    losses: dict[int, float]

    @property
    def best(self) -> int | None:
        """The step with the lowest loss, the earliest of equals; None before any."""
        return min(self.losses, key=lambda step: (self.losses[step], step), default=None)

    @property
    def over(self) -> bool:
        """Whether the run ends here."""
        later = [step for step in self.losses if self.best is not None and step > self.best]
        return bool(self.patience) and len(later) >= self.patience


def weighted(sums: Mapping[str, float], counts: Mapping[str, int], weights: Mapping[str, float]) -> float:
    """The loss that training would have: each term's mean times its weight."""
    return sum(weights.get(term, 0.0) * total / max(counts.get(term, 1), 1) for term, total in sums.items())
