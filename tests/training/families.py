"""Tiny networks of every family that train, and steps of made-up records for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from deg_core.config import TrainSettings
from deg_core.model.network import Network
from deg_core.pools.example import Example, Fork
from deg_core.training.losses import TERMS
from deg_core.training.measure import Design, made_up_part
from deg_core.training.memory import MemoryPlan
from deg_core.training.optimizer import Gradients, ParameterGroup
from deg_core.training.parts import FEATURES, Part
from deg_core.training.setup import trainable_groups
from deg_core.training.step import StepResult, run_step, step_counts
from tests.model import tiny

WEIGHTS = dict.fromkeys(TERMS, 1.0) | {"count": 0.5}
RECORDS = (Design(70, 256, 48, 9, row=16), Design(40, 64, 48, row=16), Design(23, 64, 32, 5, row=16))


def write_bases(root: Path) -> dict[str, Path]:
    """A folder of each family."""
    for name, make in tiny.MODELS.items():
        make().save_pretrained(root / name)
        tiny.write_tokenizer(root / name)
    return {name: root / name for name in tiny.MODELS}


def records(designs: Sequence[Design] = RECORDS, seed: int = 0) -> list[Example]:
    """Records with forks of every head."""
    rng = np.random.default_rng(seed)
    examples = [made_up_part(design, tiny.VOCABULARY, rng).examples[0] for design in designs]
    for number, example in enumerate(examples):
        example.uid = f"r{number}"
        example.forks = [_varied(fork, place) for place, fork in enumerate(example.forks)]
    return examples


def _varied(fork: Fork, place: int) -> Fork:
    """The fork as another kind in its turn, so that a step has every term."""
    if fork.kind == "count":
        return replace(fork, by_place=place % 16 == 7)
    if fork.kind != "choice" or place % 3 == 0:
        return fork
    if place % 3 == 1:
        return replace(fork, kind="score")
    none = np.zeros(0, np.int32)
    return replace(fork, kind="noul", options=none, option_tokens=none, target=np.array([0.3, 0.7], np.float32))


class Trained:
    """A network with its gradients, and a plan that fits everything until it is told otherwise.

    rank 0: full fine-tuning; else adapters that read the context too, so that trunks have a gradient.
    """

    def __init__(self, base: Path, rank: int, dtype: torch.dtype = torch.float32):
        self.network: Network = tiny.fresh_network(base, rank, dtype)
        settings = TrainSettings(base=str(base), lora_rank=rank)
        self.groups: list[ParameterGroup] = trainable_groups(self.network, settings)
        self.gradients = Gradients(self.groups)
        self.plan = MemoryPlan(self.network.backbone.shape, 0.0, dict.fromkeys(FEATURES, 1.0), float("inf"))

    def fit_rows(self, most: int) -> None:
        """Let parts of so many forks fit and no more."""
        self.plan.coefficients = dict.fromkeys(FEATURES, 0.0) | {"rows": 1.0}
        self.plan.target_bytes = most

    def step(self, examples: list[Example], seen: list[Part] | None = None, **options) -> StepResult:
        counts = options.pop("counts", step_counts(examples))
        observe = None if seen is None else seen.append
        return run_step(self.network, examples, counts, WEIGHTS, self.gradients, self.plan, observe, **options)

    def taken(self) -> list[torch.Tensor]:
        """The gradient of every trained tensor, float32; clears it."""
        self.gradients.finish()
        found = [self.gradients.read(i, 0, t.numel()).clone() for i, t in enumerate(self.gradients.tensors)]
        self.gradients.clear()
        return found


def distance(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """The largest difference of a tensor's elements, relative to the largest element that was expected there."""
    largest = max(float(tensor.abs().max()) for tensor in expected)
    return max(
        float((one - other).abs().max()) / max(float(other.abs().max()), 1e-3 * largest)
        for one, other in zip(found, expected, strict=True)
    )
