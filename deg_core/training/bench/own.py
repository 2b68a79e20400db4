"""Our own training step without a run around it: for benchmarks of its speed and its memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from deg_core.artifacts import Home
from deg_core.config import TrainSettings
from deg_core.model.rows import Rows
from deg_core.pools.draw import Drawer
from deg_core.pools.example import Example
from deg_core.training.bench.documents import Documents
from deg_core.training.losses import TERMS
from deg_core.training.memory import MemoryPlan, training_plan
from deg_core.training.optimizer import Master, OptimizerOptions
from deg_core.training.setup import build_network, trainable_groups
from deg_core.training.step import Observe, StepResult, run_step, step_counts
from deg_core.training.zero import AloneAsFirst, ZeroMaster


class OwnTraining:
    """A fresh network on the base with its optimizer.

    memory: an artifact of `deg memory` for its plan, or None. world: as rank 0 of that many, the others not there.
    """

    def __init__(
        self,
        documents: Documents,
        settings: TrainSettings,
        home: Home,
        dtype: torch.dtype,
        memory: Path | None = None,
        world: int = 1,
    ):
        self.documents, self.settings = documents, settings
        self.network = build_network(settings, documents.base, None, home, torch.device("cpu"), dtype)
        self.plan: MemoryPlan = training_plan(memory, self.network, settings, world)
        groups = trainable_groups(self.network, settings)
        options = OptimizerOptions(settings.steps, settings.warmup_steps, clip_norm=settings.clip_norm)
        self.master: Master | ZeroMaster
        self.master = Master(groups, options) if world == 1 else ZeroMaster(groups, options, group=AloneAsFirst(world))
        self._weights = dict.fromkeys(TERMS, 1.0) | {"count": settings.count_weight}
        self._taken = 0

    def draw(self, number: int, budget_tokens: int | None = None) -> list[Example]:
        """The examples of a step of a run with these settings, or with another budget."""
        changed = self.settings
        if budget_tokens is not None:
            changed = changed.model_copy(update={"budget_tokens": budget_tokens})
        documents = self.documents
        drawer = Drawer([(documents.pool, 1.0)], changed, documents.max_context_tokens, changed.seed)
        return drawer.draw(number)

    def step(self, examples: list[Example], observe: Observe | None = None) -> StepResult:
        """Gradients and update of one step."""
        counts = step_counts(examples)
        gradients = self.master.gradients
        result = run_step(self.network, examples, counts, self._weights, gradients, self.plan, observe)
        self.master.step(gradients, min(self._taken, self.settings.steps - 1))
        self.network.weights_changed()
        self._taken += 1
        return result


class TokenCount:
    """Counts the tokens of every forward pass of a training's backbone, padding and repeated reads included."""

    def __init__(self, training: OwnTraining):
        self._backbone = training.network.backbone
        self.computed = 0

    def __enter__(self) -> TokenCount:
        inner = self._backbone.forward

        def forward(ids: torch.Tensor, rows: Rows, project: Any = None, **options: Any) -> Any:
            self.computed += len(ids)
            return inner(ids, rows, project, **options)

        self._backbone.forward = forward  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        del self._backbone.forward
