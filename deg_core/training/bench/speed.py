"""Real tokens a second of our step beside peft's on the same documents, in turns, by process time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Literal

import torch

from deg_core.artifacts import Home
from deg_core.config import TrainSettings
from deg_core.training.bench.documents import Documents
from deg_core.training.bench.own import OwnTraining, TokenCount
from deg_core.training.bench.peft import PeftTraining

Reads = Literal["base", "adapter"]


@dataclass
class Tally:
    """Sums over steps. rates: real tokens a second of each step."""

    real: int = 0
    computed: int = 0
    documents: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.rates: list[float] = []

    def add(self, real: int, computed: int, documents: int, seconds: float) -> None:
        self.real += real
        self.computed += computed
        self.documents += documents
        self.seconds += seconds
        self.rates.append(real / seconds)

    @property
    def figures(self) -> dict[str, float]:
        """Columns of a table."""
        return {
            "tokens/s": self.real / self.seconds,
            "median": median(self.rates),
            "documents/s": self.documents / self.seconds,
            "computed / real": self.computed / self.real,
        }


def against_peft(
    documents: Documents, settings: TrainSettings, home: Home, dtype: torch.dtype, steps: int
) -> dict[str, Tally]:
    """Tallies of our step whose contexts are read by the base, by the adapters, and of peft's step.

    Every step takes the same documents in all three; the first step of each is not counted.
    """
    ways: dict[Reads, OwnTraining] = {}
    for reads in ("base", "adapter"):
        chosen = settings.model_copy(update={"lora_context": reads})
        ways[reads] = OwnTraining(documents, chosen, home, dtype)
        ways[reads].plan.target_bytes = float("inf")
    theirs = PeftTraining(documents.base, settings, dtype)
    tallies = {"context by the base": Tally(), "context by the adapters": Tally(), "peft": Tally()}
    for number in range(steps + 1):
        examples = ways["base"].draw(number)
        rows = []
        for training in ways.values():
            with TokenCount(training) as count:
                result, seconds = timed(partial(training.step, examples))
            rows.append((result.trunk_tokens + result.fork_tokens, count.computed, seconds))
        answered = [documents.answered(example.uid) for example in examples]
        (real, padded, _), seconds = timed(partial(theirs.step, answered))
        rows.append((real, padded, seconds))
        if number:
            for tally, row in zip(tallies.values(), rows, strict=True):
                tally.add(row[0], row[1], len(examples), row[2])
    return tallies


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What work returns, and its process seconds."""
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun
