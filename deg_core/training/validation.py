"""The loss on validation records while a run goes on, and what follows from its course."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.training.losses import count_items, fork_losses

EVENT = "val"


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

    @classmethod
    def of_log(cls, log: Path, patience: int, size: int | None = None) -> Course:
        """What the first `size` bytes of a log say, all by default; a line that was being written lies beyond them."""
        lines = log.read_bytes()[:size].splitlines() if log.exists() else []
        entries = [entry for entry in map(json.loads, lines) if entry["event"] == EVENT]
        return cls(patience, {entry["step"]: entry["val_loss"] for entry in entries})

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
