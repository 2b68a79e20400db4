"""Task: one training run."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import TrainSettings
from tasks.step import RESUMABLE, run_step

TIMEOUT_S = 12 * 3600


@task(
    name="train",
    description="Train adapters and heads; a retry resumes from the last checkpoint.",
    timeout_seconds=TIMEOUT_S,
    **RESUMABLE,
)
def train(settings: TrainSettings, pools: list[Path], memory: Path | None = None) -> Manifest:
    return run_step(steps.train, settings, exclusive=True, pools=pools, memory=memory)
