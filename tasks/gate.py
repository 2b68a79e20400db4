"""Task: the gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prefect import task

from deg_core import steps
from deg_core.config import GateSettings
from tasks.artifacts import publish_decision
from tasks.step import STEP_OPTIONS, run_step

if TYPE_CHECKING:
    from deg_core.registry.gate import Decision


@task(name="gate", description="Promote the checkpoint when it is no worse than the champion.", **STEP_OPTIONS)
def run_gate(settings: GateSettings, checkpoint: Path, evaluation: Path, champion_evaluation: Path | None) -> Decision:
    decision = run_step(
        steps.run_gate,
        settings,
        checkpoint=checkpoint,
        evaluation=evaluation,
        champion_evaluation=champion_evaluation,
    )
    publish_decision(decision)
    return decision
