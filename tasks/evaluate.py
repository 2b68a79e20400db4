"""Task: evaluation against gold values and the baseline."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import EvaluateSettings
from tasks.step import RESUMABLE, run_step


@task(name="evaluate", description="A checkpoint and constrained decoding on the same documents.", **RESUMABLE)
def evaluate(settings: EvaluateSettings, checkpoint: Path, records: list[Path]) -> Manifest:
    return run_step(steps.evaluate, settings, exclusive=True, checkpoint=checkpoint, records=records)
