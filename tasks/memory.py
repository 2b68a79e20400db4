"""Task: memory-plan calibration."""

from __future__ import annotations

from prefect import task

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import MemorySettings
from tasks.step import RESUMABLE, run_step


@task(name="calibrate-memory", description="Measure what training parts take, fit the planner.", **RESUMABLE)
def calibrate_memory(settings: MemorySettings) -> Manifest:
    return run_step(steps.calibrate_memory, settings, exclusive=True)
