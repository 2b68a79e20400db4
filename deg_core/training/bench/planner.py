"""The memory planner's estimates beside measured peaks, over steps of all sizes and several targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np

from deg_core.pools.example import Example
from deg_core.training.bench.own import OwnTraining
from deg_core.training.memory import GIB, measured_peak
from deg_core.training.parts import Part
from deg_core.training.step import start_anew

SEED = 3
SMALLEST_BUDGET = 128


@dataclass(frozen=True)
class Measured:
    """One step: what its costliest part was estimated at and took. target_bytes: what it was planned for."""

    tokens: int
    parts: int
    target_bytes: float
    estimate_bytes: float
    peak_bytes: float

    @property
    def ratio(self) -> float:
        """Estimate over peak."""
        return self.estimate_bytes / self.peak_bytes


class Meter:
    """Measures each part of a step by itself: free memory is given back before it, so that the peak is its own."""

    def __init__(self, training: OwnTraining):
        self._training = training
        self._device = training.network.backbone.device
        self._start_anew = partial(start_anew, training.plan, training.master.gradients, self._device)
        self._found: list[tuple[float, float]] = []

    def step(self, examples: list[Example], target_bytes: float) -> Measured:
        """Run a step under a target."""
        plan = self._training.plan
        plan.target_bytes, plan.memory_stays = target_bytes, False
        self._found = []
        self._start_anew()
        result = self._training.step(examples, self._observe)
        estimate, peak = max(self._found, key=lambda pair: pair[1])
        tokens = result.trunk_tokens + result.fork_tokens
        return Measured(tokens, result.parts, target_bytes, estimate, peak)

    def _observe(self, part: Part) -> None:
        plan = self._training.plan
        peak = measured_peak(self._device)
        self._found.append((plan.estimate(part), peak))
        plan.observe(part, peak)
        self._start_anew()


def measure_steps(training: OwnTraining, steps: int, most_tokens: int, targets: Sequence[float]) -> Iterator[Measured]:
    """Steps whose budgets are spread log-uniformly up to most_tokens, under the targets (GiB) in turn."""
    meter = Meter(training)
    rng = np.random.default_rng(SEED)
    meter.step(training.draw(0, SMALLEST_BUDGET), targets[0] * GIB)  # libraries take their own memory at first use
    training.plan.scale = 1.0
    for number in range(1, steps + 1):
        budget = int(np.exp(rng.uniform(np.log(SMALLEST_BUDGET), np.log(most_tokens))))
        yield meter.step(training.draw(number, budget), targets[number % len(targets)] * GIB)


def summary(found: Sequence[Measured]) -> dict[str, float]:
    """The lowest and median estimate over peak, the share within 15 %, and the highest peak over its target."""
    ratios = [one.ratio for one in found]
    return {
        "estimate_over_peak_min": min(ratios),
        "estimate_over_peak_median": median(ratios),
        "within_15_percent": sum(abs(ratio - 1) <= 0.15 for ratio in ratios) / len(ratios),
        "peak_over_target_max": max(one.peak_bytes / one.target_bytes for one in found),
    }
